// Graphs that can be launched: their work in an order that the edges allow, child graphs unfolded.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_EXECUTABLE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_EXECUTABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tracegen/runtime/cuda/graphs/graph.h"

namespace heddle::cuda {

// One node of an executable graph.
struct Step {
  Node* node = nullptr;  // that it was made of; may have been destroyed since
  Work work;
  std::vector<size_t> before;  // steps
  bool is_last = true;         // nothing depends on it
  bool enabled = true;
  std::vector<std::shared_ptr<CUgraphExec_st>> bodies;  // of a conditional node
  // Steps of one lane follow one another, so they are one stream to the trace. Lane 0 is the stream of the launch.
  size_t lane = 0;
};

// The steps of a graph, each behind those that it depends on, and those of the graphs of conditional nodes. A child
// node is an empty step behind those of its graph. Empty with the node in `wrong`, if nodes depend on one another in a
// circle.
std::vector<Step> MakeSteps(const Graph& graph, const Node** wrong);

}  // namespace heddle::cuda

// What the API's handle points to. Functions are called with the Guard held, but for Launch.
struct CUgraphExec_st {
 public:
  CUgraphExec_st(std::vector<heddle::cuda::Step> steps, const CUgraph_st& graph, unsigned long long flags);

  // Does all steps; `this` stays while others destroy the handle. Takes the Guard by itself, and leaves it while
  // functions of the program run.
  cudaError_t Launch(CUstream_st* stream);
  // Takes over the work of another graph of the same form.
  cudaError_t Update(const CUgraph_st& graph, cudaGraphExecUpdateResultInfo* info);
  // The step of a node, also of a graph of a conditional node; or null.
  heddle::cuda::Step* Find(const CUgraphNode_st* node);
  // The same for a child node: its steps get the work of another graph of the same form.
  cudaError_t UpdateChild(const CUgraphNode_st* node, const CUgraph_st& graph);
  unsigned long long flags() const { return flags_; }
  const std::vector<heddle::cuda::Step>& steps() const { return steps_; }
  // The graph that it was made of, by number: graphs with memory nodes have one executable graph at a time.
  uint64_t graph_number() const { return graph_number_; }
  // What a launch does, as a graph: the steps with their work as it is now. Null if a step allocates or frees memory,
  // or decides.
  std::unique_ptr<CUgraph_st> AsGraph() const;

 private:
  struct Progress;
  // All steps, behind what `progress` begins with; then it is told what was last.
  cudaError_t Run(Progress& progress);
  cudaError_t Decide(const heddle::cuda::Step& step, Progress& progress, size_t index);
  // Before a launch: numbers that conditional nodes read.
  void BeginLaunch() const;
  // Where a step starts: what it waits for.
  void Start(const heddle::cuda::Step& step, const Progress& progress, uint64_t* start_ns,
             std::vector<uint64_t>* dependencies) const;
  cudaError_t Do(heddle::cuda::Step& step, Progress& progress, size_t index);
  cudaError_t TakeOver(std::vector<heddle::cuda::Step> steps, size_t first, size_t count,
                       cudaGraphExecUpdateResultInfo* info);
  void AssignLanes();
  // Frees what graph nodes have allocated in a launch before.
  cudaError_t FreeMemory();

  std::vector<heddle::cuda::Step> steps_;
  std::map<const CUgraphNode_st*, size_t> by_node_;
  std::vector<uint64_t> lanes_;          // numbers of streams
  std::vector<uint64_t> last_launches_;  // of its last launch, which must have ended before the next
  uint64_t graph_number_;
  unsigned long long flags_;
};

namespace heddle::cuda {

using Executable = CUgraphExec_st;

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_EXECUTABLE_H_
