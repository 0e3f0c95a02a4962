#include "tracegen/execute/threads/thread_scheduler.h"

#include "tracegen/execute/order/block_order.h"

namespace heddle::tracegen {

void ThreadScheduler::BeginLaunch(const Geometry& geometry, uint32_t slot) {
  threads_.assign(geometry.threads(), DeviceThread{});
  ready_.Resize(count());
  std::copy(std::begin(geometry.block), std::end(geometry.block), block_);
  local_base_ = kLocalBase + uint64_t{slot} * count() * kLocalStride;
}

void ThreadScheduler::BeginBlock() {
  for (DeviceThread& thread : threads_) thread.state = ThreadState::kNotStarted;
  ready_.Clear();
  next_ = 0;
  std::fill(std::begin(next_tid_), std::end(next_tid_), 0);
  exited_ = 0;
  if (is_random()) start_order_ = RandomOrder(count(), random_);
}

}  // namespace heddle::tracegen
