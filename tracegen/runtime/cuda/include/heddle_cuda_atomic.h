// CUDA's atomic functions, for all types and scopes. The scope (block, device, system) makes no difference to what they
// compute, and PTX gets the device's.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ATOMIC_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ATOMIC_H_

#define HEDDLE_ATOMIC(name, type, builtin)                                                                 \
  HEDDLE_DEVICE type name(type* address, type value) { return builtin(address, value, __ATOMIC_RELAXED); } \
  HEDDLE_DEVICE type name##_block(type* address, type value) { return name(address, value); }              \
  HEDDLE_DEVICE type name##_system(type* address, type value) { return name(address, value); }
#define HEDDLE_INTEGER_ATOMICS(type)                   \
  HEDDLE_ATOMIC(atomicAdd, type, __atomic_fetch_add)   \
  HEDDLE_ATOMIC(atomicSub, type, __atomic_fetch_sub)   \
  HEDDLE_ATOMIC(atomicExch, type, __atomic_exchange_n) \
  HEDDLE_ATOMIC(atomicMin, type, __atomic_fetch_min)   \
  HEDDLE_ATOMIC(atomicMax, type, __atomic_fetch_max)   \
  HEDDLE_ATOMIC(atomicAnd, type, __atomic_fetch_and)   \
  HEDDLE_ATOMIC(atomicOr, type, __atomic_fetch_or)     \
  HEDDLE_ATOMIC(atomicXor, type, __atomic_fetch_xor)
HEDDLE_INTEGER_ATOMICS(int)
HEDDLE_INTEGER_ATOMICS(unsigned int)
HEDDLE_INTEGER_ATOMICS(long long)
HEDDLE_INTEGER_ATOMICS(unsigned long long)
HEDDLE_ATOMIC(atomicAdd, float, __atomic_fetch_add)
HEDDLE_ATOMIC(atomicAdd, double, __atomic_fetch_add)
#undef HEDDLE_INTEGER_ATOMICS
#undef HEDDLE_ATOMIC

#define HEDDLE_SCOPES1(name, type)                                                            \
  HEDDLE_DEVICE type name##_block(type* address, type value) { return name(address, value); } \
  HEDDLE_DEVICE type name##_system(type* address, type value) { return name(address, value); }
#define HEDDLE_SCOPES2(name, type)                                                                                   \
  HEDDLE_DEVICE type name##_block(type* address, type compare, type value) { return name(address, compare, value); } \
  HEDDLE_DEVICE type name##_system(type* address, type compare, type value) { return name(address, compare, value); }

HEDDLE_DEVICE float atomicExch(float* address, float value) {
  return __builtin_bit_cast(
      float, __atomic_exchange_n(reinterpret_cast<int*>(address), __builtin_bit_cast(int, value), __ATOMIC_RELAXED));
}
HEDDLE_DEVICE int atomicCAS(int* address, int compare, int value) {
  return __nvvm_atom_cas_gen_i(address, compare, value);
}
HEDDLE_DEVICE unsigned int atomicCAS(unsigned int* address, unsigned int compare, unsigned int value) {
  return __nvvm_atom_cas_gen_i(reinterpret_cast<int*>(address), compare, value);
}
HEDDLE_DEVICE unsigned long long atomicCAS(unsigned long long* address, unsigned long long compare,
                                           unsigned long long value) {
  return __nvvm_atom_cas_gen_ll(reinterpret_cast<long long*>(address), compare, value);
}
HEDDLE_DEVICE long long atomicCAS(long long* address, long long compare, long long value) {
  return __nvvm_atom_cas_gen_ll(address, compare, value);
}
// As PTX: the code generator would make of it a loop with exchanges of the word around, as devices before sm_70 need
// it, which may reach behind the end of the variable.
HEDDLE_DEVICE unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(address), "h"(compare), "h"(value) : "memory");
  return old;
}
HEDDLE_DEVICE unsigned int atomicInc(unsigned int* address, unsigned int limit) {
  return __nvvm_atom_inc_gen_ui(address, limit);
}
HEDDLE_DEVICE unsigned int atomicDec(unsigned int* address, unsigned int limit) {
  return __nvvm_atom_dec_gen_ui(address, limit);
}
HEDDLE_SCOPES1(atomicExch, float)
HEDDLE_SCOPES1(atomicInc, unsigned int)
HEDDLE_SCOPES1(atomicDec, unsigned int)
HEDDLE_SCOPES2(atomicCAS, int)
HEDDLE_SCOPES2(atomicCAS, unsigned int)
HEDDLE_SCOPES2(atomicCAS, long long)
HEDDLE_SCOPES2(atomicCAS, unsigned long long)
HEDDLE_SCOPES2(atomicCAS, unsigned short)
#undef HEDDLE_SCOPES1
#undef HEDDLE_SCOPES2

// What compute capability 9 adds. Templates, as programs for other devices define such functions themselves.
template <bool kHolds, typename T>
struct heddle_enable {};
template <typename T>
struct heddle_enable<true, T> {
  typedef T type;
};
// Of vectors each element for itself.
#define HEDDLE_VECTOR_ATOMIC(scope)                                                                             \
  template <typename T>                                                                                         \
  HEDDLE_DEVICE typename heddle_enable<__is_same(T, float2), T>::type atomicAdd##scope(T* address, T value) {   \
    return T{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};                                 \
  }                                                                                                             \
  template <typename T>                                                                                         \
  HEDDLE_DEVICE typename heddle_enable<__is_same(T, float4), T>::type atomicAdd##scope(T* address, T value) {   \
    return T{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y), atomicAdd(&address->z, value.z), \
             atomicAdd(&address->w, value.w)};                                                                  \
  }
HEDDLE_VECTOR_ATOMIC()
HEDDLE_VECTOR_ATOMIC(_block)
HEDDLE_VECTOR_ATOMIC(_system)
#undef HEDDLE_VECTOR_ATOMIC
// Exchanges of 16 bytes, which a launch refuses.
extern "C" __device__ void __heddle_wide_atomic();
#define HEDDLE_WIDE_ATOMIC(scope)                                                                                     \
  template <typename T>                                                                                               \
  HEDDLE_DEVICE typename heddle_enable<sizeof(T) == 16 && alignof(T) == 16, T>::type atomicExch##scope(T*, T value) { \
    __heddle_wide_atomic();                                                                                           \
    return value;                                                                                                     \
  }                                                                                                                   \
  template <typename T>                                                                                               \
  HEDDLE_DEVICE                                                                                                       \
      typename heddle_enable<sizeof(T) == 16 && alignof(T) == 16, T>::type atomicCAS##scope(T*, T, T value) {         \
    __heddle_wide_atomic();                                                                                           \
    return value;                                                                                                     \
  }
HEDDLE_WIDE_ATOMIC()
HEDDLE_WIDE_ATOMIC(_block)
HEDDLE_WIDE_ATOMIC(_system)
#undef HEDDLE_WIDE_ATOMIC

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ATOMIC_H_
