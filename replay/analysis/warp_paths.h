// The paths of threads as numbered pieces of code, and what a warp of them costs under reconvergence rules, without any
// machine: one issue per instruction and set of lanes, in an ideal memory.
#ifndef HEDDLE_REPLAY_ANALYSIS_WARP_PATHS_H_
#define HEDDLE_REPLAY_ANALYSIS_WARP_PATHS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/analysis/alignment.h"
#include "replay/seams/types.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// Numbers the pieces of a program: the instructions of a basic block at one call depth, cut before and behind every
// thread-block barrier.
class PieceTable {
 public:
  explicit PieceTable(const trace::Program& program);

  struct Piece {
    Position at;  // first instruction
    bool barrier = false;
  };
  // Pieces of a block at a call depth, as a range of numbers.
  std::pair<uint32_t, uint32_t> Of(uint32_t block, uint32_t depth);

  const Piece& operator[](uint32_t piece) const { return pieces_[piece]; }
  size_t size() const { return pieces_.size(); }
  // Instructions by piece.
  const std::vector<uint32_t>& weights() const { return weights_; }
  const trace::Program& program() const { return program_; }

 private:
  const trace::Program& program_;
  std::vector<std::vector<uint32_t>> cuts_;  // by block: instructions at which a piece begins
  std::map<uint64_t, uint32_t> first_;       // by depth and block
  std::vector<Piece> pieces_;
  std::vector<uint32_t> weights_;
};

// One step of a thread: a piece, and where the branch at its end reconverges (Exit() if it does not branch, or at the
// kernel's end).
struct PathStep {
  uint32_t piece = 0;
  Position reconvergence;
};
using ThreadPath = std::vector<PathStep>;

// Appends the pieces of a block that a thread enters with these calls pending (as trace::Walk tells them). They
// reconverge where the engine says it to policies: at the block's post-dominator, at a function's end behind the
// caller's call.
void AppendBlock(uint32_t block, const std::vector<uint32_t>& calls, PieceTable& pieces, ThreadPath& path);

// Issues of a warp of these threads, at most kMaxLanes, that never rejoins (Fung, section 3.1): threads go together as
// long as their paths have been the same.
uint64_t NeverReconverging(std::span<const ThreadPath* const> threads, const std::vector<uint32_t>& weights);

// The issues of a warp with a reconvergence stack (Fung, section 3.2), in order.
Alignment ReconvergingAtPostDominators(std::span<const ThreadPath* const> threads, const PieceTable& pieces);

struct OptimalReconvergence {
  Alignment columns;
  bool heuristic = false;  // some part had more than four different paths: the search was greedy
};
// The fewest issues in which the warp can run its threads' paths, each in its order, barriers together (Fung, section
// 3.3). nullopt if the paths are too long for the aligner.
std::optional<OptimalReconvergence> ReconvergingOptimally(std::span<const ThreadPath* const> threads,
                                                          const PieceTable& pieces, Aligner& aligner);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ANALYSIS_WARP_PATHS_H_
