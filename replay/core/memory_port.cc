#include "replay/core/memory_port.h"

#include <bit>
#include <utility>

namespace heddle::replay {

MemoryPort::MemoryPort(const LaunchContext& context, std::unique_ptr<SmMemory> memory)
    : memory_(std::move(memory)), context_(context) {
  if (context.memory_profile != nullptr) memory_->SetProfile(context.memory_profile);
}

void MemoryPort::SetPolicy(std::unique_ptr<MemoryPolicy> policy) {
  policy_ = std::move(policy);
  asks_policy_ = policy_->interests() != 0;
  if (asks_policy_) memory_->SetPolicy(*policy_, static_cast<uint32_t>(context_.warp_size));
}

bool MemoryPort::ReachesBeyondShared(const Step& step, LaneMask lanes, bool has_addresses) const {
  if (!step.by_lane() || !has_addresses) return step.space != trace::v1::SPACE_SHARED;
  for (; lanes != 0; lanes &= lanes - 1) {
    if (context_.windows.SpaceOf(addresses_[std::countr_zero(lanes)]) != trace::v1::SPACE_SHARED) return true;
  }
  return false;
}

void MemoryPort::Submit(AccessId id, SlotId slot, Pc pc, LaneMask lanes, const std::array<ThreadId, kMaxLanes>& threads,
                        bool has_addresses, Cycle now) {
  const Step& step = context_.steps[pc];
  WarpAccess access;
  access.id = id;
  access.slot = slot;
  access.op = step.op;
  access.space = step.space;
  access.bytes = step.bytes;
  access.lanes = lanes;
  access.addresses = has_addresses ? &addresses_ : nullptr;
  access.threads = &threads;
  access.pc = pc;
  access.is_volatile = step.is_volatile;
  if (step.cluster && has_addresses) [[unlikely]] {
    access.remote = remote_.mask & lanes;
    access.remote_sm = &remote_.sm;
    if (access.remote != 0) {
      uint64_t& count = step.op == trace::v1::OP_STORE    ? remote_counts_.stores
                        : step.op == trace::v1::OP_ATOMIC ? remote_counts_.atomics
                                                          : remote_counts_.loads;
      ++count;
    }
  }
  memory_->Submit(access, now);
  Wake();
}

}  // namespace heddle::replay
