// CUDA's barriers, fences, clocks and operations among the threads of a warp. (__syncthreads is clang's own.)
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SYNC_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SYNC_H_

HEDDLE_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
HEDDLE_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
HEDDLE_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
// Barriers by number, of the whole block or of a number of threads.
HEDDLE_DEVICE void __barrier_sync(unsigned int barrier) { __nvvm_barrier_sync(barrier); }
HEDDLE_DEVICE void __barrier_sync_count(unsigned int barrier, unsigned int threads) {
  __nvvm_barrier_sync_cnt(barrier, threads);
}
HEDDLE_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
HEDDLE_DEVICE void __threadfence() { __nvvm_membar_gl(); }
HEDDLE_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
HEDDLE_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
HEDDLE_DEVICE long clock() { return __nvvm_read_ptx_sreg_clock(); }
static __forceinline__ __device__ __attribute__((noreturn)) void __trap() { __builtin_trap(); }
HEDDLE_DEVICE void __nanosleep(unsigned int) {}
HEDDLE_DEVICE void __brkpt() {}
HEDDLE_DEVICE void __prof_trigger(int) {}

// Shuffles. The last operand holds the segment of `width` lanes and the clamp, as PTX wants it.
#define HEDDLE_SHUFFLE(name, builtin, clamp, offset_type)                                                        \
  HEDDLE_DEVICE int name(unsigned int mask, int value, offset_type offset, int width = 32) {                     \
    return builtin(mask, value, offset, ((32 - width) << 8) | clamp);                                            \
  }                                                                                                              \
  HEDDLE_DEVICE unsigned int name(unsigned int mask, unsigned int value, offset_type offset, int width = 32) {   \
    return static_cast<unsigned int>(name(mask, static_cast<int>(value), offset, width));                        \
  }                                                                                                              \
  HEDDLE_DEVICE float name(unsigned int mask, float value, offset_type offset, int width = 32) {                 \
    return __int_as_float(name(mask, __float_as_int(value), offset, width));                                     \
  }                                                                                                              \
  HEDDLE_DEVICE unsigned long long name(unsigned int mask, unsigned long long value, offset_type offset,         \
                                        int width = 32) {                                                        \
    const unsigned int low = name(mask, static_cast<unsigned int>(value), offset, width);                        \
    const unsigned int high = name(mask, static_cast<unsigned int>(value >> 32), offset, width);                 \
    return (static_cast<unsigned long long>(high) << 32) | low;                                                  \
  }                                                                                                              \
  HEDDLE_DEVICE long long name(unsigned int mask, long long value, offset_type offset, int width = 32) {         \
    return static_cast<long long>(name(mask, static_cast<unsigned long long>(value), offset, width));            \
  }                                                                                                              \
  HEDDLE_DEVICE long name(unsigned int mask, long value, offset_type offset, int width = 32) {                   \
    return static_cast<long>(name(mask, static_cast<unsigned long long>(value), offset, width));                 \
  }                                                                                                              \
  HEDDLE_DEVICE unsigned long name(unsigned int mask, unsigned long value, offset_type offset, int width = 32) { \
    return static_cast<unsigned long>(name(mask, static_cast<unsigned long long>(value), offset, width));        \
  }                                                                                                              \
  HEDDLE_DEVICE double name(unsigned int mask, double value, offset_type offset, int width = 32) {               \
    return __longlong_as_double(name(mask, __double_as_longlong(value), offset, width));                         \
  }
// The forms without a mask are those of devices before Volta: the lanes that run together take part.
#define HEDDLE_OLD_SHUFFLE(name, offset_type)                         \
  template <typename T>                                               \
  HEDDLE_DEVICE T name(T value, offset_type offset, int width = 32) { \
    return name##_sync(__nvvm_activemask(), value, offset, width);    \
  }
HEDDLE_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, 0x1f, int)
HEDDLE_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, 0, unsigned int)
HEDDLE_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, 0x1f, unsigned int)
HEDDLE_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, 0x1f, int)
HEDDLE_OLD_SHUFFLE(__shfl, int)
HEDDLE_OLD_SHUFFLE(__shfl_up, unsigned int)
HEDDLE_OLD_SHUFFLE(__shfl_down, unsigned int)
HEDDLE_OLD_SHUFFLE(__shfl_xor, int)
#undef HEDDLE_OLD_SHUFFLE
#undef HEDDLE_SHUFFLE

HEDDLE_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
HEDDLE_DEVICE int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
HEDDLE_DEVICE int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
HEDDLE_DEVICE int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
HEDDLE_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
HEDDLE_DEVICE unsigned int __activemask() { return __nvvm_activemask(); }
HEDDLE_DEVICE int __all(int predicate) { return __all_sync(__nvvm_activemask(), predicate); }
HEDDLE_DEVICE int __any(int predicate) { return __any_sync(__nvvm_activemask(), predicate); }
HEDDLE_DEVICE unsigned int __ballot(int predicate) { return __ballot_sync(__nvvm_activemask(), predicate); }

// Which lanes have the same value.
#define HEDDLE_MATCH(type, bits, integer)                                                   \
  HEDDLE_DEVICE unsigned int __match_any_sync(unsigned int mask, type value) {              \
    return __nvvm_match_any_sync_i##bits(mask, __builtin_bit_cast(integer, value));         \
  }                                                                                         \
  HEDDLE_DEVICE unsigned int __match_all_sync(unsigned int mask, type value, int* all) {    \
    return __nvvm_match_all_sync_i##bits##p(mask, __builtin_bit_cast(integer, value), all); \
  }
HEDDLE_MATCH(int, 32, unsigned int)
HEDDLE_MATCH(unsigned int, 32, unsigned int)
HEDDLE_MATCH(float, 32, unsigned int)
HEDDLE_MATCH(long, 64, unsigned long long)
HEDDLE_MATCH(unsigned long, 64, unsigned long long)
HEDDLE_MATCH(long long, 64, unsigned long long)
HEDDLE_MATCH(unsigned long long, 64, unsigned long long)
HEDDLE_MATCH(double, 64, unsigned long long)
#undef HEDDLE_MATCH

// The host pass knows all of them: kernels that use them are parsed there, too.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
HEDDLE_DEVICE int __reduce_add_sync(unsigned int mask, int value) { return __nvvm_redux_sync_add(value, mask); }
HEDDLE_DEVICE int __reduce_min_sync(unsigned int mask, int value) { return __nvvm_redux_sync_min(value, mask); }
HEDDLE_DEVICE int __reduce_max_sync(unsigned int mask, int value) { return __nvvm_redux_sync_max(value, mask); }
HEDDLE_DEVICE unsigned int __reduce_add_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_add(value, mask);
}
HEDDLE_DEVICE unsigned int __reduce_min_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_umin(value, mask);
}
HEDDLE_DEVICE unsigned int __reduce_max_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_umax(value, mask);
}
HEDDLE_DEVICE unsigned int __reduce_and_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_and(value, mask);
}
HEDDLE_DEVICE unsigned int __reduce_or_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_or(value, mask);
}
HEDDLE_DEVICE unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_xor(value, mask);
}
#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SYNC_H_
