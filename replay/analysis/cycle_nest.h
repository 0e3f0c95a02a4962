// The cycles of a program's control flow, one inside the other: what the iterations of threads are counted by.
#ifndef HEDDLE_REPLAY_ANALYSIS_CYCLE_NEST_H_
#define HEDDLE_REPLAY_ANALYSIS_CYCLE_NEST_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// Until where the iterations of a cycle tell threads apart.
enum class ConvergenceRule : uint8_t {
  // As long as a thread is in the cycle: threads that leave it in different iterations are together again at once
  // (LLVM, "Convergence and Uniformity": what is converged as far as possible).
  kCycle,
  // Until the cycle's merge block, where the ways out of it meet (SPIR-V, SPV_KHR_maximal_reconvergence): what a thread
  // executes on its way out still belongs to the iteration. A merge block is declared in SPIR-V; here it is the nearest
  // block behind the header that every way goes through and that is not in the cycle.
  kConstruct,
};

// Cycles as LLVM defines them ("Cycle Terminology"): maximal strongly connected sets of blocks, the header of each the
// block by which it is entered first; inside, the same again without the header. Where a cycle has several entries the
// header is the one that comes first in the program.
class CycleNest {
 public:
  // FailedPrecondition if cycles are nested deeper than kMostDepth.
  static absl::StatusOr<CycleNest> Create(const trace::Program& program, ConvergenceRule rule);

  static constexpr uint32_t kMostDepth = 64;

  // The cycles by whose iterations threads in the block are told apart, from the outermost to the innermost, by number.
  std::span<const uint32_t> CyclesOf(uint32_t block) const {
    return std::span(cycles_).subspan(first_[block], first_[block + 1] - first_[block]);
  }
  // The block with which each iteration of the cycle begins.
  uint32_t header(uint32_t cycle) const { return headers_[cycle]; }
  size_t size() const { return headers_.size(); }

 private:
  std::vector<uint32_t> headers_;  // by cycle
  std::vector<size_t> first_;      // by block, and one more: range of cycles_
  std::vector<uint32_t> cycles_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ANALYSIS_CYCLE_NEST_H_
