// Thread block clusters, as they are for kernels that are launched without a cluster's size: every block is a cluster
// of its own. (__cluster_dims__, which gives a size, does not compile.)
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CLUSTER_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CLUSTER_H_

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
HEDDLE_DEVICE unsigned int __clusterDimIsSpecified() { return 0; }
HEDDLE_DEVICE dim3 __clusterDim() { return dim3(1, 1, 1); }
HEDDLE_DEVICE dim3 __clusterRelativeBlockIdx() { return dim3(0, 0, 0); }
HEDDLE_DEVICE dim3 __clusterGridDimInClusters() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
HEDDLE_DEVICE dim3 __clusterIdx() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
HEDDLE_DEVICE unsigned int __clusterRelativeBlockRank() { return 0; }
HEDDLE_DEVICE unsigned int __clusterSizeInBlocks() { return 1; }
HEDDLE_DEVICE void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
HEDDLE_DEVICE void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" :::); }
HEDDLE_DEVICE void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
HEDDLE_DEVICE void __threadfence_cluster() { __nvvm_membar_cta(); }
HEDDLE_DEVICE unsigned int __cluster_query_shared_rank(const void*) { return 0; }
HEDDLE_DEVICE void* __cluster_map_shared_rank(const void* pointer, unsigned int) { return const_cast<void*>(pointer); }
HEDDLE_DEVICE unsigned int __isCtaShared(const void* pointer) { return __nvvm_isspacep_shared(pointer); }
HEDDLE_DEVICE unsigned int __isClusterShared(const void* pointer) { return __nvvm_isspacep_shared(pointer); }
#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CLUSTER_H_
