// A memory in which every access of a space takes the same time.
#ifndef HEDDLE_REPLAY_MEMORY_FIXED_LATENCY_H_
#define HEDDLE_REPLAY_MEMORY_FIXED_LATENCY_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "proto/machine.pb.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/memory/ports/memory_system.h"

namespace heddle::replay {

// No limit of bandwidth: the memory stage is always free, fetches always hit, nothing is shared between SMs. A generic
// access takes, lane by lane, the time of the space that the lane's address falls into. An atomic takes the atomic
// latency on lanes outside shared memory, and the shared latency inside it. Shared memory of other blocks takes the way
// there and back besides.
class FixedLatencySystem : public MemorySystem {
 public:
  // `clusters`: of the machine, for shared memory of other blocks.
  FixedLatencySystem(const machine::v1::FixedLatency& latencies, const machine::v1::Clusters& clusters,
                     const AddressWindows& windows);

  void BeginLaunch(uint32_t /*l1_ways*/) override {}
  std::unique_ptr<SmMemory> MakeSm(uint32_t sm, MemoryClient& client) override;
  Cycle NextEvent() const override { return kNever; }
  void Advance(Cycle /*now*/, SmWaker& /*waker*/) override {}
  bool drained() const override { return true; }
  absl::Status EndLaunch(Cycle /*end*/, result::v1::LaunchResult& /*result*/) override { return absl::OkStatus(); }
  std::string Explain() const override { return {}; }

 private:
  friend class FixedLatencySm;
  static constexpr int kSpaces = trace::v1::MemorySpace_ARRAYSIZE;
  uint32_t LatencyOf(trace::v1::OpClass op, trace::v1::MemorySpace space) const {
    const bool shared = space == trace::v1::SPACE_SHARED || space == trace::v1::SPACE_CLUSTER_SHARED;
    return op == trace::v1::OP_ATOMIC && !shared ? atomic_ : by_space_[space];
  }

  std::array<uint32_t, kSpaces> by_space_{};  // SPACE_CLUSTER_SHARED: of other blocks
  uint32_t atomic_ = 0;
  uint32_t longest_ = 0;
  AddressWindows windows_;
};

// Whether an access of the space leaves the core, so that the warp waits for long.
bool IsOffCore(trace::v1::OpClass op, trace::v1::MemorySpace space);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_FIXED_LATENCY_H_
