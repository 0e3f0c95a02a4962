// Atomic operations on every type.
#include "check.h"

struct Results {
  int add, sub, min, max, exchanged;
  unsigned int inc, dec, bits_and, bits_or, bits_xor, unsigned_max;
  unsigned long long long_add, long_max;
  float float_add;
  double double_add;
  int by_cas;
};

__global__ void Work(Results* r) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&r->add, i);
  atomicSub(&r->sub, 2);
  atomicMin(&r->min, -i);
  atomicMax(&r->max, i);
  atomicExch(&r->exchanged, 1);
  atomicInc(&r->inc, 9);
  atomicDec(&r->dec, 6);
  atomicAnd(&r->bits_and, ~(1u << (i % 32)) | 0xff0000u);
  atomicOr(&r->bits_or, 1u << (i % 16));
  atomicXor(&r->bits_xor, static_cast<unsigned int>(i));
  atomicMax(&r->unsigned_max, 0x80000000u + i);
  atomicAdd(&r->long_add, 1ull << 33);
  atomicMax(&r->long_max, static_cast<unsigned long long>(i) << 40);
  atomicAdd(&r->float_add, 0.5f);
  atomicAdd(&r->double_add, 0.25);
  int seen = r->by_cas, expected;
  do {
    expected = seen;
    seen = atomicCAS(&r->by_cas, expected, expected + 3);
  } while (seen != expected);
  __shared__ int local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  atomicAdd_block(&local, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd_system(&r->add, local);
}

int main() {
  const int blocks = 3, threads = 64, n = blocks * threads;
  Results host = {}, *device;
  host.bits_and = 0xffffffffu;
  CALL(cudaMalloc(&device, sizeof(host)));
  CALL(cudaMemcpy(device, &host, sizeof(host), cudaMemcpyHostToDevice));
  Work<<<blocks, threads>>>(device);
  CALL(cudaMemcpy(&host, device, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host.add == n * (n - 1) / 2 + n && host.sub == -2 * n && host.min == 1 - n && host.max == n - 1);
  EXPECT(host.exchanged == 1 && host.inc == n % 10 && host.dec == 4);
  EXPECT(host.bits_and == 0xff0000u && host.bits_or == 0xffffu && host.bits_xor == 0);
  EXPECT(host.unsigned_max == 0x80000000u + n - 1);
  EXPECT(host.long_add == static_cast<unsigned long long>(n) << 33);
  EXPECT(host.long_max == static_cast<unsigned long long>(n - 1) << 40);
  EXPECT(host.float_add == n / 2.0f && host.double_add == n / 4.0 && host.by_cas == 3 * n);
  return Finish();
}
