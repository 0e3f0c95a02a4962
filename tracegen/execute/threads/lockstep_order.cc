#include "tracegen/execute/threads/lockstep_order.h"

#include <algorithm>

namespace heddle::tracegen {

void LockstepOrder::BeginLaunch(const InstrumentedKernel& kernel) {
  kernel_ = &kernel;
  positions_.assign(threads_.count(), 0);
  // The turn goes on where it was, unless blocks have fewer warps than those of the launch before.
  if (next_warp_ * kWarpWidth >= threads_.count()) next_warp_ = 0;
}

void LockstepOrder::Wait(uint32_t pc) {
  positions_[threads_.running()] = PositionOf(pc);
  threads_.current().state = ThreadState::kAtAccess;
}

uint32_t LockstepOrder::EndOf(uint32_t warp) const { return std::min((warp + 1) * kWarpWidth, threads_.count()); }

LockstepOrder::WarpFront LockstepOrder::FrontOf(uint32_t warp) const {
  WarpFront front;
  for (uint32_t t = warp * kWarpWidth; t < EndOf(warp); ++t) {
    const ThreadState state = threads_[t].state;
    if (state == ThreadState::kAtAccess) {
      front.lowest = std::min(front.lowest, positions_[t]);
    } else if (state == ThreadState::kReady && positions_[t] < front.polling) {
      // Only threads that poll in vain are ready while others are released.
      front.polling = positions_[t];
      front.poller = t;
    }
  }
  return front;
}

void LockstepOrder::ReleaseTogether() {
  const uint32_t warps = (threads_.count() + kWarpWidth - 1) / kWarpWidth;
  for (uint32_t tried = 0; tried < warps; ++tried) {
    const uint32_t warp = next_warp_;
    next_warp_ = warp + 1 == warps ? 0 : warp + 1;
    const WarpFront front = FrontOf(warp);
    if (front.lowest == ~uint64_t{0}) continue;
    if (front.polling < front.lowest && front.lowest > PositionOf(polling_.LoopOf(front.poller).last_access)) continue;
    for (uint32_t t = warp * kWarpWidth; t < EndOf(warp); ++t) {
      if (threads_[t].state == ThreadState::kAtAccess && positions_[t] == front.lowest) threads_.Release(t);
    }
    return;
  }
}

uint32_t LockstepOrder::FindHeldBack() const {
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    if (threads_[t].state == ThreadState::kAtAccess) return t;
  }
  return ThreadScheduler::kNoThread;
}

}  // namespace heddle::tracegen
