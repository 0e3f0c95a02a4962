// CUDA graphs of the driver API, on top of the runtime's: handles and numbers are the same.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tracegen/runtime/cuda/arrays.h"
#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/graphs/graph.h"
#include "tracegen/runtime/cuda/state.h"

using heddle::cuda::Guard;

namespace {

CUresult Result(cudaError_t error) { return static_cast<CUresult>(error); }

cudaKernelNodeParams Translate(const CUDA_KERNEL_NODE_PARAMS& from) {
  cudaKernelNodeParams to = {};
  to.func = from.func != nullptr ? static_cast<void*>(from.func) : static_cast<void*>(from.kern);
  to.gridDim = dim3(from.gridDimX, from.gridDimY, from.gridDimZ);
  to.blockDim = dim3(from.blockDimX, from.blockDimY, from.blockDimZ);
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
  return to;
}

// What a node tells. Its kernel may be one of the program, whose handle is another than its name there. With the Guard
// held.
CUDA_KERNEL_NODE_PARAMS Translate(const cudaKernelNodeParams& from) {
  CUDA_KERNEL_NODE_PARAMS to = {};
  to.func = reinterpret_cast<CUfunction>(heddle::cuda::CodeRegistry::Get().FindKernel(from.func));
  to.gridDimX = from.gridDim.x;
  to.gridDimY = from.gridDim.y;
  to.gridDimZ = from.gridDim.z;
  to.blockDimX = from.blockDim.x;
  to.blockDimY = from.blockDim.y;
  to.blockDimZ = from.blockDim.z;
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
  return to;
}

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return Result(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)));
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) { return Result(cudaStreamEndCapture(stream, graph)); }
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return Result(cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status)));
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, unsigned long long* id, CUgraph* graph,
                                const CUgraphNode** dependencies, size_t* count) {
  return Result(cudaStreamGetCaptureInfo(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status), id, graph,
                                         dependencies, count));
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return Result(cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode)));
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return Result(cudaLaunchHostFunc(stream, function, data));
}

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) { return Result(cudaGraphCreate(graph, flags)); }
CUresult cuGraphDestroy(CUgraph graph) { return Result(cudaGraphDestroy(graph)); }
CUresult cuGraphClone(CUgraph* clone, CUgraph original) { return Result(cudaGraphClone(clone, original)); }

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaKernelNodeParams translated = Translate(*parameters);
  return Result(cudaGraphAddKernelNode(node, graph, dependencies, count, &translated));
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Guard guard;
  cudaKernelNodeParams of_runtime;
  const cudaError_t error = cudaGraphKernelNodeGetParams(node, &of_runtime);
  if (error == cudaSuccess) *parameters = Translate(of_runtime);
  return Result(error);
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaKernelNodeParams translated = Translate(*parameters);
  return Result(cudaGraphKernelNodeSetParams(node, &translated));
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue* value) {
  return Result(cudaGraphKernelNodeSetAttribute(node, attribute, value));
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue* value) {
  return Result(cudaGraphKernelNodeGetAttribute(node, attribute, value));
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return Result(cudaGraphKernelNodeCopyAttributes(to, from));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* copy, CUcontext) {
  const Guard guard;
  std::vector<CUgraphNode_st*> before;
  heddle::cuda::CopyWork work;
  if (node == nullptr || copy == nullptr || !heddle::cuda::IsGraph(graph) ||
      !heddle::cuda::ReadNodes(graph, dependencies, count, &before) || !heddle::cuda::DescribeCopy(*copy, &work)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *node = graph->Add(work, before);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaMemsetParams translated = {
      reinterpret_cast<void*>(p->dst), p->pitch, p->value, p->elementSize, p->width, p->height};
  return Result(cudaGraphAddMemsetNode(node, graph, dependencies, count, &translated));
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaHostNodeParams translated = {parameters->fn, parameters->userData};
  return Result(cudaGraphAddHostNode(node, graph, dependencies, count, &translated));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  CUgraph child) {
  return Result(cudaGraphAddChildGraphNode(node, graph, dependencies, count, child));
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return Result(cudaGraphAddEmptyNode(node, graph, dependencies, count));
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                   CUevent event) {
  return Result(cudaGraphAddEventRecordNode(node, graph, dependencies, count, event));
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 CUevent event) {
  return Result(cudaGraphAddEventWaitNode(node, graph, dependencies, count, event));
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return Result(cudaGraphAddDependencies(graph, from, to, count));
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return Result(cudaGraphRemoveDependencies(graph, from, to, count));
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return Result(cudaGraphGetNodes(graph, nodes, count));
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return Result(cudaGraphGetRootNodes(graph, nodes, count));
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return Result(cudaGraphGetEdges(graph, from, to, count));
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return Result(cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type)));
}
CUresult cuGraphDestroyNode(CUgraphNode node) { return Result(cudaGraphDestroyNode(node)); }
CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int flags) {
  return Result(cudaGraphDebugDotPrint(graph, path, flags));
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return Result(cudaGraphInstantiate(executable, graph, flags));
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return cuGraphInstantiate(executable, graph, flags);
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) { return Result(cudaGraphLaunch(executable, stream)); }
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) { return Result(cudaGraphUpload(executable, stream)); }
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  cudaGraphExecUpdateResultInfo told;
  const cudaError_t error = cudaGraphExecUpdate(executable, graph, &told);
  if (info != nullptr) *info = {static_cast<CUgraphExecUpdateResult>(told.result), told.errorNode, told.errorFromNode};
  return Result(error);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaKernelNodeParams translated = Translate(*parameters);
  return Result(cudaGraphExecKernelNodeSetParams(executable, node, &translated));
}
CUresult cuGraphExecDestroy(CUgraphExec executable) { return Result(cudaGraphExecDestroy(executable)); }

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  cudaLaunchConfig_t translated = {};
  translated.gridDim = dim3(config->gridDimX, config->gridDimY, config->gridDimZ);
  translated.blockDim = dim3(config->blockDimX, config->blockDimY, config->blockDimZ);
  translated.dynamicSmemBytes = config->sharedMemBytes;
  translated.stream = config->hStream;
  translated.attrs = reinterpret_cast<cudaLaunchAttribute*>(config->attrs);
  translated.numAttrs = config->numAttrs;
  constexpr char kCall[] = "cuLaunchKernelEx";
  const heddle::cuda::Guard guard;
  const cudaError_t before = heddle::cuda::ContextError(kCall);
  return heddle::cuda::LaunchResult(before,
                                    heddle::cuda::LaunchWithAttributes(kCall, translated, function, parameters, extra));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                   unsigned int shared_bytes, CUstream stream, void** parameters) {
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  const CUlaunchConfig config = {grid_x,  grid_y,       grid_z, block_x,    block_y,
                                 block_z, shared_bytes, stream, &attribute, 1};
  return cuLaunchKernelEx(&config, function, parameters, nullptr);
}

#pragma GCC visibility push(default)
// Under the names that the vendor's cuda.h gives them.
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return cuStreamBeginCapture(stream, mode);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, unsigned long long* id,
                                   CUgraph* graph, const CUgraphNode** dependencies, size_t* count) {
  return cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, count);
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return cuGraphAddKernelNode(node, graph, dependencies, count, parameters);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  return cuGraphKernelNodeGetParams(node, parameters);
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return cuGraphKernelNodeSetParams(node, parameters);
}
CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return cuGraphExecUpdate(executable, graph, info);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return cuGraphExecKernelNodeSetParams(executable, node, parameters);
}
#pragma GCC visibility pop

}  // extern "C"
