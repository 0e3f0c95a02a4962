// CUDA's barriers, fences, atomics and operations among the threads of a warp. (__syncthreads is clang's own.)
#ifndef HEDDLE_CUDA_SYNC_H_
#define HEDDLE_CUDA_SYNC_H_

HEDDLE_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
HEDDLE_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
HEDDLE_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
HEDDLE_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
HEDDLE_DEVICE void __threadfence() { __nvvm_membar_gl(); }
HEDDLE_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
HEDDLE_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
HEDDLE_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
static __forceinline__ __device__ __attribute__((noreturn)) void __trap() { __builtin_trap(); }
HEDDLE_DEVICE void __nanosleep(unsigned int) {}

#define HEDDLE_ATOMIC(name, type, builtin) \
  HEDDLE_DEVICE type name(type* address, type value) { return builtin(address, value, __ATOMIC_RELAXED); }
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
HEDDLE_DEVICE unsigned int atomicInc(unsigned int* address, unsigned int limit) {
  return __nvvm_atom_inc_gen_ui(address, limit);
}
HEDDLE_DEVICE unsigned int atomicDec(unsigned int* address, unsigned int limit) {
  return __nvvm_atom_dec_gen_ui(address, limit);
}

// Shuffles. The last operand holds the segment of `width` lanes and the clamp, as PTX wants it.
#define HEDDLE_SHUFFLE(name, builtin, clamp, offset_type)                                                      \
  HEDDLE_DEVICE int name(unsigned int mask, int value, offset_type offset, int width = 32) {                   \
    return builtin(mask, value, offset, ((32 - width) << 8) | clamp);                                          \
  }                                                                                                            \
  HEDDLE_DEVICE unsigned int name(unsigned int mask, unsigned int value, offset_type offset, int width = 32) { \
    return static_cast<unsigned int>(name(mask, static_cast<int>(value), offset, width));                      \
  }                                                                                                            \
  HEDDLE_DEVICE float name(unsigned int mask, float value, offset_type offset, int width = 32) {               \
    return __int_as_float(name(mask, __float_as_int(value), offset, width));                                   \
  }                                                                                                            \
  HEDDLE_DEVICE unsigned long long name(unsigned int mask, unsigned long long value, offset_type offset,       \
                                        int width = 32) {                                                      \
    const unsigned int low = name(mask, static_cast<unsigned int>(value), offset, width);                      \
    const unsigned int high = name(mask, static_cast<unsigned int>(value >> 32), offset, width);               \
    return (static_cast<unsigned long long>(high) << 32) | low;                                                \
  }                                                                                                            \
  HEDDLE_DEVICE long long name(unsigned int mask, long long value, offset_type offset, int width = 32) {       \
    return static_cast<long long>(name(mask, static_cast<unsigned long long>(value), offset, width));          \
  }                                                                                                            \
  HEDDLE_DEVICE long name(unsigned int mask, long value, offset_type offset, int width = 32) {                 \
    return static_cast<long>(name(mask, static_cast<unsigned long long>(value), offset, width));               \
  }                                                                                                            \
  HEDDLE_DEVICE double name(unsigned int mask, double value, offset_type offset, int width = 32) {             \
    return __longlong_as_double(name(mask, __double_as_longlong(value), offset, width));                       \
  }
HEDDLE_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, 0x1f, int)
HEDDLE_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, 0, unsigned int)
HEDDLE_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, 0x1f, unsigned int)
HEDDLE_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, 0x1f, int)
#undef HEDDLE_SHUFFLE

HEDDLE_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
HEDDLE_DEVICE int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
HEDDLE_DEVICE int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
HEDDLE_DEVICE int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
HEDDLE_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
HEDDLE_DEVICE unsigned int __activemask() { return __nvvm_activemask(); }

#endif  // HEDDLE_CUDA_SYNC_H_
