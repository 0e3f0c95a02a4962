// Fetch and decode.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "replay/core/ibuffer/ibuffer_core.h"
#include "replay/core/ibuffer/ibuffer_plain.h"

namespace heddle::replay {

void IBufferCore::Decode() {
  const SlotId slot = fetched_.slot;
  Warp& warp = warps_[slot];
  TakeFetched(slot, warp);
  if (warp.plain) {
    ReclassPlain(slot, warp);
    UpdatePlainFetchable(slot, warp);
  } else {
    Reclass(slot);
  }
}

void IBufferCore::TakeFetched(SlotId slot, Warp& warp) {
  warp.fetching = false;
  warp.valid = static_cast<uint8_t>(warp.valid + fetched_.count);
  buffered_[slot] = warp.valid;
  fetch_counters_.instructions += fetched_.count;
  fetched_.slot = kNoSlot;
}

inline uint32_t IBufferCore::FetchCount(const Warp& warp) const {
  const Pc first = warp.head + warp.valid;
  uint32_t count = std::min<uint32_t>(setup_.fetch_instructions, setup_.entries - warp.valid);
  count = std::min(count, setup_.table.size() - first);
  if (setup_.line_instructions != 0) {  // a power of two
    count = std::min(count, setup_.line_instructions - (first & (setup_.line_instructions - 1)));
  }
  return count;
}

SlotId IBufferCore::Fetch(Cycle now) {
  fetch_declined_ = false;
  if (fetchable_.empty() && fetchable_at_barrier_.empty()) return kNoSlot;
  const SlotId slot = fetch_policy_->Pick(fetch_view_);
  if (slot == kNoSlot) {
    fetch_declined_ = issued_ports_ == 0;
    return kNoSlot;
  }
  if (slot >= warps_.size() || warps_[slot].fetchable == Fetchable::kNo) {
    Fail(absl::InternalError(
        absl::StrCat("the fetch policy picked slot ", slot, ", which cannot be fetched for, in cycle ", now)));
    return kNoSlot;
  }
  Warp& warp = warps_[slot];
  switch (memory_->Fetch(uint64_t{warp.head + warp.valid} * kInstructionBytes, slot, now)) {
    case FetchResult::kHit:
      fetched_ = {slot, static_cast<uint8_t>(FetchCount(warp))};
      warp.fetching = true;
      ++fetch_counters_.fetches;
      break;
    case FetchResult::kPending:
      if (memory_wake_ != 0) memory_wake_ = 1;
      warp.waits_for_line = true;
      break;
    case FetchResult::kRefused:
      return kNoSlot;
  }
  fetch_policy_->Fetched(slot);
  (warp.fetchable == Fetchable::kEligible ? fetchable_ : fetchable_at_barrier_).Erase(slot);
  warp.fetchable = Fetchable::kNo;
  if (!warp.flushed) return kNoSlot;  // what it waits for does not depend on its fetch
  warp.flushed = false;
  return slot;
}

}  // namespace heddle::replay
