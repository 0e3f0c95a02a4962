// Conditional nodes of graphs: kernels write a number in device memory, which says whether the graph of such a node
// runs, how often, or which of its graphs.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_CONDITIONAL_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_CONDITIONAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "tracegen/runtime/cuda/work.h"

namespace heddle::cuda {

// The number that one handle stands for. The handle is its address. Functions are called with the Guard held.
class Condition {
 public:
  // Device memory for it. `at_launch`: launches of a graph begin with `initial`; else it keeps what it was.
  static cudaError_t Make(const char* call, unsigned int initial, bool at_launch, std::shared_ptr<Condition>* made);
  // Of a handle that is alive, else null.
  static std::shared_ptr<Condition> Find(cudaGraphConditionalHandle handle);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  cudaGraphConditionalHandle handle() const { return address_; }
  void BeginLaunch() const;
  unsigned int value() const;

 private:
  Condition(uint64_t address, unsigned int initial, bool at_launch)
      : address_(address), initial_(initial), at_launch_(at_launch) {}

  uint64_t address_;
  unsigned int initial_;
  bool at_launch_;
};

// Which of the graphs runs next, if any: `runs` of them have run in this execution of the node.
std::optional<size_t> NextBody(const ConditionalWork& work, uint64_t runs);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_CONDITIONAL_H_
