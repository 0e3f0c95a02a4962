// Shared, constant and local memory have addresses of 32 bits: an unsigned index that wraps reaches back into the
// array, and an address in shared memory that is kept in 32 bits is whole.
#include <stdint.h>

#include "check.h"

extern __shared__ unsigned int dynamic[];

__global__ void Reverse(const unsigned int* in, unsigned int* out) {
  __shared__ unsigned int s[64];
  __shared__ unsigned long long wide[64];
  __shared__ uint4 quads[64];
  const unsigned int i = threadIdx.x;
  s[i] = dynamic[i] = in[i];
  __syncthreads();
  unsigned int* end = s + 64;
  wide[64 + ~i] = end[~i];  // wide[63 - i] = s[63 - i]
  atomicAdd(&(dynamic + 64)[~i], 1u);
  (quads + 64)[~i] = make_uint4(i, i + 1, i + 2, i + 3);
  __syncthreads();
  const uint4 quad = quads[i];
  out[i] = end[~i];
  out[64 + i] = static_cast<unsigned int>(wide[i]);
  out[128 + i] = dynamic[i];
  out[192 + i] = quad.x + quad.y + quad.z + quad.w;
}

__constant__ unsigned int table[64];

__global__ void ReverseOthers(const unsigned int* in, unsigned int* out) {
  unsigned int local[64];
  for (unsigned int k = 0; k < 64; ++k) local[k] = in[(k + threadIdx.x) % 64];
  unsigned int* end = local + 64;
  const unsigned int i = in[threadIdx.x] / 5;  // threadIdx.x
  end[~((i + 1) % 64)] += 1;
  out[threadIdx.x] = end[~i];
  out[64 + threadIdx.x] = (table + 64)[~i];
  out[128 + threadIdx.x] = local[(62 - i + 64) % 64];
}

// A binary search in two sorted lists, the second one from its end, as merge-path programs write it.
__global__ void Search(const int* in, int* out) {
  __shared__ int list[128];
  for (int k = threadIdx.x; k < 128; k += blockDim.x) list[k] = in[k];
  __syncthreads();
  const int* last = list + 64 + threadIdx.x;
  unsigned int low = 0, high = threadIdx.x;
  while (low < high) {
    const unsigned int middle = (low + high) / 2;
    if (list[middle] <= last[~middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  out[threadIdx.x] = static_cast<int>(low);
}

__global__ void Addresses(unsigned int* out) {
  __shared__ unsigned int s[64];
  const unsigned int i = threadIdx.x;
  s[i] = i + 7;
  __syncthreads();
  const size_t whole = __cvta_generic_to_shared(s + i);
  const uint32_t address = static_cast<uint32_t>(whole);
  unsigned int loaded, beyond, converted;
  unsigned long long generic;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(loaded) : "r"(address));
  asm volatile("ld.shared.u32 %0, [%1+8];" : "=r"(beyond) : "r"(address - 8));
  asm volatile("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(converted) : "l"(s + i));
  asm volatile("cvta.shared.u64 %0, %1;" : "=l"(generic) : "l"(static_cast<unsigned long long>(address)));
  out[i] = *static_cast<unsigned int*>(__cvta_shared_to_generic(address));
  out[64 + i] = loaded;
  out[128 + i] = beyond;
  out[192 + i] = *reinterpret_cast<unsigned int*>(generic);
  out[256 + i] = whole >> 32 == 0 && converted == address &&
                 address - static_cast<uint32_t>(__cvta_generic_to_shared(s)) == 4 * i &&
                 s + i == __cvta_shared_to_generic(whole);
}

int main() {
  unsigned int host[320], *in, *out;
  for (unsigned int i = 0; i < 64; ++i) host[i] = i * 5;
  CALL(cudaMalloc(&in, 512));
  CALL(cudaMalloc(&out, sizeof(host)));
  CALL(cudaMemcpy(in, host, 256, cudaMemcpyHostToDevice));
  Reverse<<<1, 64, 256>>>(in, out);
  CALL(cudaMemcpy(host, out, 1024, cudaMemcpyDeviceToHost));
  for (unsigned int i = 0; i < 64; ++i) {
    EXPECT(host[i] == (63 - i) * 5 && host[64 + i] == i * 5 && host[128 + i] == i * 5 + 1);
    EXPECT(host[192 + i] == 4 * (63 - i) + 6);
  }
  for (unsigned int i = 0; i < 64; ++i) host[i] = i * 5;
  CALL(cudaMemcpyToSymbol(table, host, sizeof(table)));
  ReverseOthers<<<1, 64>>>(in, out);
  CALL(cudaMemcpy(host, out, 768, cudaMemcpyDeviceToHost));
  for (unsigned int i = 0; i < 64; ++i) {
    EXPECT(host[i] == 63 * 5 && host[64 + i] == (63 - i) * 5 && host[128 + i] == 62 * 5 + 1);
  }
  int lists[128];
  for (int i = 0; i < 64; ++i) {
    lists[i] = 3 * i;
    lists[64 + i] = 2 * i + 1;
  }
  CALL(cudaMemcpy(in, lists, sizeof(lists), cudaMemcpyHostToDevice));
  Search<<<1, 64>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out));
  CALL(cudaMemcpy(host, out, 256, cudaMemcpyDeviceToHost));
  for (int d = 0; d < 64; ++d) {
    int low = 0;
    while (low < d && lists[low] <= lists[64 + d - 1 - low]) ++low;
    EXPECT(static_cast<int>(host[d]) == low);
  }
  Addresses<<<1, 64>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (unsigned int i = 0; i < 64; ++i) {
    EXPECT(host[i] == i + 7 && host[64 + i] == i + 7 && host[128 + i] == i + 7 && host[192 + i] == i + 7);
    EXPECT(host[256 + i] == 1);
  }
  return Finish();
}
