// Streams that are captured into graphs: fork and join, host functions, update, child graphs, and what is not allowed.
#include <string.h>

#include "check.h"

constexpr int kCount = 256;

__global__ void Scale(int* data, int factor) { data[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }
__global__ void Add(int* to, const int* from, int more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] += from[i] + more;
}

void CUDART_CB Count(void* data) { ++*static_cast<int*>(data); }

struct Buffers {
  int* host;
  int* first;
  int* second;
};

// first = (host * 3) + (host * 5) + 1, in two streams.
void CaptureFork(cudaStream_t main, cudaStream_t side, const Buffers& buffers, int* calls, int factor,
                 cudaGraph_t* graph) {
  const size_t bytes = kCount * sizeof(int);
  cudaEvent_t fork, join;
  CALL(cudaEventCreate(&fork));
  CALL(cudaEventCreate(&join));
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  CALL(cudaMemcpyAsync(buffers.first, buffers.host, bytes, cudaMemcpyHostToDevice, main));
  CALL(cudaEventRecord(fork, main));
  CALL(cudaStreamWaitEvent(side, fork, 0));
  cudaStreamCaptureStatus status;
  CALL(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  CALL(cudaMemcpyAsync(buffers.second, buffers.host, bytes, cudaMemcpyHostToDevice, side));
  Scale<<<kCount / 64, 64, 0, side>>>(buffers.second, 5);
  Scale<<<kCount / 64, 64, 0, main>>>(buffers.first, factor);
  CALL(cudaEventRecord(join, side));
  CALL(cudaStreamWaitEvent(main, join, 0));
  Add<<<kCount / 64, 64, 0, main>>>(buffers.first, buffers.second, 1);
  CALL(cudaLaunchHostFunc(main, Count, calls));
  CALL(cudaMemsetAsync(buffers.second, 0xff, bytes, main));
  unsigned long long id = 0;
  const cudaGraphNode_t* place;
  size_t count = 0;
  CALL(cudaStreamGetCaptureInfo(main, &status, &id, graph, &place, &count));
  EXPECT(id != 0 && count == 1 && *graph != nullptr);
  CALL(cudaStreamEndCapture(main, graph));
  CALL(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  EXPECT(cudaEventQuery(join) == cudaErrorCapturedEvent);
  CALL(cudaEventDestroy(fork));
  CALL(cudaEventDestroy(join));
}

void CheckResult(const Buffers& buffers, int factor) {
  int found[kCount], filled[kCount];
  CALL(cudaMemcpy(found, buffers.first, sizeof(found), cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(filled, buffers.second, sizeof(filled), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) {
    EXPECT(found[i] == buffers.host[i] * (factor + 5) + 1);
    EXPECT(filled[i] == -1);
  }
}

void TestFork(cudaStream_t main, cudaStream_t side, const Buffers& buffers) {
  int calls = 0;
  cudaGraph_t graph;
  CALL(cudaMemset(buffers.first, 0, kCount * sizeof(int)));
  CaptureFork(main, side, buffers, &calls, 3, &graph);
  // Nothing has run yet.
  int found[kCount];
  CALL(cudaMemcpy(found, buffers.first, sizeof(found), cudaMemcpyDeviceToHost));
  EXPECT(found[7] == 0 && calls == 0);
  size_t nodes = 0, roots = 0, edges = 0;
  CALL(cudaGraphGetNodes(graph, nullptr, &nodes));
  CALL(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CALL(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT(nodes == 7 && roots == 1 && edges == 7);

  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int i = 1; i <= 3; ++i) {
    for (int k = 0; k < kCount; ++k) buffers.host[k] = k * i;
    CALL(cudaGraphLaunch(executable, main));
    CALL(cudaStreamSynchronize(main));
    CheckResult(buffers, 3);
    EXPECT(calls == i);
  }
  // The same form with another factor.
  cudaGraph_t other;
  CaptureFork(main, side, buffers, &calls, 7, &other);
  cudaGraphExecUpdateResultInfo info;
  CALL(cudaGraphExecUpdate(executable, other, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess);
  CALL(cudaGraphDestroy(other));
  CALL(cudaGraphLaunch(executable, main));
  CheckResult(buffers, 7);
  // Another form.
  CALL(cudaGraphCreate(&other, 0));
  cudaGraphNode_t node;
  CALL(cudaGraphAddEmptyNode(&node, other, nullptr, 0));
  EXPECT(cudaGraphExecUpdate(executable, other, &info) == cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  CALL(cudaGraphDestroy(other));

  // A launch in a captured stream is a child graph.
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed));
  CALL(cudaGraphLaunch(executable, main));
  CALL(cudaStreamEndCapture(main, &other));
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
  nodes = 1;
  CALL(cudaGraphGetNodes(other, &node, &nodes));
  cudaGraphNodeType type;
  CALL(cudaGraphNodeGetType(node, &type));
  EXPECT(nodes == 1 && type == cudaGraphNodeTypeGraph);
  CALL(cudaGraphInstantiate(&executable, other, 0));
  for (int k = 0; k < kCount; ++k) buffers.host[k] = 1000 - k;
  const int before = calls;
  CALL(cudaGraphLaunch(executable, side));
  CALL(cudaDeviceSynchronize());
  CheckResult(buffers, 7);
  EXPECT(calls == before + 1);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(other));
}

void TestMistakes(cudaStream_t main, cudaStream_t side, const Buffers& buffers) {
  cudaGraph_t graph;
  cudaStreamCaptureStatus status;
  EXPECT(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(main, &graph) == cudaErrorIllegalState);
  cudaEvent_t event, outside;
  CALL(cudaEventCreate(&event));
  CALL(cudaEventCreate(&outside));
  CALL(cudaEventRecord(outside, side));

  // Waiting for a captured stream.
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed));
  EXPECT(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed) == cudaErrorIllegalState);
  EXPECT(cudaStreamSynchronize(main) == cudaErrorStreamCaptureUnsupported);
  CALL(cudaStreamIsCapturing(main, &status));
  EXPECT(status == cudaStreamCaptureStatusInvalidated);
  EXPECT(cudaMemsetAsync(buffers.first, 0, 4, main) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureInvalidated && graph == nullptr);

  // The default stream waits for blocking streams.
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed));
  EXPECT(cudaMemsetAsync(buffers.first, 0, 4, nullptr) == cudaErrorStreamCaptureImplicit);
  EXPECT(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureInvalidated);

  // Calls that are not allowed while somebody captures.
  void* pointer;
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  EXPECT(cudaMalloc(&pointer, 4) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureInvalidated);
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed));
  CALL(cudaMalloc(&pointer, 4));
  CALL(cudaFree(pointer));
  CALL(cudaStreamEndCapture(main, &graph));
  CALL(cudaGraphDestroy(graph));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CALL(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeGlobal);
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  CALL(cudaMalloc(&pointer, 4));
  CALL(cudaStreamEndCapture(main, &graph));
  CALL(cudaGraphDestroy(graph));
  CALL(cudaFree(pointer));
  CALL(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeRelaxed);

  // Work of another stream that nobody joins, ends in the wrong stream, and waits for what is not captured.
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  CALL(cudaEventRecord(event, main));
  CALL(cudaStreamWaitEvent(side, event, 0));
  Scale<<<1, 64, 0, side>>>(buffers.first, 2);
  EXPECT(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureUnjoined && graph == nullptr);
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  CALL(cudaEventRecord(event, main));
  CALL(cudaStreamWaitEvent(side, event, 0));
  EXPECT(cudaStreamEndCapture(side, &graph) == cudaErrorStreamCaptureUnmatched);
  EXPECT(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureInvalidated);
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamWaitEvent(main, outside, 0) == cudaErrorStreamCaptureIsolation);
  EXPECT(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureInvalidated);

  // A stream that took part may be destroyed, once its work is joined.
  for (int joined = 0; joined < 2; ++joined) {
    cudaStream_t brief;
    CALL(cudaStreamCreateWithFlags(&brief, cudaStreamNonBlocking));
    CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
    CALL(cudaEventRecord(event, main));
    CALL(cudaStreamWaitEvent(brief, event, 0));
    Scale<<<1, 64, 0, brief>>>(buffers.first, 2);
    CALL(cudaEventRecord(event, brief));
    if (joined != 0) CALL(cudaStreamWaitEvent(main, event, 0));
    CALL(cudaStreamDestroy(brief));
    EXPECT(cudaStreamEndCapture(main, &graph) == (joined != 0 ? cudaSuccess : cudaErrorStreamCaptureUnjoined));
    if (joined != 0) CALL(cudaGraphDestroy(graph));
  }

  // Two captures do not meet.
  CALL(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  CALL(cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal));
  CALL(cudaEventRecord(event, main));
  EXPECT(cudaStreamWaitEvent(side, event, 0) == cudaErrorStreamCaptureMerge);
  EXPECT(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaStreamEndCapture(side, &graph) == cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  CALL(cudaEventDestroy(event));
  CALL(cudaEventDestroy(outside));
}

// Capture behind nodes of a graph that exists, and dependencies that are changed by hand.
void TestGraphOfProgram(cudaStream_t main, const Buffers& buffers) {
  cudaGraph_t graph, same;
  CALL(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t start, extra;
  cudaMemsetParams fill = {};
  fill.dst = buffers.first;
  fill.value = 2;
  fill.elementSize = 4;
  fill.width = kCount;
  fill.height = 1;
  CALL(cudaGraphAddMemsetNode(&start, graph, nullptr, 0, &fill));
  CALL(cudaStreamBeginCaptureToGraph(main, graph, &start, nullptr, 1, cudaStreamCaptureModeThreadLocal));
  Scale<<<kCount / 64, 64, 0, main>>>(buffers.first, 3);
  fill.dst = buffers.second;
  CALL(cudaGraphAddMemsetNode(&extra, graph, nullptr, 0, &fill));
  CALL(cudaStreamUpdateCaptureDependencies(main, &extra, 1, cudaStreamAddCaptureDependencies));
  Add<<<kCount / 64, 64, 0, main>>>(buffers.first, buffers.second, 10);
  CALL(cudaStreamEndCapture(main, &same));
  EXPECT(same == graph);
  size_t edges = 0;
  CALL(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT(edges == 3);
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  CALL(cudaGraphUpload(executable, main));
  CALL(cudaGraphLaunch(executable, main));
  int found[kCount];
  CALL(cudaMemcpy(found, buffers.first, sizeof(found), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) EXPECT(found[i] == 2 * 3 + 2 + 10);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
}

int main() {
  Buffers buffers;
  CALL(cudaMallocHost(&buffers.host, kCount * sizeof(int)));
  CALL(cudaMalloc(&buffers.first, kCount * sizeof(int)));
  CALL(cudaMalloc(&buffers.second, kCount * sizeof(int)));
  cudaStream_t main, side;
  CALL(cudaStreamCreate(&main));
  CALL(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  TestFork(main, side, buffers);
  TestMistakes(main, side, buffers);
  TestGraphOfProgram(main, buffers);
  CALL(cudaGetLastError());
  return Finish();
}
