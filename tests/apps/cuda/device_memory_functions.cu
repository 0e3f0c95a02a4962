// memcpy, memset, memmove and memcmp in device code: between values of unlike types, from bytes that are not aligned,
// of sizes that are known only when the kernel runs, qualified and as the compiler's own. nvcc: -std=c++17
#include <cstring>

#include "check.h"

struct Words {
  unsigned int a, b, c, d;
};
// In host code, too.
template <typename T>
__host__ __device__ T Read(const void* bytes) {
  T value;
  memcpy(&value, bytes, sizeof(T));
  return value;
}

__global__ void Punning(unsigned int* out) {
  const unsigned int words[4] = {threadIdx.x, 2, 3, 4};
  Words value;
  std::memcpy(&value, words, sizeof(value));
  memset(&value.d, 0x11, 2);
  float one = 1.0f;
  unsigned int bits;
  __builtin_memcpy(&bits, &one, sizeof(bits));
  out[threadIdx.x] = value.a + value.b + value.c + value.d + (bits >> 23);
}

// Numbers that lie at odd places among bytes.
__global__ void Unaligned(const char* bytes, char* copies, double* out) {
  const int i = threadIdx.x;
  const char* from = bytes + 15 * i + 1;
  const float x = Read<float>(from);
  const double y = Read<double>(from + 4);
  const short z = Read<short>(from + 12);
  out[i] = x + y + z;
  double result = out[i] * 2;
  memcpy(copies + 9 * i + 1, &result, sizeof(result));
}

__global__ void Sizes(const char* from, char* to, int* order, int n) {
  if (threadIdx.x == 0) {
    memcpy(to, from, n);
    ::memmove(to + 1, to, n);
    memset(to + n + 1, 'x', 3);
    order[0] = memcmp(to + 1, from, n);
    order[1] = std::memcmp("abd", "abc", 3);
    order[2] = __builtin_memcmp(from, to, n);
    order[3] = memcmp(from, to, 0);
  }
}

int Sign(int x) { return (x > 0) - (x < 0); }

int main() {
  unsigned int* words;
  CALL(cudaMallocManaged(&words, 32 * sizeof(*words)));
  Punning<<<1, 32>>>(words);
  CALL(cudaDeviceSynchronize());
  for (unsigned int i = 0; i < 32; ++i) EXPECT(words[i] == i + 5 + 0x1111 + 127);

  const int n = 20;
  char *bytes, *copies;
  double* sums;
  CALL(cudaMallocManaged(&bytes, 15 * n + 1));
  CALL(cudaMallocManaged(&copies, 9 * n + 1));
  CALL(cudaMallocManaged(&sums, n * sizeof(*sums)));
  memset(copies, 7, 9 * n + 1);
  for (int i = 0; i < n; ++i) {
    const float x = 0.5f * i;
    const double y = -3.25 * i;
    const short z = static_cast<short>(100 - i);
    memcpy(bytes + 15 * i + 1, &x, sizeof(x));
    memcpy(bytes + 15 * i + 5, &y, sizeof(y));
    memcpy(bytes + 15 * i + 13, &z, sizeof(z));
  }
  Unaligned<<<1, n>>>(bytes, copies, sums);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    EXPECT(sums[i] == 0.5 * i - 3.25 * i + 100 - i);
    EXPECT(Read<double>(copies + 9 * i + 1) == 2 * sums[i]);
    EXPECT(copies[9 * i] == 7);
  }

  const char text[] = "the quick brown fox jumps over the lazy dog, and then over many other animals of the forest";
  const int length = sizeof(text);
  char *from, *to, expected[length + 4];
  int* order;
  CALL(cudaMallocManaged(&from, length));
  CALL(cudaMallocManaged(&to, length + 4));
  CALL(cudaMallocManaged(&order, 4 * sizeof(int)));
  memcpy(from, text, length);
  Sizes<<<1, 32>>>(from, to, order, length);
  CALL(cudaDeviceSynchronize());
  memcpy(expected, text, length);
  memmove(expected + 1, expected, length);
  memset(expected + length + 1, 'x', 3);
  EXPECT(memcmp(to, expected, sizeof(expected)) == 0);
  EXPECT(order[0] == 0 && order[1] == 1 && Sign(order[2]) == Sign(memcmp(from, expected, length)) && order[3] == 0);
  return Finish();
}
