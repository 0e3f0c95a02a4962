#include "tracegen/execute/threads/cluster_barrier.h"

#include <algorithm>

namespace heddle::tracegen {

void ClusterBarrier::BeginBlock() {
  std::fill(parts_.begin(), parts_.end(), Part{});
  arrived_ = 0;
  own_.number = 0;
  own_.blocks = {this};
  phase_ = &own_;
}

void ClusterBarrier::Join(ClusterPhase& phase) {
  phase.blocks.push_back(this);
  phase_ = &phase;
}

ClusterBarrier::Part& ClusterBarrier::Running() {
  if (parts_.size() < threads_.count()) parts_.resize(threads_.count());
  return parts_[threads_.running()];
}

std::string ClusterBarrier::Arrive() {
  Part& part = Running();
  if (part.phase != 0) return "a thread arrives at the cluster's barrier twice without waiting for it";
  part.phase = phase_->number + 1;
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
  if (part.phase <= phase_->number) {
    part.phase = 0;
    return true;
  }
  part.waits = true;
  part.site = site;
  const uint32_t self = threads_.running();
  threads_.current().state = ThreadState::kAtPhase;
  warps_.Block(self);
  if (warps_.NeedsCheck(self)) warps_.Check(self);
  return false;
}

bool ClusterBarrier::IsThere() const {
  if (arrived_ + threads_.exited() < threads_.count()) return false;
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    if (threads_[t].state == ThreadState::kExited) continue;
    if (t >= parts_.size() || parts_[t].phase != phase_->number + 1) return false;
  }
  return true;
}

void ClusterBarrier::Check() {
  const std::vector<ClusterBarrier*>& blocks = phase_->blocks;
  if (std::ranges::all_of(blocks, [](const ClusterBarrier* block) { return block->arrived_ == 0; })) return;
  if (!IsThere()) return;
  if (!std::ranges::all_of(blocks, [this](const ClusterBarrier* at) { return at == this || at->IsThere(); })) return;
  ++phase_->number;
  for (ClusterBarrier* block : blocks) block->Release();
  if (phase_->on_end) phase_->on_end();
}

void ClusterBarrier::Release() {
  arrived_ = 0;
  for (uint32_t t = 0; t < parts_.size() && t < threads_.count(); ++t) {
    if (!parts_[t].waits) continue;
    parts_[t] = Part{};
    warps_.Unblock(t);
    threads_.Release(t);
  }
}

}  // namespace heddle::tracegen
