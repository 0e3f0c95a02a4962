#include "tracegen/runtime/cuda/graphs/graph.h"

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::cuda {
namespace {

std::set<const Graph*>& Graphs() {
  static auto& graphs = *new std::set<const Graph*>;
  return graphs;
}
std::set<const Node*>& AllNodes() {
  static auto& nodes = *new std::set<const Node*>;
  return nodes;
}

void Erase(std::vector<Node*>& list, const Node* node) {
  list.erase(std::remove(list.begin(), list.end(), node), list.end());
}

}  // namespace

bool IsGraph(const Graph* graph) { return Graphs().contains(graph); }
bool IsNode(const Node* node) { return AllNodes().contains(node); }

cudaGraphNodeType TypeOf(const Work& work) {
  // In the order of the alternatives.
  constexpr cudaGraphNodeType kTypes[] = {
      cudaGraphNodeTypeKernel,  cudaGraphNodeTypeMemcpy,      cudaGraphNodeTypeMemset,     cudaGraphNodeTypeHost,
      cudaGraphNodeTypeEmpty,   cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent,  cudaGraphNodeTypeMemAlloc,
      cudaGraphNodeTypeMemFree, cudaGraphNodeTypeGraph,       cudaGraphNodeTypeConditional};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

bool ReadNodes(const Graph* graph, const cudaGraphNode_t* nodes, size_t count, std::vector<Node*>* list) {
  list->clear();
  if (count != 0 && nodes == nullptr) return false;
  std::set<const Node*> seen;
  for (size_t i = 0; i < count; ++i) {
    if (!IsNode(nodes[i]) || !graph->Has(nodes[i]) || !seen.insert(nodes[i]).second) return false;
    list->push_back(nodes[i]);
  }
  return true;
}

cudaError_t WriteNodes(const std::vector<Node*>& list, cudaGraphNode_t* nodes, size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (nodes == nullptr) {
    *count = list.size();
    return cudaSuccess;
  }
  for (size_t i = 0; i < *count; ++i) nodes[i] = i < list.size() ? list[i] : nullptr;
  *count = std::min(*count, list.size());
  return cudaSuccess;
}

}  // namespace heddle::cuda

using heddle::cuda::AllocateWork;
using heddle::cuda::ChildWork;
using heddle::cuda::ConditionalWork;
using heddle::cuda::FreeWork;
using heddle::cuda::Work;

CUgraph_st::CUgraph_st() {
  static uint64_t last = 0;
  number_ = ++last;
  heddle::cuda::Graphs().insert(this);
}

CUgraph_st::~CUgraph_st() {
  heddle::cuda::Graphs().erase(this);
  for (const auto& [number, node] : nodes_) heddle::cuda::AllNodes().erase(node.get());
}

CUgraphNode_st* CUgraph_st::Add(Work work, const std::vector<CUgraphNode_st*>& before) {
  static uint64_t last = 0;
  auto made = std::make_unique<CUgraphNode_st>();
  CUgraphNode_st* node = made.get();
  node->graph = this;
  node->number = ++last;
  node->work = std::move(work);
  nodes_[node->number] = std::move(made);
  heddle::cuda::AllNodes().insert(node);
  for (CUgraphNode_st* from : before) AddEdge(from, node);
  return node;
}

void CUgraph_st::Remove(CUgraphNode_st* node) {
  for (CUgraphNode_st* other : node->before) heddle::cuda::Erase(other->after, node);
  for (CUgraphNode_st* other : node->after) heddle::cuda::Erase(other->before, node);
  heddle::cuda::AllNodes().erase(node);
  nodes_.erase(node->number);
}

bool CUgraph_st::HasEdge(const CUgraphNode_st* from, const CUgraphNode_st* to) {
  return std::find(to->before.begin(), to->before.end(), from) != to->before.end();
}

void CUgraph_st::AddEdge(CUgraphNode_st* from, CUgraphNode_st* to) {
  from->after.push_back(to);
  to->before.push_back(from);
}

void CUgraph_st::RemoveEdge(CUgraphNode_st* from, CUgraphNode_st* to) {
  heddle::cuda::Erase(from->after, to);
  heddle::cuda::Erase(to->before, from);
}

std::vector<CUgraphNode_st*> CUgraph_st::Nodes() const {
  std::vector<CUgraphNode_st*> list;
  for (const auto& [number, node] : nodes_) list.push_back(node.get());
  return list;
}

std::vector<CUgraphNode_st*> CUgraph_st::Order() const {
  std::map<uint64_t, size_t> missing;  // dependencies, by node
  std::set<uint64_t> ready;
  for (const auto& [number, node] : nodes_) {
    missing[number] = node->before.size();
    if (node->before.empty()) ready.insert(number);
  }
  std::vector<CUgraphNode_st*> order;
  while (!ready.empty()) {
    CUgraphNode_st* node = nodes_.at(*ready.begin()).get();
    ready.erase(ready.begin());
    order.push_back(node);
    for (const CUgraphNode_st* next : node->after) {
      if (--missing[next->number] == 0) ready.insert(next->number);
    }
  }
  return order;
}

std::unique_ptr<CUgraph_st> CUgraph_st::Clone() const {
  auto clone = std::make_unique<CUgraph_st>();
  std::map<const CUgraphNode_st*, CUgraphNode_st*> twin;
  for (const auto& [number, node] : nodes_) {
    Work work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) {
      child->graph = child->graph->Clone();
      child->graph->MakeChild();
    }
    CUgraphNode_st* made = twin[node.get()] = clone->Add(std::move(work), {});
    made->copy = node->copy;
    made->original = number;
  }
  for (const auto& [number, node] : nodes_) {
    for (const CUgraphNode_st* from : node->before) AddEdge(twin[from], twin[node.get()]);
  }
  return clone;
}

CUgraphNode_st* CUgraph_st::FindClone(const CUgraphNode_st* original) const {
  for (const auto& [number, node] : nodes_) {
    if (node->original == original->number) return node.get();
  }
  return nullptr;
}

bool CUgraph_st::HasMemoryNodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& entry) {
    const Work& work = entry.second->work;
    return std::holds_alternative<AllocateWork>(work) || std::holds_alternative<FreeWork>(work);
  });
}

bool CUgraph_st::HasConditionalNodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& entry) { return std::holds_alternative<ConditionalWork>(entry.second->work); });
}
