// The memory stage of an SM.
#ifndef HEDDLE_REPLAY_MEMORY_SM_MEMORY_STAGE_H_
#define HEDDLE_REPLAY_MEMORY_SM_MEMORY_STAGE_H_

#include <cstdint>
#include <string>

#include "proto/machine.pb.h"
#include "replay/memory/sm/access_queue.h"
#include "replay/memory/sm/access_table.h"
#include "replay/memory/sm/data_path.h"
#include "replay/memory/sm/direct_requests.h"
#include "replay/memory/sm/first_level_cache.h"
#include "replay/memory/sm/hit_pipes.h"
#include "replay/memory/sm/network_interface.h"
#include "replay/memory/sm/remote_port.h"
#include "replay/memory/sm/stage_access.h"

namespace heddle::replay {

// Cycles of the stage.
struct StageTiming {
  explicit StageTiming(const machine::v1::Machine& machine);

  uint32_t lane_groups;     // of a warp, one per cycle
  uint32_t issue = 1;       // from the submission to the first cycle in the stage
  uint32_t hold;            // least of an instruction in the stage
  uint32_t shared_latency;  // from an access of shared memory to its data
  uint32_t shared_atomic_latency;
};

// Instructions go through it in order, one at a time, and each makes the steps of its plan: in shared memory, in the
// texture and constant caches, and in the data path. A step that lacks a resource is tried again once one was freed.
class alignas(64) MemoryStage {
 public:
  // All references outlive this.
  MemoryStage(const machine::v1::Machine& machine, FirstLevelCaches& caches, NetworkInterface& network, HitPipes& pipes,
              AccessTable& accesses, DirectRequests& directs, MemoryClient& client);

  void SetProfile(MemoryProfile* profile) { data_.SetProfile(profile); }
  // DataPath::SetPolicy.
  void SetPolicy(MemoryPolicy& policy, uint32_t warp_size) { data_.SetPolicy(policy, warp_size); }
  PolicyUnit* policy() const { return data_.policy(); }

  // Whether an access may be submitted.
  bool free() const { return !busy_ || !queue_.full(); }
  // The plan of an access that is about to be submitted.
  AccessPlan& NewPlan() { return queue_.NewPlan(); }
  // The access enters the stage, or stands in line, from cycle `now` on. Whether it has entered.
  bool Submit(PlannedAccess access, Cycle now) {
    access.ready = now + timing_.issue;
    if (busy_) {
      queue_.Push(access);
      return false;
    }
    Enter(access, access.ready);
    return true;
  }

  // Whether there is an access in the stage; the rest is about it.
  bool busy() const { return busy_; }
  // When its next step, or its leaving, is due.
  Cycle ready() const { return access_.ready; }
  // Whether its next step lacks a resource.
  bool blocked() const { return blocked_; }
  // Since the last try a line has come, or an MSHR, a place in a queue, or one in a pipeline was freed. Nothing else
  // lets a step be made that could not be made before.
  void NoteFreed() { freed_ = true; }
  // The stage was blocked in `cycles` cycles in which it did not run: its step would have failed in the same way.
  void CreditBlocked(Cycle cycles);
  // Runs cycle `now`, in which something is due.
  void Run(Cycle now);

  // The way to the shared memory of other blocks.
  RemotePort& remote() { return remote_; }
  const RemotePort& remote() const { return remote_; }

  // Adds what the stage has counted.
  void AddTo(SmMemoryCounters& counters) const { counters.data_conflict_cycles += data_.conflict_cycles(); }
  // What it does and waits for, for the report of a deadlock; empty if nothing.
  std::string Explain() const;

 private:
  [[gnu::always_inline]] inline StepResult MakeStep(Cycle now);
  StepResult MakeSharedStep(const AccessStep& step, Cycle now);
  StepResult MakeRemoteStep(const AccessStep& step, Cycle now);
  StepResult MakeReadOnlyStep(FirstLevel level, RegisterSource source, const AccessStep& step, Cycle now);
  // No address, and as fast as a hit of the constant cache.
  StepResult MakeUnknownStep(const AccessStep& step, Cycle now);
  StepResult BlockedOnReturns() {
    pipes_.CountStall(1);
    return StepResult::ReturnsFull();
  }
  void StepsMade(Cycle now);
  // `earliest`: the first cycle that the stage has for it.
  void Enter(const PlannedAccess& next, Cycle earliest);
  void Leave(Cycle now);

  bool busy_ = false;
  bool leaving_ = false;  // all steps are made, lane groups still pass
  bool blocked_ = false;
  bool freed_ = false;
  StepResult failure_ = StepResult::Made();  // if blocked: why
  StageAccess access_;
  FirstLevelCaches& caches_;
  NetworkInterface& network_;
  HitPipes& pipes_;
  AccessTable& accesses_;
  const StageTiming timing_;
  DataPath data_;
  AccessQueue queue_;
  RemotePort remote_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_MEMORY_STAGE_H_
