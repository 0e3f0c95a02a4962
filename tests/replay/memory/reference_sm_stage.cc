// The memory stage: the steps of an access, one after the other, and what misses ask the network for.
#include <bit>

#include "tests/replay/memory/reference_sm_memory.h"

namespace heddle::replay {
namespace {

// Where the program lies behind the first level.
constexpr uint64_t kProgramBase = uint64_t{1} << 46;

}  // namespace

void ReferenceSmMemory::Stage(Cycle now) {
  if (!busy_ && !coming_.empty() && coming_.front().earliest <= now) {
    busy_ = true;
    current_ = coming_.front().instruction;
    steps_ = coming_.front().steps;
    coming_.pop_front();
    conflicts_waited_ = false;
    next_step_ = now;
    hold_until_ = now + hold_ - 1;
  }
  if (!busy_) return;
  if (!steps_.empty()) {
    if (now < next_step_) return;
    next_step_ = store_done_ = now + 1;
    blocked_ = !MakeSteps(now);
    if (blocked_ || !steps_.empty()) return;
    Instruction& instruction = instructions_.at(current_);
    instruction.left_stage = true;
    if (instruction.access.op == trace::v1::OP_STORE) {
      client_.LanesDone(instruction.access.id, instruction.access.lanes, store_done_, false);
      if (instruction.acknowledgements_to_come == 0) {
        client_.StoreAcknowledged(instruction.access.id, store_done_);
        instruction.over = true;
      }
    }
  }
  if (now + 1 >= next_step_ && now >= hold_until_) busy_ = false;
}

bool ReferenceSmMemory::MakeSteps(Cycle now) {
  if (steps_.front().unit != kData) {
    if (!MakeStep(steps_.front(), now, false)) return false;
    steps_.pop_front();
    return true;
  }
  const Level& level = level_[kDataLevel];
  const bool banked = !level.config.ideal_ports() && level.cache != nullptr;
  const uint32_t banks = std::max(1u, level.config.banks());
  const auto bank_of = [&](const Step& step) { return step.address / level.config.line_bytes() % banks; };
  if (all_misses_or_none_) {
    std::vector<Step*> group;
    for (Step& step : steps_) {
      if (step.group == steps_.front().group) group.push_back(&step);
    }
    if (!conflicts_waited_ && banked) {
      conflicts_waited_ = true;
      std::map<uint64_t, uint32_t> load;
      uint32_t worst = 0;
      for (const Step* step : group) worst = std::max(worst, ++load[bank_of(*step)]);
      if (worst > groups_) {
        next_step_ = now + worst - groups_;
        counters_.data_conflict_cycles += worst - groups_;
        return true;
      }
    }
    bool any_miss = false;
    if (!AllFit(group, now, any_miss)) return false;
    for (size_t left = group.size(); left > 0; --left) {
      if (!MakeStep(steps_.front(), now, any_miss)) return false;
      steps_.pop_front();
    }
    conflicts_waited_ = false;
    return true;
  }
  const bool one_by_one = level.cache == nullptr || (banked && banks == 1);
  std::map<uint64_t, bool> taken;
  bool conflict = false;
  bool made = false;
  for (auto step = steps_.begin(); step != steps_.end();) {
    if (one_by_one && made) break;
    if (banked && taken[bank_of(*step)]) {
      conflict = true;
      ++step;
      continue;
    }
    if (!MakeStep(*step, now, false)) break;
    made = true;
    if (banked) taken[bank_of(*step)] = true;
    step = steps_.erase(step);
  }
  if (conflict) ++counters_.data_conflict_cycles;
  return made;
}

bool ReferenceSmMemory::PassesL1(const WarpAccess& access) const {
  const bool load = access.op == trace::v1::OP_LOAD;
  return access.op == trace::v1::OP_ATOMIC || (load && access.is_volatile && memory_.volatile_past_l1());
}

bool ReferenceSmMemory::QueueFull() {
  ++counters_.level[kDataLevel].cache.reservation_fails[static_cast<int>(ReservationFail::kMissQueue)];
  return false;
}

bool ReferenceSmMemory::AllFit(const std::vector<Step*>& group, Cycle now, bool& any_miss) {
  const Level& level = level_[kDataLevel];
  const trace::v1::OpClass op = instructions_.at(current_).access.op;
  size_t misses = 0;
  size_t merged = 0;  // that take an MSHR each
  size_t sends = 0;
  for (Step* const one : group) {
    Step& step = *one;
    if (level.cache == nullptr) {
      any_miss = true;
      ++sends;
      continue;
    }
    const uint64_t line = step.address / level.config.line_bytes();
    const ReferenceCache::Line* const there = level.cache->Find(line);
    const auto mshr = level.cache->OnItsWay(line);
    const auto policy =
        step.group != 0 && level.config.local_write() != 0 ? level.config.local_write() : level.config.global_write();
    const bool past = PassesL1(instructions_.at(current_).access);
    const bool keeps_nothing =
        policy_ != nullptr && !past && PlacementOf(step, now) == LinePlacement::kNoLine && mshr == nullptr;
    if (past) {
      any_miss = true;
      sends += there != nullptr && there->dirty && !there->reserved ? 2 : 1;
    } else if (op == trace::v1::OP_STORE && policy != machine::v1::Cache::WRITE_BACK) {
      ++sends;
    } else if (mshr != nullptr) {
      any_miss = true;
      if (level.config.pending_hits() == machine::v1::Cache::OWN_REQUEST) {
        ++misses;
      } else if (mshr->accepted == level.config.mshr_merges()) {
        ++counters_.level[kDataLevel].cache.reservation_fails[static_cast<int>(ReservationFail::kMerge)];
        return false;
      } else if (level.config.pending_hits() == machine::v1::Cache::OWN_MSHR) {
        ++merged;
      }
    } else if (there == nullptr && keeps_nothing) {
      any_miss = true;
      ++sends;
    } else if (there == nullptr) {
      any_miss = true;
      ++misses;
    }
  }
  if (level.cache != nullptr && misses + merged > level.config.mshrs() - level.cache->MshrsInUse()) {
    ++counters_.level[kDataLevel].cache.reservation_fails[static_cast<int>(ReservationFail::kMshr)];
    return false;
  }
  return misses + sends <= level.room() || QueueFull();
}

bool ReferenceSmMemory::PipeFull(int source) {
  if (!turns_ || pipe_[source].size() < pipe_places_[source]) return false;
  ++counters_.return_stall_cycles;
  return true;
}

void ReferenceSmMemory::AddHit(int source, const Step& step, Cycle ready) {
  if (turns_) {
    pipe_[source].push_back({{current_, step.lanes}, ready});
  } else {
    Data({current_, step.lanes}, ready, false);
  }
}

bool ReferenceSmMemory::MakeStep(Step& step, Cycle now, bool hits_return) {
  const bool store = instructions_.at(current_).access.op == trace::v1::OP_STORE;
  if (step.unit == kData) return MakeDataStep(step, now, hits_return);
  if (step.unit == kShared) {
    const uint32_t extra = step.passes > groups_ ? step.passes - groups_ : 0;
    if (!store && PipeFull(kSharedSource)) return false;
    const bool atomic = instructions_.at(current_).access.op == trace::v1::OP_ATOMIC;
    const uint32_t latency = memory_.shared().latency() + (atomic ? memory_.shared().atomic_cycles() : 0);
    if (!store) AddHit(kSharedSource, step, now + extra + latency);
    next_step_ = now + step.passes;
    store_done_ = now + extra + 1;
    return true;
  }
  if (store) return true;
  const int source = step.unit == kTexture ? kTextureSource : kConstantSource;
  const int index = step.unit == kTexture ? kTextureLevel : kConstantLevel;
  Level& level = level_[index];
  if (PipeFull(source)) return false;
  if (step.unit == kUnknown || level.cache == nullptr) {
    AddHit(source, step, now + level.hit_cycles);
    return true;
  }
  const uint64_t line = step.address / level.config.line_bytes();
  const auto result = level.cache->Access(line, false, {}, instructions_.at(current_).access.slot, level.room());
  if (result.result == CacheResult::kReservationFail) return false;
  if (result.result == CacheResult::kHit) {
    AddHit(source, step, now + level.hit_cycles);
    return true;
  }
  result.mshr->waiters.push_back({current_, step.lanes});
  if (result.fetch) QueueMiss(index, result, line);
  OffCore(current_);
  return true;
}

// An atomic, or a load that must not find its data in the cache.
bool ReferenceSmMemory::MakePastStep(const Step& step) {
  Level& level = level_[kDataLevel];
  const uint32_t line_bytes = level.config.line_bytes();
  const ReferenceWaiter waiter = {current_, step.lanes};
  ReferenceCache::Line* const there = level.cache == nullptr ? nullptr : level.cache->Find(step.address / line_bytes);
  const bool dirty = there != nullptr && there->dirty && !there->reserved;
  if (level.room() < (dirty ? 2 : 1)) return QueueFull();
  if (dirty) {
    ++level.cache->counters.write_backs;
    Queue(kDataLevel, RequestKind::kWrite, there->line * line_bytes, line_bytes, {});
  }
  if (there != nullptr && !there->reserved) level.cache->Drop(there->line);
  if (instructions_.at(current_).access.op == trace::v1::OP_ATOMIC) {
    Queue(kDataLevel, RequestKind::kAtomic, step.address, step.bytes, {.mshr = {}, .waiter = waiter}, step.passes);
  } else {
    Queue(kDataLevel, RequestKind::kRead, step.address, step.bytes, {.mshr = {}, .waiter = waiter});
  }
  OffCore(current_);
  return true;
}

bool ReferenceSmMemory::MakeDataStep(Step& step, Cycle now, bool hits_return) {
  Level& level = level_[kDataLevel];
  Instruction& instruction = instructions_.at(current_);
  const trace::v1::OpClass op = instruction.access.op;
  const uint32_t line_bytes = level.config.line_bytes();
  const ReferenceWaiter waiter = {current_, step.lanes};
  if (PassesL1(instruction.access)) {
    if (!MakePastStep(step)) return false;
    if (policy_ != nullptr) TellAccessed(Describe(step, now), LineResult::kPast);
    return true;
  }
  const bool store = op == trace::v1::OP_STORE;
  if (level.cache == nullptr) {
    if (level.room() == 0) return QueueFull();
    if (store) {
      Queue(kDataLevel, RequestKind::kWrite, step.address, step.bytes, {.mshr = {}, .waiter = {}, .store = current_});
      ++instruction.acknowledgements_to_come;
    } else {
      Queue(kDataLevel, RequestKind::kRead, step.address, step.bytes, {.mshr = {}, .waiter = waiter});
      OffCore(current_);
    }
    return true;
  }
  if (!store && PipeFull(kDataSource)) return false;
  const auto policy =
      step.group != 0 && level.config.local_write() != 0 ? level.config.local_write() : level.config.global_write();
  const uint64_t line = step.address / line_bytes;
  if (policy_ != nullptr) {
    const LinePlacement placement = PlacementOf(step, now);
    const bool allocates = !store || policy == machine::v1::Cache::WRITE_BACK;
    if (allocates && level.cache->Find(line) == nullptr && level.cache->OnItsWay(line) == nullptr) {
      if (placement == LinePlacement::kNoLine) {
        if (!MissPast(step)) return false;
        TellAccessed(Describe(step, now), LineResult::kPast);
        return true;
      }
      if (level.config.allocate() == machine::v1::Cache::ON_MISS && Wants(kChoosesVictims)) {
        if (!MayTakeWay(line)) return false;
        ChooseVictim(Describe(step, now));
      }
    }
  }
  const auto result = level.cache->Access(line, store, policy, instruction.access.slot, level.room());
  if (result.result == CacheResult::kReservationFail) return false;
  CountLanes(step, result);
  if (result.forward) {
    Queue(kDataLevel, RequestKind::kWrite, step.address, step.bytes, {.mshr = {}, .waiter = {}, .store = current_});
  }
  if (result.mshr != nullptr) result.mshr->waiters.push_back({current_, store ? 0 : step.lanes});
  if (store) {
    if (result.forward || result.mshr != nullptr) ++instruction.acknowledgements_to_come;
  } else if (result.mshr != nullptr) {
    OffCore(current_);
  } else if (hits_return) {
    Data(waiter, now + level.hit_cycles, true);
  } else {
    AddHit(kDataSource, step, now + level.hit_cycles);
  }
  if (result.fetch) {
    client_.CacheEvent({CacheNotice::Kind::kMiss, instructions_.at(current_).access.slot, line * line_bytes});
    QueueMiss(kDataLevel, result, line);
  }
  if (policy_ != nullptr) AfterAccess(step, result, now);
  return true;
}

void ReferenceSmMemory::CountLanes(const Step& step, const ReferenceCache::Result& result) {
  if (memory_.coalescing() != machine::v1::Hierarchy::COALESCING_OFF) return;
  CacheCounters& counters = level_[kDataLevel].cache->counters;
  for (int more = std::popcount(step.lanes) - 1; more > 0; --more) {
    ++counters.accesses;
    if (result.result == CacheResult::kHit) {
      ++counters.hits;
    } else if (result.result == CacheResult::kMiss && result.forward) {
      ++counters.misses;
    } else {
      ++counters.pending_hits;
    }
  }
}

void ReferenceSmMemory::Evicted(const ReferenceCache::Line& line) {
  client_.CacheEvent({CacheNotice::Kind::kEviction, line.owner, line.line * level_[kDataLevel].config.line_bytes()});
}

void ReferenceSmMemory::Queue(int index, RequestKind kind, uint64_t address, uint32_t bytes, const Purpose& purpose,
                              uint32_t passes) {
  MemoryRequest request;
  request.address = address;
  request.tag = ++tags_so_far_;
  request.bytes = static_cast<uint16_t>(bytes);
  request.sm = static_cast<uint16_t>(sm_);
  request.kind = kind;
  request.cache = static_cast<FirstLevel>(index);
  request.passes = static_cast<uint8_t>(passes);
  purposes_[request.tag] = purpose;
  level_[index].queue.push_back(request);
  ++counters_.level[index].requests[static_cast<int>(kind)];
  counters_.level[index].request_bytes += bytes;
}

void ReferenceSmMemory::QueueMiss(int index, const ReferenceCache::Result& result, uint64_t line) {
  const uint32_t line_bytes = level_[index].config.line_bytes();
  Queue(index, RequestKind::kRead, (index == kInstructionLevel ? kProgramBase : 0) + line * line_bytes, line_bytes,
        {.mshr = result.mshr, .waiter = {}});
  if (!result.evicted) return;
  if (result.evicted->dirty) {
    Queue(index, RequestKind::kWrite, result.evicted->line * line_bytes, line_bytes, {});
  }
  if (index == kDataLevel) Evicted(*result.evicted);
}

}  // namespace heddle::replay
