#include "replay/memory/fixed_latency.h"

#include <algorithm>
#include <bit>

namespace heddle::replay {

using trace::v1::MemorySpace;

bool IsOffCore(trace::v1::OpClass op, MemorySpace space) {
  switch (space) {
    case trace::v1::SPACE_GLOBAL:
    case trace::v1::SPACE_LOCAL:
    case trace::v1::SPACE_TEXTURE:
      return true;
    case trace::v1::SPACE_CONSTANT:
    case trace::v1::SPACE_PARAM:
      return op == trace::v1::OP_ATOMIC;
    default:
      return false;
  }
}

FixedLatencyMemory::FixedLatencyMemory(const machine::v1::FixedLatency& latencies, const AddressWindows& windows)
    : windows_(windows) {
  by_space_.fill(latencies.global_cycles());
  by_space_[trace::v1::SPACE_SHARED] = latencies.shared_cycles();
  by_space_[trace::v1::SPACE_LOCAL] = latencies.local_cycles();
  by_space_[trace::v1::SPACE_CONSTANT] = latencies.constant_cycles();
  by_space_[trace::v1::SPACE_PARAM] = latencies.param_cycles();
  by_space_[trace::v1::SPACE_TEXTURE] = latencies.texture_cycles();
  atomic_ = latencies.atomic_cycles();
  longest_ = std::max(atomic_, *std::max_element(by_space_.begin(), by_space_.end()));
}

bool FixedLatencyMemory::Submit(const WarpAccess& access, Cycle now, MemoryClient& client) {
  if (access.space != trace::v1::SPACE_GENERIC || access.addresses == nullptr) {
    if (IsOffCore(access.op, access.space)) client.WaitsOffCore(access.slot);
    client.LanesDone(access.slot, access.lanes, now + LatencyOf(access.op, access.space));
    return true;
  }
  // Lanes of one latency come together, the quickest first.
  std::array<LaneMask, kSpaces> lanes_of{};
  bool off_core = false;
  for (LaneMask mask = access.lanes; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    const MemorySpace space = windows_.SpaceOf((*access.addresses)[lane]);
    lanes_of[space] |= LaneMask{1} << lane;
    off_core |= IsOffCore(access.op, space);
  }
  if (off_core) client.WaitsOffCore(access.slot);
  for (LaneMask left = access.lanes; left != 0;) {
    uint32_t latency = ~uint32_t{0};
    for (int space = 0; space < kSpaces; ++space) {
      if (lanes_of[space] != 0) latency = std::min(latency, LatencyOf(access.op, static_cast<MemorySpace>(space)));
    }
    LaneMask done = 0;
    for (int space = 0; space < kSpaces; ++space) {
      if (lanes_of[space] != 0 && LatencyOf(access.op, static_cast<MemorySpace>(space)) == latency) {
        done |= lanes_of[space];
        lanes_of[space] = 0;
      }
    }
    client.LanesDone(access.slot, done, now + latency);
    left &= ~done;
  }
  return true;
}

}  // namespace heddle::replay
