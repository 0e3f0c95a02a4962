// The fetch stage of one SM.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_FETCH_STAGE_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_FETCH_STAGE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "replay/core/ibuffer/ibuffer_state.h"
#include "replay/core/ibuffer/instruction_buffers.h"
#include "replay/core/ibuffer/issue_status_unit.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Asks the fetch policy for a slot in each cycle, and the memory for its instructions. What a fetch brings is decoded
// into the slot's buffer in the next cycle.
class FetchStage {
 public:
  FetchStage(SmParts& sm, IBufferState& state, InstructionBuffers& buffers, IssueStatusUnit& status);

  // Before anything runs.
  void SetPolicy(std::unique_ptr<FetchPolicy> policy) { policy_ = std::move(policy); }
  const FetchPolicy& policy() const { return *policy_; }

  // There is something to decode, or to fetch, in the next cycle.
  bool due() const {
    return buffers_.arriving() != kNoSlot || !buffers_.eligible().empty() ||
           (!buffers_.at_barrier().empty() && !declined_);
  }
  // What is arriving enters its buffer.
  void Decode();
  // Fetches for one slot. Returns the slot whose issue status has changed by it, kNoSlot if there is none.
  SlotId Fetch(Cycle now) {
    declined_ = false;
    return buffers_.eligible().empty() && buffers_.at_barrier().empty() ? kNoSlot : FetchOne(now);
  }
  // The line of the instruction cache that the slot waits for has come.
  void LineArrived(SlotId slot);
  // Whether there are more fetches in a cycle than one.
  bool again() const { return again_; }
  // Fetches that hit the instruction cache.
  uint64_t fetches() const { return fetches_; }

 private:
  uint32_t CountOf(const WarpEntry& warp) const;
  // Some slot can be fetched for.
  SlotId FetchOne(Cycle now);

  SmParts& sm_;
  IBufferState& state_;
  InstructionBuffers& buffers_;
  IssueStatusUnit& status_;
  std::unique_ptr<FetchPolicy> policy_;
  bool declined_ = false;  // the policy chose none in a cycle without an issue
  const bool again_;
  const FetchView view_;
  uint64_t fetches_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_FETCH_STAGE_H_
