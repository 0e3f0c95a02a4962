// Launches with attributes: those that change nothing, cooperative ones, events, and what is refused.
// native: HEDDLE_RESIDENT_BLOCKS=4
// capture: --resident-blocks 4
#include <cooperative_groups.h>

#include "check.h"

__global__ void Square(int* data, int n) {
  cudaGridDependencySynchronize();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= data[i];
  cudaTriggerProgrammaticLaunchCompletion();
}

// Every block adds its own number, then reads that of the next one.
__global__ void Rotate(int* numbers, int* out) {
  if (threadIdx.x == 0) numbers[blockIdx.x] = static_cast<int>(blockIdx.x) + 10;
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = numbers[(blockIdx.x + 1) % gridDim.x];
}

int main() {
  const int n = 100;
  int* data;
  CALL(cudaMallocManaged(&data, n * sizeof(int)));
  for (int i = 0; i < n; ++i) data[i] = i;
  cudaStream_t stream;
  cudaEvent_t event;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaEventCreate(&event));
  cudaLaunchAttribute attributes[6] = {};
  attributes[0].id = cudaLaunchAttributePriority;
  attributes[0].val.priority = -1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  attributes[2].id = cudaLaunchAttributeAccessPolicyWindow;
  attributes[2].val.accessPolicyWindow.base_ptr = data;
  attributes[2].val.accessPolicyWindow.num_bytes = n * sizeof(int);
  attributes[2].val.accessPolicyWindow.hitRatio = 1;
  attributes[2].val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  attributes[3].id = cudaLaunchAttributeClusterDimension;
  attributes[3].val.clusterDim = {1, 1, 1};
  attributes[4].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
  attributes[4].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
  attributes[5].id = cudaLaunchAttributeLaunchCompletionEvent;
  attributes[5].val.launchCompletionEvent.event = event;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(64);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 6;
  CALL(cudaLaunchKernelEx(&config, Square, data, n));
  CALL(cudaEventSynchronize(event));
  float milliseconds = 0;
  CALL(cudaEventElapsedTime(&milliseconds, event, event));
  CALL(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) EXPECT(data[i] == i * i);

  int clusters = 0, blocks = 0, multiprocessors = 0;
  CALL(cudaOccupancyMaxActiveClusters(&clusters, Square, &config));
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Square, 64, 0));
  CALL(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(clusters == blocks * multiprocessors && clusters > 0);
  attributes[3].val.clusterDim = {2, 0, 0};
  // On devices that have clusters of several blocks: compute capability 9.0.
  EXPECT(cudaOccupancyMaxActiveClusters(&clusters, Square, &config) == cudaErrorNotSupported);
  EXPECT(cudaLaunchKernelEx(&config, Square, data, n) == cudaErrorNotSupported);
  attributes[3].val.clusterDim = {1, 1, 1};
  CALL(cudaFuncSetAttribute(Square, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  EXPECT(cudaFuncSetAttribute(Square, cudaFuncAttributeNonPortableClusterSizeAllowed, 2) == cudaErrorInvalidValue);

  // In a graph.
  for (int i = 0; i < n; ++i) data[i] = i;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  config.numAttrs = 5;
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CALL(cudaLaunchKernelEx(&config, Square, data, n));
  CALL(cudaStreamEndCapture(stream, &graph));
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) EXPECT(data[i] == i * i * i * i);
  cudaGraphNode_t node;
  size_t count = 1;
  CALL(cudaGraphGetNodes(graph, &node, &count));
  cudaLaunchAttributeValue value;
  CALL(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
  EXPECT(value.priority == -1);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));

  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  config.numAttrs = 1;
  CALL(cudaLaunchKernelEx(&config, Rotate, data, data + 50));
  CALL(cudaStreamSynchronize(stream));
  for (int i = 0; i < 4; ++i) EXPECT(data[50 + i] == 10 + (i + 1) % 4);
  config.gridDim = dim3(1u << 20);
  EXPECT(cudaLaunchKernelEx(&config, Rotate, data, data + 50) == cudaErrorCooperativeLaunchTooLarge);
  attributes[0].id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  EXPECT(cudaLaunchKernelEx(&config, Rotate, data, data + 50) == cudaErrorNotSupported);
  config.attrs = nullptr;
  EXPECT(cudaLaunchKernelEx(&config, Rotate, data, data + 50) == cudaErrorInvalidValue);
  cudaGetLastError();
  return Finish();
}
