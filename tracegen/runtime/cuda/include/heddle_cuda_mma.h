// Matrices that the threads of a warp hold together: fragments, loads, stores and products (CUDA C++ Programming Guide,
// "Warp Matrix Functions"). Each function is one instruction of PTX.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MMA_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MMA_H_

#include "cuda_bf16.h"
#include "cuda_fp16.h"

// --- lists of registers in the text and the constraints of asm statements

// "{%[a0], %[a1]}" for (2, a).
#define HEDDLE_NAMES_1(p) "{%[" #p "0]}"
#define HEDDLE_NAMES_2(p) "{%[" #p "0], %[" #p "1]}"
#define HEDDLE_NAMES_4(p) "{%[" #p "0], %[" #p "1], %[" #p "2], %[" #p "3]}"
#define HEDDLE_NAMES_8(p) \
  "{%[" #p "0], %[" #p "1], %[" #p "2], %[" #p "3], %[" #p "4], %[" #p "5], %[" #p "6], %[" #p "7]}"
// The elements of array `w` under these names, with a constraint.
#define HEDDLE_LIST_1(p, c, w) [p##0] c(w[0])
#define HEDDLE_LIST_2(p, c, w) HEDDLE_LIST_1(p, c, w), [p##1] c(w[1])
#define HEDDLE_LIST_4(p, c, w) HEDDLE_LIST_2(p, c, w), [p##2] c(w[2]), [p##3] c(w[3])
#define HEDDLE_LIST_8(p, c, w) HEDDLE_LIST_4(p, c, w), [p##4] c(w[4]), [p##5] c(w[5]), [p##6] c(w[6]), [p##7] c(w[7])

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32 {};
}  // namespace precision
namespace experimental {
namespace precision {
struct u4 {};
struct s4 {};
struct b1 {};
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

// Elements of a fragment; those of less than a byte lie in numbers of 32 bits.
template <typename Element, typename Stored, int elements, int stored = elements>
struct __attribute__((aligned(8))) heddle_elements {
  typedef Element element_type;
  typedef Stored storage_element_type;
  enum { num_elements = elements, num_storage_elements = stored };
  Stored x[stored];
};

// Only the shapes and types below exist.
template <typename Use, int m, int n, int k, typename T, typename Layout = void>
struct fragment;

template <typename Use, int m, int n, int k, typename T, typename Layout>
HEDDLE_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                                 const typename fragment<Use, m, n, k, T, Layout>::storage_element_type& value) {
#pragma unroll
  for (int i = 0; i < fragment<Use, m, n, k, T, Layout>::num_storage_elements; ++i) f.x[i] = value;
}

// Rounds to nearest, ties away from zero; the lower 13 bits of the result are 0.
HEDDLE_DEVICE float __float_to_tf32(float value) {
  unsigned int bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __builtin_bit_cast(float, bits);
}

#define HEDDLE_SHAPE(m, n, k) "m" #m "n" #n "k" #k

// --- operands: fragments with their loads

// A fragment of A or B in one layout. S: what an element is stored as; M: what memory holds; `type`: in PTX; W and c:
// type and constraint of a register, of which there are `words`.
#define HEDDLE_INPUT(use, part, m, n, k, T, S, elements, stored, M, type, W, c, words, layout, order)             \
  template <>                                                                                                     \
  struct fragment<use, m, n, k, T, layout> : heddle_elements<T, S, elements, stored> {};                          \
  HEDDLE_DEVICE void load_matrix_sync(fragment<use, m, n, k, T, layout>& f, const M* from, unsigned int stride) { \
    W w[words];                                                                                                   \
    asm volatile("wmma.load." part ".sync.aligned." order                                                         \
                 "." HEDDLE_SHAPE(m, n, k) "." type " " HEDDLE_NAMES_##words(w) ", [%[from]], %[stride];"         \
                 : HEDDLE_LIST_##words(w, "=" c, w)                                                               \
                 : [from] "l"(from), [stride] "r"(stride)                                                         \
                 : "memory");                                                                                     \
    __builtin_memcpy(f.x, w, sizeof(w));                                                                          \
  }
#define HEDDLE_INPUT_BOTH(use, part, m, n, k, T, S, elements, M, type, W, c, words)                  \
  HEDDLE_INPUT(use, part, m, n, k, T, S, elements, elements, M, type, W, c, words, row_major, "row") \
  HEDDLE_INPUT(use, part, m, n, k, T, S, elements, elements, M, type, W, c, words, col_major, "col")
// A and B, with as many elements and registers each.
#define HEDDLE_INPUTS(m, n, k, T, S, M, type, W, c, a_elements, a_words, b_elements, b_words) \
  HEDDLE_INPUT_BOTH(matrix_a, "a", m, n, k, T, S, a_elements, M, type, W, c, a_words)         \
  HEDDLE_INPUT_BOTH(matrix_b, "b", m, n, k, T, S, b_elements, M, type, W, c, b_words)
// Elements of less than a byte, in one layout each.
#define HEDDLE_NARROW_INPUTS(k, T, S, elements, type)                                                         \
  HEDDLE_INPUT(matrix_a, "a", 8, 8, k, T, S, elements, 1, void, type, unsigned int, "r", 1, row_major, "row") \
  HEDDLE_INPUT(matrix_b, "b", 8, 8, k, T, S, elements, 1, void, type, unsigned int, "r", 1, col_major, "col")

HEDDLE_INPUTS(16, 16, 16, __half, __half, __half, "f16", unsigned int, "r", 16, 8, 16, 8)
HEDDLE_INPUTS(32, 8, 16, __half, __half, __half, "f16", unsigned int, "r", 16, 8, 16, 8)
HEDDLE_INPUTS(8, 32, 16, __half, __half, __half, "f16", unsigned int, "r", 16, 8, 16, 8)
HEDDLE_INPUTS(16, 16, 16, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, "bf16", unsigned int, "r", 8, 4, 8, 4)
HEDDLE_INPUTS(32, 8, 16, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, "bf16", unsigned int, "r", 16, 8, 4, 2)
HEDDLE_INPUTS(8, 32, 16, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, "bf16", unsigned int, "r", 4, 2, 16, 8)
HEDDLE_INPUTS(16, 16, 16, signed char, signed char, signed char, "s8", unsigned int, "r", 8, 2, 8, 2)
HEDDLE_INPUTS(32, 8, 16, signed char, signed char, signed char, "s8", unsigned int, "r", 16, 4, 4, 1)
HEDDLE_INPUTS(8, 32, 16, signed char, signed char, signed char, "s8", unsigned int, "r", 4, 1, 16, 4)
HEDDLE_INPUTS(16, 16, 16, unsigned char, unsigned char, unsigned char, "u8", unsigned int, "r", 8, 2, 8, 2)
HEDDLE_INPUTS(32, 8, 16, unsigned char, unsigned char, unsigned char, "u8", unsigned int, "r", 16, 4, 4, 1)
HEDDLE_INPUTS(8, 32, 16, unsigned char, unsigned char, unsigned char, "u8", unsigned int, "r", 4, 1, 16, 4)
HEDDLE_INPUTS(16, 16, 8, precision::tf32, float, float, "tf32", unsigned int, "r", 4, 4, 4, 4)
HEDDLE_INPUTS(8, 8, 4, double, double, double, "f64", double, "d", 1, 1, 1, 1)
HEDDLE_NARROW_INPUTS(32, experimental::precision::s4, int, 8, "s4")
HEDDLE_NARROW_INPUTS(32, experimental::precision::u4, unsigned int, 8, "u4")
HEDDLE_NARROW_INPUTS(128, experimental::precision::b1, unsigned int, 32, "b1")

#undef HEDDLE_INPUT
#undef HEDDLE_INPUT_BOTH
#undef HEDDLE_INPUTS
#undef HEDDLE_NARROW_INPUTS

// --- sums: fragments with their loads and stores

#define HEDDLE_SUM(m, n, k, T, elements, type, W, c, words)                                                           \
  template <>                                                                                                         \
  struct fragment<accumulator, m, n, k, T, void> : heddle_elements<T, T, elements> {};                                \
  HEDDLE_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T, void>& f, const T* from, unsigned int stride, \
                                      layout_t layout) {                                                              \
    W w[words];                                                                                                       \
    if (layout == mem_row_major) {                                                                                    \
      asm volatile("wmma.load.c.sync.aligned.row." HEDDLE_SHAPE(                                                      \
                       m, n, k) "." type " " HEDDLE_NAMES_##words(w) ", [%[from]], %[stride];"                        \
                   : HEDDLE_LIST_##words(w, "=" c, w)                                                                 \
                   : [from] "l"(from), [stride] "r"(stride)                                                           \
                   : "memory");                                                                                       \
    } else {                                                                                                          \
      asm volatile("wmma.load.c.sync.aligned.col." HEDDLE_SHAPE(                                                      \
                       m, n, k) "." type " " HEDDLE_NAMES_##words(w) ", [%[from]], %[stride];"                        \
                   : HEDDLE_LIST_##words(w, "=" c, w)                                                                 \
                   : [from] "l"(from), [stride] "r"(stride)                                                           \
                   : "memory");                                                                                       \
    }                                                                                                                 \
    __builtin_memcpy(f.x, w, sizeof(w));                                                                              \
  }                                                                                                                   \
  HEDDLE_DEVICE void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T, void>& f, unsigned int stride,  \
                                       layout_t layout) {                                                             \
    W w[words];                                                                                                       \
    __builtin_memcpy(w, f.x, sizeof(w));                                                                              \
    if (layout == mem_row_major) {                                                                                    \
      asm volatile("wmma.store.d.sync.aligned.row." HEDDLE_SHAPE(                                                     \
                       m, n, k) "." type " [%[to]], " HEDDLE_NAMES_##words(w) ", %[stride];"                          \
                   :                                                                                                  \
                   : [to] "l"(to), [stride] "r"(stride), HEDDLE_LIST_##words(w, c, w)                                 \
                   : "memory");                                                                                       \
    } else {                                                                                                          \
      asm volatile("wmma.store.d.sync.aligned.col." HEDDLE_SHAPE(                                                     \
                       m, n, k) "." type " [%[to]], " HEDDLE_NAMES_##words(w) ", %[stride];"                          \
                   :                                                                                                  \
                   : [to] "l"(to), [stride] "r"(stride), HEDDLE_LIST_##words(w, c, w)                                 \
                   : "memory");                                                                                       \
    }                                                                                                                 \
  }

HEDDLE_SUM(16, 16, 16, __half, 8, "f16", unsigned int, "r", 4)
HEDDLE_SUM(32, 8, 16, __half, 8, "f16", unsigned int, "r", 4)
HEDDLE_SUM(8, 32, 16, __half, 8, "f16", unsigned int, "r", 4)
HEDDLE_SUM(16, 16, 16, float, 8, "f32", float, "f", 8)
HEDDLE_SUM(32, 8, 16, float, 8, "f32", float, "f", 8)
HEDDLE_SUM(8, 32, 16, float, 8, "f32", float, "f", 8)
HEDDLE_SUM(16, 16, 8, float, 8, "f32", float, "f", 8)
HEDDLE_SUM(16, 16, 16, int, 8, "s32", int, "r", 8)
HEDDLE_SUM(32, 8, 16, int, 8, "s32", int, "r", 8)
HEDDLE_SUM(8, 32, 16, int, 8, "s32", int, "r", 8)
HEDDLE_SUM(8, 8, 32, int, 2, "s32", int, "r", 2)
HEDDLE_SUM(8, 8, 128, int, 2, "s32", int, "r", 2)
HEDDLE_SUM(8, 8, 4, double, 2, "f64", double, "d", 2)
#undef HEDDLE_SUM

// --- products

template <typename Layout>
struct heddle_layout {
  enum { is_row = 0 };
};
template <>
struct heddle_layout<row_major> {
  enum { is_row = 1 };
};

#define HEDDLE_ONE_PRODUCT(op, orders, m, n, k, types, A, B, ic, D, dc, C, cc)                                 \
  asm volatile("wmma.mma." op "sync.aligned." orders "." HEDDLE_SHAPE(m, n, k) "." types " " HEDDLE_NAMES_##D( \
                   d) ", " HEDDLE_NAMES_##A(a) ", " HEDDLE_NAMES_##B(b) ", " HEDDLE_NAMES_##C(c) ";"           \
               : HEDDLE_LIST_##D(d, "=" dc, d)                                                                 \
               : HEDDLE_LIST_##A(a, ic, a), HEDDLE_LIST_##B(b, ic, b), HEDDLE_LIST_##C(c, cc, c))
#define HEDDLE_REGISTERS(A, B, IW, D, DW, C, CW) \
  IW a[A], b[B];                                 \
  DW d[D];                                       \
  CW c[C];                                       \
  __builtin_memcpy(a, fa.x, sizeof(a));          \
  __builtin_memcpy(b, fb.x, sizeof(b));          \
  __builtin_memcpy(c, fc.x, sizeof(c));
#define HEDDLE_SIGNATURE(m, n, k, T, DT, CT)                                \
  template <typename LA, typename LB>                                                            \
  HEDDLE_DEVICE void mma_sync(fragment<accumulator, m, n, k, DT, void>& fd,                      \
                              const fragment<matrix_a, m, n, k, T, LA>& fa,                      \
                              const fragment<matrix_b, m, n, k, T, LB>& fb,                      \
                              const fragment<accumulator, m, n, k, CT, void>& fc
// A, B, D, C: numbers of registers.
#define HEDDLE_BY_LAYOUT(m, n, k, types, A, B, ic, D, dc, C, cc)               \
  if (heddle_layout<LA>::is_row && heddle_layout<LB>::is_row) {                \
    HEDDLE_ONE_PRODUCT("", "row.row", m, n, k, types, A, B, ic, D, dc, C, cc); \
  } else if (heddle_layout<LA>::is_row) {                                      \
    HEDDLE_ONE_PRODUCT("", "row.col", m, n, k, types, A, B, ic, D, dc, C, cc); \
  } else if (heddle_layout<LB>::is_row) {                                      \
    HEDDLE_ONE_PRODUCT("", "col.row", m, n, k, types, A, B, ic, D, dc, C, cc); \
  } else {                                                                     \
    HEDDLE_ONE_PRODUCT("", "col.col", m, n, k, types, A, B, ic, D, dc, C, cc); \
  }
#define HEDDLE_PRODUCT(m, n, k, T, types, A, B, IW, ic, DT, DW, dc, D, CT, CW, cc, C) \
  HEDDLE_SIGNATURE(m, n, k, T, DT, CT)) {                                             \
    HEDDLE_REGISTERS(A, B, IW, D, DW, C, CW)                                          \
    HEDDLE_BY_LAYOUT(m, n, k, types, A, B, ic, D, dc, C, cc)                          \
    __builtin_memcpy(fd.x, d, sizeof(d));                                             \
  }
// Sums of half and single precision.
#define HEDDLE_HALF_PRODUCTS(m, n, k)                                                                                  \
  HEDDLE_PRODUCT(m, n, k, __half, "f32.f32", 8, 8, unsigned int, "r", float, float, "f", 8, float, float, "f", 8)      \
  HEDDLE_PRODUCT(m, n, k, __half, "f16.f16", 8, 8, unsigned int, "r", __half, unsigned int, "r", 4, __half,            \
                 unsigned int, "r", 4)                                                                                 \
  HEDDLE_PRODUCT(m, n, k, __half, "f32.f16", 8, 8, unsigned int, "r", float, float, "f", 8, __half, unsigned int, "r", \
                 4)                                                                                                    \
  HEDDLE_PRODUCT(m, n, k, __half, "f16.f32", 8, 8, unsigned int, "r", __half, unsigned int, "r", 4, float, float, "f", \
                 8)
#define HEDDLE_SINGLE_PRODUCT(m, n, k, T, type, A, B)                                                                  \
  HEDDLE_PRODUCT(m, n, k, T, "f32." type "." type ".f32", A, B, unsigned int, "r", float, float, "f", 8, float, float, \
                 "f", 8)
// Of bytes: sums wrap, or stop at the ends of their range.
#define HEDDLE_BYTE_PRODUCT(m, n, k, T, type, A, B)                                               \
  HEDDLE_SIGNATURE(m, n, k, T, int, int), bool saturate = false) {                                \
    HEDDLE_REGISTERS(A, B, unsigned int, 8, int, 8, int)                                          \
    if (saturate) {                                                                               \
      HEDDLE_BY_LAYOUT(m, n, k, "s32." type "." type ".s32.satfinite", A, B, "r", 8, "r", 8, "r") \
    } else {                                                                                      \
      HEDDLE_BY_LAYOUT(m, n, k, "s32." type "." type ".s32", A, B, "r", 8, "r", 8, "r")           \
    }                                                                                             \
    __builtin_memcpy(fd.x, d, sizeof(d));                                                         \
  }
#define HEDDLE_NARROW_PRODUCT(T, type)                                                                               \
  HEDDLE_SIGNATURE(8, 8, 32, T, int, int), bool saturate = false) {                                                  \
    HEDDLE_REGISTERS(1, 1, unsigned int, 2, int, 2, int)                                                             \
    if (saturate) {                                                                                                  \
      HEDDLE_ONE_PRODUCT("", "row.col", 8, 8, 32, "s32." type "." type ".s32.satfinite", 1, 1, "r", 2, "r", 2, "r"); \
    } else {                                                                                                         \
      HEDDLE_ONE_PRODUCT("", "row.col", 8, 8, 32, "s32." type "." type ".s32", 1, 1, "r", 2, "r", 2, "r");           \
    }                                                                                                                \
    __builtin_memcpy(fd.x, d, sizeof(d));                                                                            \
  }

HEDDLE_HALF_PRODUCTS(16, 16, 16)
HEDDLE_HALF_PRODUCTS(32, 8, 16)
HEDDLE_HALF_PRODUCTS(8, 32, 16)
HEDDLE_SINGLE_PRODUCT(16, 16, 16, __nv_bfloat16, "bf16", 4, 4)
HEDDLE_SINGLE_PRODUCT(32, 8, 16, __nv_bfloat16, "bf16", 8, 2)
HEDDLE_SINGLE_PRODUCT(8, 32, 16, __nv_bfloat16, "bf16", 2, 8)
HEDDLE_SINGLE_PRODUCT(16, 16, 8, precision::tf32, "tf32", 4, 4)
HEDDLE_PRODUCT(8, 8, 4, double, "f64.f64.f64.f64", 1, 1, double, "d", double, double, "d", 2, double, double, "d", 2)
HEDDLE_BYTE_PRODUCT(16, 16, 16, signed char, "s8", 2, 2)
HEDDLE_BYTE_PRODUCT(32, 8, 16, signed char, "s8", 4, 1)
HEDDLE_BYTE_PRODUCT(8, 32, 16, signed char, "s8", 1, 4)
HEDDLE_BYTE_PRODUCT(16, 16, 16, unsigned char, "u8", 2, 2)
HEDDLE_BYTE_PRODUCT(32, 8, 16, unsigned char, "u8", 4, 1)
HEDDLE_BYTE_PRODUCT(8, 32, 16, unsigned char, "u8", 1, 4)
HEDDLE_NARROW_PRODUCT(experimental::precision::s4, "s4")
HEDDLE_NARROW_PRODUCT(experimental::precision::u4, "u4")

// Ones of A xor B, or of A and B, are counted.
HEDDLE_DEVICE void bmma_sync(fragment<accumulator, 8, 8, 128, int, void>& fd,
                             const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major>& fa,
                             const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major>& fb,
                             const fragment<accumulator, 8, 8, 128, int, void>& fc,
                             experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR,
                             experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  HEDDLE_REGISTERS(1, 1, unsigned int, 2, int, 2, int)
  if (operation == experimental::bmmaBitOpXOR) {
    HEDDLE_ONE_PRODUCT("xor.popc.", "row.col", 8, 8, 128, "s32.b1.b1.s32", 1, 1, "r", 2, "r", 2, "r");
  } else {
    HEDDLE_ONE_PRODUCT("and.popc.", "row.col", 8, 8, 128, "s32.b1.b1.s32", 1, 1, "r", 2, "r", 2, "r");
  }
  __builtin_memcpy(fd.x, d, sizeof(d));
}

#undef HEDDLE_ONE_PRODUCT
#undef HEDDLE_REGISTERS
#undef HEDDLE_SIGNATURE
#undef HEDDLE_BY_LAYOUT
#undef HEDDLE_PRODUCT
#undef HEDDLE_HALF_PRODUCTS
#undef HEDDLE_SINGLE_PRODUCT
#undef HEDDLE_BYTE_PRODUCT
#undef HEDDLE_NARROW_PRODUCT
#undef HEDDLE_SHAPE

}  // namespace wmma
}  // namespace nvcuda

#undef HEDDLE_NAMES_1
#undef HEDDLE_NAMES_2
#undef HEDDLE_NAMES_4
#undef HEDDLE_NAMES_8
#undef HEDDLE_LIST_1
#undef HEDDLE_LIST_2
#undef HEDDLE_LIST_4
#undef HEDDLE_LIST_8

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MMA_H_
