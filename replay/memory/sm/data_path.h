// Accesses to the data cache, and past it.
#ifndef HEDDLE_REPLAY_MEMORY_SM_DATA_PATH_H_
#define HEDDLE_REPLAY_MEMORY_SM_DATA_PATH_H_

#include <cstdint>
#include <memory>

#include "proto/machine.pb.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/access_table.h"
#include "replay/memory/sm/data_banks.h"
#include "replay/memory/sm/direct_requests.h"
#include "replay/memory/sm/first_level_cache.h"
#include "replay/memory/sm/hit_pipes.h"
#include "replay/memory/sm/lane_accounting.h"
#include "replay/memory/sm/network_interface.h"
#include "replay/memory/sm/policy_unit.h"
#include "replay/memory/sm/stage_access.h"

namespace heddle::replay {

// Makes the steps of global and local memory: loads and stores through the cache, if there is one, atomics at the
// memory partition. One step per bank and cycle; or with `all_misses_or_none` all steps of a group together.
class DataPath {
 public:
  // `lane_groups`: cycles in which the lanes of a warp enter the stage. All references outlive this.
  DataPath(const machine::v1::Hierarchy& memory, uint32_t lane_groups, FirstLevelCache& cache,
           NetworkInterface& network, HitPipes& pipes, AccessTable& accesses, DirectRequests& directs,
           MemoryClient& client);

  void SetProfile(MemoryProfile* profile) { lanes_.SetProfile(profile); }
  // The policy decides from now on what the cache, which must exist, keeps; it outlives this.
  void SetPolicy(MemoryPolicy& policy, uint32_t warp_size) {
    policy_ = std::make_unique<PolicyUnit>(policy, warp_size, cache_, network_, client_);
  }
  // Null if there is none.
  PolicyUnit* policy() const { return policy_.get(); }

  // Makes the next step of the access, or several. What fails has been counted.
  [[gnu::always_inline]] inline StepResult Make(StageAccess& access, Cycle now) {
    if (all_or_none_) return MakeGroup(access, now);
    if (banks_.several() && cache_.exists()) return MakeSeveral(access, now);
    const StepResult result = MakeStep(access, (*access.plan)[access.next], now, /*hits_return=*/false);
    access.next += result.made() ? 1 : 0;
    return result;
  }

  // Cycles in which an access waited because its bank served another line.
  uint64_t conflict_cycles() const { return conflict_cycles_; }

 private:
  [[gnu::always_inline]] inline StepResult MakeStep(const StageAccess& access, AccessStep& step, Cycle now,
                                                    bool hits_return) {
    if (policy_ != nullptr) [[unlikely]]
      return MakeWithPolicy(access, step, now, hits_return);
    if (access.op == trace::v1::OP_STORE) return Store(access, step, now);
    if (access.past_l1) return PassCache(access, step);
    if (!cache_.exists()) return LoadWithoutCache(access, step);
    return Load(access, step, now, hits_return);
  }
  [[gnu::always_inline]] inline StepResult Load(const StageAccess& access, const AccessStep& step, Cycle now,
                                                bool hits_return);
  // What follows from a load's outcome, which is no reservation fail.
  [[gnu::always_inline]] inline StepResult FinishLoad(const StageAccess& access, const AccessStep& step,
                                                      const CacheOutcome& outcome, Cycle now, bool hits_return);
  StepResult LoadWithoutCache(const StageAccess& access, const AccessStep& step);
  StepResult Store(const StageAccess& access, const AccessStep& step, Cycle now);
  StepResult FinishStore(const StageAccess& access, const AccessStep& step, const CacheOutcome& outcome);
  // Steps where a memory policy decides.
  StepResult MakeWithPolicy(const StageAccess& access, AccessStep& step, Cycle now, bool hits_return);
  StepResult MissPast(const StageAccess& access, const AccessStep& step, const LineAccess& line);
  bool KeepsNothing(const StageAccess& access, AccessStep& step, Cycle now);
  // An atomic or a volatile load: the cache loses the line.
  StepResult PassCache(const StageAccess& access, const AccessStep& step);

  StepResult MakeSeveral(StageAccess& access, Cycle now);
  StepResult MakeGroup(StageAccess& access, Cycle now);
  uint32_t WorstBank(const StageAccess& access, uint32_t end);
  StepResult AllMissesFit(const StageAccess& access, uint32_t end, Cycle now, bool& any);

  Cache::WritePolicy PolicyOf(const AccessStep& step) const { return step.local() ? local_write_ : global_write_; }
  void Count(const StageAccess& access, const AccessStep& step, const CacheOutcome& outcome) {
    if (lanes_.needed()) lanes_.Count(step, outcome, accesses_.pc(access.record), cache_.cache().counters());
  }
  void Miss(const StageAccess& access, const CacheOutcome& outcome, uint64_t line);
  // A resource is missing, which the cache has not counted.
  StepResult Lacks(ReservationFail cause) {
    cache_.CountFail(cause, 1);
    return StepResult::Lacks(FirstLevel::kData, cause);
  }

  FirstLevelCache& cache_;
  NetworkInterface& network_;
  HitPipes& pipes_;
  AccessTable& accesses_;
  DirectRequests& directs_;
  MemoryClient& client_;
  const Cache::WritePolicy global_write_;
  const Cache::WritePolicy local_write_;
  const bool all_or_none_;
  const uint32_t lane_groups_;
  LaneAccounting lanes_;
  DataBanks banks_;
  uint64_t conflict_cycles_ = 0;
  std::unique_ptr<PolicyUnit> policy_;  // null: the cache is as the machine has it
};

inline StepResult DataPath::Load(const StageAccess& access, const AccessStep& step, Cycle now, bool hits_return) {
  if (!pipes_.HasRoom(RegisterSource::kDataHits)) {
    pipes_.CountStall(1);
    return StepResult::ReturnsFull();
  }
  Cache& cache = cache_.cache();
  const uint64_t line = cache.LineOf(step.address);
  const CacheOutcome outcome = cache.Access(line, cache.SetOf(line), CacheOperation::kRead, global_write_, access.slot,
                                            network_.room(FirstLevel::kData), now);
  if (outcome.result == CacheResult::kReservationFail) return StepResult::Lacks(FirstLevel::kData, outcome.cause);
  return FinishLoad(access, step, outcome, now, hits_return);
}

inline StepResult DataPath::FinishLoad(const StageAccess& access, const AccessStep& step, const CacheOutcome& outcome,
                                       Cycle now, bool hits_return) {
  Count(access, step, outcome);
  const Waiter waiter = access.WaiterOf(step);
  if (outcome.result == CacheResult::kHit) {
    if (hits_return) {
      accesses_.Deliver(waiter, now + cache_.hit_cycles(), /*returned=*/true);
    } else {
      pipes_.Hit(RegisterSource::kDataHits, waiter, now + cache_.hit_cycles());
    }
    return StepResult::Made();
  }
  cache_.Wait(outcome.waiter, waiter);
  accesses_.NotifyOffCore(access.record);
  if (outcome.fetch) Miss(access, outcome, cache_.cache().LineOf(step.address));
  return StepResult::Made();
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_DATA_PATH_H_
