#include "replay/core/copy_engine.h"

#include <bit>

namespace heddle::replay {

void CopyEngine::Start(const WarpCopy& copy, Cycle now) {
  issued_.push_back(copies_.Add({copy, /*writes=*/copy.reads == 0, /*begin=*/now + 1 + limits_.issue_latency()}));
}

void CopyEngine::BeginCopies(Cycle now) {
  while (!issued_.empty() && HasRoom() && now >= next_begin_ && now >= copies_[issued_.front()].begin) {
    const uint32_t number = issued_.front();
    issued_.pop_front();
    ++begun_;
    copies_.Queue(number);
    if (limits_.bytes_per_cycle() == 0) continue;
    const WarpCopy& copy = copies_[number].copy;
    const uint64_t bytes = uint64_t{copy.bytes} * static_cast<uint32_t>(std::popcount(copy.lanes.mask));
    next_begin_ = now + static_cast<Cycle>((bytes + limits_.bytes_per_cycle() - 1) / limits_.bytes_per_cycle());
  }
}

void CopyEngine::LanesDone(AccessId access, LaneMask lanes, Cycle at) {
  const uint32_t number = access - kFirstAccess;
  if (copies_.LanesDone(number, lanes, at)) copies_.End(number, copies_[number].writes ? 0 : limits_.write_latency());
}

void CopyEngine::RunCycle(Cycle now) {
  ended_.clear();
  BeginCopies(now);  // before what is to be written, as they were issued before
  copies_.TakeEnded(now, [this](uint32_t number) {
    if (!copies_[number].writes) {
      copies_[number].writes = true;
      copies_.Queue(number);
      return;
    }
    ended_.push_back(copies_[number].copy);
    copies_.Remove(number);
    --begun_;
  });
  BeginCopies(now);  // in the places of those that have ended
  if (copies_.any_queued() && memory_.memory().StageFree()) Submit(copies_.TakeQueued(), now);
}

void CopyEngine::Submit(uint32_t number, Cycle now) {
  const auto& [copy, writes, begin] = copies_[number];
  WarpAccess access;
  access.id = kFirstAccess + number;
  access.slot = copy.slot;
  access.op = writes ? trace::v1::OP_STORE : trace::v1::OP_LOAD;
  access.space = writes ? trace::v1::SPACE_SHARED : trace::v1::SPACE_GLOBAL;
  access.bytes = copy.bytes;
  access.lanes = writes ? copy.lanes.mask : copy.reads;
  const bool addresses = memory_.memory().needs_addresses();
  access.addresses = !addresses ? nullptr : writes ? &copy.to : &copy.from;
  access.threads = &copy.lanes.thread;
  access.pc = copy.pc;
  copies_.Submitted(number, access.lanes);
  memory_.Submit(access, now);
}

Cycle CopyEngine::NextWake(Cycle now) const {
  const Cycle wake = copies_.NextWake(now);
  if (issued_.empty() || !HasRoom()) return wake;
  return std::min(wake, std::max({now + 1, next_begin_, copies_[issued_.front()].begin}));
}

}  // namespace heddle::replay
