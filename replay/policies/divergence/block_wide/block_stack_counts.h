// What policies with a block-wide stack count.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_COUNTS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_COUNTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::replay {

// In the order of BlockStackCounters() (block_stack.h).
enum BlockStackCounter {
  kBranches,
  kUniformBranches,
  kIncompactableBranches,
  kCompactableBranches,
  kJumps,
  kWarpsBefore,
  kWarpsAfter,
  kSyncWaitCycles,
  kMaxStackDepth,
  kBarrierSwitches,
  kBypassBypass,
  kStallStall,
  kBypassStall,
  kStallBypass,
  kBlockStackCounters,  // a policy's own counters follow
};

// The values of the counters above and of a policy's own, by number.
class BlockStackCounts {
 public:
  explicit BlockStackCounts(size_t counters) : values_(counters, 0) {}

  void Count(size_t counter, uint64_t by = 1) { values_[counter] += by; }
  // For counters that keep a maximum.
  void Raise(size_t counter, uint64_t value) { values_[counter] = std::max(values_[counter], value); }

  uint64_t operator[](size_t counter) const { return values_[counter]; }
  std::span<const uint64_t> values() const { return values_; }

 private:
  std::vector<uint64_t> values_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_COUNTS_H_
