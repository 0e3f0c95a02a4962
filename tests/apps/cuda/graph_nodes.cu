// Graphs that are made node by node: every kind of node, their parameters, edges, clones, memory of graphs, and
// mistakes.
#include <string.h>

#include "check.h"

constexpr int kCount = 128;

__constant__ int offsets[2];
__global__ void Fill(int* data, int value, double weight) {
  data[threadIdx.x] = value + static_cast<int>(weight * threadIdx.x) + offsets[1];
}
__global__ void Sum(const int* left, const int* right, int* to) {
  to[threadIdx.x] = left[threadIdx.x] + right[threadIdx.x];
}

void CUDART_CB Double(void* data) { *static_cast<int*>(data) *= 2; }

cudaKernelNodeParams FillParameters(void** arguments) {
  cudaKernelNodeParams parameters = {};
  parameters.func = reinterpret_cast<void*>(Fill);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(kCount);
  parameters.kernelParams = arguments;
  return parameters;
}

int main() {
  const size_t bytes = kCount * sizeof(int);
  int *left, *right, *to;
  int host[kCount], constants[2] = {5, 1000}, number = 21;
  CALL(cudaMalloc(&left, bytes));
  CALL(cudaMalloc(&right, bytes));
  CALL(cudaMalloc(&to, bytes));
  cudaStream_t stream;
  CALL(cudaStreamCreate(&stream));

  cudaGraph_t graph;
  CALL(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t symbol, fills[2], sum, out, twice, empty;
  CALL(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, offsets, constants, sizeof(constants), 0,
                                      cudaMemcpyHostToDevice));
  int values[2] = {1, 2};
  double weight = 3;
  int* targets[2] = {left, right};
  for (int i = 0; i < 2; ++i) {
    void* arguments[] = {&targets[i], &values[i], &weight};
    const cudaKernelNodeParams parameters = FillParameters(arguments);
    CALL(cudaGraphAddKernelNode(&fills[i], graph, &symbol, 1, &parameters));
  }
  values[0] = values[1] = 77;  // arguments were copied
  void* arguments[] = {&left, &right, &to};
  cudaGraphNodeParams any = {cudaGraphNodeTypeKernel};
  any.kernel = FillParameters(arguments);
  any.kernel.func = reinterpret_cast<void*>(Sum);
  CALL(cudaGraphAddNode(&sum, graph, fills, 2, &any));
  CALL(cudaGraphAddMemcpyNode1D(&out, graph, &sum, 1, host, to, bytes, cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {Double, &number};
  CALL(cudaGraphAddHostNode(&twice, graph, &out, 1, &call));
  CALL(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  CALL(cudaGraphAddDependencies(graph, &twice, &empty, 1));

  // What there is.
  size_t count = 0;
  CALL(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 7);
  cudaGraphNode_t found[8];
  count = 8;
  CALL(cudaGraphNodeGetDependencies(sum, found, &count));
  EXPECT(count == 2 && found[0] == fills[0] && found[1] == fills[1] && found[2] == nullptr);
  CALL(cudaGraphNodeGetDependentNodes(symbol, nullptr, &count));
  EXPECT(count == 2);
  cudaKernelNodeParams kernel;
  CALL(cudaGraphKernelNodeGetParams(fills[1], &kernel));
  EXPECT(kernel.func == reinterpret_cast<void*>(Fill) && kernel.blockDim.x == kCount);
  EXPECT(*static_cast<int*>(kernel.kernelParams[1]) == 2 && *static_cast<double*>(kernel.kernelParams[2]) == 3);
  cudaMemcpy3DParms copy;
  CALL(cudaGraphMemcpyNodeGetParams(out, &copy));
  EXPECT(copy.dstPtr.ptr == host && copy.srcPtr.ptr == to && copy.extent.width == bytes &&
         copy.kind == cudaMemcpyDeviceToHost);

  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaStreamSynchronize(stream));
  for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 1 + 2 + 2 * (3 * i + 1000));
  EXPECT(number == 42);

  // Other parameters for one node; one node switched off.
  int more = 500;
  void* others[] = {&right, &more, &weight};
  kernel = FillParameters(others);
  CALL(cudaGraphExecKernelNodeSetParams(executable, fills[1], &kernel));
  CALL(cudaGraphNodeSetEnabled(executable, fills[0], 0));
  unsigned int enabled = 1;
  CALL(cudaGraphNodeGetEnabled(executable, fills[0], &enabled));
  EXPECT(enabled == 0);
  CALL(cudaMemset(left, 0, bytes));
  CALL(cudaGraphLaunch(executable, nullptr));
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 500 + 3 * i + 1000);
  // A launch in a captured stream does the same.
  cudaGraph_t captured;
  cudaGraphExec_t of_captured;
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaStreamEndCapture(stream, &captured));
  CALL(cudaGraphInstantiate(&of_captured, captured, 0));
  memset(host, 0, bytes);
  CALL(cudaGraphLaunch(of_captured, stream));
  CALL(cudaStreamSynchronize(stream));
  for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 500 + 3 * i + 1000);
  CALL(cudaGraphExecDestroy(of_captured));
  CALL(cudaGraphDestroy(captured));
  EXPECT(cudaGraphNodeSetEnabled(executable, twice, 0) == cudaErrorInvalidValue);
  EXPECT(cudaGraphExecKernelNodeSetParams(executable, out, &kernel) == cudaErrorInvalidValue);
  CALL(cudaGraphExecDestroy(executable));
  EXPECT(cudaGraphLaunch(executable, stream) == cudaErrorInvalidValue);

  // A clone stays as it was; a child graph is a clone.
  cudaGraph_t clone, parent, child;
  cudaGraphNode_t twin, nested, after;
  CALL(cudaGraphClone(&clone, graph));
  CALL(cudaGraphNodeFindInClone(&twin, twice, clone));
  call.fn = Double;
  call.userData = &more;
  CALL(cudaGraphHostNodeSetParams(twice, &call));
  CALL(cudaGraphHostNodeGetParams(twin, &call));
  EXPECT(call.userData == &number);
  CALL(cudaGraphDestroy(graph));
  EXPECT(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
  cudaGraphNodeType type;
  EXPECT(cudaGraphNodeGetType(twice, &type) == cudaErrorInvalidValue);
  CALL(cudaGraphCreate(&parent, 0));
  CALL(cudaGraphAddChildGraphNode(&nested, parent, nullptr, 0, clone));
  cudaMemsetParams fill = {};
  fill.dst = to;
  fill.value = 0x1234;
  fill.elementSize = 2;
  fill.width = kCount;
  fill.height = 1;
  CALL(cudaGraphAddMemsetNode(&after, parent, &nested, 1, &fill));
  CALL(cudaGraphChildGraphNodeGetGraph(nested, &child));
  EXPECT(child != clone && cudaGraphDestroy(child) == cudaErrorInvalidValue);
  CALL(cudaGraphDestroy(clone));
  CALL(cudaGraphInstantiate(&executable, parent, 0));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaStreamSynchronize(stream));
  for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 1 + 2 + 2 * (3 * i + 1000));
  EXPECT(number == 42 * 2 * 2 * 2);
  int filled = 0;
  CALL(cudaMemcpy(&filled, to + kCount / 4, sizeof(filled), cudaMemcpyDeviceToHost));
  EXPECT(filled == 0x12341234);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(parent));

  // Circles, strangers, edges that are there already.
  cudaGraph_t wrong, other;
  cudaGraphNode_t a, b, stranger;
  CALL(cudaGraphCreate(&wrong, 0));
  CALL(cudaGraphCreate(&other, 0));
  CALL(cudaGraphAddEmptyNode(&a, wrong, nullptr, 0));
  CALL(cudaGraphAddEmptyNode(&b, wrong, &a, 1));
  CALL(cudaGraphAddEmptyNode(&stranger, other, nullptr, 0));
  EXPECT(cudaGraphAddDependencies(wrong, &a, &b, 1) == cudaErrorInvalidValue);
  EXPECT(cudaGraphAddDependencies(wrong, &a, &stranger, 1) == cudaErrorInvalidValue);
  EXPECT(cudaGraphAddDependencies(wrong, &a, &a, 1) == cudaErrorInvalidValue);
  EXPECT(cudaGraphRemoveDependencies(wrong, &b, &a, 1) == cudaErrorInvalidValue);
  cudaGraphNode_t pair[2] = {a, a};
  EXPECT(cudaGraphAddEmptyNode(&b, wrong, pair, 2) == cudaErrorInvalidValue);
  EXPECT(cudaGraphAddEmptyNode(&b, wrong, &stranger, 1) == cudaErrorInvalidValue);
  CALL(cudaGraphAddDependencies(wrong, &b, &a, 1));
  cudaGraphNode_t reported = nullptr;
  EXPECT(cudaGraphInstantiate(&executable, wrong, &reported, nullptr, 0) == cudaErrorInvalidValue);
  EXPECT(reported == a || reported == b);
  CALL(cudaGraphRemoveDependencies(wrong, &b, &a, 1));
  CALL(cudaGraphDestroyNode(b));
  CALL(cudaGraphInstantiate(&executable, wrong, 0));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaGraphExecDestroy(executable));
  cudaGraphNodeParams conditional = {cudaGraphNodeTypeConditional};
  EXPECT(cudaGraphAddNode(&a, wrong, nullptr, 0, &conditional) == cudaErrorInvalidValue);  // without a handle
  EXPECT(cudaGraphInstantiate(&executable, wrong, cudaGraphInstantiateFlagDeviceLaunch) == cudaErrorNotSupported);
  CALL(cudaGraphDestroy(wrong));
  CALL(cudaGraphDestroy(other));

  // Memory that lives while the graph runs.
  CALL(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams allocation = {};
  allocation.bytesize = bytes;
  allocation.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.poolProps.location.type = cudaMemLocationTypeDevice;
  cudaGraphNode_t allocate, work, freed;
  CALL(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &allocation));
  EXPECT(allocation.dptr != nullptr);
  more = 9;
  void* inside[] = {&allocation.dptr, &more, &weight};
  kernel = FillParameters(inside);
  CALL(cudaGraphAddKernelNode(&work, graph, &allocate, 1, &kernel));
  CALL(cudaGraphAddMemcpyNode1D(&out, graph, &work, 1, host, allocation.dptr, bytes, cudaMemcpyDeviceToHost));
  CALL(cudaGraphAddMemFreeNode(&freed, graph, &out, 1, allocation.dptr));
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  cudaGraphExec_t second;
  EXPECT(cudaGraphInstantiate(&second, graph, 0) == cudaErrorNotSupported);
  EXPECT(cudaGraphClone(&clone, graph) == cudaErrorNotSupported);
  unsigned long long used = 1;
  for (int launch = 0; launch < 2; ++launch) {
    memset(host, 0, bytes);
    CALL(cudaGraphLaunch(executable, stream));
    CALL(cudaStreamSynchronize(stream));
    for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 9 + 3 * i + 1000);
    CALL(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    EXPECT(used == 0);
  }
  CALL(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  EXPECT(used >= bytes);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));

  // Memory that a graph leaves behind: freed by the program, or by the next launch.
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* kept;
  CALL(cudaMallocAsync(&kept, bytes, stream));
  Fill<<<1, kCount, 0, stream>>>(kept, 4, 1.0);
  CALL(cudaStreamEndCapture(stream, &graph));
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphLaunch(executable, stream));
  EXPECT(cudaGraphLaunch(executable, stream) == cudaErrorInvalidValue);
  CALL(cudaMemcpy(host, kept, bytes, cudaMemcpyDeviceToHost));
  EXPECT(host[10] == 4 + 10 + 1000);
  CALL(cudaFreeAsync(kept, stream));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaGraphLaunch(executable, stream));
  CALL(cudaMemcpy(host, kept, bytes, cudaMemcpyDeviceToHost));
  EXPECT(host[11] == 4 + 11 + 1000);
  CALL(cudaFree(kept));
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
  cudaGetLastError();
  return Finish();
}
