#include "replay/memory/cache.h"

#include <bit>

namespace heddle::replay {

void CacheCounters::Add(const CacheCounters& other) {
  accesses += other.accesses;
  hits += other.hits;
  pending_hits += other.pending_hits;
  misses += other.misses;
  evictions += other.evictions;
  write_backs += other.write_backs;
  for (int cause = 0; cause < kReservationFails; ++cause) reservation_fails[cause] += other.reservation_fails[cause];
}

Cache::Cache(const machine::v1::Cache& config)
    : allocate_on_fill_(config.allocate() == machine::v1::Cache::ON_FILL),
      ways_per_set_(config.ways()),
      line_bits_(static_cast<uint32_t>(std::countr_zero(config.line_bytes()))),
      set_mask_(config.sets() - 1),
      tags_(size_t{config.sets()} * config.ways(), kNoLine),
      ways_(tags_.size()),
      pending_(config.mshrs()),
      mshrs_(config.mshrs(), config.mshr_merges()) {}

// Fills in what it is given instead of returning it: a copy of a structure just written in pieces waits for the pieces.
void Cache::Replace(uint32_t way, uint64_t line, LineState state, SlotId owner, CacheEviction& eviction) {
  Way& of = ways_[way];
  if (of.state != LineState::kInvalid) {
    eviction.happened = true;
    eviction.dirty = of.state == LineState::kDirty;
    eviction.owner = of.owner;
    eviction.line = tags_[way];
    ++counters_.evictions;
    if (eviction.dirty) ++counters_.write_backs;
  }
  tags_[way] = line;
  of.used = ++uses_ | (state == LineState::kReserved ? kOnItsWay : 0);
  of.state = state;
  of.owner = owner;
  of.entry = MshrTable::kNone;
}

CacheOutcome Cache::Fail(ReservationFail cause) {
  ++counters_.reservation_fails[static_cast<int>(cause)];
  return {.cause = cause};
}

CacheOutcome Cache::WriteThrough(uint32_t way, uint16_t entry, WritePolicy policy, uint32_t queue_room) {
  if (queue_room == 0) return Fail(ReservationFail::kMissQueue);
  CacheOutcome outcome{.forward = true};
  ++counters_.accesses;
  if (entry != MshrTable::kNone) {
    // A line on its way is left alone, as in GPGPU-Sim 3.2.2.
    outcome.result = CacheResult::kPendingHit;
    ++counters_.pending_hits;
  } else if (way == kNoWay) {
    outcome.result = CacheResult::kMiss;
    ++counters_.misses;
  } else {
    outcome.result = CacheResult::kHit;
    ++counters_.hits;
    if (policy == machine::v1::Cache::WRITE_UPDATE) {
      ways_[way].used = ++uses_;
    } else {
      tags_[way] = kNoLine;
      ways_[way] = {};
    }
  }
  return outcome;
}

CacheOutcome Cache::Access(uint64_t line, uint32_t set, CacheOperation operation, WritePolicy policy, SlotId owner,
                           uint32_t queue_room, Cycle now) {
  const bool write = operation != CacheOperation::kRead;
  uint32_t way = FindWay(line, set);
  const bool reserved = way != kNoWay && ways_[way].state == LineState::kReserved;
  uint16_t entry = MshrTable::kNone;
  if (way != kNoWay) {
    entry = ways_[way].entry;
  } else if (allocate_on_fill_) {
    entry = mshrs_.Find(line);
  }

  // A dirty line can only be met by a write that goes through if policies differ by memory space; it stays.
  const bool dirty = way != kNoWay && ways_[way].state == LineState::kDirty;
  if (write && policy != machine::v1::Cache::WRITE_BACK && !dirty) return WriteThrough(way, entry, policy, queue_room);

  if (way != kNoWay && !reserved) {
    ++counters_.accesses;
    ++counters_.hits;
    ways_[way].used = ++uses_;
    if (write) ways_[way].state = LineState::kDirty;
    return {.result = CacheResult::kHit};
  }
  if (entry != MshrTable::kNone) {
    if (!mshrs_.CanMerge(entry)) return Fail(ReservationFail::kMerge);
    ++counters_.accesses;
    ++counters_.pending_hits;
    if (reserved) ways_[way].used = ++uses_ | kOnItsWay;
    pending_[entry].dirty |= write;
    return {.result = CacheResult::kPendingHit, .waits = true, .entry = entry, .waiter = mshrs_.Merge(entry)};
  }

  // A miss.
  const bool fetches = operation != CacheOperation::kWriteLine;
  const bool allocates = !allocate_on_fill_ || !fetches;
  uint32_t places = fetches ? 1 : 0;
  if (allocates) {
    way = FindVictim(set);
    if (way == kNoWay) return Fail(ReservationFail::kWay);
    if (ways_[way].state == LineState::kDirty) ++places;
  }
  if (fetches && mshrs_.free() == 0) return Fail(ReservationFail::kMshr);
  if (queue_room < places) return Fail(ReservationFail::kMissQueue);
  ++counters_.accesses;
  ++counters_.misses;
  CacheOutcome outcome{.result = CacheResult::kMiss, .fetch = fetches, .waits = fetches};
  if (allocates) Replace(way, line, fetches ? LineState::kReserved : LineState::kDirty, owner, outcome.eviction);
  if (fetches) {
    outcome.entry = mshrs_.Allocate(line, now);
    outcome.waiter = mshrs_.Merge(outcome.entry);
    if (allocates) ways_[way].entry = outcome.entry;
    pending_[outcome.entry] = {.way = allocates ? way : kNoWay, .set = set, .owner = owner, .dirty = write};
  }
  return outcome;
}

CacheEviction Cache::Fill(uint16_t entry) {
  const Pending& pending = pending_[entry];
  const LineState state = pending.dirty ? LineState::kDirty : LineState::kValid;
  mshrs_.StartDrain(entry);
  if (pending.way != kNoWay) {
    Way& way = ways_[pending.way];
    way.used &= ~kOnItsWay;
    way.state = state;
    way.entry = MshrTable::kNone;
    return {};
  }
  CacheEviction eviction;
  Replace(FindVictim(pending.set), mshrs_.line(entry), state, pending.owner, eviction);
  return eviction;
}

Cache::LineState Cache::Peek(uint64_t line, uint32_t set) const {
  const uint32_t way = FindWay(line, set);
  return way == kNoWay ? LineState::kInvalid : ways_[way].state;
}

uint16_t Cache::OnItsWay(uint64_t line, uint32_t set) const {
  const uint32_t way = FindWay(line, set);
  if (way != kNoWay) return ways_[way].entry;
  return allocate_on_fill_ ? mshrs_.Find(line) : MshrTable::kNone;
}

void Cache::Invalidate(uint64_t line, uint32_t set) {
  const uint32_t way = FindWay(line, set);
  if (way == kNoWay || ways_[way].state == LineState::kReserved) return;
  tags_[way] = kNoLine;
  ways_[way] = {};
}

bool Cache::Consistent() const {
  uint32_t reserved = 0;
  for (uint32_t way = 0; way < ways_.size(); ++way) {
    if ((ways_[way].state == LineState::kInvalid) != (tags_[way] == kNoLine)) return false;
    if ((ways_[way].state == LineState::kInvalid) != (ways_[way].used == 0)) return false;
    if ((ways_[way].state == LineState::kReserved) != ((ways_[way].used & kOnItsWay) != 0)) return false;
    if (tags_[way] == kNoLine) continue;
    const uint32_t set = way / ways_per_set_;
    for (uint32_t other = set * ways_per_set_; other < way; ++other) {
      if (tags_[other] == tags_[way]) return false;
    }
    if (ways_[way].state != LineState::kReserved) continue;
    ++reserved;
    const uint16_t entry = ways_[way].entry;
    if (entry == MshrTable::kNone || mshrs_.line(entry) != tags_[way] || pending_[entry].way != way) return false;
  }
  return mshrs_.Consistent() && reserved <= mshrs_.used();
}

}  // namespace heddle::replay
