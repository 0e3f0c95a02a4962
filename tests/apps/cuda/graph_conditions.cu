// Graphs that decide while they run: "if" with and without "else", "while", "switch", and one within another.
#include <vector>

#include "check.h"

__global__ void Count(int* cell) { ++*cell; }
// The next number of `numbers` says what the node does.
__global__ void Choose(const int* numbers, int* next, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, numbers[(*next)++]);
}

struct Cells {
  int* numbers;  // that are chosen
  int* next;
  int* counts;  // of each body's runs
};

static cudaGraphNode_t AddKernel(cudaGraph_t graph, const cudaGraphNode_t* before, void* kernel, void** arguments) {
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = kernel;
  parameters.kernel.gridDim = parameters.kernel.blockDim = dim3(1);
  parameters.kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  CALL(cudaGraphAddNode(&node, graph, before, before == nullptr ? 0 : 1, &parameters));
  return node;
}
static cudaGraphNode_t AddCount(cudaGraph_t graph, int* cell) {
  void* arguments[] = {&cell};
  return AddKernel(graph, nullptr, (void*)Count, arguments);
}
static cudaGraphNode_t AddChoice(cudaGraph_t graph, const Cells& cells, cudaGraphConditionalHandle handle) {
  void* arguments[] = {(void*)&cells.numbers, (void*)&cells.next, &handle};
  return AddKernel(graph, nullptr, (void*)Choose, arguments);
}
// Its graphs, which are empty.
static std::vector<cudaGraph_t> AddConditional(cudaGraph_t graph, const cudaGraphNode_t* before,
                                               cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                               unsigned int size) {
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = size;
  cudaGraphNode_t node;
  CALL(cudaGraphAddNode(&node, graph, before, before == nullptr ? 0 : 1, &parameters));
  cudaGraphNodeType got;
  CALL(cudaGraphNodeGetType(node, &got));
  EXPECT(got == cudaGraphNodeTypeConditional);
  return std::vector<cudaGraph_t>(parameters.conditional.phGraph_out, parameters.conditional.phGraph_out + size);
}

// Launches the graph once for each of `numbers`, which a kernel chooses; counts runs of the node's graphs.
static std::vector<int> Runs(const Cells& cells, cudaGraphConditionalNodeType type, unsigned int size,
                             const std::vector<int>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) cells.numbers[i] = numbers[i];
  *cells.next = 0;
  for (unsigned int i = 0; i < size; ++i) cells.counts[i] = 0;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphConditionalHandle handle;
  CALL(cudaGraphCreate(&graph, 0));
  CALL(cudaGraphConditionalHandleCreate(&handle, graph));
  const cudaGraphNode_t choice = AddChoice(graph, cells, handle);
  const std::vector<cudaGraph_t> bodies = AddConditional(graph, &choice, handle, type, size);
  for (unsigned int i = 0; i < size; ++i) AddCount(bodies[i], cells.counts + i);
  cudaGraph_t clone;
  EXPECT(cudaGraphClone(&clone, graph) == cudaErrorNotSupported);
  EXPECT(cudaGraphDestroy(bodies[0]) == cudaErrorInvalidValue);  // the node's own
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphDestroy(graph));
  for (size_t i = 0; i < numbers.size(); ++i) CALL(cudaGraphLaunch(executable, 0));
  CALL(cudaDeviceSynchronize());
  CALL(cudaGraphExecDestroy(executable));
  return std::vector<int>(cells.counts, cells.counts + size);
}

// "While" whose number begins with 1, filled by capture: each run asks for the next number, and an "if" within it
// counts.
static void Loop(const Cells& cells) {
  const int numbers[] = {1, 2, 3, 0};
  for (int i = 0; i < 4; ++i) cells.numbers[i] = numbers[i];
  *cells.next = cells.counts[0] = cells.counts[1] = 0;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphConditionalHandle more, inner;
  cudaStream_t stream;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaGraphCreate(&graph, 0));
  CALL(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
  CALL(cudaGraphConditionalHandleCreate(&inner, graph, 5, cudaGraphCondAssignDefault));
  const cudaGraph_t body = AddConditional(graph, nullptr, more, cudaGraphCondTypeWhile, 1)[0];
  CALL(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  Count<<<1, 1, 0, stream>>>(cells.counts);
  Choose<<<1, 1, 0, stream>>>(cells.numbers, cells.next, more);
  CALL(cudaStreamEndCapture(stream, nullptr));  // the graph is known
  AddCount(AddConditional(body, nullptr, inner, cudaGraphCondTypeIf, 1)[0], cells.counts + 1);
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  for (int launch = 1; launch <= 2; ++launch) {
    *cells.next = 0;
    CALL(cudaGraphLaunch(executable, stream));
    CALL(cudaStreamSynchronize(stream));
    EXPECT(cells.counts[0] == 4 * launch);
    EXPECT(cells.counts[1] == 4 * launch);
  }
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
}

// A node of such a graph gets other parameters in the executable graph, and is switched off.
static void Changes(const Cells& cells) {
  cells.counts[0] = cells.counts[1] = 0;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphConditionalHandle handle;
  CALL(cudaGraphCreate(&graph, 0));
  CALL(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  const cudaGraph_t body = AddConditional(graph, nullptr, handle, cudaGraphCondTypeIf, 1)[0];
  const cudaGraphNode_t count = AddCount(body, cells.counts);
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  cudaKernelNodeParams parameters;
  CALL(cudaGraphKernelNodeGetParams(count, &parameters));
  int* other = cells.counts + 1;
  void* arguments[] = {&other};
  parameters.kernelParams = arguments;
  CALL(cudaGraphExecKernelNodeSetParams(executable, count, &parameters));
  CALL(cudaGraphLaunch(executable, 0));
  CALL(cudaDeviceSynchronize());
  EXPECT(cells.counts[0] == 0 && cells.counts[1] == 1);
  CALL(cudaGraphNodeSetEnabled(executable, count, 0));
  CALL(cudaGraphLaunch(executable, 0));
  CALL(cudaDeviceSynchronize());
  EXPECT(cells.counts[0] == 0 && cells.counts[1] == 1);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
}

static void Refusals() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphConditionalHandle handle;
  cudaGraphNode_t node;
  CALL(cudaGraphCreate(&graph, 0));
  EXPECT(cudaGraphConditionalHandleCreate(&handle, graph, 0, 2) == cudaErrorInvalidValue);
  CALL(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  for (unsigned int size : {0u, 2u}) {
    parameters.conditional.size = size;
    EXPECT(cudaGraphAddNode(&node, graph, nullptr, 0, &parameters) == cudaErrorInvalidValue);
  }
  parameters.conditional.size = 1;
  parameters.conditional.handle = handle + 4;
  EXPECT(cudaGraphAddNode(&node, graph, nullptr, 0, &parameters) == cudaErrorInvalidValue);
  AddConditional(graph, nullptr, handle, cudaGraphCondTypeWhile, 1);
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT(cudaGraphLaunch(executable, 0) == cudaErrorInvalidValue);  // it would repeat nothing for ever
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
}

int main() {
  Cells cells;
  CALL(cudaMallocManaged(&cells.numbers, 8 * sizeof(int)));
  CALL(cudaMallocManaged(&cells.next, sizeof(int)));
  CALL(cudaMallocManaged(&cells.counts, 4 * sizeof(int)));
  EXPECT(Runs(cells, cudaGraphCondTypeIf, 1, {0, 1, 7, 0}) == std::vector<int>({2}));
  EXPECT(Runs(cells, cudaGraphCondTypeIf, 2, {0, 1, 7, 0, 0}) == std::vector<int>({2, 3}));
  EXPECT(Runs(cells, cudaGraphCondTypeSwitch, 3, {2, 0, 3, 2, 1, 2}) == std::vector<int>({1, 1, 3}));
  Loop(cells);
  Changes(cells);
  Refusals();
  return Finish();
}
