// Work-items, barriers and atomics of OpenCL C. A work-group is a thread block. In a program that the OpenCL driver
// builds (HEDDLE_OPENCL_PROGRAM), dimensions and offset of the index space are in PTX's environment registers, as with
// other OpenCL implementations for PTX; the launches of a recipe have no offset.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_GEOMETRY_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_GEOMETRY_H_

#define HEDDLE_BY_DIMENSION(dimension, x, y, z, other) \
  ((dimension) == 0 ? (x) : (dimension) == 1 ? (y) : (dimension) == 2 ? (z) : (other))

HEDDLE_CL size_t get_local_id(uint dimension) {
  return HEDDLE_BY_DIMENSION(dimension, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(),
                             __nvvm_read_ptx_sreg_tid_z(), 0);
}
HEDDLE_CL size_t get_local_size(uint dimension) {
  return HEDDLE_BY_DIMENSION(dimension, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(),
                             __nvvm_read_ptx_sreg_ntid_z(), 1);
}
HEDDLE_CL size_t get_group_id(uint dimension) {
  return HEDDLE_BY_DIMENSION(dimension, __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y(),
                             __nvvm_read_ptx_sreg_ctaid_z(), 0);
}
HEDDLE_CL size_t get_num_groups(uint dimension) {
  return HEDDLE_BY_DIMENSION(dimension, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(),
                             __nvvm_read_ptx_sreg_nctaid_z(), 1);
}
#ifdef HEDDLE_OPENCL_PROGRAM
// clang has no built-in functions for these, but an external function of an intrinsic's name is that intrinsic.
__attribute__((const, nothrow)) uint heddle_environment0(void) __asm("llvm.nvvm.read.ptx.sreg.envreg0");
__attribute__((const, nothrow)) uint heddle_environment3(void) __asm("llvm.nvvm.read.ptx.sreg.envreg3");
__attribute__((const, nothrow)) uint heddle_environment4(void) __asm("llvm.nvvm.read.ptx.sreg.envreg4");
__attribute__((const, nothrow)) uint heddle_environment5(void) __asm("llvm.nvvm.read.ptx.sreg.envreg5");
HEDDLE_CL size_t get_global_offset(uint dimension) {
  return HEDDLE_BY_DIMENSION(dimension, heddle_environment3(), heddle_environment4(), heddle_environment5(), 0u);
}
HEDDLE_CL uint get_work_dim(void) { return heddle_environment0(); }
#else
HEDDLE_CL size_t get_global_offset(uint dimension) { return 0; }
#endif
HEDDLE_CL size_t get_global_id(uint dimension) {
  return (uint)get_group_id(dimension) * (uint)get_local_size(dimension) + (uint)get_local_id(dimension) +
         (uint)get_global_offset(dimension);
}
HEDDLE_CL size_t get_global_size(uint dimension) {
  return (uint)get_num_groups(dimension) * (uint)get_local_size(dimension);
}
#ifndef HEDDLE_OPENCL_PROGRAM
HEDDLE_CL uint get_work_dim(void) { return get_global_size(2) > 1 ? 3 : get_global_size(1) > 1 ? 2 : 1; }
#endif

#define barrier(flags) __syncthreads()
#define work_group_barrier(flags) __syncthreads()
#define mem_fence(flags) __nvvm_membar_cta()
#define read_mem_fence(flags) __nvvm_membar_cta()
#define write_mem_fence(flags) __nvvm_membar_cta()

#define HEDDLE_ATOMIC(name, type, space, builtin)                          \
  HEDDLE_CL type atomic_##name(volatile space type *address, type value) { \
    return builtin(address, value, __ATOMIC_RELAXED);                      \
  }                                                                        \
  HEDDLE_CL type atom_##name(volatile space type *address, type value) {   \
    return builtin(address, value, __ATOMIC_RELAXED);                      \
  }
#define HEDDLE_ATOMICS(type, space)                                                                \
  HEDDLE_ATOMIC(add, type, space, __atomic_fetch_add)                                              \
  HEDDLE_ATOMIC(sub, type, space, __atomic_fetch_sub)                                              \
  HEDDLE_ATOMIC(xchg, type, space, __atomic_exchange_n)                                            \
  HEDDLE_ATOMIC(min, type, space, __atomic_fetch_min)                                              \
  HEDDLE_ATOMIC(max, type, space, __atomic_fetch_max)                                              \
  HEDDLE_ATOMIC(and, type, space, __atomic_fetch_and)                                              \
  HEDDLE_ATOMIC(or, type, space, __atomic_fetch_or)                                                \
  HEDDLE_ATOMIC(xor, type, space, __atomic_fetch_xor)                                              \
  HEDDLE_CL type atomic_inc(volatile space type *address) { return atomic_add(address, (type)1); } \
  HEDDLE_CL type atomic_dec(volatile space type *address) { return atomic_sub(address, (type)1); } \
  HEDDLE_CL type atom_inc(volatile space type *address) { return atomic_add(address, (type)1); }   \
  HEDDLE_CL type atom_dec(volatile space type *address) { return atomic_sub(address, (type)1); }   \
  HEDDLE_CL type atomic_cmpxchg(volatile space type *address, type compare, type value) {          \
    __atomic_compare_exchange_n(address, &compare, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);  \
    return compare;                                                                                \
  }                                                                                                \
  HEDDLE_CL type atom_cmpxchg(volatile space type *address, type compare, type value) {            \
    return atomic_cmpxchg(address, compare, value);                                                \
  }
HEDDLE_ATOMICS(int, __global)
HEDDLE_ATOMICS(uint, __global)
HEDDLE_ATOMICS(long, __global)
HEDDLE_ATOMICS(ulong, __global)
HEDDLE_ATOMICS(int, __local)
HEDDLE_ATOMICS(uint, __local)
HEDDLE_ATOMICS(long, __local)
HEDDLE_ATOMICS(ulong, __local)
// OpenCL C has this one for float too; the bits are exchanged.
#define HEDDLE_FLOAT_EXCHANGE(name, space)                                      \
  HEDDLE_CL float name(volatile space float *address, float value) {            \
    return as_float(atomic_xchg((volatile space int *)address, as_int(value))); \
  }
HEDDLE_FLOAT_EXCHANGE(atomic_xchg, __global)
HEDDLE_FLOAT_EXCHANGE(atomic_xchg, __local)
HEDDLE_FLOAT_EXCHANGE(atom_xchg, __global)
HEDDLE_FLOAT_EXCHANGE(atom_xchg, __local)
#undef HEDDLE_FLOAT_EXCHANGE
#undef HEDDLE_ATOMICS
#undef HEDDLE_ATOMIC

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_GEOMETRY_H_
