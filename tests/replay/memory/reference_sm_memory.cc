#include "tests/replay/memory/reference_sm_memory.h"

#include <bit>

namespace heddle::replay {

namespace {

enum { kDataLevel, kTextureLevel, kConstantLevel, kInstructionLevel };
enum { kSharedSource, kTextureSource, kConstantSource, kDataSource, kReturnSource };
constexpr uint64_t kProgramBase = uint64_t{1} << 46;

}  // namespace

ReferenceSmMemory::ReferenceSmMemory(const machine::v1::Machine& machine, const AddressWindows& windows, uint32_t sm,
                                     NetworkPort& port, MemoryClient& client)
    : machine_(machine),
      memory_(machine.memory().hierarchy()),
      windows_(windows),
      sm_(sm),
      port_(port),
      client_(client),
      thesis_(memory_.all_misses_or_none()),
      groups_((machine.core().warp_size() + machine.core().simd_width() - 1) / machine.core().simd_width()),
      turns_(memory_.returns_per_cycle() != 0 && !thesis_) {
  const std::array configs = {memory_.l1_data(), memory_.l1_texture(), memory_.l1_constant(), memory_.l1_instruction()};
  for (int index = 0; index < kFirstLevels; ++index) {
    Level& level = level_[index];
    level.config = configs[index];
    level.hit_cycles = std::max(1u, level.config.hit_cycles());
    level.queue_places = std::max(1u, level.config.miss_queue());
    if (level.config.sets() != 0) level.cache = std::make_unique<ReferenceCache>(level.config);
  }
  const uint32_t banks = memory_.l1_data().ideal_ports() ? kMaxLanes : std::max(1u, memory_.l1_data().banks());
  pipe_places_ = {memory_.shared().latency(), level_[kTextureLevel].hit_cycles, level_[kConstantLevel].hit_cycles,
                  level_[kDataLevel].hit_cycles * banks, 0};
}

void ReferenceSmMemory::RunCycle(Cycle now) {
  if (now > 0) {
    for (Level& level : level_) {
      if (level.cache != nullptr) ++level.cache->occupancy[level.cache->mshrs.size()];
    }
  }
  TakeReply(now);
  ToRegisters(now);
  Level& data = level_[kDataLevel];
  if (!held_.empty() && data.room() != 0) {
    const auto [mshr, line] = held_.front();
    held_.pop_front();
    Queue(kDataLevel, RequestKind::kWrite, line * data.config.line_bytes(), data.config.line_bytes(), {});
    mshr->holds_write_back = false;
    data.cache->ReleaseIfDone(mshr);
  }
  for (int turn = 1; turn <= kFirstLevels; ++turn) {
    const int index = (last_sent_ + turn) % kFirstLevels;
    std::deque<MemoryRequest>& queue = level_[index].queue;
    if (queue.empty() || !port_.HasRoom(queue.front())) continue;
    port_.Send(queue.front());
    queue.pop_front();
    last_sent_ = index;
    break;
  }
  Stage(now);
}

void ReferenceSmMemory::TakeReply(Cycle now) {
  const MemoryRequest* const reply = port_.Reply();
  if (reply == nullptr) return;
  const Purpose purpose = purposes_.at(reply->tag);
  const int index = static_cast<int>(reply->cache);
  Level& level = level_[index];
  if (reply->kind == RequestKind::kWrite) {
    if (purpose.store >= 0) Acknowledge(purpose.store, now);
  } else if (CanDrain(index)) {
    return;
  } else if (purpose.mshr == nullptr) {
    direct_drains_ = true;
    direct_ = purpose.waiter;
  } else {
    level.draining = purpose.mshr;
    const auto evicted = level.cache->Fill(*purpose.mshr);
    if (evicted && index == kDataLevel) Evicted(*evicted);
    if (evicted && evicted->dirty) {
      purpose.mshr->holds_write_back = true;
      held_.emplace_back(purpose.mshr, evicted->line);
    }
  }
  purposes_.erase(reply->tag);
  port_.TakeReply();
  ++counters_.replies;
}

bool ReferenceSmMemory::CanDrain(int level) const {
  return level_[level].draining != nullptr || (level == kDataLevel && direct_drains_);
}

void ReferenceSmMemory::Drain(int index, Cycle now) {
  Level& level = level_[index];
  if (level.draining == nullptr) {
    direct_drains_ = false;
    Data(direct_, now, true);
    return;
  }
  const std::shared_ptr<ReferenceMshr> mshr = level.draining;
  const ReferenceWaiter waiter = mshr->waiters.front();
  mshr->waiters.pop_front();
  if (mshr->waiters.empty()) {
    level.draining = nullptr;
    level.cache->ReleaseIfDone(mshr);
  }
  if (index == kInstructionLevel) {
    client_.FetchArrived(static_cast<uint32_t>(waiter.instruction));
  } else if (waiter.lanes == 0) {
    Acknowledge(waiter.instruction, now);
  } else {
    Data(waiter, now, true);
  }
}

void ReferenceSmMemory::ToRegisters(Cycle now) {
  if (CanDrain(kInstructionLevel)) Drain(kInstructionLevel, now);
  std::array<bool, kFirstLevels> turn_used{};
  for (const int level : {kDataLevel, kTextureLevel, kConstantLevel}) {
    if (!CanDrain(level)) continue;
    const bool store = level_[level].draining != nullptr && level_[level].draining->waiters.front().lanes == 0;
    if (memory_.returns_per_cycle() != 0 && !store) continue;
    Drain(level, now);
    turn_used[level] = true;
  }
  // Rounds over the sources, from the one after the last that had a turn, until nobody has anything.
  uint32_t left = memory_.returns_per_cycle();
  for (bool any = true; any && left > 0;) {
    any = false;
    const int first = last_source_ + 1;
    for (int turn = 0; turn < 5 && left > 0; ++turn) {
      const int source = (first + turn) % 5;
      if (!FromSource(source, turn_used, now)) continue;
      any = true;
      last_source_ = source;
      --left;
      break;
    }
  }
}

bool ReferenceSmMemory::FromSource(int source, std::array<bool, kFirstLevels>& turn_used, Cycle now) {
  const std::map<int, int> drains = {
      {kTextureSource, kTextureLevel}, {kConstantSource, kConstantLevel}, {kReturnSource, kDataLevel}};
  if (const auto it = drains.find(source); it != drains.end() && CanDrain(it->second) && !turn_used[it->second]) {
    Drain(it->second, now);
    turn_used[it->second] = true;
    return true;
  }
  if (pipe_[source].empty() || pipe_[source].front().ready > now) return false;
  const Hit hit = pipe_[source].front();
  pipe_[source].pop_front();
  Data(hit.waiter, now, false);
  return true;
}

void ReferenceSmMemory::Submit(const WarpAccess& access, Cycle now) {
  busy_ = true;
  current_ = ++instructions_so_far_;
  const std::vector<Step> steps = PlanOf(access);
  steps_.assign(steps.begin(), steps.end());
  conflicts_waited_ = false;
  const uint32_t issue_cycles =
      machine_.core().front_end() == machine::v1::Core::IBUFFER ? machine_.core().units().memory_issue_cycles() : 1;
  next_step_ = now + issue_cycles;
  hold_until_ = next_step_ + groups_ - 1;
  Instruction& instruction = instructions_[current_];
  instruction.access = access;
  instruction.submitted = now;
  instruction.data_to_come = steps.size();
  for (const Step& step : steps) {
    if (step.group > 1) instruction.together = true;
    if (thesis_ && (step.unit != steps[0].unit || step.group != steps[0].group)) instruction.together = true;
  }
}

FetchResult ReferenceSmMemory::Fetch(uint64_t address, uint32_t fetcher, Cycle /*now*/) {
  Level& level = level_[kInstructionLevel];
  if (level.cache == nullptr) return FetchResult::kHit;
  const uint64_t line = address / level.config.line_bytes();
  const auto result = level.cache->Access(line, false, {}, kNoSlot, level.room());
  if (result.result == CacheResult::kHit) return FetchResult::kHit;
  if (result.result == CacheResult::kReservationFail) return FetchResult::kRefused;
  result.mshr->waiters.push_back({static_cast<int>(fetcher), 0});
  if (result.fetch) QueueMiss(kInstructionLevel, result, line);
  return FetchResult::kPending;
}

void ReferenceSmMemory::Stage(Cycle now) {
  if (!busy_) return;
  if (!steps_.empty()) {
    if (now < next_step_) return;
    next_step_ = store_done_ = now + 1;
    if (!MakeSteps(now) || !steps_.empty()) return;
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
  if (thesis_) {
    std::vector<Step> group;
    for (const Step& step : steps_) {
      if (step.group == steps_.front().group) group.push_back(step);
    }
    if (!conflicts_waited_ && banked) {
      conflicts_waited_ = true;
      std::map<uint64_t, uint32_t> load;
      uint32_t worst = 0;
      for (const Step& step : group) worst = std::max(worst, ++load[bank_of(step)]);
      if (worst > groups_) {
        next_step_ = now + worst - groups_;
        counters_.data_conflict_cycles += worst - groups_;
        return true;
      }
    }
    bool any_miss = false;
    if (!AllFit(group, any_miss)) return false;
    for (const Step& step : group) {
      if (!MakeStep(step, now, any_miss)) return false;
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

bool ReferenceSmMemory::QueueFull() {
  ++counters_.level[kDataLevel].cache.reservation_fails[static_cast<int>(ReservationFail::kMissQueue)];
  return false;
}

bool ReferenceSmMemory::AllFit(const std::vector<Step>& group, bool& any_miss) {
  const Level& level = level_[kDataLevel];
  const trace::v1::OpClass op = instructions_.at(current_).access.op;
  size_t misses = 0;
  size_t sends = 0;
  for (const Step& step : group) {
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
    if (op == trace::v1::OP_ATOMIC) {
      any_miss = true;
      sends += there != nullptr && there->dirty && !there->reserved ? 2 : 1;
    } else if (op == trace::v1::OP_STORE && policy != machine::v1::Cache::WRITE_BACK) {
      ++sends;
    } else if (mshr != nullptr) {
      any_miss = true;
      if (mshr->accepted == level.config.mshr_merges()) {
        ++counters_.level[kDataLevel].cache.reservation_fails[static_cast<int>(ReservationFail::kMerge)];
        return false;
      }
    } else if (there == nullptr) {
      any_miss = true;
      ++misses;
    }
  }
  if (level.cache != nullptr && misses > level.config.mshrs() - level.cache->mshrs.size()) {
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

bool ReferenceSmMemory::MakeStep(const Step& step, Cycle now, bool hits_return) {
  const bool store = instructions_.at(current_).access.op == trace::v1::OP_STORE;
  if (step.unit == kData) return MakeDataStep(step, now, hits_return);
  if (step.unit == kShared) {
    const uint32_t extra = step.passes > groups_ ? step.passes - groups_ : 0;
    if (!store && PipeFull(kSharedSource)) return false;
    if (!store) AddHit(kSharedSource, step, now + extra + memory_.shared().latency());
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

bool ReferenceSmMemory::MakeDataStep(const Step& step, Cycle now, bool hits_return) {
  Level& level = level_[kDataLevel];
  Instruction& instruction = instructions_.at(current_);
  const trace::v1::OpClass op = instruction.access.op;
  const uint32_t line_bytes = level.config.line_bytes();
  const ReferenceWaiter waiter = {current_, step.lanes};
  if (op == trace::v1::OP_ATOMIC) {
    ReferenceCache::Line* const there = level.cache == nullptr ? nullptr : level.cache->Find(step.address / line_bytes);
    const bool dirty = there != nullptr && there->dirty && !there->reserved;
    if (level.room() < (dirty ? 2 : 1)) return QueueFull();
    if (dirty) {
      ++level.cache->counters.write_backs;
      Queue(kDataLevel, RequestKind::kWrite, there->line * line_bytes, line_bytes, {});
    }
    if (there != nullptr && !there->reserved) level.cache->Drop(there->line);
    Queue(kDataLevel, RequestKind::kAtomic, step.address, step.bytes, {.mshr = {}, .waiter = waiter}, step.passes);
    OffCore(current_);
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

void ReferenceSmMemory::Data(const ReferenceWaiter& waiter, Cycle at, bool returned) {
  Instruction& instruction = instructions_.at(waiter.instruction);
  instruction.last = std::max(instruction.last, at);
  instruction.returned |= returned;
  if (!instruction.together) client_.LanesDone(instruction.access.id, waiter.lanes, at, returned);
  if (--instruction.data_to_come != 0) return;
  if (instruction.together) {
    client_.LanesDone(instruction.access.id, instruction.access.lanes, instruction.last, instruction.returned);
  }
  counters_.load_to_use.Record(instruction.last - instruction.submitted);
  instruction.over = true;
}

void ReferenceSmMemory::Acknowledge(int store, Cycle now) {
  Instruction& instruction = instructions_.at(store);
  if (--instruction.acknowledgements_to_come != 0 || !instruction.left_stage) return;
  client_.StoreAcknowledged(instruction.access.id, now);
  instruction.over = true;
}

void ReferenceSmMemory::OffCore(int id) {
  Instruction& instruction = instructions_.at(id);
  if (!instruction.told) client_.WaitsOffCore(instruction.access.id);
  instruction.told = true;
}

bool ReferenceSmMemory::drained() const {
  const bool over =
      std::all_of(instructions_.begin(), instructions_.end(), [](const auto& it) { return it.second.over; });
  return !busy_ && over && purposes_.empty() && !CanDrain(kInstructionLevel) && held_.empty();
}

SmMemoryCounters ReferenceSmMemory::Counters() const {
  SmMemoryCounters counters = counters_;
  for (int index = 0; index < kFirstLevels; ++index) {
    const ReferenceCache* const cache = level_[index].cache.get();
    if (cache == nullptr) continue;
    counters.level[index].cache.Add(cache->counters);
    counters.level[index].mshr_occupancy = cache->occupancy;
    ++counters.level[index].mshr_occupancy[cache->mshrs.size()];
  }
  return counters;
}

}  // namespace heddle::replay
