// Functions of the API for graphs that can be launched.
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tracegen/runtime/cuda/graphs/executable.h"
#include "tracegen/runtime/cuda/graphs/parameters.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

std::map<cudaGraphExec_t, std::shared_ptr<Executable>>& Executables() {
  static auto& executables = *new std::map<cudaGraphExec_t, std::shared_ptr<Executable>>;
  return executables;
}

std::shared_ptr<Executable> Find(cudaGraphExec_t handle) {
  const auto found = Executables().find(handle);
  return found == Executables().end() ? nullptr : found->second;
}

cudaError_t Instantiate(const char* call, cudaGraphExec_t* executable, cudaGraph_t graph,
                        cudaGraphInstantiateParams* parameters) {
  const Guard guard;
  parameters->errNode_out = nullptr;
  parameters->result_out = cudaGraphInstantiateError;
  constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                        cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  if (executable == nullptr || !IsGraph(graph) || (parameters->flags & ~kKnown) != 0) {
    return Fail(cudaErrorInvalidValue);
  }
  *executable = nullptr;
  if (cudaError_t error = ContextError(call); error != cudaSuccess) return Fail(error);
  if ((parameters->flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    Explain(call, "graphs are not launched from kernels (cudaGraphInstantiateFlagDeviceLaunch); launch from the host");
    return Fail(cudaErrorNotSupported);
  }
  if (graph->HasMemoryNodes()) {
    for (const auto& [handle, other] : Executables()) {
      if (other->graph_number() != graph->number()) continue;
      Explain(call, "a graph that allocates memory has one executable graph at a time; destroy the other one first");
      return Fail(cudaErrorNotSupported);
    }
  }
  const Node* wrong = nullptr;
  std::vector<Step> steps = MakeSteps(*graph, &wrong);
  if (wrong != nullptr) {
    Explain(call, "nodes of the graph depend on one another in a circle; remove an edge");
    parameters->errNode_out = const_cast<Node*>(wrong);
    parameters->result_out = cudaGraphInstantiateInvalidStructure;
    return Fail(cudaErrorInvalidValue);
  }
  auto made = std::make_shared<Executable>(std::move(steps), *graph, parameters->flags);
  *executable = made.get();
  Executables()[*executable] = std::move(made);
  parameters->result_out = cudaGraphInstantiateSuccess;
  return cudaSuccess;
}

// Gives a step other work of the same kind.
template <typename Kind, typename Parameters>
cudaError_t SetStep(const char* call, cudaGraphExec_t handle, cudaGraphNode_t node, Parameters&& parameters) {
  const Guard guard;
  const std::shared_ptr<Executable> executable = Find(handle);
  Step* step = executable == nullptr ? nullptr : executable->Find(node);
  if (step == nullptr || !std::holds_alternative<Kind>(step->work)) return Fail(cudaErrorInvalidValue);
  return MakeWork(call, parameters, &step->work);
}

// The step of a node that can be switched off, or null.
Step* FindSwitchable(cudaGraphExec_t handle, cudaGraphNode_t node) {
  const std::shared_ptr<Executable> executable = Find(handle);
  Step* step = executable == nullptr ? nullptr : executable->Find(node);
  if (step == nullptr) return nullptr;
  const Work& work = step->work;
  return std::holds_alternative<KernelWork>(work) || std::holds_alternative<CopyWork>(work) ||
                 std::holds_alternative<FillWork>(work)
             ? step
             : nullptr;
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::ChildWork;
using heddle::cuda::CopyWork;
using heddle::cuda::Executable;
using heddle::cuda::Explain;
using heddle::cuda::Fail;
using heddle::cuda::FillWork;
using heddle::cuda::Find;
using heddle::cuda::FindSwitchable;
using heddle::cuda::Guard;
using heddle::cuda::HostWork;
using heddle::cuda::Instantiate;
using heddle::cuda::IsGraph;
using heddle::cuda::KernelWork;
using heddle::cuda::PlainCopy;
using heddle::cuda::RecordWork;
using heddle::cuda::SetStep;
using heddle::cuda::Step;
using heddle::cuda::Timeline;
using heddle::cuda::WaitWork;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  cudaGraphInstantiateParams parameters = {flags, nullptr, nullptr, cudaGraphInstantiateError};
  return Instantiate("cudaGraphInstantiate", executable, graph, &parameters);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return Instantiate("cudaGraphInstantiateWithParams", executable, graph, parameters);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  const Guard guard;
  const std::shared_ptr<Executable> executable = Find(handle);
  if (executable == nullptr || flags == nullptr) return Fail(cudaErrorInvalidValue);
  *flags = executable->flags();
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  const Guard guard;
  return heddle::cuda::Executables().erase(handle) != 0 ? cudaSuccess : Fail(cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  std::shared_ptr<Executable> executable;
  CUstream_st* stream = nullptr;
  {
    const Guard guard;
    executable = Find(handle);
    if (executable == nullptr) return Fail(cudaErrorInvalidValue);
    cudaError_t error = heddle::cuda::ContextError("cudaGraphLaunch");
    if (error != cudaSuccess) return Fail(error);
    stream = Timeline::Get().Enter(stream_handle, &error);
    if (stream == nullptr) return Fail(error);
    if (stream->recorder != nullptr) {
      std::shared_ptr<CUgraph_st> child = executable->AsGraph();
      if (child == nullptr) {
        Explain("cudaGraphLaunch",
                "graphs that allocate or free memory, or have conditional nodes, cannot be child graphs; launch the "
                "graph by itself");
        return Fail(cudaErrorNotSupported);
      }
      child->MakeChild();
      return Fail(stream->recorder->Add(stream, ChildWork{std::move(child)}));
    }
  }
  return executable->Launch(stream);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  const Guard guard;
  if (Find(executable) == nullptr) return Fail(cudaErrorInvalidValue);
  return Timeline::Get().Find(stream) != nullptr ? cudaSuccess : Fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  const Guard guard;
  const std::shared_ptr<Executable> executable = Find(handle);
  cudaGraphExecUpdateResultInfo unused;
  if (info == nullptr) info = &unused;
  *info = {cudaGraphExecUpdateError, nullptr, nullptr};
  if (executable == nullptr || !IsGraph(graph)) return Fail(cudaErrorInvalidValue);
  return executable->Update(*graph, info);
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphExecKernelNodeSetParams(handle, node, &parameters->kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphExecMemcpyNodeSetParams(handle, node, &parameters->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return cudaGraphExecMemsetNodeSetParams(handle, node, &parameters->memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphExecHostNodeSetParams(handle, node, &parameters->host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphExecChildGraphNodeSetParams(handle, node, parameters->graph.graph);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphExecEventRecordNodeSetEvent(handle, node, parameters->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphExecEventWaitNodeSetEvent(handle, node, parameters->eventWait.event);
    default:
      return Fail(cudaErrorInvalidValue);
  }
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return SetStep<KernelWork>("cudaGraphExecKernelNodeSetParams", executable, node, *parameters);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return SetStep<CopyWork>("cudaGraphExecMemcpyNodeSetParams", executable, node, *parameters);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, enum cudaMemcpyKind kind) {
  return SetStep<CopyWork>("cudaGraphExecMemcpyNodeSetParams1D", executable, node, PlainCopy{to, from, bytes, kind});
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const struct cudaMemsetParams* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return SetStep<FillWork>("cudaGraphExecMemsetNodeSetParams", executable, node, *parameters);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return SetStep<HostWork>("cudaGraphExecHostNodeSetParams", executable, node, *parameters);
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node, cudaGraph_t child) {
  const Guard guard;
  const std::shared_ptr<Executable> executable = Find(handle);
  if (executable == nullptr || !IsGraph(child)) return Fail(cudaErrorInvalidValue);
  return executable->UpdateChild(node, *child);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return SetStep<RecordWork>("cudaGraphExecEventRecordNodeSetEvent", executable, node, RecordWork{event});
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return SetStep<WaitWork>("cudaGraphExecEventWaitNodeSetEvent", executable, node, WaitWork{event});
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int enabled) {
  const Guard guard;
  Step* step = FindSwitchable(executable, node);
  if (step == nullptr) return Fail(cudaErrorInvalidValue);
  step->enabled = enabled != 0;
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int* enabled) {
  const Guard guard;
  const Step* step = FindSwitchable(executable, node);
  if (step == nullptr || enabled == nullptr) return Fail(cudaErrorInvalidValue);
  *enabled = step->enabled ? 1 : 0;
  return cudaSuccess;
}

}  // extern "C"
