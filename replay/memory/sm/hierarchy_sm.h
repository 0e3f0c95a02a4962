// The part of a memory with caches and a network that belongs to one SM.
#ifndef HEDDLE_REPLAY_MEMORY_SM_HIERARCHY_SM_H_
#define HEDDLE_REPLAY_MEMORY_SM_HIERARCHY_SM_H_

#include <cstdint>
#include <string>

#include "proto/machine.pb.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/ports/network_port.h"
#include "replay/memory/ports/remote_access.h"
#include "replay/memory/sm/access_plan.h"
#include "replay/memory/sm/access_table.h"
#include "replay/memory/sm/direct_requests.h"
#include "replay/memory/sm/first_level_cache.h"
#include "replay/memory/sm/hit_pipes.h"
#include "replay/memory/sm/instruction_fetches.h"
#include "replay/memory/sm/memory_stage.h"
#include "replay/memory/sm/network_interface.h"
#include "replay/memory/sm/reply_path.h"
#include "replay/memory/sm/sm_memory_counters.h"

namespace heddle::replay {

// Puts the parts together: accesses are planned and go through the memory stage to the first-level caches; what misses
// goes through the network interface; what comes back goes along the reply path. The section "The memory of an SM" of
// docs/reference/timing.md has the rules. It sleeps between events: NextWake says when something is due, and replies or
// room in the network wake it from outside.
class alignas(64) HierarchySm final : public SmMemory, public RemoteClient {
 public:
  // The machine must have passed its check and have a hierarchy. `windows`, `port` and `client` outlive this.
  HierarchySm(const machine::v1::Machine& machine, const AddressWindows& windows, uint32_t sm, NetworkPort& port,
              MemoryClient& client);

  // The way to the shared memory of other blocks, before anything runs. `network` outlives this.
  void ConnectRemote(RemoteNetwork& network) { stage_.remote().Connect(network, network_.sm()); }

  uint32_t number() const { return network_.sm(); }
  bool needs_addresses() const override { return true; }
  uint32_t usual_latency() const override { return usual_latency_; }
  void RunCycle(Cycle now) override;
  Cycle NextWake(Cycle now) const override { return wake_ > now ? wake_ : now + 1; }
  bool StageFree() const override { return stage_.free(); }
  void Submit(const WarpAccess& access, Cycle now) override;
  FetchResult Fetch(uint64_t address, uint32_t fetcher, Cycle now) override;
  void SetProfile(MemoryProfile* profile) override;
  void SetPolicy(MemoryPolicy& policy, uint32_t warp_size) override;
  void WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) override {
    if (policy() != nullptr) policy()->WarpsAdmitted(block, first_hw_warp, hw_warps);
  }
  void WarpEnded(uint32_t hw_warp) override {
    if (policy() != nullptr) policy()->WarpEnded(hw_warp);
  }
  void BlockRetired(BlockId block) override {
    if (policy() != nullptr) policy()->BlockRetired(block);
  }
  bool drained() const override { return idle() && accesses_.empty(); }
  // A line that drains may displace a dirty one, which leaves in the same cycle. What the stage has may miss, and a
  // request asks for its way in the cycle in which it is queued: at a port of its own the SM will find room.
  bool isolated() const override {
    return network_.outstanding() == 0 && !replies_.draining() && !replies_.holds_write_back() &&
           !(stage_.busy() && network_.shared()) && stage_.remote().outstanding() == 0 && !has_prefetch();
  }
  void RemoteReply(const RemoteAccess& access) override {
    stage_.remote().Arrive(access);
    wake_ = 0;
  }
  SmMemoryLoad load() const override;
  std::string Explain() const override;

  // What was counted in the cycles before `end`.
  SmMemoryCounters Counters(Cycle end) const;
  // Adds what was counted in the cycles before `end`, in which nothing has run yet.
  void AddSample(Cycle end, MemorySample& out) const;
  // Whether the caches, queues and records agree with one another; for tests.
  bool Consistent() const;

 private:
  // Nothing is to be done, now or when a reply comes.
  bool idle() const {
    return network_.outstanding() == 0 && !replies_.draining() && pipes_.empty() && !replies_.holds_write_back() &&
           !stage_.busy() && !stage_.remote().has_arrived() && !has_prefetch();
  }
  PolicyUnit* policy() const { return stage_.policy(); }
  // A line that a policy has asked for is still to be sent for.
  bool has_prefetch() const { return policy() != nullptr && policy()->has_prefetch(); }
  // Something may be due in the cycle.
  [[gnu::noinline]] void RunDue(Cycle now);
  [[gnu::always_inline]] inline Cycle WakeAfter(Cycle now);

  // What every cycle looks at comes first.
  Cycle last_run_ = kNever;
  Cycle wake_ = kNever;
  NetworkInterface network_;
  AccessTable accesses_;
  HitPipes pipes_;
  FirstLevelCaches caches_;
  DirectRequests directs_;
  InstructionFetches fetches_;
  ReplyPath replies_;
  MemoryStage stage_;
  AccessPlanner planner_;
  SmMemoryCounters planned_;  // what the planner counts
  const bool all_or_none_;
  const uint32_t usual_latency_;
  MemoryProfile* profile_ = nullptr;  // only if asked for
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_HIERARCHY_SM_H_
