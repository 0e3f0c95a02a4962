// What a memory policy adds: docs/reference/timing.md, section 6, "Memory policies".
#include <algorithm>
#include <bit>
#include <vector>

#include "tests/replay/memory/reference_sm_memory.h"

namespace heddle::replay {

void ReferenceSmMemory::SetPolicy(MemoryPolicy& policy, uint32_t warp_size) {
  const Level& level = level_[kDataLevel];
  if (level.cache == nullptr || policy.interests() == 0) return;
  policy_ = &policy;
  warp_size_ = warp_size;
  counters_.policy.policies = 1;
  limits_ = policy.prefetch_limits();
  limits_.places = std::min(limits_.places, kMostPrefetches);
  // One that could never be sent is not taken: it leaves an MSHR and a place of the queue free, and may displace a
  // dirty line.
  const uint32_t queue = level.config.allocate() == machine::v1::Cache::ON_FILL ? 2 : 3;
  if (level.config.mshrs() < 2 || level.queue_places < queue || limits_.mshrs == 0 || !Wants(kLineAccesses)) {
    limits_.places = 0;
  }
}

void ReferenceSmMemory::WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) {
  for (uint32_t warp = 0; warp < hw_warps; ++warp) block_of_[first_hw_warp + warp] = block;
  if (Wants(kWarps)) policy_->WarpsAdmitted(block, first_hw_warp, hw_warps);
}

void ReferenceSmMemory::WarpEnded(uint32_t hw_warp) {
  if (Wants(kWarps)) policy_->WarpEnded(hw_warp);
}

void ReferenceSmMemory::BlockRetired(BlockId block) {
  if (Wants(kWarps)) policy_->BlockRetired(block);
}

LineAccess ReferenceSmMemory::Describe(const Step& step, Cycle now) const {
  const machine::v1::Cache& config = level_[kDataLevel].config;
  const Instruction& instruction = instructions_.at(current_);
  LineAccess access;
  access.now = now;
  access.line_address = step.address / config.line_bytes() * config.line_bytes();
  access.set = static_cast<uint32_t>(step.address / config.line_bytes() % config.sets());
  access.pc = instruction.access.pc;
  access.slot = instruction.access.slot;
  if (const auto requester = requesters_.find(current_); requester != requesters_.end()) {
    access.hw_warp = requester->second.first;
    access.block = requester->second.second;
  }
  access.threads = static_cast<uint8_t>(std::popcount(step.lanes));
  if (instruction.access.op == trace::v1::OP_STORE) access.kind = LineAccessKind::kStore;
  if (instruction.access.op == trace::v1::OP_ATOMIC) access.kind = LineAccessKind::kAtomic;
  return access;
}

LinePlacement ReferenceSmMemory::PlacementOf(Step& step, Cycle now) {
  if (!step.placement.has_value()) {
    const Level& level = level_[kDataLevel];
    const CacheState state{.mshrs = level.config.mshrs(),
                           .used_mshrs = static_cast<uint32_t>(level.cache->MshrsInUse()),
                           .queue = level.queue_places,
                           .used_queue = static_cast<uint32_t>(level.queue.size())};
    step.placement = Wants(kPlaces) ? policy_->Place(Describe(step, now), state) : LinePlacement::kMostRecent;
  }
  return *step.placement;
}

bool ReferenceSmMemory::MayTakeWay(uint64_t line) {
  Level& level = level_[kDataLevel];
  const std::vector<ReferenceCache::Line*> lines = level.cache->MayGiveWay(line);
  if (lines.empty()) return true;  // whether it lacks a way is found out later
  if (level.cache->MshrsInUse() == level.config.mshrs()) {
    level.cache->Fail(ReservationFail::kMshr);
    return false;
  }
  const bool dirty = std::ranges::any_of(lines, [](const ReferenceCache::Line* one) { return one->dirty; });
  return level.room() >= (dirty ? 2 : 1) || QueueFull();
}

void ReferenceSmMemory::ChooseVictim(const LineAccess& access) {
  if (!Wants(kChoosesVictims)) return;
  Level& level = level_[kDataLevel];
  const std::vector<ReferenceCache::Line*> lines =
      level.cache->MayGiveWay(access.line_address / level.config.line_bytes());
  if (lines.empty()) return;
  std::vector<CacheLine> choices;
  for (const ReferenceCache::Line* const line : lines) {
    choices.push_back(line->known);
    choices.back().dirty = line->dirty;
  }
  level.cache->Demote(lines.at(policy_->Victim(access, choices))->line);
}

void ReferenceSmMemory::TellAccessed(const LineAccess& access, LineResult result) {
  if (!Wants(kLineAccesses)) return;
  const uint32_t line_bytes = level_[kDataLevel].config.line_bytes();
  std::vector<PrefetchList::Line> room(limits_.places - asked_.size());
  PrefetchList list(room);
  policy_->Accessed(access, result, list);
  for (size_t i = 0; i < list.size(); ++i) {
    LineAccess prefetch = access;
    prefetch.line_address = room[i].address / line_bytes * line_bytes;
    prefetch.set = static_cast<uint32_t>(room[i].address / line_bytes % level_[kDataLevel].config.sets());
    prefetch.threads = 0;
    prefetch.kind = LineAccessKind::kPrefetch;
    asked_.push_back({prefetch, room[i].placement});
  }
}

void ReferenceSmMemory::TellEvicted(const ReferenceCache::Line& line) {
  if (!Wants(kLines)) return;
  CacheLine known = line.known;
  known.dirty = line.dirty;
  policy_->Evicted(known);
}

// The line of the MSHR has its way.
void ReferenceSmMemory::Known(const ReferenceMshr& mshr) {
  ReferenceCache& cache = *level_[kDataLevel].cache;
  const LineAccess& access = mshr.access;
  cache.Find(mshr.line)->known = {.line_address = access.line_address,
                                  .pc = access.pc,
                                  .slot = access.slot,
                                  .hw_warp = access.hw_warp,
                                  .block = access.block,
                                  .prefetched = access.kind == LineAccessKind::kPrefetch};
  if (mshr.placement == LinePlacement::kLeastRecent) cache.Demote(mshr.line);
}

bool ReferenceSmMemory::MissPast(const Step& step) {
  Level& level = level_[kDataLevel];
  Instruction& instruction = instructions_.at(current_);
  const bool store = instruction.access.op == trace::v1::OP_STORE;
  if (level.room() == 0) return QueueFull();
  ++counters_.policy.past_misses;
  ReferenceCache::Result miss{.result = CacheResult::kMiss, .forward = true, .evicted = {}, .mshr = {}};
  level.cache->Counted(miss);
  CountLanes(step, miss);
  if (store) {
    ++instruction.acknowledgements_to_come;
    Queue(kDataLevel, RequestKind::kWrite, step.address, step.bytes, {.mshr = {}, .waiter = {}, .store = current_});
    return true;
  }
  Queue(kDataLevel, RequestKind::kRead, step.address, step.bytes, {.mshr = {}, .waiter = {current_, step.lanes}});
  OffCore(current_);
  const uint32_t line_bytes = level.config.line_bytes();
  client_.CacheEvent({CacheNotice::Kind::kMiss, instruction.access.slot, step.address / line_bytes * line_bytes});
  return true;
}

void ReferenceSmMemory::AfterAccess(const Step& step, const ReferenceCache::Result& result, Cycle now) {
  ReferenceCache& cache = *level_[kDataLevel].cache;
  const LineAccess access = Describe(step, now);
  const uint64_t line = step.address / level_[kDataLevel].config.line_bytes();
  LineResult told = LineResult::kMiss;
  if (result.result == CacheResult::kHit) {
    told = LineResult::kHit;
    if (ReferenceCache::Line* const there = cache.Find(line); there != nullptr) ++there->known.hits;
  }
  if (result.result == CacheResult::kPendingHit) told = LineResult::kPendingHit;
  TellAccessed(access, told);
  if (result.result != CacheResult::kMiss || !result.fetch) return;
  result.mshr->access = access;
  result.mshr->placement = *step.placement;
  if (level_[kDataLevel].config.allocate() == machine::v1::Cache::ON_FILL) return;
  if (result.evicted) TellEvicted(*result.evicted);
  Known(*result.mshr);
}

std::optional<ReferenceCache::Line> ReferenceSmMemory::FillData(ReferenceMshr& mshr, Cycle now) {
  ReferenceCache& cache = *level_[kDataLevel].cache;
  if (mshr.again) return cache.Fill(mshr);
  mshr.access.now = now;
  const bool on_fill = level_[kDataLevel].config.allocate() == machine::v1::Cache::ON_FILL;
  if (on_fill) ChooseVictim(mshr.access);
  const auto evicted = cache.Fill(mshr);
  if (on_fill) {
    if (evicted) TellEvicted(*evicted);
    Known(mshr);
  }
  if (Wants(kLines)) {
    const ReferenceCache::Line& line = *cache.Find(mshr.line);
    CacheLine known = line.known;
    known.dirty = line.dirty;
    policy_->Filled(known);
  }
  return evicted;
}

// At the end of a cycle in which the stage was not kept from anything.
void ReferenceSmMemory::Prefetch(Cycle now) {
  if (asked_.empty()) return;
  Level& level = level_[kDataLevel];
  ReferenceCache& cache = *level.cache;
  AskedLine asked = asked_.front();
  asked.access.now = now;
  const uint32_t line_bytes = level.config.line_bytes();
  const uint64_t line = asked.access.line_address / line_bytes;
  if (cache.Find(line) != nullptr || cache.OnItsWay(line) != nullptr) {
    ++counters_.policy.prefetches_not_needed;
    asked_.pop_front();
    return;
  }
  const auto unmet = std::ranges::count_if(cache.mshrs, [](const std::shared_ptr<ReferenceMshr>& mshr) {
    return mshr->prefetch && mshr->on_its_way && mshr->waiters.empty();
  });
  if (static_cast<uint32_t>(unmet) >= limits_.mshrs || cache.MshrsInUse() + 2 > level.config.mshrs()) return;
  uint32_t places = 2;
  const bool on_miss = level.config.allocate() == machine::v1::Cache::ON_MISS;
  if (on_miss) {
    const std::vector<ReferenceCache::Line*> lines = cache.MayGiveWay(line);
    if (lines.empty() && cache.Full(line)) return;
    const bool dirty = Wants(kChoosesVictims)
                           ? std::ranges::any_of(lines, [](const ReferenceCache::Line* one) { return one->dirty; })
                           : !lines.empty() && lines.front()->dirty;
    if (dirty) ++places;
  }
  if (level.room() < places) return;
  asked_.pop_front();
  ++counters_.policy.prefetches;
  ReferenceCache::Result result;
  result.fetch = true;
  if (on_miss) {
    ChooseVictim(asked.access);
    result.evicted = cache.Insert({.line = line, .reserved = true, .owner = asked.access.slot});
  }
  result.mshr = std::make_shared<ReferenceMshr>();
  result.mshr->line = line;
  result.mshr->owner = asked.access.slot;
  result.mshr->access = asked.access;
  result.mshr->placement = asked.placement;
  result.mshr->prefetch = true;
  cache.mshrs.push_back(result.mshr);
  QueueMiss(kDataLevel, result, line);
  if (!on_miss) return;
  if (result.evicted) TellEvicted(*result.evicted);
  Known(*result.mshr);
}

}  // namespace heddle::replay
