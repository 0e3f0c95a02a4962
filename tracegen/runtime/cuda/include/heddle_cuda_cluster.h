// Thread block clusters: the built-in functions that headers of CUDA have, from compute capability 9.0 on.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CLUSTER_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CLUSTER_H_

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// Reads a PTX special register.
#define HEDDLE_CLUSTER_REGISTER(name)                             \
  ({                                                              \
    unsigned int heddle_value;                                    \
    asm volatile("mov.u32 %0, %%" name ";" : "=r"(heddle_value)); \
    heddle_value;                                                 \
  })
#define HEDDLE_CLUSTER_DIM3(name) \
  dim3(HEDDLE_CLUSTER_REGISTER(name ".x"), HEDDLE_CLUSTER_REGISTER(name ".y"), HEDDLE_CLUSTER_REGISTER(name ".z"))

HEDDLE_DEVICE unsigned int __clusterDimIsSpecified() {
  unsigned int is_specified;
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(is_specified));
  return is_specified;
}
HEDDLE_DEVICE dim3 __clusterDim() { return HEDDLE_CLUSTER_DIM3("cluster_nctaid"); }
HEDDLE_DEVICE dim3 __clusterRelativeBlockIdx() { return HEDDLE_CLUSTER_DIM3("cluster_ctaid"); }
HEDDLE_DEVICE dim3 __clusterGridDimInClusters() { return HEDDLE_CLUSTER_DIM3("nclusterid"); }
HEDDLE_DEVICE dim3 __clusterIdx() { return HEDDLE_CLUSTER_DIM3("clusterid"); }
HEDDLE_DEVICE unsigned int __clusterRelativeBlockRank() { return HEDDLE_CLUSTER_REGISTER("cluster_ctarank"); }
HEDDLE_DEVICE unsigned int __clusterSizeInBlocks() { return HEDDLE_CLUSTER_REGISTER("cluster_nctarank"); }
HEDDLE_DEVICE void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
HEDDLE_DEVICE void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" :::); }
HEDDLE_DEVICE void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
HEDDLE_DEVICE void __threadfence_cluster() { __nvvm_membar_gl(); }
HEDDLE_DEVICE unsigned int __cluster_query_shared_rank(const void* pointer) {
  unsigned int rank;
  asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(pointer));
  return rank;
}
HEDDLE_DEVICE void* __cluster_map_shared_rank(const void* pointer, unsigned int rank) {
  void* mapped;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(pointer), "r"(rank));
  return mapped;
}
HEDDLE_DEVICE unsigned int __isCtaShared(const void* pointer) { return __nvvm_isspacep_shared(pointer); }
HEDDLE_DEVICE unsigned int __isClusterShared(const void* pointer) {
  unsigned int is_shared;
  asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
               : "=r"(is_shared)
               : "l"(pointer));
  return is_shared;
}
#undef HEDDLE_CLUSTER_DIM3
#undef HEDDLE_CLUSTER_REGISTER
#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CLUSTER_H_
