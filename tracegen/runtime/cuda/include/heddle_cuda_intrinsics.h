// CUDA's intrinsics on numbers: arithmetic with a rounding mode, conversions, integers and bits. Most are one PTX
// instruction, reached through clang's own built-in functions.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_INTRINSICS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_INTRINSICS_H_

// --- rounding: rn to the nearest even, rz to zero, rd down, ru up. PTX writes rm and rp for the last two.

#define HEDDLE_ROUNDED(cuda, ptx)                                                                             \
  HEDDLE_DEVICE float __fadd_##cuda(float x, float y) { return __nvvm_add_##ptx##_f(x, y); }                  \
  HEDDLE_DEVICE float __fsub_##cuda(float x, float y) { return __nvvm_add_##ptx##_f(x, -y); }                 \
  HEDDLE_DEVICE float __fmul_##cuda(float x, float y) { return __nvvm_mul_##ptx##_f(x, y); }                  \
  HEDDLE_DEVICE float __fmaf_##cuda(float x, float y, float z) { return __nvvm_fma_##ptx##_f(x, y, z); }      \
  HEDDLE_DEVICE float __fmaf_ieee_##cuda(float x, float y, float z) { return __nvvm_fma_##ptx##_f(x, y, z); } \
  HEDDLE_DEVICE float __fdiv_##cuda(float x, float y) { return __nvvm_div_##ptx##_f(x, y); }                  \
  HEDDLE_DEVICE float __frcp_##cuda(float x) { return __nvvm_rcp_##ptx##_f(x); }                              \
  HEDDLE_DEVICE float __fsqrt_##cuda(float x) { return __nvvm_sqrt_##ptx##_f(x); }                            \
  HEDDLE_DEVICE double __dadd_##cuda(double x, double y) { return __nvvm_add_##ptx##_d(x, y); }               \
  HEDDLE_DEVICE double __dsub_##cuda(double x, double y) { return __nvvm_add_##ptx##_d(x, -y); }              \
  HEDDLE_DEVICE double __dmul_##cuda(double x, double y) { return __nvvm_mul_##ptx##_d(x, y); }               \
  HEDDLE_DEVICE double __fma_##cuda(double x, double y, double z) { return __nvvm_fma_##ptx##_d(x, y, z); }   \
  HEDDLE_DEVICE double __ddiv_##cuda(double x, double y) { return __nvvm_div_##ptx##_d(x, y); }               \
  HEDDLE_DEVICE double __drcp_##cuda(double x) { return __nvvm_rcp_##ptx##_d(x); }                            \
  HEDDLE_DEVICE double __dsqrt_##cuda(double x) { return __nvvm_sqrt_##ptx##_d(x); }                          \
  HEDDLE_DEVICE int __float2int_##cuda(float x) { return __nvvm_f2i_##ptx(x); }                               \
  HEDDLE_DEVICE unsigned int __float2uint_##cuda(float x) { return __nvvm_f2ui_##ptx(x); }                    \
  HEDDLE_DEVICE long long __float2ll_##cuda(float x) { return __nvvm_f2ll_##ptx(x); }                         \
  HEDDLE_DEVICE unsigned long long __float2ull_##cuda(float x) { return __nvvm_f2ull_##ptx(x); }              \
  HEDDLE_DEVICE int __double2int_##cuda(double x) { return __nvvm_d2i_##ptx(x); }                             \
  HEDDLE_DEVICE unsigned int __double2uint_##cuda(double x) { return __nvvm_d2ui_##ptx(x); }                  \
  HEDDLE_DEVICE long long __double2ll_##cuda(double x) { return __nvvm_d2ll_##ptx(x); }                       \
  HEDDLE_DEVICE unsigned long long __double2ull_##cuda(double x) { return __nvvm_d2ull_##ptx(x); }            \
  HEDDLE_DEVICE float __double2float_##cuda(double x) { return __nvvm_d2f_##ptx(x); }
HEDDLE_ROUNDED(rn, rn)
HEDDLE_ROUNDED(rz, rz)
HEDDLE_ROUNDED(rd, rm)
HEDDLE_ROUNDED(ru, rp)
#undef HEDDLE_ROUNDED

// LLVM 19 takes the built-in functions that round to zero for those that round to nearest: PTX itself is written here.
#define HEDDLE_FROM_INTEGER(name, to, from, to_ptx, from_ptx, to_code, from_code)           \
  HEDDLE_DEVICE to __##name##_rn(from x) { return static_cast<to>(x); }                     \
  HEDDLE_FROM_INTEGER_ROUNDED(name, to, from, to_ptx, from_ptx, to_code, from_code, rz, rz) \
  HEDDLE_FROM_INTEGER_ROUNDED(name, to, from, to_ptx, from_ptx, to_code, from_code, rd, rm) \
  HEDDLE_FROM_INTEGER_ROUNDED(name, to, from, to_ptx, from_ptx, to_code, from_code, ru, rp)
#define HEDDLE_FROM_INTEGER_ROUNDED(name, to, from, to_ptx, from_ptx, to_code, from_code, cuda, ptx) \
  HEDDLE_DEVICE to __##name##_##cuda(from x) {                                                       \
    to result;                                                                                       \
    asm("cvt." #ptx "." #to_ptx "." #from_ptx " %0, %1;" : "=" #to_code(result) : #from_code(x));    \
    return result;                                                                                   \
  }
HEDDLE_FROM_INTEGER(int2float, float, int, f32, s32, f, r)
HEDDLE_FROM_INTEGER(uint2float, float, unsigned int, f32, u32, f, r)
HEDDLE_FROM_INTEGER(ll2float, float, long long, f32, s64, f, l)
HEDDLE_FROM_INTEGER(ull2float, float, unsigned long long, f32, u64, f, l)
HEDDLE_FROM_INTEGER(ll2double, double, long long, f64, s64, d, l)
HEDDLE_FROM_INTEGER(ull2double, double, unsigned long long, f64, u64, d, l)
#undef HEDDLE_FROM_INTEGER_ROUNDED
#undef HEDDLE_FROM_INTEGER
HEDDLE_DEVICE double __int2double_rn(int x) { return x; }
HEDDLE_DEVICE double __uint2double_rn(unsigned int x) { return x; }
HEDDLE_DEVICE float __frsqrt_rn(float x) { return __nv_rsqrtf(x); }
HEDDLE_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }

// --- bits

#define HEDDLE_BITS(name, to, from) \
  HEDDLE_DEVICE to name(from x) { return __builtin_bit_cast(to, x); }
HEDDLE_BITS(__float_as_int, int, float)
HEDDLE_BITS(__float_as_uint, unsigned int, float)
HEDDLE_BITS(__int_as_float, float, int)
HEDDLE_BITS(__uint_as_float, float, unsigned int)
HEDDLE_BITS(__double_as_longlong, long long, double)
HEDDLE_BITS(__longlong_as_double, double, long long)
#undef HEDDLE_BITS
HEDDLE_DEVICE int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
HEDDLE_DEVICE int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
HEDDLE_DEVICE double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      (static_cast<unsigned long long>(static_cast<unsigned int>(high)) << 32) | static_cast<unsigned int>(low)));
}

HEDDLE_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
HEDDLE_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
HEDDLE_DEVICE int __clz(int x) { return x != 0 ? __builtin_clz(x) : 32; }
HEDDLE_DEVICE int __clzll(long long x) { return x != 0 ? __builtin_clzll(x) : 64; }
HEDDLE_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
HEDDLE_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
HEDDLE_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
HEDDLE_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
HEDDLE_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) { return __nvvm_prmt(x, y, s); }
// The position of the `offset`-th set bit from `base` on (upwards if positive, downwards if negative); all ones if
// there is none.
HEDDLE_DEVICE unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  if (offset == 0) return (mask >> base) & 1 ? base : 0xffffffffu;
  int left = offset > 0 ? offset : -offset;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += offset > 0 ? 1 : -1) {
    if (((mask >> i) & 1) != 0 && --left == 0) return static_cast<unsigned int>(i);
  }
  return 0xffffffffu;
}
HEDDLE_DEVICE unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
  return static_cast<unsigned int>((((static_cast<unsigned long long>(hi) << 32) | lo) << (shift & 31)) >> 32);
}
HEDDLE_DEVICE unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return static_cast<unsigned int>((((static_cast<unsigned long long>(hi) << 32) | lo) << (shift < 32 ? shift : 32)) >>
                                   32);
}
HEDDLE_DEVICE unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
  return static_cast<unsigned int>(((static_cast<unsigned long long>(hi) << 32) | lo) >> (shift & 31));
}
HEDDLE_DEVICE unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return static_cast<unsigned int>(((static_cast<unsigned long long>(hi) << 32) | lo) >> (shift < 32 ? shift : 32));
}

// --- integers

HEDDLE_DEVICE int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
HEDDLE_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
HEDDLE_DEVICE int mul24(int x, int y) { return __mul24(x, y); }
HEDDLE_DEVICE unsigned int umul24(unsigned int x, unsigned int y) { return __umul24(x, y); }
HEDDLE_DEVICE int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
HEDDLE_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
HEDDLE_DEVICE long long __mul64hi(long long x, long long y) {
  return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
HEDDLE_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
HEDDLE_DEVICE unsigned int __sad(int x, int y, unsigned int z) {
  return (x > y ? static_cast<unsigned int>(x) - y : static_cast<unsigned int>(y) - x) + z;
}
HEDDLE_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return (x > y ? x - y : y - x) + z;
}
HEDDLE_DEVICE int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
HEDDLE_DEVICE int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
HEDDLE_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y) { return (x & y) + ((x ^ y) >> 1); }
HEDDLE_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y) { return (x | y) - ((x ^ y) >> 1); }

// Dot products of bytes, and of 16-bit numbers with the low or high bytes: an instruction since compute capability 6.1.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610
#define HEDDLE_DOT(name, opcode, type, ...)                              \
  HEDDLE_DEVICE type name(type x, type y, type z) {                      \
    type sum;                                                            \
    asm(opcode " %0, %1, %2, %3;" : "=r"(sum) : "r"(x), "r"(y), "r"(z)); \
    return sum;                                                          \
  }
#else
#define HEDDLE_DOT(name, opcode, type, ...) \
  HEDDLE_DEVICE type name(type x, type y, type z) { return z + __VA_ARGS__; }
#endif
#define HEDDLE_BYTE(word, i, byte) static_cast<byte>((word) >> 8 * (i))
#define HEDDLE_DOTS(type, half, byte, code)                                                                          \
  HEDDLE_DOT(__dp4a, "dp4a." code, type,                                                                             \
             HEDDLE_BYTE(x, 0, byte) * HEDDLE_BYTE(y, 0, byte) + HEDDLE_BYTE(x, 1, byte) * HEDDLE_BYTE(y, 1, byte) + \
                 HEDDLE_BYTE(x, 2, byte) * HEDDLE_BYTE(y, 2, byte) +                                                 \
                 HEDDLE_BYTE(x, 3, byte) * HEDDLE_BYTE(y, 3, byte))                                                  \
  HEDDLE_DOT(__dp2a_lo, "dp2a.lo." code, type,                                                                       \
             static_cast<half>(x) * HEDDLE_BYTE(y, 0, byte) + static_cast<half>(x >> 16) * HEDDLE_BYTE(y, 1, byte))  \
  HEDDLE_DOT(__dp2a_hi, "dp2a.hi." code, type,                                                                       \
             static_cast<half>(x) * HEDDLE_BYTE(y, 2, byte) + static_cast<half>(x >> 16) * HEDDLE_BYTE(y, 3, byte))
HEDDLE_DOTS(int, short, signed char, "s32.s32")
HEDDLE_DOTS(unsigned int, unsigned short, unsigned char, "u32.u32")
#undef HEDDLE_DOTS
#undef HEDDLE_BYTE
#undef HEDDLE_DOT
HEDDLE_DEVICE int __dp4a(char4 x, char4 y, int z) {
  return __dp4a(__builtin_bit_cast(int, x), __builtin_bit_cast(int, y), z);
}
HEDDLE_DEVICE unsigned int __dp4a(uchar4 x, uchar4 y, unsigned int z) {
  return __dp4a(__builtin_bit_cast(unsigned int, x), __builtin_bit_cast(unsigned int, y), z);
}
HEDDLE_DEVICE int __dp2a_lo(short2 x, char4 y, int z) {
  return __dp2a_lo(__builtin_bit_cast(int, x), __builtin_bit_cast(int, y), z);
}
HEDDLE_DEVICE unsigned int __dp2a_lo(ushort2 x, uchar4 y, unsigned int z) {
  return __dp2a_lo(__builtin_bit_cast(unsigned int, x), __builtin_bit_cast(unsigned int, y), z);
}
HEDDLE_DEVICE int __dp2a_hi(short2 x, char4 y, int z) {
  return __dp2a_hi(__builtin_bit_cast(int, x), __builtin_bit_cast(int, y), z);
}
HEDDLE_DEVICE unsigned int __dp2a_hi(ushort2 x, uchar4 y, unsigned int z) {
  return __dp2a_hi(__builtin_bit_cast(unsigned int, x), __builtin_bit_cast(unsigned int, y), z);
}

// --- loads and stores with a hint for the caches: what is loaded and stored is the same

#define HEDDLE_LOAD(name)                  \
  template <typename T>                    \
  HEDDLE_DEVICE T name(const T* pointer) { \
    return *pointer;                       \
  }
HEDDLE_LOAD(__ldg)
HEDDLE_LOAD(__ldca)
HEDDLE_LOAD(__ldcg)
HEDDLE_LOAD(__ldcs)
HEDDLE_LOAD(__ldlu)
#undef HEDDLE_LOAD
// Loaded anew each time: one volatile access of the size of the type.
template <__SIZE_TYPE__ kBytes>
struct heddle_bits_of;
template <>
struct heddle_bits_of<1> {
  typedef unsigned char type;
};
template <>
struct heddle_bits_of<2> {
  typedef unsigned short type;
};
template <>
struct heddle_bits_of<4> {
  typedef unsigned int type;
};
template <>
struct heddle_bits_of<8> {
  typedef unsigned long long type;
};
template <>
struct heddle_bits_of<16> {
  typedef unsigned int type __attribute__((ext_vector_type(4)));
};
template <typename T>
HEDDLE_DEVICE T __ldcv(const T* pointer) {
  // A vector of two whose alignment is that of one of its elements would be a misaligned access.
  typedef typename heddle_bits_of<sizeof(T)>::type Bits;
  static_assert(alignof(T) == alignof(Bits), "__ldcv loads CUDA's own types");
  return __builtin_bit_cast(T, *reinterpret_cast<const volatile Bits*>(pointer));
}
#define HEDDLE_STORE(name)                       \
  template <typename T>                          \
  HEDDLE_DEVICE void name(T* pointer, T value) { \
    *pointer = value;                            \
  }
HEDDLE_STORE(__stwb)
HEDDLE_STORE(__stcg)
HEDDLE_STORE(__stcs)
HEDDLE_STORE(__stwt)
#undef HEDDLE_STORE

// --- address spaces

HEDDLE_DEVICE unsigned int __isGlobal(const void* pointer) { return __nvvm_isspacep_global(pointer); }
HEDDLE_DEVICE unsigned int __isShared(const void* pointer) { return __nvvm_isspacep_shared(pointer); }
HEDDLE_DEVICE unsigned int __isConstant(const void* pointer) { return __nvvm_isspacep_const(pointer); }
HEDDLE_DEVICE unsigned int __isLocal(const void* pointer) { return __nvvm_isspacep_local(pointer); }
HEDDLE_DEVICE __SIZE_TYPE__ __cvta_generic_to_shared(const void* pointer) {
  return (__SIZE_TYPE__)(__attribute__((address_space(3))) const void*)pointer;
}
HEDDLE_DEVICE __SIZE_TYPE__ __cvta_generic_to_global(const void* pointer) {
  return (__SIZE_TYPE__)(__attribute__((address_space(1))) const void*)pointer;
}
HEDDLE_DEVICE __SIZE_TYPE__ __cvta_generic_to_constant(const void* pointer) {
  return (__SIZE_TYPE__)(__attribute__((address_space(4))) const void*)pointer;
}
HEDDLE_DEVICE __SIZE_TYPE__ __cvta_generic_to_local(const void* pointer) {
  return (__SIZE_TYPE__)(__attribute__((address_space(5))) const void*)pointer;
}
HEDDLE_DEVICE void* __cvta_constant_to_generic(__SIZE_TYPE__ pointer) {
  return (void*)(__attribute__((address_space(4))) void*)pointer;
}
HEDDLE_DEVICE void* __cvta_local_to_generic(__SIZE_TYPE__ pointer) {
  return (void*)(__attribute__((address_space(5))) void*)pointer;
}
HEDDLE_DEVICE void* __cvta_shared_to_generic(__SIZE_TYPE__ pointer) {
  return (void*)(__attribute__((address_space(3))) void*)pointer;
}
HEDDLE_DEVICE void* __cvta_global_to_generic(__SIZE_TYPE__ pointer) {
  return (void*)(__attribute__((address_space(1))) void*)pointer;
}

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_INTRINSICS_H_
