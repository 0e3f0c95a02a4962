// One SM of the reference engine: the front end with a single pipeline before a memory with caches.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_PIPELINE_CORE_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_PIPELINE_CORE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replay/memory/ports/memory_system.h"
#include "tests/reference/reference_core.h"

namespace heddle::replay {

// docs/reference/timing.md, section 4: every stage of every port is looked at in every cycle.
class ReferencePipelineCore final : public ReferenceCore, public MemoryClient {
 public:
  ReferencePipelineCore(const ReferenceLaunch& launch, uint32_t sm, int capacity);

  bool Stuck() const override;
  SmMemoryLoad MemoryLoad() const override { return memory_->load(); }
  bool Drained() const override { return memory_->drained(); }

  // MemoryClient.
  void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) override;
  void StoreAcknowledged(AccessId access, Cycle at) override;
  void WaitsOffCore(AccessId access) override;
  void FetchArrived(uint32_t /*fetcher*/) override {}
  void CacheEvent(const CacheNotice& notice) override;

 private:
  using Part = std::pair<SlotId, LaneMask>;
  struct Issue {
    Cycle ready = 0;  // first cycle in which it may be in the memory stage
    std::vector<SlotId> slots;
  };
  // Where each lane of an access belongs.
  struct Access {
    size_t port = 0;
    std::map<int, std::pair<SlotId, int>> lanes;
    std::set<int> in_time;    // there when the access left the stage
    std::set<int> arrived;    // there otherwise
    std::set<int> delivered;  // handed to write-back's queue or register
    bool in_stage = true;
    bool store = false;
    std::set<std::pair<uint64_t, ThreadId>> threads;  // of a store, with the block that they run
  };
  struct Stage {
    Issue issue;
    Cycle entered = 0;
    bool handed_over = false;  // arithmetic: to the register
    Cycle handed_over_in = 0;
    std::set<SlotId> memory;      // slots that access memory
    std::set<SlotId> to_submit;   // of them, those whose access has not been made
    std::map<SlotId, int> place;  // of its first thread among those of the issue, without those that come by an access
    bool accessing = false;       // the memory's stage holds an access of this issue
    std::vector<Part> results;
  };
  struct Register {
    Cycle available = 0;
    Cycle takes = 0;  // cycles of write-back
    std::vector<Part> results;
  };
  struct Pipeline {
    std::deque<Issue> on_way;
    std::optional<Stage> stage;
    std::optional<Register> output;
    std::deque<std::vector<Part>> returned;
    Cycle write_free = 0;
  };
  struct Event {
    Cycle at = 0;
    AccessId id = 0;
    LaneMask lanes = 0;  // 0: an acknowledgement
  };

  void Start(Cycle now, SlotId slot, InFlight& in_flight) override;
  void Entered(Cycle now, int port, const std::vector<SlotId>& slots, int penalty) override;
  bool HasRoom(int port) const override;
  bool ShowsRoom(int port) const override { return HasRoom(port); }
  void RunPipeline(Cycle now, const std::function<void(uint64_t)>& retired) override;
  bool FenceWaits(SlotId slot, const InFlight& in_flight) const override;

  bool lane_wise() const { return (interests_ & kLaneReturns) != 0 || policy_->issue_slots() > 1; }
  bool IsAccess(SlotId slot) const;
  void TakeEvent(const Event& event, const std::function<void(uint64_t)>& retired);
  void Deliver(Cycle now, const std::vector<Part>& parts, const std::function<void(uint64_t)>& retired);
  void WriteBackPorts(Cycle now, const std::function<void(uint64_t)>& retired);
  void AdvanceStage(Pipeline& pipeline, size_t port, Cycle now);
  void SubmitNext(Pipeline& pipeline, size_t port, Cycle now);
  void LeaveMemory();
  std::vector<Part> PartsOf(const Access& access, const std::set<int>& lanes) const;
  void ForgetIfDone(AccessId id);
  // The recorded block that a hardware thread runs, and the thread.
  std::pair<uint64_t, ThreadId> Named(ThreadId thread) const;

  std::unique_ptr<SmMemory> memory_;
  std::vector<Pipeline> pipelines_;  // by port
  std::map<AccessId, Access> accesses_;
  std::set<AccessId> unacknowledged_;
  std::optional<AccessId> in_memory_;
  size_t turn_ = 0;
  std::vector<Event> events_;  // in the order of the memory's calls
  Cycle now_ = 0;
  std::array<uint64_t, kMaxLanes> addresses_{};
  std::array<ThreadId, kMaxLanes> lane_threads_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_PIPELINE_CORE_H_
