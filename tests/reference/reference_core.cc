#include "tests/reference/reference_core.h"

#include <algorithm>
#include <string>
#include <utility>

#include "traces/format/program/program.h"

namespace heddle::replay {

ReferenceCore::ReferenceCore(const ReferenceLaunch& launch, uint32_t sm, int capacity)
    : ReferenceSm(launch, sm, capacity), ports_(launch.machine->core().schedulers()) {}

void ReferenceCore::RunCycle(Cycle now, const std::function<void(uint64_t)>& retired) {
  Complete(now, retired);
  Select(now);
}

// ---------------------------------------------------------------------------------------------------------- completion

void ReferenceCore::Complete(Cycle now, const std::function<void(uint64_t)>& retired) {
  formation_.SetNow(now);
  WriteBackAll(now, retired);
  RunPipeline(now, retired);
  NotifyEnds();
  ReleaseBarriers(now);
  RetireBlocks(retired);
  for (uint64_t tag; formation_.PopTimer(tag);) policy_->Timer(tag, formation_.editor());
  if (resident() > 0 && (interests_ & kEveryCycle) != 0) policy_->Tick(formation_.editor());
}

// In order of time, then of issue. If the policy has no room, everything behind waits for the next cycle.
void ReferenceCore::WriteBackAll(Cycle now, const std::function<void(uint64_t)>& retired) {
  std::sort(pending_.begin(), pending_.end(), [](const WriteBack& a, const WriteBack& b) {
    return std::pair(a.due, a.order) < std::pair(b.due, b.order);
  });
  while (!pending_.empty() && pending_.front().due <= now) {
    queue_.push_back(pending_.front());
    pending_.erase(pending_.begin());
  }
  if (asked_.has_value() && !Ask()) return;
  RetireBlocks(retired);
  while (!queue_.empty()) {
    const WriteBack item = queue_.front();
    queue_.pop_front();
    const bool room = Process(now, item);
    RetireBlocks(retired);
    if (!room) return;
  }
}

bool ReferenceCore::Process(Cycle now, const WriteBack& item) {
  const SlotId slot = item.slot;
  if (item.resume) return ResumeFromBarrier(slot);
  InFlight& in_flight = in_flight_.at(slot);
  in_flight.outstanding &= ~item.lanes;
  if (in_flight.outstanding != 0) {
    if ((interests_ & kLaneReturns) == 0 || !policy_->LanesReturned(slot, item.lanes, formation_.editor())) return true;
    Lanes lanes = formation_.table().lanes[slot];
    lanes.mask &= item.lanes;
    return Finish(slot, lanes, in_flight.pc, /*barrier_resolve=*/false, /*take=*/true);
  }
  if (in_flight.off_core) {
    schedulers_[formation_.table().port[slot]]->LongLatencyEnded(slot);
    if ((interests_ & kLongLatency) != 0) ended_[slot] = formation_.table().formed[slot];
  }
  if (in_flight.inserted) {
    formation_.TookInserted(slot);
    formation_.Advance(slot, formation_.table().position[slot]);
    in_flight_.erase(slot);
    return true;
  }
  if (!in_flight.barrier) {
    if (FenceWaits(slot, in_flight)) {
      fences_.insert(slot);
      return true;
    }
    const Pc pc = in_flight.pc;
    in_flight_.erase(slot);
    return Finish(slot, formation_.table().lanes[slot], pc, /*barrier_resolve=*/false, /*take=*/false);
  }
  if (IsOpen(slot, now)) return ResumeFromBarrier(slot);
  WaitAtBarrier(slot);
  return true;
}

bool ReferenceCore::ResumeFromBarrier(SlotId slot) {
  NoteResumed(slot);
  const Pc pc = in_flight_.at(slot).pc;
  const uint32_t barrier = program().instruction(pc).barrier_id();
  const bool resolve = (interests_ & kBarriers) != 0 && policy_->BarrierReleased(slot, barrier, formation_.editor());
  in_flight_.erase(slot);
  arrivals_.erase(slot);
  return Finish(slot, formation_.table().lanes[slot], pc, resolve, /*take=*/false);
}

// A block leaves when all its threads have exited and the policy has taken note of all exits.
void ReferenceCore::RetireBlocks(const std::function<void(uint64_t)>& retired) {
  if (asked_.has_value()) return;
  for (size_t place = 0; place < places_.size(); ++place) {
    if (places_[place].has_value() && AllThreadsDone(place)) Retire(place, retired);
  }
}

// ------------------------------------------------------------------------------------------------------------ barriers

void ReferenceCore::ReleaseBarriers(Cycle now) {
  for (SlotId slot : Released(now)) {
    if (asked_.has_value()) {
      queue_.push_back({now, 0, slot, 0, true});
    } else {
      ResumeFromBarrier(slot);
    }
  }
}

SmWarps ReferenceCore::CountWarps() const {
  const WarpTable& table = formation_.table();
  SmWarps warps;
  for (size_t i = 0; i < table.state.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    if (table.state[slot] == SlotState::kFree || table.lanes[slot].mask == 0) continue;
    const auto in_flight = in_flight_.find(slot);
    if (BlockPaused(slot)) {
      ++warps.paused;
    } else if (table.state[slot] == SlotState::kOffered) {
      ++warps.ready;
    } else if (table.state[slot] == SlotState::kBarrier) {
      ++warps.barrier;
    } else if (table.state[slot] != SlotState::kInFlight) {
      ++warps.held;
    } else if (in_flight != in_flight_.end() && in_flight->second.memory) {
      ++warps.memory;
    } else {
      ++warps.other;
    }
  }
  return warps;
}

bool ReferenceCore::Stuck() const {
  if (resident() == 0 || formation_.next_timer() != kNever || !formation_.table().offered.empty()) return false;
  if ((interests_ & kEveryCycle) != 0 || asked_.has_value() || !queue_.empty() || !pending_.empty()) return false;
  return AllBarriersClosed();
}

}  // namespace heddle::replay
