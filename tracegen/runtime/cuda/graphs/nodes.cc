// Functions of the API for nodes: making them, and what they do.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracegen/runtime/cuda/graphs/graph.h"
#include "tracegen/runtime/cuda/graphs/parameters.h"
#include "tracegen/runtime/cuda/state.h"

using heddle::cuda::AllocateWork;
using heddle::cuda::ChildWork;
using heddle::cuda::ConditionalWork;
using heddle::cuda::CopyWork;
using heddle::cuda::EmptyWork;
using heddle::cuda::Fail;
using heddle::cuda::FillWork;
using heddle::cuda::FreeWork;
using heddle::cuda::Guard;
using heddle::cuda::HostWork;
using heddle::cuda::IsGraph;
using heddle::cuda::IsNode;
using heddle::cuda::KernelWork;
using heddle::cuda::MakeWork;
using heddle::cuda::Node;
using heddle::cuda::PlainCopy;
using heddle::cuda::RecordWork;
using heddle::cuda::SymbolCopy;
using heddle::cuda::WaitWork;
using heddle::cuda::Work;

namespace {

// How a program describes a copy, to be told when it asks.
template <typename Parameters>
void KeepDescription(Node* node, const Parameters& parameters) {
  if constexpr (std::is_same_v<Parameters, cudaMemcpy3DParms>) {
    node->copy = parameters;
  } else if constexpr (std::is_same_v<Parameters, cudaGraphNodeParams>) {
    if (parameters.type == cudaGraphNodeTypeMemcpy) node->copy = parameters.memcpy.copyParams;
  } else {
    node->copy.reset();
  }
}

// The graphs of a conditional node, which the program fills.
template <typename Parameters>
void GiveGraphs(const Node& node, Parameters& parameters) {
  if constexpr (std::is_same_v<Parameters, cudaGraphNodeParams>) {
    const auto* conditional = std::get_if<ConditionalWork>(&node.work);
    if (conditional != nullptr) {
      parameters.conditional.phGraph_out = const_cast<cudaGraph_t*>(conditional->handles.data());
    }
  }
}

template <typename Parameters>
cudaError_t AddNode(const char* call, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                    size_t count, Parameters&& parameters) {
  const Guard guard;
  std::vector<Node*> before;
  if (node == nullptr || !IsGraph(graph) || !heddle::cuda::ReadNodes(graph, dependencies, count, &before)) {
    return Fail(cudaErrorInvalidValue);
  }
  Work work;
  if (cudaError_t error = MakeWork(call, parameters, &work); error != cudaSuccess) return error;
  *node = graph->Add(std::move(work), before);
  KeepDescription(*node, parameters);
  GiveGraphs(**node, parameters);
  return cudaSuccess;
}

// The same with a pointer to the parameters.
template <typename Parameters>
cudaError_t AddNodeOf(const char* call, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                      size_t count, Parameters* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return AddNode(call, node, graph, dependencies, count, *parameters);
}

// The node's work, if it is of this kind; else null.
template <typename Kind>
Kind* WorkOf(cudaGraphNode_t node) {
  return IsNode(node) ? std::get_if<Kind>(&node->work) : nullptr;
}

// Gives a node other work of the same kind. With the Guard held.
template <typename Parameters>
cudaError_t ReplaceWork(const char* call, Node* node, Parameters& parameters) {
  if (cudaError_t error = MakeWork(call, parameters, &node->work); error != cudaSuccess) return error;
  KeepDescription(node, parameters);
  return cudaSuccess;
}

template <typename Kind, typename Parameters>
cudaError_t SetWork(const char* call, cudaGraphNode_t node, Parameters&& parameters) {
  const Guard guard;
  return WorkOf<Kind>(node) != nullptr ? ReplaceWork(call, node, parameters) : Fail(cudaErrorInvalidValue);
}

// Gives a node a launch with other attributes, if such a launch can be made. With the Guard held.
cudaError_t ReplaceKernel(const char* call, KernelWork changed, KernelWork* kernel) {
  const heddle::device::KernelInfo* info = nullptr;
  if (cudaError_t error = heddle::cuda::PrepareLaunch(call, &changed, &info); error != cudaSuccess) return error;
  *kernel = std::move(changed);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             size_t count, struct cudaGraphNodeParams* parameters) {
  return AddNodeOf("cudaGraphAddNode", node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                const cudaGraphEdgeData*, size_t count, struct cudaGraphNodeParams* parameters) {
  return AddNodeOf("cudaGraphAddNode", node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const struct cudaKernelNodeParams* parameters) {
  return AddNodeOf("cudaGraphAddKernelNode", node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const struct cudaMemcpy3DParms* parameters) {
  return AddNodeOf("cudaGraphAddMemcpyNode", node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind) {
  return AddNode("cudaGraphAddMemcpyNode1D", node, graph, dependencies, count, PlainCopy{to, from, bytes, kind});
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count, const void* symbol,
                                           const void* from, size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
  return AddNode("cudaGraphAddMemcpyNodeToSymbol", node, graph, dependencies, count,
                 SymbolCopy{symbol, from, bytes, offset, kind, true});
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count, void* to,
                                             const void* symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind) {
  return AddNode("cudaGraphAddMemcpyNodeFromSymbol", node, graph, dependencies, count,
                 SymbolCopy{symbol, to, bytes, offset, kind, false});
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const struct cudaMemsetParams* parameters) {
  return AddNodeOf("cudaGraphAddMemsetNode", node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t count, const struct cudaHostNodeParams* parameters) {
  return AddNodeOf("cudaGraphAddHostNode", node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       size_t count, cudaGraph_t child) {
  return AddNode("cudaGraphAddChildGraphNode", node, graph, dependencies, count, child);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  size_t count) {
  return AddNode("cudaGraphAddEmptyNode", node, graph, dependencies, count, EmptyWork{});
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t count, cudaEvent_t event) {
  return AddNode("cudaGraphAddEventRecordNode", node, graph, dependencies, count, RecordWork{event});
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      size_t count, cudaEvent_t event) {
  return AddNode("cudaGraphAddEventWaitNode", node, graph, dependencies, count, WaitWork{event});
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, struct cudaMemAllocNodeParams* parameters) {
  return AddNodeOf("cudaGraphAddMemAllocNode", node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                    size_t count, void* pointer) {
  return AddNode("cudaGraphAddMemFreeNode", node, graph, dependencies, count,
                 FreeWork{reinterpret_cast<uint64_t>(pointer)});
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams* parameters) {
  const Guard guard;
  KernelWork* kernel = WorkOf<KernelWork>(node);
  if (kernel == nullptr || parameters == nullptr) return Fail(cudaErrorInvalidValue);
  if (heddle::cuda::CodeRegistry::Get().FindHandle(kernel->kernel) == nullptr) {
    return Fail(cudaErrorInvalidResourceHandle);
  }
  node->arguments.clear();
  const heddle::device::KernelInfo* info = kernel->kernel->image->FindKernel(kernel->kernel->name);
  for (const heddle::device::ParameterInfo& parameter : info->parameters) {
    node->arguments.push_back(kernel->parameters.data() + parameter.offset);
  }
  *parameters = {};
  parameters->func = const_cast<void*>(kernel->function);
  parameters->gridDim = kernel->shape.grid;
  parameters->blockDim = kernel->shape.block;
  parameters->sharedMemBytes = static_cast<unsigned int>(kernel->shape.shared_bytes);
  parameters->kernelParams = node->arguments.data();
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return SetWork<KernelWork>("cudaGraphKernelNodeSetParams", node, *parameters);
}

// Attributes that change nothing are taken and forgotten.
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            const cudaLaunchAttributeValue* value) {
  const Guard guard;
  KernelWork* kernel = WorkOf<KernelWork>(node);
  if (kernel == nullptr || value == nullptr) return Fail(cudaErrorInvalidValue);
  KernelWork changed = *kernel;
  if (attribute == cudaLaunchAttributeClusterDimension) changed.shape.cluster = heddle::cuda::AskedCluster(*value);
  if (attribute == cudaLaunchAttributePriority) changed.priority = value->priority;
  if (attribute == cudaLaunchAttributeCooperative) changed.cooperative = value->cooperative != 0;
  return ReplaceKernel("cudaGraphKernelNodeSetAttribute", std::move(changed), kernel);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue* value) {
  const Guard guard;
  const KernelWork* kernel = WorkOf<KernelWork>(node);
  if (kernel == nullptr || value == nullptr) return Fail(cudaErrorInvalidValue);
  *value = {};
  if (attribute == cudaLaunchAttributePriority) value->priority = kernel->priority;
  if (attribute == cudaLaunchAttributeCooperative) value->cooperative = kernel->cooperative ? 1 : 0;
  if (attribute == cudaLaunchAttributeClusterDimension) {
    const dim3& cluster = kernel->cluster;
    value->clusterDim = {std::max(1u, cluster.x), std::max(1u, cluster.y), std::max(1u, cluster.z)};
  }
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  const Guard guard;
  KernelWork* target = WorkOf<KernelWork>(to);
  const KernelWork* source = WorkOf<KernelWork>(from);
  if (target == nullptr || source == nullptr) return Fail(cudaErrorInvalidValue);
  KernelWork changed = *target;
  heddle::cuda::TakeAttributes(*source, &changed);
  return ReplaceKernel("cudaGraphKernelNodeCopyAttributes", std::move(changed), target);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms* parameters) {
  const Guard guard;
  if (WorkOf<CopyWork>(node) == nullptr || parameters == nullptr) return Fail(cudaErrorInvalidValue);
  *parameters = heddle::cuda::DescribeCopyNode(*node);
  return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return SetWork<CopyWork>("cudaGraphMemcpyNodeSetParams", node, *parameters);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           enum cudaMemcpyKind kind) {
  return SetWork<CopyWork>("cudaGraphMemcpyNodeSetParams1D", node, PlainCopy{to, from, bytes, kind});
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams* parameters) {
  const Guard guard;
  const FillWork* fill = WorkOf<FillWork>(node);
  if (fill == nullptr || parameters == nullptr) return Fail(cudaErrorInvalidValue);
  parameters->dst = fill->to.start;
  parameters->pitch = fill->to.pitch;
  parameters->value = fill->value;
  parameters->elementSize = static_cast<unsigned int>(fill->value_bytes);
  parameters->width = fill->block.bytes / fill->value_bytes;
  parameters->height = fill->block.rows;
  return cudaSuccess;
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return SetWork<FillWork>("cudaGraphMemsetNodeSetParams", node, *parameters);
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams* parameters) {
  const Guard guard;
  const HostWork* host = WorkOf<HostWork>(node);
  if (host == nullptr || parameters == nullptr) return Fail(cudaErrorInvalidValue);
  *parameters = {host->function, host->data};
  return cudaSuccess;
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return Fail(cudaErrorInvalidValue);
  return SetWork<HostWork>("cudaGraphHostNodeSetParams", node, *parameters);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  const Guard guard;
  const ChildWork* child = WorkOf<ChildWork>(node);
  if (child == nullptr || graph == nullptr) return Fail(cudaErrorInvalidValue);
  *graph = child->graph.get();
  return cudaSuccess;
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  const Guard guard;
  const RecordWork* record = WorkOf<RecordWork>(node);
  if (record == nullptr || event == nullptr) return Fail(cudaErrorInvalidValue);
  *event = record->event;
  return cudaSuccess;
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return SetWork<RecordWork>("cudaGraphEventRecordNodeSetEvent", node, RecordWork{event});
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  const Guard guard;
  const WaitWork* wait = WorkOf<WaitWork>(node);
  if (wait == nullptr || event == nullptr) return Fail(cudaErrorInvalidValue);
  *event = wait->event;
  return cudaSuccess;
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return SetWork<WaitWork>("cudaGraphEventWaitNodeSetEvent", node, WaitWork{event});
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams* parameters) {
  const Guard guard;
  const AllocateWork* allocation = WorkOf<AllocateWork>(node);
  if (allocation == nullptr || parameters == nullptr) return Fail(cudaErrorInvalidValue);
  *parameters = allocation->parameters;
  parameters->accessDescs = allocation->access.data();
  parameters->accessDescCount = allocation->access.size();
  return cudaSuccess;
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  const Guard guard;
  const FreeWork* freed = WorkOf<FreeWork>(node);
  if (freed == nullptr || pointer == nullptr) return Fail(cudaErrorInvalidValue);
  *static_cast<void**>(pointer) = reinterpret_cast<void*>(freed->address);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams* parameters) {
  const Guard guard;
  // A conditional node has no parameters to change.
  if (!IsNode(node) || parameters == nullptr || parameters->type != heddle::cuda::TypeOf(node->work) ||
      parameters->type == cudaGraphNodeTypeConditional) {
    return Fail(cudaErrorInvalidValue);
  }
  return ReplaceWork("cudaGraphNodeSetParams", node, *parameters);
}

}  // extern "C"
