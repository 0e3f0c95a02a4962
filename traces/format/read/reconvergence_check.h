// Checks that threads reach the reconvergence points of the branches that they run.
#ifndef HEDDLE_TRACES_FORMAT_READ_RECONVERGENCE_CHECK_H_
#define HEDDLE_TRACES_FORMAT_READ_RECONVERGENCE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// A thread that runs a branch later reaches the branch's reconvergence point at the same call depth, or exits
// (specification "divergence-common", section 1). Follows one path after the other.
class ReconvergenceCheck {
 public:
  explicit ReconvergenceCheck(const Program& program) : reconverges_(program.blocks().size(), false) {
    for (const Block& block : program.blocks()) {
      if (block.post_dominator != kNoBlock) reconverges_[block.post_dominator] = true;
      has_calls_ |= block.terminator == v1::RETURN;
    }
  }

  // A path begins.
  void Start(const PathView& path) {
    awaited_.clear();
    frames_.assign(path.call_stack.size() + 1, Frame());
    for (size_t f = 0; f < frames_.size(); ++f) frames_[f].number = f;
    next_frame_ = frames_.size();
  }

  // The path enters `block`, which is number `index`. False if it returns without having reached a reconvergence point.
  bool Visit(uint32_t index, const Block& block) {
    if (!has_calls_) return true;  // without returns, only an exit ends a path
    if (reconverges_[index] && awaited_.erase(KeyOf(index)) > 0) --frames_.back().awaited;
    switch (block.terminator) {
      case v1::BRANCH_CONDITIONAL:
      case v1::BRANCH_WIDE:
        if (block.post_dominator != kNoBlock && awaited_.insert(KeyOf(block.post_dominator)).second) {
          ++frames_.back().awaited;
        }
        return true;
      case v1::CALL:
      case v1::CALL_INDIRECT:
        frames_.push_back({next_frame_++, 0});
        return true;
      case v1::RETURN: {
        const bool reached = frames_.back().awaited == 0;
        frames_.pop_back();
        return reached;
      }
      default:
        return true;
    }
  }

 private:
  struct Frame {
    uint64_t number = 0;   // among all calls of the path
    uint32_t awaited = 0;  // reconvergence points still to come
  };

  // Of a block in the running call.
  uint64_t KeyOf(uint32_t block) const { return frames_.back().number << 17 | block; }

  std::vector<bool> reconverges_;  // block is some branch's reconvergence point
  bool has_calls_ = false;
  absl::flat_hash_set<uint64_t> awaited_;  // call and block of reconvergence points still to come
  std::vector<Frame> frames_;
  uint64_t next_frame_ = 0;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_RECONVERGENCE_CHECK_H_
