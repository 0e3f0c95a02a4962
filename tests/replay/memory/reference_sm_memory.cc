#include "tests/replay/memory/reference_sm_memory.h"

namespace heddle::replay {

ReferenceSmMemory::ReferenceSmMemory(const machine::v1::Machine& machine, const AddressWindows& windows, uint32_t sm,
                                     NetworkPort& port, MemoryClient& client)
    : machine_(machine),
      memory_(machine.memory().hierarchy()),
      windows_(windows),
      sm_(sm),
      port_(port),
      client_(client),
      all_misses_or_none_(memory_.all_misses_or_none()),
      groups_((machine.core().warp_size() + machine.core().simd_width() - 1) / machine.core().simd_width()),
      turns_(memory_.returns_per_cycle() != 0 && !all_misses_or_none_) {
  const std::array configs = {memory_.l1_data(), memory_.l1_texture(), memory_.l1_constant(), memory_.l1_instruction()};
  for (int index = 0; index < kFirstLevels; ++index) {
    Level& level = level_[index];
    level.config = configs[index];
    level.hit_cycles = std::max(1u, level.config.hit_cycles());
    level.queue_places = std::max(1u, level.config.miss_queue());
    if (level.config.sets() != 0) level.cache = std::make_unique<ReferenceCache>(level.config);
  }
  hold_ = groups_;
  if (machine.core().front_end() == machine::v1::Core::IBUFFER) {
    latency_ = machine.core().units().memory_issue_latency();
    hold_ = groups_ * machine.core().units().memory_initiation_interval();
    places_ = 1 + (latency_ - 1) / hold_ + ((latency_ - 1) % hold_ != 0 ? 1 : 0);
  }
  const uint32_t banks = memory_.l1_data().ideal_ports() ? kMaxLanes : std::max(1u, memory_.l1_data().banks());
  pipe_places_ = {memory_.shared().latency() + memory_.shared().atomic_cycles(), level_[kTextureLevel].hit_cycles,
                  level_[kConstantLevel].hit_cycles, level_[kDataLevel].hit_cycles * banks, 0};
}

void ReferenceSmMemory::RunCycle(Cycle now) {
  if (now > 0) {
    for (Level& level : level_) {
      if (level.cache != nullptr) ++level.cache->occupancy[level.cache->MshrsInUse()];
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
  blocked_ = false;
  Stage(now);
  if (!blocked_) Prefetch(now);
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
    direct_is_atomic_ = reply->kind == RequestKind::kAtomic;
  } else {
    level.draining = purpose.mshr;
    const bool asks = index == kDataLevel && policy_ != nullptr;
    const auto evicted = asks ? FillData(*purpose.mshr, now) : level.cache->Fill(*purpose.mshr);
    if (evicted && index == kDataLevel) Evicted(*evicted);
    if (evicted && evicted->dirty) {
      purpose.mshr->holds_write_back = true;
      held_.emplace_back(purpose.mshr, evicted->line);
    }
    if (purpose.mshr->waiters.empty()) {  // a prefetch that no access has met
      level.draining = nullptr;
      level.cache->ReleaseIfDone(purpose.mshr);
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
    Data(direct_, now + (direct_is_atomic_ ? memory_.atomic_cycles() : 0), true);
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
    lines_for_[static_cast<uint32_t>(waiter.instruction)] = mshr->line;
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
  const int number = ++instructions_so_far_;
  if (policy_ != nullptr && access.threads != nullptr && access.lanes != 0) {
    int lane = 0;
    while ((access.lanes >> lane & 1) == 0) ++lane;
    const auto hw_warp = static_cast<uint16_t>((*access.threads)[lane] / warp_size_);
    const auto block = block_of_.find(hw_warp);
    requesters_[number] = {hw_warp, block == block_of_.end() ? kNoBlock : block->second};
  }
  const std::vector<Step> steps = PlanOf(access);
  coming_.push_back({number, {steps.begin(), steps.end()}, now + latency_});
  Instruction& instruction = instructions_[number];
  instruction.access = access;
  instruction.submitted = now;
  instruction.data_to_come = steps.size();
  for (const Step& step : steps) {
    if (step.group > 1) instruction.together = true;
    if (all_misses_or_none_ && (step.unit != steps[0].unit || step.group != steps[0].group))
      instruction.together = true;
  }
}

FetchResult ReferenceSmMemory::Fetch(uint64_t address, uint32_t fetcher, Cycle /*now*/) {
  Level& level = level_[kInstructionLevel];
  if (level.cache == nullptr) return FetchResult::kHit;
  const uint64_t line = address / level.config.line_bytes();
  // The line that has come for this fetch serves it, whether the cache still has it or not.
  const auto own = lines_for_.find(fetcher);
  const bool has_come = own != lines_for_.end() && own->second == line;
  lines_for_.erase(fetcher);
  const ReferenceCache::Line* const there = level.cache->Find(line);
  if (has_come && (there == nullptr || there->reserved)) {
    ++level.cache->counters.accesses;
    ++level.cache->counters.hits;
    return FetchResult::kHit;
  }
  const auto result = level.cache->Access(line, false, {}, kNoSlot, level.room());
  if (result.result == CacheResult::kHit) return FetchResult::kHit;
  if (result.result == CacheResult::kReservationFail) return FetchResult::kRefused;
  result.mshr->waiters.push_back({static_cast<int>(fetcher), 0});
  if (result.fetch) QueueMiss(kInstructionLevel, result, line);
  return FetchResult::kPending;
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
  return !busy_ && coming_.empty() && over && purposes_.empty() && !CanDrain(kInstructionLevel) && held_.empty() &&
         asked_.empty();
}

SmMemoryCounters ReferenceSmMemory::Counters() const {
  SmMemoryCounters counters = counters_;
  for (int index = 0; index < kFirstLevels; ++index) {
    const ReferenceCache* const cache = level_[index].cache.get();
    if (cache == nullptr) continue;
    counters.level[index].cache.Add(cache->counters);
    counters.level[index].mshr_occupancy = cache->occupancy;
    ++counters.level[index].mshr_occupancy[cache->MshrsInUse()];
  }
  return counters;
}

}  // namespace heddle::replay
