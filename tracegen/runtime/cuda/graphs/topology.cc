// Functions of the API for graphs as a whole, and for their edges.
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "tracegen/runtime/cuda/graphs/graph.h"
#include "tracegen/runtime/cuda/state.h"

using heddle::cuda::Explain;
using heddle::cuda::Fail;
using heddle::cuda::Graph;
using heddle::cuda::Guard;
using heddle::cuda::IsGraph;
using heddle::cuda::IsNode;
using heddle::cuda::Node;

namespace {

cudaError_t RefuseChange(const char* call) {
  Explain(call, "a graph that allocates or frees memory is neither cloned nor loses nodes and edges; make it anew");
  return Fail(cudaErrorNotSupported);
}

// Whether pairs of nodes can be edges (`exist` false), or are edges. None comes twice.
cudaError_t CheckEdges(const Graph* graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count,
                       bool exist) {
  if (!IsGraph(graph) || (count != 0 && (from == nullptr || to == nullptr))) return cudaErrorInvalidValue;
  std::set<std::pair<const Node*, const Node*>> seen;
  for (size_t i = 0; i < count; ++i) {
    if (!IsNode(from[i]) || !IsNode(to[i]) || !graph->Has(from[i]) || !graph->Has(to[i]) || from[i] == to[i] ||
        Graph::HasEdge(from[i], to[i]) != exist || !seen.insert({from[i], to[i]}).second) {
      return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  const Guard guard;
  if (graph == nullptr || flags != 0) return Fail(cudaErrorInvalidValue);
  *graph = new Graph;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const Guard guard;
  if (!IsGraph(graph) || graph->is_child()) return Fail(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  const Guard guard;
  if (clone == nullptr || !IsGraph(original)) return Fail(cudaErrorInvalidValue);
  if (original->HasMemoryNodes()) return RefuseChange("cudaGraphClone");
  if (original->HasConditionalNodes()) {
    Explain("cudaGraphClone", "a graph with conditional nodes is not cloned; make it anew");
    return Fail(cudaErrorNotSupported);
  }
  *clone = original->Clone().release();
  return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  const Guard guard;
  if (node == nullptr || !IsNode(original) || !IsGraph(clone)) return Fail(cudaErrorInvalidValue);
  Node* found = clone->FindClone(original);
  if (found == nullptr) return Fail(cudaErrorInvalidValue);
  *node = found;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  const Guard guard;
  if (!IsNode(node)) return Fail(cudaErrorInvalidValue);
  if (node->graph->HasMemoryNodes()) return RefuseChange("cudaGraphDestroyNode");
  node->graph->Remove(node);
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  const Guard guard;
  if (cudaError_t error = CheckEdges(graph, from, to, count, false); error != cudaSuccess) return Fail(error);
  for (size_t i = 0; i < count; ++i) Graph::AddEdge(from[i], to[i]);
  return cudaSuccess;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        size_t count) {
  const Guard guard;
  if (cudaError_t error = CheckEdges(graph, from, to, count, true); error != cudaSuccess) return Fail(error);
  if (graph->HasMemoryNodes()) return RefuseChange("cudaGraphRemoveDependencies");
  for (size_t i = 0; i < count; ++i) Graph::RemoveEdge(from[i], to[i]);
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  const Guard guard;
  return Fail(IsGraph(graph) ? heddle::cuda::WriteNodes(graph->Nodes(), nodes, count) : cudaErrorInvalidValue);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  const Guard guard;
  if (!IsGraph(graph)) return Fail(cudaErrorInvalidValue);
  std::vector<Node*> roots;
  for (Node* node : graph->Nodes()) {
    if (node->before.empty()) roots.push_back(node);
  }
  return Fail(heddle::cuda::WriteNodes(roots, nodes, count));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  const Guard guard;
  if (!IsGraph(graph) || count == nullptr || (from == nullptr) != (to == nullptr)) return Fail(cudaErrorInvalidValue);
  std::vector<Node*> starts, ends;
  for (Node* node : graph->Nodes()) {
    for (Node* next : node->after) {
      starts.push_back(node);
      ends.push_back(next);
    }
  }
  size_t again = *count;
  heddle::cuda::WriteNodes(starts, from, count);
  return Fail(heddle::cuda::WriteNodes(ends, to, &again));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies, size_t* count) {
  const Guard guard;
  return Fail(IsNode(node) ? heddle::cuda::WriteNodes(node->before, dependencies, count) : cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents, size_t* count) {
  const Guard guard;
  return Fail(IsNode(node) ? heddle::cuda::WriteNodes(node->after, dependents, count) : cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* type) {
  const Guard guard;
  if (!IsNode(node) || type == nullptr) return Fail(cudaErrorInvalidValue);
  *type = heddle::cuda::TypeOf(node->work);
  return cudaSuccess;
}

}  // extern "C"
