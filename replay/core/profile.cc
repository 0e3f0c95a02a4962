// Which instruction an issue, or a lost cycle of a port, counts for: both front ends. Runs only if a profile is asked
// for.
#include "replay/core/ibuffer_core.h"
#include "replay/core/sm_core.h"
#include "replay/core/thesis_core.h"
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

// `count` cycles in which the ports in `issued` (bits) issued and the others did not.
void IBufferCore::ProfilePorts(uint64_t count, uint32_t issued) {
  constexpr WarpClassMask kReads = MaskOf(WarpClass::kMemory) | MaskOf(WarpClass::kArithmetic);
  for (int port = 0; port < context_.ports; ++port) {
    if ((issued >> port & 1) != 0) continue;
    const WarpClassMask classes = standings_.present(port);
    const PortLoss loss = PortLossOf(classes);
    const bool data = loss == PortLoss::kDataMemory || loss == PortLoss::kDataArithmetic;
    ProfileLoss(standings_.Oldest(port, ClassesOf(loss), table().rows), loss, data && (classes & kReads) == 0, count);
  }
}

// `count` scheduler cycles of a port that issued nothing. The warp closest to issue is looked for among those offered,
// then in flight, at barriers, and held by the policy; the oldest of the first kind that there is.
void ThesisCore::ProfilePort(int port, PortLoss loss, uint64_t count) {
  const auto rank = [](SlotState state) {
    switch (state) {
      case SlotState::kOffered:
        return 0;
      case SlotState::kInFlight:
      case SlotState::kResolving:
        return 1;
      case SlotState::kBarrier:
        return 2;
      default:
        return 3;
    }
  };
  const WarpTable& warps = table();
  SlotId first = kNoSlot;
  int live = warps.live;
  for (size_t slot = 0; live > 0; ++slot) {
    if (warps.state[slot] == SlotState::kFree) continue;
    --live;
    if (warps.port[slot] != port) continue;
    const int own = rank(warps.state[slot]);
    const int best = first == kNoSlot ? 4 : rank(warps.state[first]);
    if (own < best || (own == best && warps.formed[slot] < warps.formed[first])) first = static_cast<SlotId>(slot);
  }
  ProfileLoss(first, loss, /*waw=*/false, count);
}

}  // namespace heddle::replay
