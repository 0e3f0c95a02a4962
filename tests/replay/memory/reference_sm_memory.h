// The memory of an SM, run in every cycle, with lists and maps: an oracle of HierarchySm, after
// docs/reference/timing.md, section 6.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_SM_MEMORY_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_SM_MEMORY_H_

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/ports/network_port.h"
#include "replay/memory/sm/sm_memory_counters.h"
#include "replay/seams/memory_policy.h"
#include "tests/replay/memory/reference_cache.h"

namespace heddle::replay {

class ReferenceSmMemory : public SmMemory {
 public:
  ReferenceSmMemory(const machine::v1::Machine& machine, const AddressWindows& windows, uint32_t sm, NetworkPort& port,
                    MemoryClient& client);

  bool needs_addresses() const override { return true; }
  uint32_t usual_latency() const override { return 1; }
  // To be called in every cycle, once.
  void RunCycle(Cycle now) override;
  Cycle NextWake(Cycle now) const override { return now + 1; }
  void SetPolicy(MemoryPolicy& policy, uint32_t warp_size) override;
  void WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) override;
  void WarpEnded(uint32_t hw_warp) override;
  void BlockRetired(BlockId block) override;
  bool StageFree() const override { return coming_.size() + (busy_ ? 1 : 0) < places_; }
  void Submit(const WarpAccess& access, Cycle now) override;
  FetchResult Fetch(uint64_t address, uint32_t fetcher, Cycle now) override;
  bool drained() const override;
  std::string Explain() const override { return {}; }
  SmMemoryCounters Counters() const;

 private:
  // First-level caches, and the ways to the registers, as indices.
  enum { kDataLevel, kTextureLevel, kConstantLevel, kInstructionLevel };
  enum { kSharedSource, kTextureSource, kConstantSource, kDataSource, kReturnSource };

  enum Unit { kShared, kConstant, kUnknown, kTexture, kData };
  struct Step {
    Unit unit = kData;
    uint64_t address = 0;
    LaneMask lanes = 0;
    uint32_t bytes = 0;
    uint32_t passes = 1;
    uint32_t group = 0;
    std::optional<LinePlacement> placement = {};  // once the policy was asked
  };
  struct Instruction {
    WarpAccess access;
    Cycle submitted = 0;
    size_t steps = 0;
    bool together = false;
    size_t data_to_come = 0;
    size_t acknowledgements_to_come = 0;
    bool left_stage = false;
    bool told = false;
    bool returned = false;
    bool over = false;
    Cycle last = 0;
  };
  // On its way to the stage.
  struct Coming {
    int instruction = 0;
    std::deque<Step> steps;
    Cycle earliest = 0;
  };
  struct Hit {
    ReferenceWaiter waiter;
    Cycle ready = 0;
  };
  // What a request is for, by its tag.
  struct Purpose {
    std::shared_ptr<ReferenceMshr> mshr;
    ReferenceWaiter waiter;  // of atomics, of loads without a cache
    int store = -1;
  };
  struct Level {
    std::unique_ptr<ReferenceCache> cache;
    machine::v1::Cache config;
    std::deque<MemoryRequest> queue;
    std::shared_ptr<ReferenceMshr> draining;
    uint32_t hit_cycles = 1;
    uint32_t queue_places = 1;
    uint32_t room() const { return queue_places - static_cast<uint32_t>(queue.size()); }
  };

  // reference_sm_plan.cc
  std::vector<Step> PlanOf(const WarpAccess& access);
  void PlanData(const WarpAccess& access, LaneMask lanes, const std::map<int, uint64_t>& addresses, uint32_t bytes,
                uint32_t group, std::vector<Step>& steps);
  uint32_t SharedPasses(const WarpAccess& access, LaneMask lanes);

  void TakeReply(Cycle now);
  void ToRegisters(Cycle now);
  bool FromSource(int source, std::array<bool, kFirstLevels>& turn_used, Cycle now);
  bool CanDrain(int level) const;
  void Drain(int level, Cycle now);
  void Stage(Cycle now);
  bool MakeSteps(Cycle now);
  bool MakeStep(Step& step, Cycle now, bool hits_return);
  bool MakeDataStep(Step& step, Cycle now, bool hits_return);
  bool MakePastStep(const Step& step);
  bool MissPast(const Step& step);
  bool AllFit(const std::vector<Step*>& group, Cycle now, bool& any_miss);
  // An atomic, or a load that must not find its data in the L1.
  bool PassesL1(const WarpAccess& access) const;
  bool QueueFull();
  bool PipeFull(int source);
  void AddHit(int source, const Step& step, Cycle ready);
  void Data(const ReferenceWaiter& waiter, Cycle at, bool returned);
  void Acknowledge(int store, Cycle now);
  void OffCore(int instruction);
  void Queue(int level, RequestKind kind, uint64_t address, uint32_t bytes, const Purpose& purpose,
             uint32_t passes = 1);
  void QueueMiss(int level, const ReferenceCache::Result& result, uint64_t line);
  void Evicted(const ReferenceCache::Line& line);
  void CountLanes(const Step& step, const ReferenceCache::Result& result);

  // sm/reference_sm_policy.cc: what a memory policy adds
  bool Wants(uint32_t interest) const { return policy_ != nullptr && (policy_->interests() & interest) != 0; }
  LineAccess Describe(const Step& step, Cycle now) const;
  LinePlacement PlacementOf(Step& step, Cycle now);
  // Asks which line gives way to that of the access, if one has to and the policy chooses.
  void ChooseVictim(const LineAccess& access);
  // Whether it may be asked: all that the access needs is there.
  bool MayTakeWay(uint64_t line);
  void TellAccessed(const LineAccess& access, LineResult result);
  void TellEvicted(const ReferenceCache::Line& line);
  void Known(const ReferenceMshr& mshr);
  void AfterAccess(const Step& step, const ReferenceCache::Result& result, Cycle now);
  std::optional<ReferenceCache::Line> FillData(ReferenceMshr& mshr, Cycle now);
  void Prefetch(Cycle now);

  machine::v1::Machine machine_;
  machine::v1::Hierarchy memory_;
  const AddressWindows& windows_;
  uint32_t sm_;
  NetworkPort& port_;
  MemoryClient& client_;
  bool all_misses_or_none_;
  uint32_t groups_;  // lane groups of a warp
  bool turns_;       // hits wait for their turn

  std::array<Level, kFirstLevels> level_;
  std::array<std::deque<Hit>, 5> pipe_;
  std::array<size_t, 5> pipe_places_{};
  std::deque<std::pair<std::shared_ptr<ReferenceMshr>, uint64_t>> held_;
  std::map<uint32_t, Purpose> purposes_;
  std::map<int, Instruction> instructions_;
  std::map<uint32_t, uint64_t> lines_for_;  // by fetcher: the line of the program that has come for its next fetch
  bool direct_drains_ = false;
  ReferenceWaiter direct_;
  bool direct_is_atomic_ = false;
  int last_sent_ = 0;
  int last_source_ = 0;

  std::deque<Coming> coming_;
  size_t places_ = 1;     // of the stage and on the way to it
  uint32_t latency_ = 1;  // from issue to the stage
  uint32_t hold_ = 1;     // cycles in the stage, at least
  bool busy_ = false;
  int current_ = 0;
  std::deque<Step> steps_;
  bool conflicts_waited_ = false;
  Cycle next_step_ = 0;
  Cycle hold_until_ = 0;
  Cycle store_done_ = 0;
  int instructions_so_far_ = 0;
  uint32_t tags_so_far_ = 0;
  SmMemoryCounters counters_;

  struct AskedLine {
    LineAccess access;
    LinePlacement placement = LinePlacement::kMostRecent;
  };
  MemoryPolicy* policy_ = nullptr;
  uint32_t warp_size_ = 0;
  std::map<uint32_t, BlockId> block_of_;                    // by hardware warp
  std::map<int, std::pair<uint16_t, BlockId>> requesters_;  // by instruction: hardware warp and block
  PrefetchLimits limits_;
  std::deque<AskedLine> asked_;
  bool blocked_ = false;  // in this cycle the stage could make no step though one was due
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_SM_MEMORY_H_
