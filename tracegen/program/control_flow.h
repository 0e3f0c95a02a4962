// Order, loops and post-dominators of a control-flow graph.
#ifndef HEDDLE_TRACEGEN_PROGRAM_CONTROL_FLOW_H_
#define HEDDLE_TRACEGEN_PROGRAM_CONTROL_FLOW_H_

#include <cstdint>
#include <vector>

namespace heddle::tracegen {

struct Graph {
  std::vector<std::vector<int>> successors;  // node 0 is the entry
  // What ends the function at this node, if it has no successors: true = an ordinary end, false = it cannot return.
  std::vector<bool> returns;
  // Nodes that control never leaves, though they have successors (a call of a function that only traps). Empty = none.
  std::vector<bool> stays = {};

  bool Stops(int node) const { return (!stays.empty() && stays[node]) || (successors[node].empty() && !returns[node]); }
};

struct GraphOrder {
  std::vector<int> nodes;       // those that can be reached, in reverse post-order with every loop contiguous
  std::vector<uint32_t> depth;  // by node: loops around it
};

// Reverse post-order in which the nodes of every loop (strongly connected component, entered at its first node) stand
// together, as compilers lay out code and as PC-ordered schemes assume (thread frontiers, dynamic reconvergence by PC).
GraphOrder OrderNodes(const Graph& graph);

inline constexpr int kFunctionEnd = -1;

// Whether a way leads from the entry to an ordinary end.
bool ReachesEnd(const Graph& graph);

// Nodes that control never leaves: those that stop, and those of endless loops, as long as there is another way from
// the entry to the end. Threads whose recording ends have not come there, but by a trap.
std::vector<bool> FindDeadEnds(const Graph& graph);

// Immediate post-dominator of each node, kFunctionEnd if there is none. Nodes that stop, and nodes from which only such
// nodes are reached, take no part, so an assertion does not move a reconvergence point; a loop without exit counts as
// connected to the end.
std::vector<int> PostDominators(const Graph& graph);

// Branching nodes that decide whether a node runs: `result[n]` lists the nodes with several successors that n is
// control dependent on (Ferrante et al. 1987), directly.
std::vector<std::vector<int>> ControlDependence(const Graph& graph, const std::vector<int>& post_dominators);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_CONTROL_FLOW_H_
