// Which thread of a block goes on next where that is not simply the one that has waited longest: under random orders,
// and in lockstep.
#include <algorithm>
#include <utility>

#include "tracegen/execute/block_runner.h"

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
  const bool in_kernel = pc < kernel_->kernel_instructions;
  thread.position = pc + (in_kernel ? uint64_t{1} << 32 : 0);
  thread.state = State::kAtAccess;
  Suspend();
}

void BlockRunner::ReleaseTogether() {
  for (size_t tried = 0; tried < warps_.size(); ++tried) {
    const uint32_t warp = next_warp_;
    next_warp_ = warp + 1 == warps_.size() ? 0 : warp + 1;
    const uint32_t first = warp * kWarpWidth;
    const uint32_t end = std::min(first + kWarpWidth, thread_count_);
    uint64_t lowest = ~uint64_t{0};
    for (uint32_t t = first; t < end; ++t) {
      if (threads_[t].state == State::kAtAccess) lowest = std::min(lowest, threads_[t].position);
    }
    if (lowest == ~uint64_t{0}) continue;
    for (uint32_t t = first; t < end; ++t) {
      if (threads_[t].state == State::kAtAccess && threads_[t].position == lowest) Release(t);
    }
    return;
  }
}

}  // namespace heddle::tracegen
