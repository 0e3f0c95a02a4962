// bfloat16: pairs, conversions in every direction, atomic sums, and loads and stores with a hint for the caches.
// nvcc: -arch=sm_80
#include <cuda_bf16.h>

#include "check.h"

__device__ __nv_bfloat16 sum;
__device__ __nv_bfloat162 sums;

__global__ void Add() {
  atomicAdd(&sum, __float2bfloat16(1.0f));
  atomicAdd(&sums, __floats2bfloat162_rn(1.0f, 2.0f));
}
__global__ void Work(const __nv_bfloat16* x, float* out) {
  const __nv_bfloat162 pair = __float22bfloat162_rn(make_float2(2.0f, 3.0f));
  const float2 squares = __bfloat1622float2(__hmul2(pair, pair));
  const float loaded = __bfloat162float(__ldcs(x + threadIdx.x)) + __bfloat162float(__ldg(x));
  __stcs(out + threadIdx.x, squares.x + squares.y + loaded + static_cast<float>(x[0] + x[1]));
}

int main() {
  const int n = 32;
  __nv_bfloat16 host[n], total, *x;
  __nv_bfloat162 totals;
  float* out;
  for (int i = 0; i < n; ++i) host[i] = __float2bfloat16(i);
  CALL(cudaMalloc(&x, sizeof(host)));
  CALL(cudaMallocManaged(&out, n * sizeof(float)));
  CALL(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
  Work<<<1, n>>>(x, out);
  Add<<<1, n>>>();
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(out[i] == 13 + i + 1);
  CALL(cudaMemcpyFromSymbol(&total, sum, sizeof(total)));
  CALL(cudaMemcpyFromSymbol(&totals, sums, sizeof(totals)));
  EXPECT(__bfloat162float(total) == 32 && __low2float(totals) == 32 && __high2float(totals) == 64);

  // To the nearest, once: 1 + 2^-8 lies between two numbers, and a double or a whole number a little above it is nearer
  // to the upper one, which a step by way of float would lose.
  EXPECT(__bfloat162float(__double2bfloat16(1.00390625)) == 1.0f);
  EXPECT(__bfloat162float(__double2bfloat16(1.00390625 + 1e-12)) == 1.0078125f);
  EXPECT(__bfloat162float(__int2bfloat16_rn((1 << 30) + (1 << 22))) == 1073741824.0f);
  EXPECT(__bfloat162float(__int2bfloat16_rn((1 << 30) + (1 << 22) + 1)) == 1082130432.0f);
  EXPECT(__bfloat162float(__ull2bfloat16_rn((1ull << 60) + (1ull << 52) + 1)) == 1161928703861587968.0f);
  // In the other directions.
  const float third = 1.0f / 3;
  EXPECT(__bfloat162float(__float2bfloat16_rz(-third)) > -third &&
         __bfloat162float(__float2bfloat16_rd(-third)) < -third);
  EXPECT(__bfloat162float(__float2bfloat16_ru(third)) > third && __bfloat162float(__float2bfloat16_rd(third)) < third);
  EXPECT(__bfloat162float(__float2bfloat16_rd(-1e-41f)) < 0 && __bfloat162float(__float2bfloat16_ru(-1e-41f)) == 0);
  EXPECT(__bfloat162short_rz(__float2bfloat16(-1e6f)) == -32768 && __bfloat162uchar_rz(__float2bfloat16(300)) == 255);
  // What is not a number: comparisons, and the larger of two.
  const __nv_bfloat16 none = __float2bfloat16(nanf("")), one = __float2bfloat16(1.0f);
  EXPECT(!__hge(none, one) && __hgeu(none, one) && !__hne(none, one) && none != one && __hequ(none, one));
  EXPECT(__hmax(none, one) == one && __hisnan(__hmax_nan(none, one)) && __hisnan(__hmin_nan(one, none)));
  const __nv_bfloat16 zero = __float2bfloat16(0.0f), minus = __float2bfloat16(-0.0f);
  EXPECT(__bfloat16_as_ushort(__hmax(zero, minus)) == 0 && __bfloat16_as_ushort(__hmin(zero, minus)) == 0x8000);
  EXPECT(__heq2_mask(__halves2bfloat162(one, none), __halves2bfloat162(one, one)) == 0xffffu);
  EXPECT(__hisinf(__float2bfloat16(-INFINITY)) == -1 && __hisinf(one) == 0);
  return Finish();
}
