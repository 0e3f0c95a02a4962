#include "tracegen/execute/threads/barrier_table.h"

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

// Whether a block of `there` threads can bring so many: a warp counts as a whole, also if the block does not fill it.
bool CanBring(uint32_t there, uint32_t wanted) {
  const uint32_t whole_warps = (there + kWarpWidth - 1) / kWarpWidth * kWarpWidth;
  return wanted <= there || (wanted % kWarpWidth == 0 && wanted <= whole_warps);
}

}  // namespace

bool BarrierTable::Accepts(const FrameBarrier& barrier) const {
  if (barrier.id >= kBarriers || !CanBring(threads_.count(), barrier.threads)) return false;
  const BarrierCount& there = barriers_[barrier.id];
  return there.arrived == 0 || AreAlike(there.expected, barrier.threads);
}

std::string BarrierTable::WhyRefused(const FrameBarrier& barrier, const std::string& place) const {
  if (barrier.id >= kBarriers) {
    return absl::StrCat("barrier ", barrier.id, " at ", place, " does not exist: a block has barriers 0 to 15");
  }
  if (!CanBring(threads_.count(), barrier.threads)) {
    return absl::StrCat("the barrier at ", place, " waits for ", barrier.threads, " threads, but the block has ",
                        threads_.count());
  }
  return absl::StrCat("barrier ", barrier.id, " at ", place,
                      " waits for another number of threads than the threads that wait there already");
}

bool BarrierTable::Arrive(const FrameBarrier& barrier, uint32_t predicate) {
  BarrierCount& there = barriers_[barrier.id];
  there.expected = barrier.threads;
  there.reduction = barrier.reduction;
  ++there.arrived;
  there.count += predicate != 0;
  const uint32_t self = threads_.running();
  DeviceThread& thread = threads_.current();
  thread.state = ThreadState::kAtBarrier;
  waiting_[self] = {barrier.id, barrier.site};
  warps_.Block(self);
  Check(barrier.id);
  if (thread.state == ThreadState::kReady) {
    // The last to arrive was queued behind those it released; it goes on at once instead.
    threads_.ready().Remove(self);
    thread.state = ThreadState::kRunning;
    return true;
  }
  if (warps_.NeedsCheck(self)) warps_.Check(self);
  return false;
}

void BarrierTable::Count(const FrameBarrier& barrier) {
  BarrierCount& there = barriers_[barrier.id];
  if (there.arrived == 0) there.expected = barrier.threads;
  ++there.arrived;
  Check(barrier.id);
}

void BarrierTable::Open(uint32_t id) {
  const uint32_t result = barriers_[id].Result();
  barriers_[id] = BarrierCount{};
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    DeviceThread& thread = threads_[t];
    if (thread.state != ThreadState::kAtBarrier || waiting_[t].id != id) continue;
    thread.result = result;
    warps_.Unblock(t);
    threads_.Release(t);
  }
}

std::string BarrierTable::Describe(uint32_t thread, const std::string& place) const {
  return absl::StrCat("barrier ", waiting_[thread].id, " at ", place);
}

}  // namespace heddle::tracegen
