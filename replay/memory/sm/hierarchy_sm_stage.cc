// The memory stage of an SM.
#include <bit>

#include "replay/memory/sm/hierarchy_sm.h"
#include "replay/memory/sm/memory_profile.h"

namespace heddle::replay {

using trace::v1::OP_ATOMIC;
using trace::v1::OP_STORE;

// Cycles in which the step that is blocked would have failed in the same way.
void HierarchySm::CreditBlocked(Cycle cycles) {
  if (stage_.returns_full) {
    counters_.return_stall_cycles += cycles;
  } else {
    counters_.level[Index(stage_.level)].cache.reservation_fails[static_cast<int>(stage_.cause)] += cycles;
  }
}

// The next step cannot be made, and its cache has counted that.
bool HierarchySm::Blocked(FirstLevel level, ReservationFail cause) {
  stage_.blocked = true;
  stage_.level = level;
  stage_.cause = cause;
  return false;
}

// The same, for reasons that the stage has found itself.
bool HierarchySm::FailedOn(FirstLevel level, ReservationFail cause) {
  ++counters_.level[Index(level)].cache.reservation_fails[static_cast<int>(cause)];
  return Blocked(level, cause);
}

bool HierarchySm::BlockedOnReturns() {
  ++counters_.return_stall_cycles;
  stage_.blocked = stage_.returns_full = true;
  return false;
}

inline bool HierarchySm::LoadStep(const AccessStep& step, Cycle now, bool hits_return) {
  Level& level = LevelOf(FirstLevel::kData);
  if (!HasPipeRoom(kFromDataHits)) return BlockedOnReturns();
  const uint64_t line = level.cache->LineOf(step.address);
  const CacheOutcome outcome = level.cache->Access(line, level.cache->SetOf(line), CacheOperation::kRead, global_write_,
                                                   stage_.slot, level.queue.room(), now);
  if (outcome.result == CacheResult::kReservationFail) return Blocked(FirstLevel::kData, outcome.cause);
  if (counts_lanes_) CountLanes(step, outcome);
  const Waiter waiter = {stage_.record, step.lanes};
  if (outcome.result == CacheResult::kHit) {
    if (hits_return) {
      Deliver(waiter, now + level.hit_cycles, /*returned=*/true);
    } else {
      Hit(kFromDataHits, waiter, now + level.hit_cycles);
    }
    return true;
  }
  level.waiters[outcome.waiter] = waiter;
  NotifyOffCore(stage_.record);
  if (outcome.fetch) MissInData(outcome, line);
  return true;
}

inline bool HierarchySm::MakeDataStep(const AccessStep& step, Cycle now, bool hits_return) {
  if (stage_.op == OP_STORE) return StoreStep(step, now);
  if (stage_.op == OP_ATOMIC) return AtomicStep(step, now);
  if (LevelOf(FirstLevel::kData).cache == nullptr) return DirectLoadStep(step);
  return LoadStep(step, now, hits_return);
}

// Makes the next step, or several of the data cache; false if a resource is missing.
inline bool HierarchySm::MakeStep(Cycle now) {
  Stage& stage = stage_;
  const AccessStep& step = (*stage.plan)[stage.next];
  stage.ready = now + 1;
  stage.done = now + 1;
  switch (step.unit) {
    case MemoryUnit::kShared:
      return SharedStep(step, now);
    case MemoryUnit::kConstant:
      return ReadOnlyStep(FirstLevel::kConstant, kFromConstant, step, now);
    case MemoryUnit::kTexture:
      return ReadOnlyStep(FirstLevel::kTexture, kFromTexture, step, now);
    case MemoryUnit::kUnknown:
      if (stage.op != OP_STORE) {
        if (!HasPipeRoom(kFromConstant)) return BlockedOnReturns();
        Hit(kFromConstant, {stage.record, step.lanes}, now + LevelOf(FirstLevel::kConstant).hit_cycles);
      }
      ++stage.next;
      return true;
    case MemoryUnit::kData:
      break;
  }
  if (all_or_none_) return MakeAllDataSteps(now);
  if (data_banks_ != 1 && LevelOf(FirstLevel::kData).cache != nullptr) return MakeDataSteps(now);
  if (!MakeDataStep(step, now, /*hits_return=*/false)) return false;
  ++stage.next;
  return true;
}

void HierarchySm::RunStage(Cycle now) {
  Stage& stage = stage_;
  if (stage.leaving) {
    LeaveStage(now);
    return;
  }
  if (stage.blocked && !freed_) {
    CreditBlocked(1);
    return;
  }
  freed_ = false;
  stage.blocked = stage.returns_full = false;
  if (MakeStep(now) && stage.next == stage.plan->size()) StepsMade(now);
}

void HierarchySm::StepsMade(Cycle now) {
  Stage& stage = stage_;
  if (stage.op == OP_STORE) {
    Record& record = records_[stage.record];
    record.in_stage = false;
    client_.LanesDone(record.id, stage.lanes, stage.done, /*returned=*/false);
    if (record.left == 0) {
      client_.StoreAcknowledged(record.id, stage.done);
      FreeRecord(stage.record);
    }
  }
  const Cycle last = std::max(stage.ready - 1, stage.hold_until);
  if (last == now) return LeaveStage(now);
  stage.leaving = true;
  stage.ready = last;
}

// `earliest`: the first cycle that the stage has for it.
void HierarchySm::Enter(const Approaching& next, Cycle earliest) {
  Stage& stage = stage_;
  stage.busy = true;
  stage.leaving = false;
  stage.blocked = false;
  stage.data_begun = false;
  stage.op = next.op;
  stage.slot = next.slot;
  stage.next = 0;
  stage.record = next.record;
  stage.ready = std::max(next.ready, earliest);
  stage.hold_until = stage.ready + hold_cycles_ - 1;
  stage.lanes = next.lanes;
  stage.plan = next.plan;
}

// Whoever has closed up behind follows in the next cycle.
void HierarchySm::LeaveStage(Cycle now) {
  free_plans_.push_back(stage_.plan);
  stage_.busy = stage_.leaving = false;
  if (approaching_.empty()) return;
  Enter(approaching_.front(), now + 1);
  approaching_.pop_front();
}

bool HierarchySm::SharedStep(const AccessStep& step, Cycle now) {
  // The lane groups of a warp that is wider than the pipeline pass anyway; conflicts within that time cost nothing.
  const uint32_t extra = step.passes > stage_cycles_ ? step.passes - stage_cycles_ : 0;
  if (stage_.op != OP_STORE) {
    if (!HasPipeRoom(kFromShared)) return BlockedOnReturns();
    Hit(kFromShared, {stage_.record, step.lanes}, now + extra + shared_latency_);
  }
  stage_.ready = now + step.passes;
  stage_.done = now + extra + 1;
  ++stage_.next;
  return true;
}

bool HierarchySm::ReadOnlyStep(FirstLevel of, Source source, const AccessStep& step, Cycle now) {
  Level& level = LevelOf(of);
  if (stage_.op != OP_STORE) {
    if (!HasPipeRoom(source)) return BlockedOnReturns();
    const Waiter waiter = {stage_.record, step.lanes};
    if (level.cache == nullptr) {
      Hit(source, waiter, now + level.hit_cycles);
    } else {
      const uint64_t line = level.cache->LineOf(step.address);
      const CacheOutcome outcome =
          level.cache->Access(line, level.cache->SetOf(line), CacheOperation::kRead, machine::v1::Cache::READ_ONLY,
                              stage_.slot, level.queue.room(), now);
      if (outcome.result == CacheResult::kReservationFail) return Blocked(of, outcome.cause);
      if (outcome.result == CacheResult::kHit) {
        Hit(source, waiter, now + level.hit_cycles);
      } else {
        level.waiters[outcome.waiter] = waiter;
        if (outcome.fetch) QueueFetchOf(of, outcome, line);
        NotifyOffCore(stage_.record);
      }
    }
  }
  ++stage_.next;
  return true;
}

// Where there are several banks: one access per bank and cycle, in order; those whose bank is taken are passed over.
// The first one that lacks a resource ends the cycle.
bool HierarchySm::MakeDataSteps(Cycle now) {
  Stage& stage = stage_;
  AccessPlan& plan = *stage.plan;
  const Cache& cache = *LevelOf(FirstLevel::kData).cache;
  bool conflict = false;
  bool made = false;
  bool failed = false;
  uint32_t kept = stage.next;
  for (uint32_t index = stage.next; index < plan.size(); ++index) {
    if (!failed) {
      Cycle* const used = data_banks_ == 0 ? nullptr : &bank_used_[cache.LineOf(plan[index].address) % data_banks_];
      if (used != nullptr && *used == now + 1) {
        conflict = true;
      } else if (MakeDataStep(plan[index], now, /*hits_return=*/false)) {
        if (used != nullptr) *used = now + 1;
        made = true;
        continue;
      } else {
        failed = true;
      }
    }
    plan[kept++] = plan[index];
  }
  plan.Resize(kept);
  if (conflict) ++counters_.data_conflict_cycles;
  if (!made) return false;
  stage.blocked = stage.returns_full = false;  // the one that failed is tried in the next cycle
  return true;
}

uint32_t HierarchySm::WorstBank(uint32_t end) {
  const Cache* cache = LevelOf(FirstLevel::kData).cache.get();
  if (data_banks_ == 0 || cache == nullptr) return 0;
  bank_load_.assign(bank_load_.size(), 0);
  uint32_t worst = 0;
  for (uint32_t index = stage_.next; index < end; ++index) {
    worst = std::max(worst, ++bank_load_[cache->LineOf((*stage_.plan)[index].address) % data_banks_]);
  }
  return worst;
}

// Whether MSHRs and miss queue have room for all steps before `end`; `any`: one of them misses a line. They are on
// different lines.
bool HierarchySm::AllMissesFit(uint32_t end, bool& any) {
  const Level& level = LevelOf(FirstLevel::kData);
  any = level.cache == nullptr || stage_.op == OP_ATOMIC;
  uint32_t misses = 0;
  uint32_t merged = 0;  // that take an MSHR nevertheless
  uint32_t sends = 0;
  for (uint32_t index = stage_.next; index < end; ++index) {
    const AccessStep& step = (*stage_.plan)[index];
    if (level.cache == nullptr) {
      ++sends;
      continue;
    }
    const uint64_t line = level.cache->LineOf(step.address);
    const uint32_t set = level.cache->SetOf(line);
    const Cache::LineState state = level.cache->Peek(line, set);
    if (stage_.op == OP_ATOMIC) {
      sends += state == Cache::LineState::kDirty ? 2 : 1;
    } else if (stage_.op == OP_STORE && PolicyOf(step) != machine::v1::Cache::WRITE_BACK) {
      ++sends;
    } else if (state == Cache::LineState::kInvalid || state == Cache::LineState::kReserved) {
      any = true;
      const uint16_t entry = level.cache->OnItsWay(line, set);
      if (entry == MshrTable::kNone || level.cache->pending_hits() == machine::v1::Cache::OWN_REQUEST) {
        ++misses;
      } else if (level.cache->mshrs().Full(entry)) {
        return FailedOn(FirstLevel::kData, ReservationFail::kMerge);
      } else if (level.cache->mshrs().one_each()) {
        ++merged;
      }
    }
  }
  if (const uint32_t mshrs = misses + merged; mshrs != 0 && mshrs > level.cache->mshrs().free()) {
    return FailedOn(FirstLevel::kData, ReservationFail::kMshr);
  }
  if (misses + sends > level.queue.room()) return FailedOn(FirstLevel::kData, ReservationFail::kMissQueue);
  return true;
}

// All accesses of a group in one cycle, once the bank conflicts have been waited for (Fung's thesis, section 5.1,
// memory stage).
bool HierarchySm::MakeAllDataSteps(Cycle now) {
  Stage& stage = stage_;
  uint32_t end = stage.next;
  while (end < stage.plan->size() && (*stage.plan)[end].group == (*stage.plan)[stage.next].group) ++end;
  if (!stage.data_begun) {
    stage.data_begun = true;
    const uint32_t cycles = WorstBank(end);
    if (cycles > stage_cycles_) {
      stage.ready = now + cycles - stage_cycles_;
      counters_.data_conflict_cycles += cycles - stage_cycles_;
      return true;
    }
  }
  bool any_miss = false;
  if (!AllMissesFit(end, any_miss)) return false;
  for (; stage.next < end; ++stage.next) {
    if (!MakeDataStep((*stage.plan)[stage.next], now, any_miss)) return false;
  }
  stage.data_begun = false;
  return true;
}

bool HierarchySm::DirectLoadStep(const AccessStep& step) {
  if (LevelOf(FirstLevel::kData).queue.full()) return FailedOn(FirstLevel::kData, ReservationFail::kMissQueue);
  const uint32_t direct = NewDirect({stage_.record, step.lanes});
  Queue(FirstLevel::kData, RequestKind::kRead, step.address, step.bytes, kDirect | direct);
  NotifyOffCore(stage_.record);
  return true;
}

bool HierarchySm::StoreStep(const AccessStep& step, Cycle now) {
  Level& level = LevelOf(FirstLevel::kData);
  Record& record = records_[stage_.record];
  if (level.cache == nullptr) {
    if (level.queue.full()) return FailedOn(FirstLevel::kData, ReservationFail::kMissQueue);
    Queue(FirstLevel::kData, RequestKind::kWrite, step.address, step.bytes, stage_.record);
    ++record.left;
    return true;
  }
  const uint64_t line = level.cache->LineOf(step.address);
  const CacheOutcome outcome = level.cache->Access(line, level.cache->SetOf(line), CacheOperation::kWrite,
                                                   PolicyOf(step), stage_.slot, level.queue.room(), now);
  if (outcome.result == CacheResult::kReservationFail) return Blocked(FirstLevel::kData, outcome.cause);
  if (counts_lanes_) CountLanes(step, outcome);
  if (outcome.forward || outcome.waits) ++record.left;
  if (outcome.waits) level.waiters[outcome.waiter] = {stage_.record, 0};
  if (outcome.forward) Queue(FirstLevel::kData, RequestKind::kWrite, step.address, step.bytes, stage_.record);
  if (outcome.fetch) MissInData(outcome, line);
  return true;
}

// Done at the memory partition: the line leaves the cache, and comes back to nobody but the lanes.
bool HierarchySm::AtomicStep(const AccessStep& step, Cycle /*now*/) {
  Level& level = LevelOf(FirstLevel::kData);
  uint32_t places = 1;
  uint64_t line = 0;
  uint32_t set = 0;
  bool dirty = false;
  if (level.cache != nullptr) {
    line = level.cache->LineOf(step.address);
    set = level.cache->SetOf(line);
    dirty = level.cache->Peek(line, set) == Cache::LineState::kDirty;
    if (dirty) ++places;
  }
  if (level.queue.room() < places) return FailedOn(FirstLevel::kData, ReservationFail::kMissQueue);
  if (dirty) {
    const uint32_t line_bits = level.cache->line_bits();
    Queue(FirstLevel::kData, RequestKind::kWrite, line << line_bits, 1u << line_bits, kNoRecord);
    ++level.cache->counters().write_backs;
  }
  if (level.cache != nullptr) level.cache->Invalidate(line, set);
  const uint32_t direct = NewDirect({stage_.record, step.lanes});
  Queue(FirstLevel::kData, RequestKind::kAtomic, step.address, step.bytes, kDirect | direct, step.passes);
  NotifyOffCore(stage_.record);
  return true;
}

void HierarchySm::MissInData(const CacheOutcome& outcome, uint64_t line) {
  QueueFetchOf(FirstLevel::kData, outcome, line);
  client_.CacheEvent({CacheNotice::Kind::kMiss, stage_.slot, line << LevelOf(FirstLevel::kData).cache->line_bits()});
  if (outcome.eviction.happened) NoticeEviction(outcome.eviction);
}

// Without coalescing every lane is an access of its own: the lanes after the first on a line that is fetched meet a
// line on its way.
void HierarchySm::CountLanes(const AccessStep& step, const CacheOutcome& outcome) {
  if (profile_ != nullptr) ProfileLanes(step, outcome);
  if (!per_lane_) return;
  const auto more = static_cast<uint64_t>(std::popcount(step.lanes)) - 1;
  CacheCounters& counters = LevelOf(FirstLevel::kData).cache->counters();
  counters.accesses += more;
  if (outcome.result == CacheResult::kHit) {
    counters.hits += more;
  } else if (outcome.result == CacheResult::kMiss && !outcome.fetch) {
    counters.misses += more;
  } else {
    counters.pending_hits += more;
  }
}

void HierarchySm::ProfileLanes(const AccessStep& step, const CacheOutcome& outcome) {
  InstructionMemoryCounters& counters = (*profile_)[records_[stage_.record].pc];
  const uint64_t more = per_lane_ ? static_cast<uint64_t>(std::popcount(step.lanes)) - 1 : 0;
  switch (outcome.result) {
    case CacheResult::kHit:
      counters.hits += 1 + more;
      break;
    case CacheResult::kPendingHit:
      counters.pending_hits += 1 + more;
      break;
    case CacheResult::kMiss:
      counters.misses += outcome.fetch ? 1 : 1 + more;
      if (outcome.fetch) counters.pending_hits += more;
      break;
    case CacheResult::kReservationFail:
      break;
  }
}

void HierarchySm::NotifyOffCore(RecordId id) {
  Record& record = records_[id];
  if (record.off_core) return;
  record.off_core = true;
  client_.WaitsOffCore(record.id);
}

}  // namespace heddle::replay
