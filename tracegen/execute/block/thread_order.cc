// Which thread of a block goes on next where that is not simply the one that has waited longest: under random orders,
// and in lockstep.
#include <algorithm>
#include <utility>

#include "tracegen/execute/block/block_runner.h"

namespace heddle::tracegen {

void BlockRunner::ScrambleReady() {
  const uint32_t place = (ready_head_ + static_cast<uint32_t>(random_.Below(ready_count_))) % thread_count_;
  std::swap(ready_[ready_head_], ready_[place]);
}

// A device runs the threads of a warp that are at one place together, and those that are behind first, so that they
// catch up: instructions of a kernel stand in reverse post-order with loops contiguous, and the lowest one is the one
// furthest behind. Functions come behind the kernel, and threads within a call are behind those that have returned from
// it.
void BlockRunner::BeforeAccess(uint32_t pc) {
  Thread& thread = threads_[running_];
  thread.position = PositionOf(pc);
  thread.state = State::kAtAccess;
  Suspend();
}

BlockRunner::WarpFront BlockRunner::FrontOf(uint32_t warp) const {
  WarpFront front;
  const uint32_t first = warp * kWarpWidth;
  const uint32_t end = std::min(first + kWarpWidth, thread_count_);
  for (uint32_t t = first; t < end; ++t) {
    const Thread& thread = threads_[t];
    if (thread.state == State::kAtAccess) {
      front.lowest = std::min(front.lowest, thread.position);
    } else if (thread.state == State::kReady && thread.position < front.polling) {
      // Only threads that poll in vain are ready while others are released.
      front.polling = thread.position;
      front.loop = polling_[t].wait - 1;
    }
  }
  return front;
}

void BlockRunner::ReleaseTogether() {
  for (size_t tried = 0; tried < warps_.size(); ++tried) {
    const uint32_t warp = next_warp_;
    next_warp_ = warp + 1 == warps_.size() ? 0 : warp + 1;
    const WarpFront front = FrontOf(warp);
    if (front.lowest == ~uint64_t{0}) continue;
    if (front.polling < front.lowest && front.lowest > PositionOf(kernel_->waits[front.loop].last_access)) continue;
    const uint32_t first = warp * kWarpWidth;
    const uint32_t end = std::min(first + kWarpWidth, thread_count_);
    for (uint32_t t = first; t < end; ++t) {
      if (threads_[t].state == State::kAtAccess && threads_[t].position == front.lowest) Release(t);
    }
    return;
  }
}

uint32_t BlockRunner::HeldBack() const {
  if (!options_.lockstep) return kNoThread;
  for (uint32_t t = 0; t < thread_count_; ++t) {
    if (threads_[t].state == State::kAtAccess) return t;
  }
  return kNoThread;
}

}  // namespace heddle::tracegen
