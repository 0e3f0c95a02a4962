// CUDA graphs: nodes of work, and edges that order them. What the API's handles point to.
//
// Functions of the API check their arguments by IsGraph and IsNode, so handles of what was destroyed are refused.
// Everything here is called with the Guard held.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_GRAPH_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tracegen/runtime/cuda/api.h"
#include "tracegen/runtime/cuda/work.h"

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  uint64_t number = 0;  // in the order in which nodes were made, of all graphs
  heddle::cuda::Work work;
  std::optional<cudaMemcpy3DParms> copy;  // how the program described a copy
  uint64_t original = 0;                  // of a clone: the number of the node that it was made of
  std::vector<CUgraphNode_st*> before;    // what it depends on
  std::vector<CUgraphNode_st*> after;     // what depends on it
  std::vector<void*> arguments;           // cudaGraphKernelNodeGetParams: pointers into the work's parameters
};

struct CUgraph_st {
 public:
  CUgraph_st();
  ~CUgraph_st();
  CUgraph_st(const CUgraph_st&) = delete;
  CUgraph_st& operator=(const CUgraph_st&) = delete;

  CUgraphNode_st* Add(heddle::cuda::Work work, const std::vector<CUgraphNode_st*>& before);
  void Remove(CUgraphNode_st* node);
  bool Has(const CUgraphNode_st* node) const { return node->graph == this; }

  static bool HasEdge(const CUgraphNode_st* from, const CUgraphNode_st* to);
  static void AddEdge(CUgraphNode_st* from, CUgraphNode_st* to);
  static void RemoveEdge(CUgraphNode_st* from, CUgraphNode_st* to);

  // In the order in which they were added.
  std::vector<CUgraphNode_st*> Nodes() const;
  // Each node behind those that it depends on, else in the order in which they were added. Nodes in a circle, and what
  // depends on them, are missing.
  std::vector<CUgraphNode_st*> Order() const;
  // The same nodes and edges; graphs of child nodes are cloned, too.
  std::unique_ptr<CUgraph_st> Clone() const;
  // The node of this graph that was made of `original` by Clone, or null.
  CUgraphNode_st* FindClone(const CUgraphNode_st* original) const;
  // Whether a node allocates memory or frees it. Such graphs are not cloned, and keep their nodes.
  bool HasMemoryNodes() const;
  // Whether a node is conditional. Such graphs are not cloned.
  bool HasConditionalNodes() const;
  // Lives as long as the graph.
  void Keep(std::shared_ptr<heddle::cuda::Condition> condition) { conditions_.push_back(std::move(condition)); }

  uint64_t number() const { return number_; }  // no other graph ever has it
  bool is_child() const { return is_child_; }
  void MakeChild() { is_child_ = true; }
  void GiveToProgram() { is_child_ = false; }

 private:
  std::map<uint64_t, std::unique_ptr<CUgraphNode_st>> nodes_;  // by number
  std::vector<std::shared_ptr<heddle::cuda::Condition>> conditions_;
  uint64_t number_;
  bool is_child_ = false;  // it belongs to a node, or to a capture
};

namespace heddle::cuda {

using Graph = CUgraph_st;
using Node = CUgraphNode_st;

// Whether a handle of the program is that of something alive.
bool IsGraph(const Graph* graph);
bool IsNode(const Node* node);

cudaGraphNodeType TypeOf(const Work& work);

// The nodes that the program names, as a list. False: some are none of `graph`, or come twice.
bool ReadNodes(const Graph* graph, const cudaGraphNode_t* nodes, size_t count, std::vector<Node*>* list);
// Gives nodes to the program as the API's functions do: their number if `nodes` is null; else as many as `count` says,
// with null behind the last, and how many there were.
cudaError_t WriteNodes(const std::vector<Node*>& list, cudaGraphNode_t* nodes, size_t* count);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_GRAPH_H_
