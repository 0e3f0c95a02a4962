#include "replay/memory/sm/data_path.h"

#include <algorithm>

namespace heddle::replay {

using trace::v1::OP_ATOMIC;
using trace::v1::OP_STORE;

DataPath::DataPath(const machine::v1::Hierarchy& memory, uint32_t lane_groups, FirstLevelCache& cache,
                   NetworkInterface& network, HitPipes& pipes, AccessTable& accesses, DirectRequests& directs,
                   MemoryClient& client)
    : cache_(cache),
      network_(network),
      pipes_(pipes),
      accesses_(accesses),
      directs_(directs),
      client_(client),
      global_write_(memory.l1_data().global_write()),
      local_write_(memory.l1_data().local_write() == machine::v1::Cache::READ_ONLY ? memory.l1_data().global_write()
                                                                                   : memory.l1_data().local_write()),
      all_or_none_(memory.all_misses_or_none()),
      lane_groups_(lane_groups),
      lanes_(memory),
      banks_(memory.l1_data()) {}

// Where there are several banks: one access per bank and cycle, in order; those whose bank is taken are passed over.
// The first one that lacks a resource ends the cycle.
StepResult DataPath::MakeSeveral(StageAccess& access, Cycle now) {
  AccessPlan& plan = *access.plan;
  const Cache& cache = cache_.cache();
  bool conflict = false;
  bool made = false;
  StepResult failed = StepResult::Made();
  uint32_t kept = access.next;
  for (uint32_t index = access.next; index < plan.size(); ++index) {
    if (failed.made()) {
      const uint64_t line = cache.LineOf(plan[index].address);
      if (banks_.Taken(line, now)) {
        conflict = true;
      } else if (const StepResult result = MakeStep(access, plan[index], now, /*hits_return=*/false); result.made()) {
        banks_.Use(line, now);
        made = true;
        continue;
      } else {
        failed = result;
      }
    }
    plan[kept++] = plan[index];
  }
  plan.Resize(kept);
  if (conflict) ++conflict_cycles_;
  // If any was made, the one that failed is tried in the next cycle.
  return made ? StepResult::Made() : failed;
}

// Whether a step keeps nothing of its line if that is absent, which the policy is asked if it has not been.
bool DataPath::KeepsNothing(const StageAccess& access, AccessStep& step, Cycle now) {
  const LineAccess line = policy_->Describe(access, step, now, accesses_.pc(access.record));
  policy_->Place(line, step);
  return PolicyUnit::KeepsNothing(step);
}

uint32_t DataPath::WorstBank(const StageAccess& access, uint32_t end) {
  if (!cache_.exists()) return 0;
  return banks_.Worst(access.next, end,
                      [&](uint32_t index) { return cache_.cache().LineOf((*access.plan)[index].address); });
}

// Whether MSHRs and miss queue have room for all steps before `end`; `any`: one of them misses a line. They are on
// different lines.
StepResult DataPath::AllMissesFit(const StageAccess& access, uint32_t end, Cycle now, bool& any) {
  any = !cache_.exists() || access.past_l1;
  uint32_t misses = 0;
  uint32_t merged = 0;  // that take an MSHR nevertheless
  uint32_t sends = 0;
  for (uint32_t index = access.next; index < end; ++index) {
    AccessStep& step = (*access.plan)[index];
    if (!cache_.exists()) {
      ++sends;
      continue;
    }
    const Cache& cache = cache_.cache();
    const uint64_t line = cache.LineOf(step.address);
    const uint32_t set = cache.SetOf(line);
    const Cache::LineState state = cache.Peek(line, set);
    const bool keeps_nothing = policy_ != nullptr && !access.past_l1 && KeepsNothing(access, step, now);
    if (access.past_l1) {
      sends += state == Cache::LineState::kDirty ? 2 : 1;
    } else if (access.op == OP_STORE && PolicyOf(step) != machine::v1::Cache::WRITE_BACK) {
      ++sends;
    } else if (state == Cache::LineState::kInvalid || state == Cache::LineState::kReserved) {
      any = true;
      const uint16_t entry = cache.OnItsWay(line, set);
      if (entry == MshrTable::kNone && keeps_nothing) {
        ++sends;
        continue;
      }
      if (entry == MshrTable::kNone || cache.pending_hits() == machine::v1::Cache::OWN_REQUEST) {
        ++misses;
      } else if (cache.mshrs().Full(entry)) {
        return Lacks(ReservationFail::kMerge);
      } else if (cache.mshrs().one_each()) {
        ++merged;
      }
    }
  }
  if (const uint32_t mshrs = misses + merged; mshrs != 0 && mshrs > cache_.cache().mshrs().free()) {
    return Lacks(ReservationFail::kMshr);
  }
  if (misses + sends > network_.room(FirstLevel::kData)) return Lacks(ReservationFail::kMissQueue);
  return StepResult::Made();
}

// All accesses of a group in one cycle, once the bank conflicts have been waited for (Fung's thesis, section 5.1,
// memory stage).
StepResult DataPath::MakeGroup(StageAccess& access, Cycle now) {
  AccessPlan& plan = *access.plan;
  uint32_t end = access.next;
  while (end < plan.size() && plan[end].group == plan[access.next].group) ++end;
  if (!access.data_begun) {
    access.data_begun = true;
    const uint32_t cycles = WorstBank(access, end);
    if (cycles > lane_groups_) {
      access.ready = now + cycles - lane_groups_;
      conflict_cycles_ += cycles - lane_groups_;
      return StepResult::Made();
    }
  }
  bool any_miss = false;
  if (const StepResult fit = AllMissesFit(access, end, now, any_miss); !fit.made()) return fit;
  for (; access.next < end; ++access.next) {
    const StepResult result = MakeStep(access, plan[access.next], now, any_miss);
    if (!result.made()) return result;
  }
  access.data_begun = false;
  return StepResult::Made();
}

StepResult DataPath::LoadWithoutCache(const StageAccess& access, const AccessStep& step) {
  if (network_.full(FirstLevel::kData)) return Lacks(ReservationFail::kMissQueue);
  const uint32_t tag = directs_.NewTag(access.WaiterOf(step));
  network_.Queue(FirstLevel::kData, RequestKind::kRead, step.address, step.bytes, tag);
  accesses_.NotifyOffCore(access.record);
  return StepResult::Made();
}

StepResult DataPath::Store(const StageAccess& access, const AccessStep& step, Cycle now) {
  if (!cache_.exists()) {
    if (network_.full(FirstLevel::kData)) return Lacks(ReservationFail::kMissQueue);
    network_.Queue(FirstLevel::kData, RequestKind::kWrite, step.address, step.bytes, access.record);
    accesses_.ExpectAcknowledgement(access.record);
    return StepResult::Made();
  }
  Cache& cache = cache_.cache();
  const uint64_t line = cache.LineOf(step.address);
  const CacheOutcome outcome = cache.Access(line, cache.SetOf(line), CacheOperation::kWrite, PolicyOf(step),
                                            access.slot, network_.room(FirstLevel::kData), now);
  if (outcome.result == CacheResult::kReservationFail) return StepResult::Lacks(FirstLevel::kData, outcome.cause);
  return FinishStore(access, step, outcome);
}

StepResult DataPath::FinishStore(const StageAccess& access, const AccessStep& step, const CacheOutcome& outcome) {
  Count(access, step, outcome);
  if (outcome.forward || outcome.waits) accesses_.ExpectAcknowledgement(access.record);
  if (outcome.waits) cache_.Wait(outcome.waiter, {access.record, 0});
  if (outcome.forward) {
    network_.Queue(FirstLevel::kData, RequestKind::kWrite, step.address, step.bytes, access.record);
  }
  if (outcome.fetch) Miss(access, outcome, cache_.cache().LineOf(step.address));
  return StepResult::Made();
}

StepResult DataPath::MakeWithPolicy(const StageAccess& access, AccessStep& step, Cycle now, bool hits_return) {
  const LineAccess line = policy_->Describe(access, step, now, accesses_.pc(access.record));
  const bool store = access.op == OP_STORE;
  if (!store && access.past_l1) {
    const StepResult result = PassCache(access, step);
    if (result.made()) policy_->AccessedPast(line, /*missed=*/false);
    return result;
  }
  if (!store && !pipes_.HasRoom(RegisterSource::kDataHits)) {
    pipes_.CountStall(1);
    return StepResult::ReturnsFull();
  }
  policy_->Place(line, step);
  const Cache::WritePolicy write_policy = store ? PolicyOf(step) : global_write_;
  const bool allocates = !store || write_policy == machine::v1::Cache::WRITE_BACK;
  if (allocates && policy_->IsAbsent(line)) {
    if (PolicyUnit::KeepsNothing(step)) return MissPast(access, step, line);
    if (const auto lacks = policy_->ChooseVictim(line); lacks.has_value()) return Lacks(*lacks);
  }
  Cache& cache = cache_.cache();
  const CacheOutcome outcome =
      cache.Access(cache.LineOf(step.address), line.set, store ? CacheOperation::kWrite : CacheOperation::kRead,
                   write_policy, access.slot, network_.room(FirstLevel::kData), now);
  if (outcome.result == CacheResult::kReservationFail) return StepResult::Lacks(FirstLevel::kData, outcome.cause);
  const StepResult result =
      store ? FinishStore(access, step, outcome) : FinishLoad(access, step, outcome, now, hits_return);
  policy_->Accessed(line, step, outcome);
  return result;
}

// A miss of which the cache keeps nothing: the transaction's own bytes go past it.
StepResult DataPath::MissPast(const StageAccess& access, const AccessStep& step, const LineAccess& line) {
  if (network_.full(FirstLevel::kData)) return Lacks(ReservationFail::kMissQueue);
  policy_->CountMiss();
  Count(access, step, {.result = CacheResult::kMiss, .forward = true});
  if (access.op == OP_STORE) {
    accesses_.ExpectAcknowledgement(access.record);
    network_.Queue(FirstLevel::kData, RequestKind::kWrite, step.address, step.bytes, access.record);
  } else {
    const uint32_t tag = directs_.NewTag(access.WaiterOf(step));
    network_.Queue(FirstLevel::kData, RequestKind::kRead, step.address, step.bytes, tag);
    accesses_.NotifyOffCore(access.record);
    client_.CacheEvent({CacheNotice::Kind::kMiss, access.slot, line.line_address});
  }
  policy_->AccessedPast(line, /*missed=*/true);
  return StepResult::Made();
}

// Done at the memory partition: the line leaves the cache, and comes back to nobody but the lanes.
StepResult DataPath::PassCache(const StageAccess& access, const AccessStep& step) {
  uint32_t places = 1;
  uint64_t line = 0;
  uint32_t set = 0;
  bool dirty = false;
  if (cache_.exists()) {
    line = cache_.cache().LineOf(step.address);
    set = cache_.cache().SetOf(line);
    dirty = cache_.cache().Peek(line, set) == Cache::LineState::kDirty;
    if (dirty) ++places;
  }
  if (network_.room(FirstLevel::kData) < places) return Lacks(ReservationFail::kMissQueue);
  if (dirty) {
    const uint32_t line_bits = cache_.cache().line_bits();
    network_.Queue(FirstLevel::kData, RequestKind::kWrite, line << line_bits, 1u << line_bits,
                   NetworkInterface::kNobody);
    ++cache_.cache().counters().write_backs;
  }
  if (cache_.exists()) cache_.cache().Invalidate(line, set);
  const uint32_t tag = directs_.NewTag(access.WaiterOf(step));
  if (access.op == OP_ATOMIC) {
    network_.Queue(FirstLevel::kData, RequestKind::kAtomic, step.address, step.bytes, tag, step.passes);
  } else {
    network_.Queue(FirstLevel::kData, RequestKind::kRead, step.address, step.bytes, tag);
  }
  accesses_.NotifyOffCore(access.record);
  return StepResult::Made();
}

void DataPath::Miss(const StageAccess& access, const CacheOutcome& outcome, uint64_t line) {
  const Cache& cache = cache_.cache();
  network_.QueueFetch(FirstLevel::kData, outcome, line, cache.line_bits(), /*base=*/0);
  client_.CacheEvent({CacheNotice::Kind::kMiss, access.slot, line << cache.line_bits()});
  if (outcome.eviction.happened) client_.CacheEvent(EvictionNotice(cache, outcome.eviction));
}

}  // namespace heddle::replay
