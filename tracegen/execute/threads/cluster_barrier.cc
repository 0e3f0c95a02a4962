#include "tracegen/execute/threads/cluster_barrier.h"

#include <algorithm>

namespace heddle::tracegen {

void ClusterBarrier::BeginBlock() {
  std::fill(parts_.begin(), parts_.end(), Part{});
  phase_ = 0;
  arrived_ = 0;
}

ClusterBarrier::Part& ClusterBarrier::Running() {
  if (parts_.size() < threads_.count()) parts_.resize(threads_.count());
  return parts_[threads_.running()];
}

std::string ClusterBarrier::Arrive() {
  Part& part = Running();
  if (part.phase != 0) return "a thread arrives at the cluster's barrier twice without waiting for it";
  part.phase = phase_ + 1;
  ++arrived_;
  Check();
  return "";
}

std::string ClusterBarrier::WhyNoWait() const {
  const uint32_t self = threads_.running();
  if (self < parts_.size() && parts_[self].phase != 0) return "";
  return "a thread waits for the cluster's barrier without having arrived at it";
}

bool ClusterBarrier::Wait(uint32_t site) {
  Part& part = Running();
  if (part.phase <= phase_) {
    part.phase = 0;
    return true;
  }
  part.waits = true;
  part.site = site;
  const uint32_t self = threads_.running();
  threads_.current().state = ThreadState::kAtPhase;
  warps_.Block(self);
  if (warps_.AllBlocked(self)) warps_.Check(self);
  return false;
}

void ClusterBarrier::Check() {
  if (arrived_ == 0 || arrived_ + threads_.exited() < threads_.count()) return;
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    const bool is_there = threads_[t].state == ThreadState::kExited || parts_[t].phase == phase_ + 1;
    if (!is_there) return;
  }
  ++phase_;
  arrived_ = 0;
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    if (!parts_[t].waits) continue;
    parts_[t] = Part{};
    warps_.Unblock(t);
    threads_.Release(t);
  }
}

}  // namespace heddle::tracegen
