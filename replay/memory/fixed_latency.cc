#include "replay/memory/fixed_latency.h"

#include <algorithm>
#include <bit>

#include "replay/memory/ports/remote_access.h"

namespace heddle::replay {

using trace::v1::MemorySpace;

bool IsOffCore(trace::v1::OpClass op, MemorySpace space) {
  switch (space) {
    case trace::v1::SPACE_GLOBAL:
    case trace::v1::SPACE_LOCAL:
    case trace::v1::SPACE_TEXTURE:
    case trace::v1::SPACE_CLUSTER_SHARED:
      return true;
    case trace::v1::SPACE_CONSTANT:
    case trace::v1::SPACE_PARAM:
      return op == trace::v1::OP_ATOMIC;
    default:
      return false;
  }
}

FixedLatencySystem::FixedLatencySystem(const machine::v1::FixedLatency& latencies,
                                       const machine::v1::Clusters& clusters, const AddressWindows& windows)
    : windows_(windows) {
  by_space_.fill(latencies.global_cycles());
  by_space_[trace::v1::SPACE_SHARED] = latencies.shared_cycles();
  by_space_[trace::v1::SPACE_LOCAL] = latencies.local_cycles();
  by_space_[trace::v1::SPACE_CONSTANT] = latencies.constant_cycles();
  by_space_[trace::v1::SPACE_PARAM] = latencies.param_cycles();
  by_space_[trace::v1::SPACE_TEXTURE] = latencies.texture_cycles();
  atomic_ = latencies.atomic_cycles();
  longest_ = std::max(atomic_, *std::max_element(by_space_.begin(), by_space_.end()));
  const ClusterTiming timing(clusters);
  by_space_[trace::v1::SPACE_CLUSTER_SHARED] =
      latencies.shared_cycles() + 2 * static_cast<uint32_t>(timing.network_cycles);
}

// One SM's view. Nothing waits: an access is answered when it is submitted.
class FixedLatencySm : public SmMemory {
 public:
  FixedLatencySm(const FixedLatencySystem& system, MemoryClient& client) : system_(system), client_(client) {}

  bool needs_addresses() const override { return false; }
  uint32_t usual_latency() const override { return system_.longest_; }
  void RunCycle(Cycle /*now*/) override {}
  Cycle NextWake(Cycle /*now*/) const override { return kNever; }
  bool StageFree() const override { return true; }
  void Submit(const WarpAccess& access, Cycle now) override;
  FetchResult Fetch(uint64_t /*address*/, uint32_t /*fetcher*/, Cycle /*now*/) override { return FetchResult::kHit; }
  bool drained() const override { return true; }
  std::string Explain() const override { return {}; }

 private:
  void Done(const WarpAccess& access, LaneMask lanes, Cycle at) {
    client_.LanesDone(access.id, lanes, at, /*returned=*/false);
  }

  const FixedLatencySystem& system_;
  MemoryClient& client_;
};

std::unique_ptr<SmMemory> FixedLatencySystem::MakeSm(uint32_t /*sm*/, MemoryClient& client) {
  return std::make_unique<FixedLatencySm>(*this, client);
}

void FixedLatencySm::Submit(const WarpAccess& access, Cycle now) {
  constexpr int kSpaces = FixedLatencySystem::kSpaces;
  const auto latency_of = [&](int space) { return system_.LatencyOf(access.op, static_cast<MemorySpace>(space)); };
  uint32_t last = 0;
  const bool by_lane = access.space == trace::v1::SPACE_GENERIC || access.space == trace::v1::SPACE_CLUSTER_SHARED;
  if (!by_lane || access.addresses == nullptr) {
    if (IsOffCore(access.op, access.space)) client_.WaitsOffCore(access.id);
    last = latency_of(access.space);
    Done(access, access.lanes, now + last);
  } else {
    // Lanes of one latency come together, the quickest first.
    std::array<LaneMask, kSpaces> lanes_of{};
    bool off_core = false;
    for (LaneMask mask = access.lanes; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      const bool remote = (access.remote >> lane & 1) != 0;
      const MemorySpace space =
          remote ? trace::v1::SPACE_CLUSTER_SHARED : system_.windows_.SpaceOf((*access.addresses)[lane]);
      lanes_of[space] |= LaneMask{1} << lane;
      off_core |= IsOffCore(access.op, space);
    }
    if (off_core) client_.WaitsOffCore(access.id);
    for (LaneMask left = access.lanes; left != 0;) {
      uint32_t latency = ~uint32_t{0};
      for (int space = 0; space < kSpaces; ++space) {
        if (lanes_of[space] != 0) latency = std::min(latency, latency_of(space));
      }
      LaneMask done = 0;
      for (int space = 0; space < kSpaces; ++space) {
        if (lanes_of[space] != 0 && latency_of(space) == latency) {
          done |= lanes_of[space];
          lanes_of[space] = 0;
        }
      }
      Done(access, done, now + latency);
      last = std::max(last, latency);
      left &= ~done;
    }
  }
  if (access.op == trace::v1::OP_STORE) client_.StoreAcknowledged(access.id, now + last);
}

}  // namespace heddle::replay
