// Clusters of several thread blocks: shared memory of other blocks, barriers, queries, attributes of launches, and
// sizes that cannot be.
// nvcc: -arch=sm_90 -std=c++17 -Xcompiler -Werror
#include <cooperative_groups.h>
#include <cuda.h>

#include "check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr int kBins = 128;  // of a cluster; each block has a share of them

// Each block counts into the bins of its whole cluster, and hands in its own share.
__global__ void Histogram(const unsigned int* values, int count, unsigned int* out) {
  __shared__ unsigned int bins[kBins];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned int share = kBins / cluster.num_blocks();
  for (unsigned int bin = threadIdx.x; bin < share; bin += blockDim.x) bins[bin] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned int bin = values[i] % kBins;
    atomicAdd(cluster.map_shared_rank(bins, static_cast<int>(bin / share)) + bin % share, 1u);
  }
  cluster.sync();
  for (unsigned int bin = threadIdx.x; bin < share; bin += blockDim.x) {
    atomicAdd(&out[cluster.block_rank() * share + bin], bins[bin]);
  }
}

// The block with rank 0 adds up what the others have left in their shared memory; they stay until it has.
__global__ void __cluster_dims__(2, 2, 1) Sum(const int* values, int* sums) {
  __shared__ int partial;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) partial = 0;
  __syncthreads();
  const unsigned int block = blockIdx.x + gridDim.x * blockIdx.y;
  atomicAdd(&partial, values[block * blockDim.x + threadIdx.x]);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned int rank = 0; rank < cluster.num_blocks(); ++rank) sum += *cluster.map_shared_rank(&partial, rank);
    sums[__clusterIdx().x + __clusterGridDimInClusters().x * __clusterIdx().y] = sum;
  }
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token&&>(token));
}

// What each thread knows of its place.
__global__ void __cluster_dims__(2, 1, 2) Places(int* out) {
  __shared__ int here;
  const cg::cluster_group cluster = cg::this_cluster();
  const dim3 block = cluster.block_index(), blocks = cluster.dim_blocks(), id = __clusterIdx();
  const dim3 thread = cluster.thread_index();
  const unsigned int number = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int* const there = cluster.map_shared_rank(&here, static_cast<int>(cluster.block_rank() ^ 3));
  const unsigned int values[] = {cluster.block_rank(),
                                 cluster.num_blocks(),
                                 block.x + 10 * block.y + 100 * block.z,
                                 blocks.x + 10 * blocks.y + 100 * blocks.z,
                                 id.x + 10 * id.y + 100 * id.z,
                                 cluster.thread_rank(),
                                 thread.x + 1000 * thread.z,
                                 cluster.query_shared_rank(&here),
                                 cluster.query_shared_rank(there),
                                 __isClusterShared(there) + 2 * __isCtaShared(&here) + 4 * __isCtaShared(there),
                                 __clusterDimIsSpecified()};
  constexpr int kCount = sizeof(values) / sizeof(values[0]);
  for (int i = 0; i < kCount; ++i) out[(number * blockDim.x + threadIdx.x) * kCount + i] = static_cast<int>(values[i]);
}

// Instructions on shared memory of the cluster; the last block is told by a barrier in its own memory.
__global__ void __launch_bounds__(1024, 1, 8) Ring(int* out) {
  __shared__ int cells[4];
  __shared__ alignas(8) unsigned long long arrivals;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned int rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  const unsigned int cell = static_cast<unsigned int>(__cvta_generic_to_shared(cells));
  const unsigned int barrier = static_cast<unsigned int>(__cvta_generic_to_shared(&arrivals));
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(cluster.num_blocks()));
  cells[threadIdx.x % 4] = 0;
  cluster.sync();
  if (threadIdx.x == 0) {
    unsigned int remote, there, old;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(cell), "r"(next));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(100 + rank) : "memory");
    asm volatile("red.shared::cluster.add.u32 [%0+4], %1;" ::"r"(remote), "r"(7) : "memory");
    asm volatile("atom.shared::cluster.add.u32 %0, [%1+4], %2;" : "=r"(old) : "r"(remote), "r"(2) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(there) : "r"(remote) : "memory");
    asm volatile("st.shared::cluster.u32 [%0+8], %1;" ::"r"(cell), "r"(10 * there + old) : "memory");
    // All blocks arrive at the barrier of each.
    for (unsigned int to = 0; to < cluster.num_blocks(); ++to) {
      unsigned int remote_barrier;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote_barrier) : "r"(barrier), "r"(to));
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote_barrier) : "memory");
    }
  }
  unsigned int is_over = 0;
  while (is_over == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(is_over)
        : "r"(barrier)
        : "memory");
  }
  if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = cells[threadIdx.x];
  cluster.sync();
}

// Rank 0 waits for a flag that the last block sets in its shared memory.
__global__ void Flag(int* out) {
  __shared__ int flag;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) flag = 0;
  cluster.sync();
  if (threadIdx.x == 0 && cluster.block_rank() == cluster.num_blocks() - 1) {
    *cluster.map_shared_rank(&flag, 0) = 1 + static_cast<int>(blockIdx.x);
  }
  if (threadIdx.x == 0 && cluster.block_rank() == 0) {
    while (*static_cast<volatile int*>(&flag) == 0) {
    }
    out[blockIdx.x] = flag;
  }
  cluster.sync();
}

template <typename... Arguments>
cudaError_t Launch(void (*kernel)(Arguments...), dim3 grid, dim3 block, dim3 cluster, Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

void Histograms() {
  constexpr int kCount = 5000;
  unsigned int *values, *out, expected[kBins] = {};
  CALL(cudaMallocManaged(&values, kCount * sizeof(unsigned int)));
  CALL(cudaMallocManaged(&out, kBins * sizeof(unsigned int)));
  for (int i = 0; i < kCount; ++i) ++expected[(values[i] = i * 2654435761u >> 7) % kBins];
  for (unsigned int blocks = 1; blocks <= 8; blocks *= 2) {
    for (int bin = 0; bin < kBins; ++bin) out[bin] = 0;
    CALL(Launch(Histogram, 8, kThreads, blocks, static_cast<const unsigned int*>(values), kCount, out));
    CALL(cudaDeviceSynchronize());
    for (int bin = 0; bin < kBins; ++bin) EXPECT(out[bin] == expected[bin]);
  }
}

void Sums() {
  int *values, *sums;
  CALL(cudaMallocManaged(&values, 24 * kThreads * sizeof(int)));
  CALL(cudaMallocManaged(&sums, 6 * sizeof(int)));
  for (int i = 0; i < 24 * kThreads; ++i) values[i] = i;
  Sum<<<dim3(6, 4), kThreads>>>(values, sums);
  CALL(cudaDeviceSynchronize());
  for (int cluster = 0; cluster < 6; ++cluster) {
    int expected = 0;
    for (int rank = 0; rank < 4; ++rank) {
      const int block = cluster % 3 * 2 + rank % 2 + 6 * (cluster / 3 * 2 + rank / 2);
      for (int t = 0; t < kThreads; ++t) expected += block * kThreads + t;
    }
    EXPECT(sums[cluster] == expected);
  }
}

void AllPlaces() {
  constexpr int kCount = 11, kBlocks = 4 * 3 * 2;
  int* out;
  CALL(cudaMallocManaged(&out, kBlocks * 2 * kCount * sizeof(int)));
  Places<<<dim3(4, 3, 2), 2>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int block = 0; block < kBlocks; ++block) {
    const int x = block % 4, y = block / 4 % 3, z = block / 12, rank = x % 2 + 2 * (z % 2);
    for (int t = 0; t < 2; ++t) {
      const int expected[kCount] = {rank,
                                    4,
                                    x % 2 + 100 * (z % 2),
                                    212,
                                    x / 2 + 10 * y,
                                    2 * rank + t,
                                    x % 2 * 2 + t + 1000 * (z % 2),
                                    rank,
                                    rank ^ 3,
                                    3,
                                    1};
      for (int i = 0; i < kCount; ++i) EXPECT(out[(block * 2 + t) * kCount + i] == expected[i]);
    }
  }
}

void Rings() {
  int* out;
  CALL(cudaMallocManaged(&out, 12 * 4 * sizeof(int)));
  CALL(Launch(Ring, 12, 32, 3, out));
  CALL(cudaDeviceSynchronize());
  for (int block = 0; block < 12; ++block) {
    const int rank = block % 3;
    EXPECT(out[4 * block] == 100 + (rank + 2) % 3);
    EXPECT(out[4 * block + 1] == 9);
    EXPECT(out[4 * block + 2] == 10 * (100 + rank) + 7);
  }
  for (int block = 0; block < 12; ++block) out[block] = 0;
  CALL(Launch(Flag, 8, 32, 4, out));
  CALL(cudaDeviceSynchronize());
  EXPECT(out[0] == 4 && out[4] == 8);
}

void Sizes() {
  int* out;
  CALL(cudaMallocManaged(&out, 64 * 4 * sizeof(int)));
  EXPECT(Launch(Flag, 8, 32, 3, out) == cudaErrorInvalidClusterSize);
  EXPECT(Launch(Flag, 16, 32, 16, out) == cudaErrorInvalidClusterSize);
  EXPECT(Launch(Flag, 32, 32, 32, out) == cudaErrorInvalidClusterSize);
  EXPECT(Launch(Sum, dim3(6, 4), kThreads, dim3(2, 1), static_cast<const int*>(out), out) ==
         cudaErrorInvalidClusterSize);
  (void)cudaGetLastError();

  cudaFuncAttributes attributes;
  CALL(cudaFuncGetAttributes(&attributes, Sum));
  EXPECT(attributes.clusterDimMustBeSet == 1 && attributes.requiredClusterWidth == 2);
  EXPECT(attributes.requiredClusterHeight == 2 && attributes.requiredClusterDepth == 1);
  cudaLaunchAttribute size = {};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(64);
  config.blockDim = dim3(1024);
  config.attrs = &size;
  config.numAttrs = 1;
  int clusters = 0, largest = 0, multiprocessors = 0;
  CALL(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  CALL(cudaOccupancyMaxActiveClusters(&clusters, Flag, &config));
  EXPECT(clusters > 0 && clusters <= multiprocessors * 2 / 4);
  CALL(cudaOccupancyMaxPotentialClusterSize(&largest, Flag, &config));
  EXPECT(largest == 8);
  CALL(cudaFuncSetAttribute(Flag, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CALL(cudaOccupancyMaxPotentialClusterSize(&largest, Flag, &config));
  EXPECT(largest == 16);
  CALL(Launch(Flag, 16, 32, 16, out));
  CALL(cudaDeviceSynchronize());
  EXPECT(out[0] == 16);

  // In a graph, and by the driver's interface.
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  size.val.clusterDim = {2, 1, 1};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  config.stream = stream;
  CALL(cudaLaunchKernelEx(&config, Flag, out));
  CALL(cudaStreamEndCapture(stream, &graph));
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaStreamSynchronize(stream));
  EXPECT(out[0] == 2 && out[2] == 4);
  // Its node keeps the clusters when it gets other parameters, and takes others when it is asked for them.
  cudaGraphNode_t node;
  size_t count = 1;
  CALL(cudaGraphGetNodes(graph, &node, &count));
  cudaKernelNodeParams parameters;
  CALL(cudaGraphKernelNodeGetParams(node, &parameters));
  parameters.gridDim = dim3(6);
  CALL(cudaGraphExecKernelNodeSetParams(executable, node, &parameters));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaStreamSynchronize(stream));
  EXPECT(out[0] == 2 && out[2] == 4 && out[4] == 6);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphKernelNodeSetParams(node, &parameters));
  cudaLaunchAttributeValue value;
  CALL(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
  EXPECT(value.clusterDim.x == 2 && value.clusterDim.y == 1 && value.clusterDim.z == 1);
  parameters.gridDim = dim3(3);
  EXPECT(cudaGraphKernelNodeSetParams(node, &parameters) == cudaErrorInvalidClusterSize);
  value.clusterDim.x = 4;
  EXPECT(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value) ==
         cudaErrorInvalidClusterSize);
  value.clusterDim.x = 3;
  CALL(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaStreamSynchronize(stream));
  EXPECT(out[0] == 3 && out[3] == 6);
  // Clusters for which a kernel was compiled are no attribute: another kernel does not get them, and keeps its own.
  cudaGraphNode_t compiled, copy;
  int* sums;
  CALL(cudaMallocManaged(&sums, 6 * sizeof(int)));
  const int* values;
  CALL(cudaMallocManaged(&values, 24 * kThreads * sizeof(int)));
  void* of_sum[] = {&values, &sums};
  void* of_flag[] = {&out};
  cudaKernelNodeParams sum = {};
  sum.func = reinterpret_cast<void*>(Sum);
  sum.gridDim = dim3(6, 4);
  sum.blockDim = dim3(kThreads);
  sum.kernelParams = of_sum;
  CALL(cudaGraphAddKernelNode(&compiled, graph, nullptr, 0, &sum));
  cudaKernelNodeParams flag = sum;
  flag.func = reinterpret_cast<void*>(Flag);
  flag.gridDim = dim3(3);
  flag.kernelParams = of_flag;
  CALL(cudaGraphKernelNodeSetParams(compiled, &flag));
  CALL(cudaGraphKernelNodeSetParams(compiled, &sum));
  CALL(cudaGraphKernelNodeGetAttribute(compiled, cudaLaunchAttributeClusterDimension, &value));
  EXPECT(value.clusterDim.x == 2 && value.clusterDim.y == 2 && value.clusterDim.z == 1);
  // Attributes that are copied have to suit the other launch.
  CALL(cudaGraphAddKernelNode(&copy, graph, nullptr, 0, &flag));
  CALL(cudaGraphKernelNodeCopyAttributes(copy, node));
  CALL(cudaGraphKernelNodeGetAttribute(copy, cudaLaunchAttributeClusterDimension, &value));
  EXPECT(value.clusterDim.x == 3);
  EXPECT(cudaGraphKernelNodeCopyAttributes(compiled, node) == cudaErrorInvalidClusterSize);
  // By the driver's interface.
  CUDA_KERNEL_NODE_PARAMS of_node;
  EXPECT(cuGraphKernelNodeGetParams(copy, &of_node) == CUDA_SUCCESS);
  EXPECT(of_node.gridDimX == 3 && of_node.blockDimX == kThreads);
  of_node.gridDimX = 9;
  EXPECT(cuGraphKernelNodeSetParams(copy, &of_node) == CUDA_SUCCESS);
  CUkernelNodeAttrValue of_copy;
  EXPECT(cuGraphKernelNodeGetAttribute(copy, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &of_copy) == CUDA_SUCCESS);
  EXPECT(of_copy.clusterDim.x == 3);
  EXPECT(cuGraphExecKernelNodeSetParams(executable, node, &of_node) == CUDA_SUCCESS);
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaStreamSynchronize(stream));
  EXPECT(out[0] == 3 && out[3] == 6 && out[6] == 9);

  CUfunction function;
  CALL(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(Flag)));
  CUlaunchAttribute of_driver = {};
  of_driver.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  of_driver.value.clusterDim = {4, 1, 1};
  CUlaunchConfig driver = {4, 1, 1, 32, 1, 1, 0, nullptr, &of_driver, 1};
  void* arguments[] = {&out};
  EXPECT(cuLaunchKernelEx(&driver, function, arguments, nullptr) == CUDA_SUCCESS);
  CALL(cudaDeviceSynchronize());
  EXPECT(out[0] == 4);
  driver.gridDimX = 6;
  EXPECT(cuLaunchKernelEx(&driver, function, arguments, nullptr) == CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

int main() {
  Histograms();
  Sums();
  AllPlaces();
  Rings();
  Sizes();
  return Finish();
}
