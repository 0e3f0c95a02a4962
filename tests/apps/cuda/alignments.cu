// alignas of what nvcc takes: behind __shared__, of numbers with comparisons, of types and packs, in templates.
#include <stdint.h>

#include "check.h"

constexpr int kWide = 64, kNarrow = 8;

struct alignas(16) Pair {
  long long a, b;
};
struct alignas(kWide > kNarrow ? kWide : kNarrow) Wider {
  int value;
};
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount > 16 ? 16 : sizeof(T) * kCount) Vector {
  T values[kCount];
  template <int kMore>
  struct alignas((kMore > kCount) ? 2 * alignof(T) : alignof(T)) Inner {
    T value;
  };
};
template <typename... T>
struct OfAll {
  alignas(T...) char bytes[4];
};
template <typename T>
union alignas(alignof(T) >> 1 > 4 ? 32 : alignof(T)) Either {
  T one;
  char bytes[sizeof(T)];
};
struct alignas(Pair) LikePair {
  char byte;
};
static_assert(alignof(Wider) == 64 && alignof(LikePair) == 16, "");
static_assert(alignof(Vector<float, 8>) == 16 && alignof(Vector<short, 2>) == 4, "");
static_assert(alignof(Vector<int, 2>::Inner<3>) == 8 && alignof(Vector<int, 4>::Inner<3>) == 4, "");
static_assert(alignof(OfAll<int, Pair, short>) == 16 && alignof(OfAll<char>) == 1, "");
static_assert(alignof(Either<Pair>) == 32 && alignof(Either<int>) == 4, "");

template <int kBytes, typename T>
__global__ void Places(unsigned long long* out) {
  __shared__ char before[3];
  __shared__ alignas(kBytes > 32 ? kBytes : 32) T shared[3];
  __shared__ alignas(Vector<T, 4>) char like[5];
  alignas(kBytes >= 64 ? 64 : 16) T local[2];
  before[threadIdx.x] = like[threadIdx.x] = 1;
  shared[threadIdx.x] = local[threadIdx.x] = T();
  out[0] = reinterpret_cast<unsigned long long>(shared) % (kBytes > 32 ? kBytes : 32);
  out[1] = reinterpret_cast<unsigned long long>(like) % alignof(Vector<T, 4>);
  out[2] = reinterpret_cast<unsigned long long>(local) % (kBytes >= 64 ? 64 : 16);
  out[3] = sizeof(before) + sizeof(like);
}

int main() {
  unsigned long long* out;
  CALL(cudaMallocManaged(&out, 4 * sizeof(*out)));
  const auto check = [&] {
    CALL(cudaDeviceSynchronize());
    EXPECT(out[0] == 0 && out[1] == 0 && out[2] == 0 && out[3] == 8);
    out[0] = out[1] = out[2] = out[3] = 1;
  };
  Places<128, float><<<1, 1>>>(out);
  check();
  Places<8, double><<<1, 1>>>(out);
  check();
  alignas(kWide > 32 ? kWide : 32) char host[3] = {};
  EXPECT(reinterpret_cast<uintptr_t>(host) % 64 == 0);
  return Finish();
}
