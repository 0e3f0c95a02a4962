#include "replay/core/copy_engine.h"

#include <bit>

namespace heddle::replay {

void CopyEngine::Start(const WarpCopy& copy, Cycle now) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(places_.size()));
    places_.emplace_back();
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  Place& place = places_[number];
  place = Place();
  place.copy = copy;
  place.writes = copy.reads == 0;
  place.begin = now + 1 + limits_.issue_latency();
  issued_.push_back(number);
}

void CopyEngine::BeginCopies(Cycle now) {
  while (!issued_.empty() && HasRoom() && now >= next_begin_ && now >= places_[issued_.front()].begin) {
    const uint32_t number = issued_.front();
    issued_.pop_front();
    ++begun_;
    queued_.push_back(number);
    if (limits_.bytes_per_cycle() == 0) continue;
    const WarpCopy& copy = places_[number].copy;
    const uint64_t bytes = uint64_t{copy.bytes} * static_cast<uint32_t>(std::popcount(copy.lanes.mask));
    next_begin_ = now + static_cast<Cycle>((bytes + limits_.bytes_per_cycle() - 1) / limits_.bytes_per_cycle());
  }
}

void CopyEngine::LanesDone(AccessId access, LaneMask lanes, Cycle at) {
  const uint32_t number = access - kFirstAccess;
  Place& place = places_[number];
  place.outstanding &= ~lanes;
  place.last = std::max(place.last, at);
  if (place.outstanding != 0) return;
  if (!place.writes) place.last += limits_.write_latency();
  ending_.push_back(number);
}

void CopyEngine::RunCycle(Cycle now) {
  ended_.clear();
  BeginCopies(now);  // before what is to be written, as they were issued before
  size_t kept = 0;
  for (const uint32_t number : ending_) {
    Place& place = places_[number];
    if (place.last > now) {
      ending_[kept++] = number;
    } else if (!place.writes) {
      place.writes = true;
      queued_.push_back(number);
    } else {
      ended_.push_back(place.copy);
      free_.push_back(number);
      --begun_;
    }
  }
  ending_.resize(kept);
  BeginCopies(now);  // in the places of those that have ended
  if (queued_.empty() || !memory_.memory().StageFree()) return;
  const uint32_t number = queued_.front();
  queued_.pop_front();
  Submit(number, now);
}

void CopyEngine::Submit(uint32_t number, Cycle now) {
  Place& place = places_[number];
  const WarpCopy& copy = place.copy;
  WarpAccess access;
  access.id = kFirstAccess + number;
  access.slot = copy.slot;
  access.op = place.writes ? trace::v1::OP_STORE : trace::v1::OP_LOAD;
  access.space = place.writes ? trace::v1::SPACE_SHARED : trace::v1::SPACE_GLOBAL;
  access.bytes = copy.bytes;
  access.lanes = place.writes ? copy.lanes.mask : copy.reads;
  const bool addresses = memory_.memory().needs_addresses();
  access.addresses = !addresses ? nullptr : place.writes ? &copy.to : &copy.from;
  access.threads = &copy.lanes.thread;
  access.pc = copy.pc;
  place.outstanding = access.lanes;
  place.last = 0;
  memory_.Submit(access, now);
}

Cycle CopyEngine::NextWake(Cycle now) const {
  if (!queued_.empty()) return now + 1;
  Cycle wake = kNever;
  if (!issued_.empty() && HasRoom()) wake = std::max({now + 1, next_begin_, places_[issued_.front()].begin});
  for (const uint32_t number : ending_) wake = std::min(wake, std::max(now + 1, places_[number].last));
  return wake;
}

}  // namespace heddle::replay
