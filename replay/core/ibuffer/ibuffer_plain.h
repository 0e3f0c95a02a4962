// The short way of plain warps through the front end with instruction buffers: offered, of threads of one row, nothing
// inserted, in a program without calls. Most warps are plain most of the time. What is here is done for every
// instruction and inlined where it is used; StandingOf, SetFetchable and Issue are the general rules, which must come
// to the same.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_PLAIN_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_PLAIN_H_

#include "replay/core/ibuffer/ibuffer_core.h"

namespace heddle::replay {

inline WarpClass IBufferCore::DataClassOf(Scoreboard::Hazard hazard) {
  if (hazard.memory()) return hazard.source() ? WarpClass::kMemory : WarpClass::kMemoryWaw;
  return hazard.source() ? WarpClass::kArithmetic : WarpClass::kArithmeticWaw;
}

inline Standing IBufferCore::PlainStanding(const Warp& warp) const {
  const Standing offered = warp.offered;
  if (warp.valid == 0) return offered.In(warp.flushed ? WarpClass::kControl : WarpClass::kFetch);
  const IssueStep& step = setup_.table[warp.head];
  const Scoreboard::Hazard hazard = scoreboard_.Check(warp.row, warp.own, step, warp.head, /*depth=*/0);
  if (!hazard.blocked()) return offered.Needs(step.unit);
  return offered.In(DataClassOf(hazard)).From(hazard.beyond_shared(), hazard.off_core());
}

inline void IBufferCore::ReclassPlain(SlotId slot, Warp& warp) {
  const Standing standing = PlainStanding(warp);
  if (standing.off_core() != warp.told_wait) [[unlikely]]
    ChangeLongWait(slot, warp);
  standings_.SetSame(slot, standing);
}

inline void IBufferCore::UpdatePlainFetchable(SlotId slot, Warp& warp) {
  const bool fetchable =
      HasRoom(warp) && !warp.fetching && !warp.waits_for_line && warp.head + warp.valid < setup_.table.size();
  if (fetchable == (warp.fetchable == Fetchable::kEligible)) return;
  if (fetchable) {
    fetchable_.Insert(slot);
    warp.fetchable = Fetchable::kEligible;
  } else {
    fetchable_.Erase(slot);
    warp.fetchable = Fetchable::kNo;
  }
}

inline void IBufferCore::ReclassIfWaiting(SlotId slot) {
  if (!standings_.of(slot).waits_for_data()) return;
  Warp& warp = warps_[slot];
  if (warp.plain) {
    ReclassPlain(slot, warp);
  } else {
    Reclass(slot);
  }
}

inline void IBufferCore::ReclassWaiting(uint32_t row) {
  if (const SlotId only = rows_[row].only; only != kNoSlot) {
    ReclassIfWaiting(only);
    return;
  }
  ReclassSeveralWaiting(row);
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_PLAIN_H_
