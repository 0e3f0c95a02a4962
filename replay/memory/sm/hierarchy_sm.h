// The part of a memory with caches and a network that belongs to one SM.
#ifndef HEDDLE_REPLAY_MEMORY_SM_HIERARCHY_SM_H_
#define HEDDLE_REPLAY_MEMORY_SM_HIERARCHY_SM_H_

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/cache/cache.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/ports/network_port.h"
#include "replay/memory/sm/access_plan.h"
#include "replay/memory/sm/sm_memory_counters.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// Memory stage, first-level caches and the SM's end of the network; the section "The memory of an SM" of
// docs/reference/timing.md has its rules. It sleeps between events: NextWake says when something is due, and replies or
// room in the network wake it from outside.
class alignas(64) HierarchySm final : public SmMemory {
 public:
  // The machine must have passed its check and have a hierarchy. `windows`, `port` and `client` outlive this.
  HierarchySm(const machine::v1::Machine& machine, const AddressWindows& windows, uint32_t sm, NetworkPort& port,
              MemoryClient& client);

  uint32_t number() const { return sm_; }
  bool needs_addresses() const override { return true; }
  uint32_t usual_latency() const override { return usual_latency_; }
  void RunCycle(Cycle now) override;
  Cycle NextWake(Cycle now) const override { return wake_ > now ? wake_ : now + 1; }
  bool StageFree() const override { return !stage_.busy || approaching_.size() < approach_places_; }
  void Submit(const WarpAccess& access, Cycle now) override;
  FetchResult Fetch(uint64_t address, uint32_t fetcher, Cycle now) override;
  void SetProfile(MemoryProfile* profile) override {
    profile_ = profile;
    counts_lanes_ = per_lane_ || profile != nullptr;
  }
  bool drained() const override;
  // A line that drains may displace a dirty one, which leaves in the same cycle. What the stage has may miss, and a
  // request asks for its way in the cycle in which it is queued: at a port of its own the SM will find room.
  bool isolated() const override {
    return outstanding_ == 0 && draining_ == 0 && !holds_any_ && !(stage_.busy && port_.shared());
  }
  std::string Explain() const override;

  // What was counted in the cycles before `end`.
  SmMemoryCounters Counters(Cycle end) const;
  // Adds what was counted in the cycles before `end`, in which nothing has run yet.
  void AddSample(Cycle end, MemorySample& out) const;
  // Whether the caches, queues and records agree with one another; for tests.
  bool Consistent() const;

  // Where the program lies for the memory behind the first level: apart from all data.
  static constexpr uint64_t kProgramBase = uint64_t{1} << 46;

 private:
  using RecordId = uint32_t;
  static constexpr RecordId kNoRecord = ~RecordId{0};
  static constexpr uint32_t kDirect = uint32_t{1} << 31;  // tag of a request that no MSHR waits for: | waiter

  // A memory instruction from its submission to its last data (loads), or to its last acknowledgement (stores).
  struct Record {
    AccessId id = 0;
    Pc pc = 0;
    uint32_t left = 0;  // loads: steps without data; stores: acknowledgements that are to come
    Cycle submitted = 0;
    Cycle last = 0;      // the latest data so far
    LaneMask lanes = 0;  // if they come together
    bool joined = false;
    bool returned = false;
    bool in_stage = true;
    bool off_core = false;  // the core was told
  };
  struct Waiter {
    RecordId record = kNoRecord;  // instruction cache: the fetcher
    LaneMask lanes = 0;           // 0: a store, which needs no way to the registers
  };
  // Data of hits on their way to the registers, where the number that may arrive per cycle is limited.
  struct PipedHit {
    Waiter waiter;
    Cycle ready = 0;
  };
  // Places in the turns for the registers.
  enum Source : int { kFromShared, kFromTexture, kFromConstant, kFromDataHits, kFromReturns, kSources };

  struct alignas(64) Level {
    std::unique_ptr<Cache> cache;  // null: the machine has none
    uint32_t hit_cycles = 1;
    uint16_t draining = MshrTable::kNone;
    std::vector<Waiter> waiters;  // by number of the MSHRs' waiter
    Ring<MemoryRequest> queue;    // misses and writes for the network
  };
  // A dirty line that a fill displaced, and the MSHR that is held until it has a place in the miss queue.
  struct HeldWriteBack {
    uint16_t entry = MshrTable::kNone;
    uint64_t line = 0;
  };
  struct alignas(64) Stage {
    bool busy = false;
    bool leaving = false;  // all steps are made, lane groups still pass
    bool blocked = false;  // the next step failed for `cause` of `level`, or as `returns_full` says
    bool returns_full = false;
    bool data_begun = false;  // all_misses_or_none: bank conflicts are over
    trace::v1::OpClass op = trace::v1::OP_UNKNOWN;
    FirstLevel level = FirstLevel::kData;
    ReservationFail cause = ReservationFail::kWay;
    SlotId slot = kNoSlot;
    uint32_t next = 0;  // step
    RecordId record = kNoRecord;
    Cycle ready = 0;       // first cycle of the next step, or of leaving
    Cycle hold_until = 0;  // last cycle that the lane groups need
    Cycle done = 0;        // data of a store have left
    LaneMask lanes = 0;
    AccessPlan* plan = nullptr;
  };
  // A memory instruction on its way to the stage, behind the one that `stage_` holds.
  struct Approaching {
    trace::v1::OpClass op = trace::v1::OP_UNKNOWN;
    SlotId slot = kNoSlot;
    RecordId record = kNoRecord;
    LaneMask lanes = 0;
    Cycle ready = 0;  // first cycle in the stage, if nothing is in front of it
    AccessPlan* plan = nullptr;
  };

  static int Index(FirstLevel level) { return static_cast<int>(level); }
  Level& LevelOf(FirstLevel level) { return level_[Index(level)]; }

  // hierarchy_sm_returns.cc: what comes back.
  void TakeReply(const MemoryRequest& reply, Cycle now);
  void TakeAcknowledgement(RecordId record, Cycle now);
  void ReturnData(Cycle now);
  uint32_t SourcesWithData(uint32_t turn_used, Cycle now) const;
  void ReturnFrom(Source source, uint32_t& turn_used, Cycle now);
  void NoticeEviction(const CacheEviction& eviction);
  bool Drains(FirstLevel level) const { return (draining_ >> Index(level) & 1) != 0; }
  bool StoreIsNext(FirstLevel level) const;
  void DrainOne(FirstLevel level, Cycle now);
  void FinishEntry(FirstLevel level, Cycle now);
  void MoveHeldWriteBack(Cycle now);
  bool HasPipeRoom(Source source) const { return !uses_pipes_ || !pipe_[source].full(); }
  // Data of a hit, which are there in cycle `ready`.
  void Hit(Source source, const Waiter& waiter, Cycle ready);
  void Deliver(const Waiter& waiter, Cycle at, bool returned);

  // hierarchy_sm_stage.cc: the memory stage.
  void CreditBlocked(Cycle cycles);
  // The stage's next step, or its leaving, is due.
  void RunStage(Cycle now);
  [[gnu::always_inline]] inline bool MakeStep(Cycle now);
  bool SharedStep(const AccessStep& step, Cycle now);
  bool ReadOnlyStep(FirstLevel level, Source source, const AccessStep& step, Cycle now);
  bool MakeDataSteps(Cycle now);
  bool MakeAllDataSteps(Cycle now);
  [[gnu::always_inline]] inline bool MakeDataStep(const AccessStep& step, Cycle now, bool hits_return);
  [[gnu::always_inline]] inline bool LoadStep(const AccessStep& step, Cycle now, bool hits_return);
  bool DirectLoadStep(const AccessStep& step);
  bool StoreStep(const AccessStep& step, Cycle now);
  bool AtomicStep(const AccessStep& step, Cycle now);
  uint32_t WorstBank(uint32_t end);
  bool AllMissesFit(uint32_t end, bool& any);
  Cache::WritePolicy PolicyOf(const AccessStep& step) const { return step.local() ? local_write_ : global_write_; }
  void MissInData(const CacheOutcome& outcome, uint64_t line);
  void CountLanes(const AccessStep& step, const CacheOutcome& outcome);
  void ProfileLanes(const AccessStep& step, const CacheOutcome& outcome);
  void StepsMade(Cycle now);
  void Enter(const Approaching& next, Cycle earliest);
  void LeaveStage(Cycle now);
  bool Blocked(FirstLevel level, ReservationFail cause);
  bool FailedOn(FirstLevel level, ReservationFail cause);
  bool BlockedOnReturns();
  void NotifyOffCore(RecordId record);

  // hierarchy_sm.cc
  void Queue(FirstLevel level, RequestKind kind, uint64_t address, uint32_t bytes, uint32_t tag, uint32_t passes = 1);
  void QueueFetchOf(FirstLevel level, const CacheOutcome& outcome, uint64_t line);
  void Send();
  [[gnu::always_inline]] inline Cycle WakeAfter(Cycle now);
  AccessPlan* NewPlan();
  RecordId NewRecord();
  void FreeRecord(RecordId record) { free_records_.push_back(record); }
  uint32_t NewDirect(const Waiter& waiter);

  // What every cycle looks at comes first, in one line of the host's cache, and the stage's part of it in the next.
  NetworkPort& port_;
  MemoryClient& client_;
  Cycle last_run_ = kNever;
  Cycle wake_ = kNever;
  uint32_t outstanding_ = 0;  // requests queued and not replied to
  uint8_t queued_ = 0;        // bit mask of levels whose miss queue is not empty
  uint8_t draining_ = 0;      // bit mask of levels that drain
  uint8_t filled_pipes_ = 0;  // bit mask of sources with hits in pipe_
  uint8_t last_sent_ = 0;     // level
  uint8_t last_return_ = 0;   // source
  // Since the stage's last try a line has come, or an MSHR, a place in a queue, or one in a pipeline was freed. Nothing
  // else lets a step be made that could not be made before.
  bool freed_ = false;
  bool holds_any_ = false;  // held_ is not empty
  bool all_or_none_;
  bool uses_pipes_;      // hits wait in pipe_ for their turn
  bool counts_lanes_;    // per_lane_, or there is a profile
  uint32_t direct_ = 0;  // drains at the data cache if no MSHR does: the waiter of a direct reply
  uint32_t returns_per_cycle_;
  Stage stage_;
  uint32_t approach_places_;  // on the way to the stage, may be 0
  Ring<Approaching> approaching_;

  uint16_t sm_;
  uint32_t issue_cycles_;
  uint32_t stage_cycles_;  // lane groups of a warp
  uint32_t hold_cycles_;   // least cycles of an instruction in the stage
  uint32_t shared_latency_;
  uint32_t data_banks_;  // 0: ideal ports
  bool per_lane_;        // no coalescing: a step counts as many cache accesses as it has lanes
  Cache::WritePolicy global_write_;
  Cache::WritePolicy local_write_;
  uint32_t usual_latency_;
  std::array<Level, kFirstLevels> level_;
  std::array<Ring<PipedHit>, kSources> pipe_;
  Ring<HeldWriteBack> held_;
  enum class Hold : uint8_t { kNone, kWriteBack, kOnlyWriteBack };
  std::vector<Hold> holds_;       // by MSHR of the data cache; kOnlyWriteBack: it has drained
  std::vector<Cycle> bank_used_;  // by bank of the data cache: last cycle in which it served a line, + 1
  std::vector<uint32_t> bank_load_;
  std::vector<Record> records_;
  std::vector<RecordId> free_records_;
  std::vector<Waiter> directs_;
  std::vector<uint32_t> free_directs_;
  std::vector<std::unique_ptr<AccessPlan>> plans_;  // as many as were ever on their way at once
  std::vector<AccessPlan*> free_plans_;
  // Lines of the program that have come for a fetcher which has not fetched since, by fetcher: they are its own to
  // fetch from once, even if the cache has given their way to another line meanwhile. Otherwise warps that miss in the
  // same set could take the lines from one another for ever.
  static constexpr uint64_t kNoLine = ~uint64_t{0};
  std::vector<uint64_t> line_for_;
  uint64_t arrived_line_ = kNoLine;  // that the instruction cache tells its waiters of
  AccessPlanner planner_;
  SmMemoryCounters counters_;
  MemoryProfile* profile_ = nullptr;  // only if asked for
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_HIERARCHY_SM_H_
