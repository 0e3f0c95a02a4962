#include "replay/memory/sm/policy_unit.h"

#include <algorithm>
#include <bit>
#include <span>

#include "absl/strings/str_cat.h"
#include "replay/seams/policy_error.h"

namespace heddle::replay {
namespace {

LineResult ResultOf(const CacheOutcome& outcome) {
  switch (outcome.result) {
    case CacheResult::kHit:
      return LineResult::kHit;
    case CacheResult::kPendingHit:
      return LineResult::kPendingHit;
    case CacheResult::kMiss:
    case CacheResult::kReservationFail:
      break;
  }
  return LineResult::kMiss;
}

// Places of the miss queue that a prefetch needs at the most, and one that it leaves free.
uint32_t PlacesOfPrefetch(const CacheLines& lines) { return lines.allocates_on_fill() ? 2 : 3; }

}  // namespace

PolicyUnit::PolicyUnit(MemoryPolicy& policy, uint32_t warp_size, FirstLevelCache& data, NetworkInterface& network,
                       MemoryClient& client)
    : policy_(policy),
      interests_(policy.interests()),
      warp_size_(warp_size),
      line_bits_(data.cache().line_bits()),
      data_(data),
      lines_(data.cache()),
      network_(network),
      client_(client),
      pending_(data.cache().mshrs().free()),
      known_(lines_.ways()) {
  counters_.policies = 1;
  if (!Wants(kLineAccesses)) return;
  const PrefetchLimits limits = policy.prefetch_limits();
  const uint32_t places = std::min(limits.places, kMostPrefetches);
  // Otherwise a prefetch could never be sent.
  const bool can = data.cache().mshrs().free() >= 2 && network.room(FirstLevel::kData) >= PlacesOfPrefetch(lines_);
  if (places == 0 || limits.mshrs == 0 || !can) return;
  prefetches_.most_mshrs = limits.mshrs;
  prefetches_.room.resize(places);
  prefetches_.asked = Ring<Asked>(places);
}

void PolicyUnit::WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) {
  if (block_of_.size() < first_hw_warp + hw_warps) block_of_.resize(first_hw_warp + hw_warps, kNoBlock);
  std::fill_n(block_of_.begin() + first_hw_warp, hw_warps, block);
  if (Wants(kWarps)) policy_.WarpsAdmitted(block, first_hw_warp, hw_warps);
}

void PolicyUnit::Begin(RecordId record, const WarpAccess& access) {
  if (requesters_.size() <= record) requesters_.resize(record + 1);
  Requester& requester = requesters_[record];
  requester = {};
  if (access.threads == nullptr || access.lanes == 0) return;
  requester.hw_warp = static_cast<uint16_t>((*access.threads)[std::countr_zero(access.lanes)] / warp_size_);
  if (requester.hw_warp < block_of_.size()) requester.block = block_of_[requester.hw_warp];
}

LineAccess PolicyUnit::Describe(const StageAccess& access, const AccessStep& step, Cycle now, Pc pc) const {
  const uint64_t line = data_.cache().LineOf(step.address);
  const Requester& requester = requesters_[access.record];
  LineAccess out;
  out.now = now;
  out.line_address = line << line_bits_;
  out.set = data_.cache().SetOf(line);
  out.pc = pc;
  out.slot = access.slot;
  out.hw_warp = requester.hw_warp;
  out.block = requester.block;
  out.threads = static_cast<uint8_t>(std::popcount(step.lanes));
  out.kind = access.op == trace::v1::OP_STORE    ? LineAccessKind::kStore
             : access.op == trace::v1::OP_ATOMIC ? LineAccessKind::kAtomic
                                                 : LineAccessKind::kLoad;
  return out;
}

void PolicyUnit::Place(const LineAccess& access, AccessStep& step) {
  if (step.placement != 0) return;
  LinePlacement placement = LinePlacement::kMostRecent;
  if (Wants(kPlaces)) {
    const MshrTable& mshrs = data_.cache().mshrs();
    const auto& queue = network_.queue(FirstLevel::kData);
    const CacheState state{.mshrs = mshrs.used() + mshrs.free(),
                           .used_mshrs = mshrs.used(),
                           .queue = static_cast<uint32_t>(queue.capacity()),
                           .used_queue = static_cast<uint32_t>(queue.size())};
    placement = policy_.Place(access, state);
  }
  step.placement = static_cast<uint8_t>(1 + static_cast<int>(placement));
}

std::optional<ReservationFail> PolicyUnit::ChooseVictim(const LineAccess& access) {
  if (!Wants(kChoosesVictims) || lines_.allocates_on_fill()) return std::nullopt;
  lines_.FindCandidates(access.set, choice_.candidates);
  if (choice_.candidates.empty()) return std::nullopt;  // an empty way, or none: the cache knows
  if (data_.cache().mshrs().free() == 0) return ReservationFail::kMshr;
  // Whichever is chosen may be dirty.
  const bool dirty = std::ranges::any_of(choice_.candidates, &CacheLines::Candidate::dirty);
  if (network_.room(FirstLevel::kData) < (dirty ? 2 : 1)) return ReservationFail::kMissQueue;
  AskForVictim(access);
  return std::nullopt;
}

void PolicyUnit::AskForVictim(const LineAccess& access) {
  choice_.lines.clear();
  for (const CacheLines::Candidate& candidate : choice_.candidates) {
    choice_.lines.push_back(known_[candidate.way]);
    choice_.lines.back().dirty = candidate.dirty;
  }
  const size_t index = policy_.Victim(access, choice_.lines);
  if (index >= choice_.lines.size()) {
    throw PolicyError(absl::StrCat("Victim of the memory policy returned ", index, ", but set ", access.set, " has ",
                                   choice_.lines.size(), " lines that may give way: return an index below that"));
  }
  lines_.MakeLeastRecent(choice_.candidates[index].way, access.set);
}

void PolicyUnit::TellAccessed(const LineAccess& access, LineResult result) {
  if (!Wants(kLineAccesses)) return;
  PrefetchList list(std::span(prefetches_.room).first(prefetches_.room.size() - prefetches_.asked.size()));
  policy_.Accessed(access, result, list);
  for (size_t i = 0; i < list.size(); ++i) {
    const uint64_t line = data_.cache().LineOf(prefetches_.room[i].address);
    LineAccess prefetch = access;
    prefetch.line_address = line << line_bits_;
    prefetch.set = data_.cache().SetOf(line);
    prefetch.threads = 0;
    prefetch.kind = LineAccessKind::kPrefetch;
    prefetches_.asked.push_back({prefetch, prefetches_.room[i].placement});
  }
}

void PolicyUnit::TellEvicted(uint32_t way, const CacheEviction& eviction) {
  if (!Wants(kLines)) return;
  CacheLine line = known_[way];
  line.dirty = eviction.dirty;
  policy_.Evicted(line);
}

void PolicyUnit::Insert(uint32_t way, const Pending& pending) {
  const LineAccess& access = pending.access;
  known_[way] = {.line_address = access.line_address,
                 .pc = access.pc,
                 .slot = access.slot,
                 .hw_warp = access.hw_warp,
                 .block = access.block,
                 .prefetched = access.kind == LineAccessKind::kPrefetch};
  if (pending.placement == LinePlacement::kLeastRecent) lines_.MakeLeastRecent(way, access.set);
}

void PolicyUnit::Accessed(const LineAccess& access, const AccessStep& step, const CacheOutcome& outcome) {
  uint32_t way = CacheLines::kNoWay;
  if (outcome.result == CacheResult::kHit) {
    // A write may have thrown it out.
    way = lines_.WayOf(LineOf(access), access.set);
    if (way != CacheLines::kNoWay) ++known_[way].hits;
  } else if (outcome.waits && outcome.result == CacheResult::kPendingHit && pending_[outcome.entry].prefetch) {
    pending_[outcome.entry].prefetch = false;
    --prefetches_.on_their_way;
  }
  TellAccessed(access, ResultOf(outcome));
  if (outcome.result != CacheResult::kMiss || !outcome.fetch) return;
  Pending& pending = pending_[outcome.entry];
  pending = {.access = access, .placement = static_cast<LinePlacement>(step.placement - 1), .fills = true};
  if (lines_.allocates_on_fill()) return;
  way = lines_.WayOf(LineOf(access), access.set);
  if (outcome.eviction.happened) TellEvicted(way, outcome.eviction);
  Insert(way, pending);
}

void PolicyUnit::AccessedPast(const LineAccess& access, bool missed) {
  if (missed) ++counters_.past_misses;
  TellAccessed(access, LineResult::kPast);
}

CacheEviction PolicyUnit::Fill(uint16_t entry, Cycle now) {
  Cache& cache = data_.cache();
  Pending& pending = pending_[entry];
  if (!pending.fills) return cache.Fill(entry);  // the line was asked for again: another MSHR fills it
  pending.fills = false;
  if (pending.prefetch) {
    pending.prefetch = false;
    --prefetches_.on_their_way;
  }
  LineAccess& access = pending.access;
  access.now = now;
  const bool on_fill = lines_.allocates_on_fill();
  if (on_fill && Wants(kChoosesVictims)) {
    lines_.FindCandidates(access.set, choice_.candidates);
    if (!choice_.candidates.empty()) AskForVictim(access);
  }
  const CacheEviction eviction = cache.Fill(entry);
  const uint32_t way = lines_.WayOf(LineOf(access), access.set);
  if (on_fill) {
    if (eviction.happened) TellEvicted(way, eviction);
    Insert(way, pending);
  }
  if (Wants(kLines)) {
    CacheLine line = known_[way];
    line.dirty = cache.Peek(LineOf(access), access.set) == Cache::LineState::kDirty;
    policy_.Filled(line);
  }
  return eviction;
}

bool PolicyUnit::CanSend() {
  const Cache& cache = data_.cache();
  if (prefetches_.on_their_way >= prefetches_.most_mshrs || cache.mshrs().free() < 2) return false;
  uint32_t places = 2;
  if (!lines_.allocates_on_fill()) {
    const uint32_t set = prefetches_.asked.front().access.set;
    if (!lines_.HasWay(set)) return false;
    lines_.FindCandidates(set, choice_.candidates);
    const bool dirty = Wants(kChoosesVictims) ? std::ranges::any_of(choice_.candidates, &CacheLines::Candidate::dirty)
                                              : !choice_.candidates.empty() && choice_.candidates.front().dirty;
    places += dirty ? 1 : 0;
  }
  return network_.room(FirstLevel::kData) >= places;
}

void PolicyUnit::RunPrefetch(bool blocked, Cycle now) {
  if (prefetches_.asked.empty() || blocked) return;
  Asked& next = prefetches_.asked.front();
  next.access.now = now;
  if (!IsAbsent(next.access)) {
    ++counters_.prefetches_not_needed;
    prefetches_.asked.pop_front();
    return;
  }
  if (!CanSend()) return;
  const Asked asked = next;
  prefetches_.asked.pop_front();
  const LineAccess& access = asked.access;
  const uint64_t line = LineOf(access);
  // CanSend has found the candidates.
  if (!lines_.allocates_on_fill() && Wants(kChoosesVictims) && !choice_.candidates.empty()) AskForVictim(access);
  const CacheOutcome outcome = lines_.Prefetch(line, access.set, access.slot, now);
  network_.QueueFetch(FirstLevel::kData, outcome, line, line_bits_, /*base=*/0);
  ++counters_.prefetches;
  ++prefetches_.on_their_way;
  Pending& pending = pending_[outcome.entry];
  pending = {.access = access, .placement = asked.placement, .fills = true, .prefetch = true};
  if (lines_.allocates_on_fill()) return;
  const uint32_t way = lines_.WayOf(line, access.set);
  if (outcome.eviction.happened) {
    client_.CacheEvent(EvictionNotice(data_.cache(), outcome.eviction));
    TellEvicted(way, outcome.eviction);
  }
  Insert(way, pending);
}

void PolicyUnit::AddTo(SmMemoryCounters& counters) const { counters.policy.Add(counters_); }

}  // namespace heddle::replay
