// CUDA's vector types with their makers, and dim3. Sizes and alignments are those of the language.
#ifndef HEDDLE_CUDA_VECTOR_TYPES_H_
#define HEDDLE_CUDA_VECTOR_TYPES_H_

#define HEDDLE_VECTOR(name, type, align1, align2, align3, align4)                                              \
  struct __attribute__((aligned(align1))) name##1 { type x; };                                                 \
  struct __attribute__((aligned(align2))) name##2 { type x, y; };                                              \
  struct __attribute__((aligned(align3))) name##3 { type x, y, z; };                                           \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };                                        \
  static __forceinline__ __host__ __device__ name##1 make_##name##1(type x) { return name##1 {x}; }            \
  static __forceinline__ __host__ __device__ name##2 make_##name##2(type x, type y) { return name##2 {x, y}; } \
  static __forceinline__ __host__ __device__ name##3 make_##name##3(type x, type y, type z) {                  \
    return name##3 {x, y, z};                                                                                  \
  }                                                                                                            \
  static __forceinline__ __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w) {          \
    return name##4 {x, y, z, w};                                                                               \
  }

HEDDLE_VECTOR(char, signed char, 1, 2, 1, 4)
HEDDLE_VECTOR(uchar, unsigned char, 1, 2, 1, 4)
HEDDLE_VECTOR(short, short, 2, 4, 2, 8)
HEDDLE_VECTOR(ushort, unsigned short, 2, 4, 2, 8)
HEDDLE_VECTOR(int, int, 4, 8, 4, 16)
HEDDLE_VECTOR(uint, unsigned int, 4, 8, 4, 16)
HEDDLE_VECTOR(long, long, 8, 16, 8, 16)
HEDDLE_VECTOR(ulong, unsigned long, 8, 16, 8, 16)
HEDDLE_VECTOR(longlong, long long, 8, 16, 8, 16)
HEDDLE_VECTOR(ulonglong, unsigned long long, 8, 16, 8, 16)
HEDDLE_VECTOR(float, float, 4, 8, 4, 16)
HEDDLE_VECTOR(double, double, 8, 16, 8, 16)
#undef HEDDLE_VECTOR

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif  // HEDDLE_CUDA_VECTOR_TYPES_H_
