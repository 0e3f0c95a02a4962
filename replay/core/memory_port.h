// The way of a core's accesses and fetches to the SM's part of the memory.
#ifndef HEDDLE_REPLAY_CORE_MEMORY_PORT_H_
#define HEDDLE_REPLAY_CORE_MEMORY_PORT_H_

#include <array>
#include <cstdint>
#include <memory>

#include "replay/core/launch_context.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Lanes of an access that reach the shared memory of another block, and by lane the SM that has it.
struct RemoteLanes {
  LaneMask mask = 0;
  std::array<uint16_t, kMaxLanes> sm{};
};

// Accesses by lanes to the shared memory of other blocks, in warp-instructions.
struct RemoteCounts {
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t atomics = 0;
};

// Also lets the memory sleep while the SM runs alone: nothing from outside wakes it then, so that it is run only when
// it is due by itself or has been given something.
class MemoryPort {
 public:
  MemoryPort(const LaunchContext& context, std::unique_ptr<SmMemory> memory);

  SmMemory& memory() { return *memory_; }
  const SmMemory& memory() const { return *memory_; }

  // --- accesses
  // Where the addresses of an access are laid, by lane, before it is submitted.
  std::array<uint64_t, kMaxLanes>& addresses() { return addresses_; }
  // Of those, what SharedLocator has found out about an access of Step::cluster.
  RemoteLanes& remote() { return remote_; }
  // Whether an access counts as one to memory: some lane reaches beyond shared memory. `has_addresses`: addresses()
  // has those of the lanes.
  bool ReachesBeyondShared(const Step& step, LaneMask lanes, bool has_addresses) const;
  // Gives the memory the access that the instruction `step` at `pc` of `slot` makes with `lanes`: hardware threads
  // `threads`, and addresses() if `has_addresses`, both by lane.
  void Submit(AccessId id, SlotId slot, Pc pc, LaneMask lanes, const std::array<ThreadId, kMaxLanes>& threads,
              bool has_addresses, Cycle now);
  // Gives the memory an access that no slot waits for.
  void Submit(const WarpAccess& access, Cycle now) {
    memory_->Submit(access, now);
    Wake();
  }
  // Asks for an instruction; see SmMemory::Fetch.
  FetchResult Fetch(uint64_t address, uint32_t fetcher, Cycle now) {
    const FetchResult result = memory_->Fetch(address, fetcher, now);
    if (result == FetchResult::kPending) Wake();
    return result;
  }

  // --- the memory policy
  // Decides from now on what the data cache keeps, if it wants to; before anything runs.
  void SetPolicy(std::unique_ptr<MemoryPolicy> policy);
  // Null if the machine has no data cache.
  const MemoryPolicy* policy() const { return policy_.get(); }
  // What is told of warps: see MemoryPolicy.
  void WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) {
    if (asks_policy_) memory_->WarpsAdmitted(block, first_hw_warp, hw_warps);
  }
  void WarpEnded(uint32_t hw_warp) {
    if (asks_policy_) memory_->WarpEnded(hw_warp);
  }
  void BlockRetired(BlockId block) {
    if (asks_policy_) memory_->BlockRetired(block);
  }

  const RemoteCounts& remote_counts() const { return remote_counts_; }

  // --- time
  // The memory's part of the cycle, unless it sleeps.
  void RunCycle(Cycle now) {
    if (now < wake_) return;
    memory_->RunCycle(now);
    if (wake_ != 0) wake_ = memory_->NextWake(now);
  }
  // Between these two calls the SM runs alone.
  void BeginAlone() { wake_ = 1; }
  void EndAlone() { wake_ = 0; }
  // While the SM runs alone: the memory has nothing to do before this cycle, and is as isolated as it was.
  Cycle wake() const { return wake_; }

 private:
  void Wake() {
    if (wake_ != 0) wake_ = 1;
  }

  const std::unique_ptr<SmMemory> memory_;
  Cycle wake_ = 0;  // 0: the SM does not run alone
  const LaunchContext& context_;
  std::array<uint64_t, kMaxLanes> addresses_{};
  RemoteLanes remote_;
  RemoteCounts remote_counts_;
  std::unique_ptr<MemoryPolicy> policy_;
  bool asks_policy_ = false;  // it wants something
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_MEMORY_PORT_H_
