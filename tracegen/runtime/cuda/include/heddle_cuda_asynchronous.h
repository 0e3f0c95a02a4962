// Asynchronous copies into shared memory and transaction barriers: the functions of cuda_pipeline.h and
// cuda_awbarrier.h. From compute capability 8.0 on they are the instructions; below it copies are loads and stores, and
// barriers are refused when a kernel that uses them is launched.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ASYNCHRONOUS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ASYNCHRONOUS_H_

#ifdef __CUDA__
extern "C" __device__ unsigned long long __heddle_split_barrier();

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

#define HEDDLE_FUNCTION static __forceinline__ __device__

namespace heddle_asynchronous {

HEDDLE_FUNCTION unsigned int Shared(const volatile void* pointer) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(const_cast<const void*>(pointer)));
}

// Copies `bytes` bytes (4, 8 or 16), of which `read` are read and the others become zero. Both pointers are multiples
// of `bytes`.
HEDDLE_FUNCTION void Copy(void* to, const void* from, __SIZE_TYPE__ bytes, __SIZE_TYPE__ read) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned int shared = Shared(to);
  const unsigned int size = static_cast<unsigned int>(read);
  if (bytes == 16) {
    if (read == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    } else {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(size) : "memory");
    }
  } else if (bytes == 8) {
    if (read == 8) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared), "l"(from) : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(from), "r"(size) : "memory");
    }
  } else if (read == 4) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(size) : "memory");
  }
#else
  if (read == bytes && bytes == 16) {
    *static_cast<int4*>(to) = *static_cast<const int4*>(from);
  } else if (read == bytes && bytes == 8) {
    *static_cast<int2*>(to) = *static_cast<const int2*>(from);
  } else if (read == bytes && bytes == 4) {
    *static_cast<int*>(to) = *static_cast<const int*>(from);
  } else {
    for (__SIZE_TYPE__ i = 0; i < bytes; ++i) {
      static_cast<char*>(to)[i] = i < read ? static_cast<const char*>(from)[i] : static_cast<char>(0);
    }
  }
#endif
}

HEDDLE_FUNCTION void Commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until at most kPending groups are not complete: 8 stands for any larger number.
template <unsigned int kPending>
HEDDLE_FUNCTION void WaitPrior() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending < 8 ? kPending : 8) : "memory");
#endif
}

HEDDLE_FUNCTION void WaitAll() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace heddle_asynchronous

// --- cuda_pipeline_primitives.h

HEDDLE_FUNCTION void __pipeline_memcpy_async(void* to, const void* from, __SIZE_TYPE__ bytes,
                                             __SIZE_TYPE__ zero_filled = 0) {
  heddle_asynchronous::Copy(to, from, bytes, bytes - zero_filled);
}
HEDDLE_FUNCTION void __pipeline_commit() { heddle_asynchronous::Commit(); }
HEDDLE_FUNCTION void __pipeline_wait_prior(__SIZE_TYPE__ pending) {
  switch (pending) {
    case 0:
      return heddle_asynchronous::WaitPrior<0>();
    case 1:
      return heddle_asynchronous::WaitPrior<1>();
    case 2:
      return heddle_asynchronous::WaitPrior<2>();
    case 3:
      return heddle_asynchronous::WaitPrior<3>();
    case 4:
      return heddle_asynchronous::WaitPrior<4>();
    case 5:
      return heddle_asynchronous::WaitPrior<5>();
    case 6:
      return heddle_asynchronous::WaitPrior<6>();
    case 7:
      return heddle_asynchronous::WaitPrior<7>();
    default:
      return heddle_asynchronous::WaitPrior<8>();
  }
}

// --- cuda_awbarrier_primitives.h

HEDDLE_FUNCTION unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
HEDDLE_FUNCTION void __mbarrier_init(__mbarrier_t* barrier, unsigned int expected) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(heddle_asynchronous::Shared(barrier)), "r"(expected)
               : "memory");
#else
  __heddle_split_barrier();
#endif
}
HEDDLE_FUNCTION void __mbarrier_inval(__mbarrier_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(heddle_asynchronous::Shared(barrier)) : "memory");
#else
  __heddle_split_barrier();
#endif
}
HEDDLE_FUNCTION __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __mbarrier_token_t token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(heddle_asynchronous::Shared(barrier))
               : "memory");
  return token;
#else
  return __heddle_split_barrier();
#endif
}
HEDDLE_FUNCTION __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __mbarrier_token_t token;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(heddle_asynchronous::Shared(barrier))
               : "memory");
  return token;
#else
  return __heddle_split_barrier();
#endif
}
HEDDLE_FUNCTION bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned int over;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(heddle_asynchronous::Shared(barrier)), "l"(token)
               : "memory");
  return over != 0;
#else
  return __heddle_split_barrier() != 0;
#endif
}
HEDDLE_FUNCTION bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned int over;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(heddle_asynchronous::Shared(barrier)), "r"(static_cast<unsigned int>(parity))
               : "memory");
  return over != 0;
#else
  return __heddle_split_barrier() != 0;
#endif
}
// No time passes while a program is recorded: what is tried waits as long as it takes.
HEDDLE_FUNCTION bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, unsigned int = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int over;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(heddle_asynchronous::Shared(barrier)), "l"(token)
               : "memory");
  return over != 0;
#else
  return __mbarrier_test_wait(barrier, token);
#endif
}
HEDDLE_FUNCTION bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned int = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int over;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(heddle_asynchronous::Shared(barrier)), "r"(static_cast<unsigned int>(parity))
               : "memory");
  return over != 0;
#else
  return __mbarrier_test_wait_parity(barrier, parity);
#endif
}
HEDDLE_FUNCTION unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned int pending;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(token));
  return pending;
#else
  return static_cast<unsigned int>(__heddle_split_barrier() + token);
#endif
}
// The barrier gets an arrival, which its phase did not expect before, when the thread's copies so far are complete.
HEDDLE_FUNCTION void __pipeline_arrive_on(__mbarrier_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(heddle_asynchronous::Shared(barrier)) : "memory");
#else
  __heddle_split_barrier();
#endif
}

#undef HEDDLE_FUNCTION
#endif  // __CUDA__

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ASYNCHRONOUS_H_
