// Which instruction an issue, or a lost cycle of a port, counts for. Runs only if a profile is asked for.
#include "replay/core/sm_core.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {

void SmCore::ProfileIssue(std::span<const SlotId> slots, bool inserted) {
  InstructionProfile& profile = *context_.profile;
  const WarpTable& warps = formation_.table();
  profile.PortIssued(warps.position[slots[0]].pc(), inserted);
  if (inserted) return;
  for (const SlotId slot : slots) profile.ThreadsIssued(warps.position[slot].pc(), warps.thread_count(slot));
}

void SmCore::ProfileLoss(SlotId slot, PortLoss loss, bool waw, uint64_t cycles) {
  const WarpTable& warps = formation_.table();
  if (slot == kNoSlot || warps.position[slot].is_exit()) {
    context_.profile->LostElsewhere(loss, waw, cycles);
  } else {
    context_.profile->Lost(warps.position[slot].pc(), loss, waw, cycles);
  }
}

}  // namespace heddle::replay
