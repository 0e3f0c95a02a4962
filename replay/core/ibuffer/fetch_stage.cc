#include "replay/core/ibuffer/fetch_stage.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

FetchStage::FetchStage(SmParts& sm, IBufferState& state, InstructionBuffers& buffers, IssueStatusUnit& status)
    : sm_(sm),
      state_(state),
      buffers_(buffers),
      status_(status),
      again_(state.setup.fetches_per_cycle > 1),
      view_{buffers.eligible(), buffers.at_barrier(), buffers.entries(),
            std::span(state.ports.issued).first(static_cast<size_t>(sm.context.ports)),
            std::span(state.ports.last_issued).first(static_cast<size_t>(sm.context.ports))} {}

void FetchStage::Decode() {
  InstructionBuffers& buffers = buffers_;
  const SlotId slot = buffers.arriving();
  WarpEntry& warp = state_.warps[slot];
  buffers.EndFill(slot, warp);
  if (warp.regular) {
    status_.UpdateRegular(slot, warp);
    buffers.UpdateFetchableOfRegular(slot, warp);
  } else {
    status_.Update(slot);
  }
}

inline uint32_t FetchStage::CountOf(const WarpEntry& warp) const {
  const BufferSetup& setup = state_.setup;
  const Pc first = warp.head + warp.valid;
  uint32_t count = std::min<uint32_t>(setup.fetch_instructions, setup.entries - warp.valid);
  count = std::min(count, setup.table.size() - first);
  if (setup.line_instructions != 0) {  // a power of two
    count = std::min(count, setup.line_instructions - (first & (setup.line_instructions - 1)));
  }
  return count;
}

SlotId FetchStage::FetchOne(Cycle now) {
  InstructionBuffers& buffers = buffers_;
  const SlotId slot = policy_->Pick(view_);
  if (slot == kNoSlot) {
    declined_ = state_.ports.issued_mask == 0;
    return kNoSlot;
  }
  if (slot >= state_.warps.size() || state_.warps[slot].fetchable == Fetchable::kNo) {
    sm_.run.Fail(absl::InternalError(
        absl::StrCat("the fetch policy picked slot ", slot, ", which cannot be fetched for, in cycle ", now)));
    return kNoSlot;
  }
  WarpEntry& warp = state_.warps[slot];
  switch (sm_.memory.Fetch(uint64_t{warp.head + warp.valid} * kInstructionBytes, slot, now)) {
    case FetchResult::kHit:
      buffers.BeginFill(slot, warp, CountOf(warp));
      ++fetches_;
      break;
    case FetchResult::kPending:
      warp.waits_for_line = true;
      break;
    case FetchResult::kRefused:
      return kNoSlot;
  }
  policy_->Fetched(slot);
  buffers.ForgetFetchable(slot, warp);
  if (!warp.flushed) return kNoSlot;  // what it waits for does not depend on its fetch
  warp.flushed = false;
  return slot;
}

void FetchStage::LineArrived(SlotId slot) {
  WarpEntry& warp = state_.warps[slot];
  warp.waits_for_line = false;
  buffers_.UpdateFetchable(slot, warp);
}

}  // namespace heddle::replay
