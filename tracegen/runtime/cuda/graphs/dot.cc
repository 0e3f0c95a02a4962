// A graph as text for Graphviz.
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tracegen/runtime/cuda/graphs/graph.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

std::string Label(const Node& node) {
  if (const auto* kernel = std::get_if<KernelWork>(&node.work)) {
    return CodeRegistry::Get().FindHandle(kernel->kernel) != nullptr ? kernel->kernel->name : "KERNEL (unloaded)";
  }
  switch (TypeOf(node.work)) {
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "GRAPH";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT_RECORD";
    case cudaGraphNodeTypeConditional:
      return "CONDITIONAL";
    case cudaGraphNodeTypeMemAlloc:
      return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree:
      return "MEM_FREE";
    default:
      return "EMPTY";
  }
}

void Write(std::FILE* file, const Graph& graph, int depth) {
  for (const Node* node : graph.Nodes()) {
    std::fprintf(file, "  node_%llu [label=\"%s\"];\n", static_cast<unsigned long long>(node->number),
                 Label(*node).c_str());
    for (const Node* next : node->after) {
      std::fprintf(file, "  node_%llu -> node_%llu;\n", static_cast<unsigned long long>(node->number),
                   static_cast<unsigned long long>(next->number));
    }
    std::vector<std::shared_ptr<Graph>> inside;
    if (const auto* child = std::get_if<ChildWork>(&node->work)) inside = {child->graph};
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) inside = conditional->bodies;
    for (size_t i = 0; i < inside.size(); ++i) {
      std::fprintf(file, "  subgraph cluster_%llu_%zu {\n  label=\"child graph, level %d\";\n",
                   static_cast<unsigned long long>(node->number), i, depth + 1);
      Write(file, *inside[i], depth + 1);
      std::fprintf(file, "  }\n");
    }
  }
}

}  // namespace
}  // namespace heddle::cuda

extern "C" {

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  const heddle::cuda::Guard guard;
  if (!heddle::cuda::IsGraph(graph) || path == nullptr) return heddle::cuda::Fail(cudaErrorInvalidValue);
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return heddle::cuda::Fail(cudaErrorOperatingSystem);
  std::fprintf(file, "digraph graph_of_nodes {\n");
  heddle::cuda::Write(file, *graph, 0);
  std::fprintf(file, "}\n");
  return std::fclose(file) == 0 ? cudaSuccess : heddle::cuda::Fail(cudaErrorOperatingSystem);
}

}  // extern "C"
