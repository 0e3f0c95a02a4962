#include "replay/memory/cache/cache.h"

#include <algorithm>
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
    : sets_(size_t{2} * config.sets() * config.ways()),
      ways_per_set_(config.ways()),
      line_bits_(static_cast<uint32_t>(std::countr_zero(config.line_bytes()))),
      set_mask_(config.sets() - 1),
      allocate_on_fill_(config.allocate() == machine::v1::Cache::ON_FILL),
      pending_hits_(config.pending_hits()),
      pending_(config.mshrs()),
      mshrs_(config.mshrs(), config.mshr_merges(), config.pending_hits() == machine::v1::Cache::OWN_MSHR) {
  for (uint32_t set = 0; set < config.sets(); ++set) {
    std::fill_n(FirstWay(set), ways_per_set_, kNoLine);
  }
}

// Fills in what it is given instead of returning it: a copy of a structure just written in pieces waits for the pieces.
void Cache::Replace(uint64_t* way, uint64_t line, LineState state, uint16_t id, CacheEviction& eviction) {
  uint64_t& word = WordOf(way);
  if (word != 0) {
    eviction.happened = true;
    eviction.dirty = StateOf(word) == LineState::kDirty;
    eviction.owner = IdOf(word);
    eviction.line = *way;
    ++counters_.evictions;
    if (eviction.dirty) ++counters_.write_backs;
  }
  *way = line;
  word = StateAndId(state, id);
  Use(word);
}

CacheOutcome Cache::Fail(ReservationFail cause) {
  ++counters_.reservation_fails[static_cast<int>(cause)];
  return {.cause = cause};
}

CacheOutcome Cache::WriteThrough(uint64_t* way, uint16_t entry, WritePolicy policy, uint32_t queue_room) {
  if (queue_room == 0) return Fail(ReservationFail::kMissQueue);
  CacheOutcome outcome{.forward = true};
  ++counters_.accesses;
  if (entry != MshrTable::kNone) {
    // A line on its way is left alone, as in GPGPU-Sim 3.2.2.
    outcome.result = CacheResult::kPendingHit;
    ++counters_.pending_hits;
  } else if (way == nullptr) {
    outcome.result = CacheResult::kMiss;
    ++counters_.misses;
  } else {
    outcome.result = CacheResult::kHit;
    ++counters_.hits;
    if (policy == machine::v1::Cache::WRITE_UPDATE) {
      Use(WordOf(way));
    } else {
      *way = kNoLine;
      WordOf(way) = 0;
    }
  }
  return outcome;
}

// `way`: reserved for the line, null with allocation on a fill. `entry`: the line is on its way for it.
CacheOutcome Cache::PendingHit(uint64_t* way, uint16_t entry, bool write, uint32_t queue_room, Cycle now) {
  const bool again = pending_hits_ == machine::v1::Cache::OWN_REQUEST;
  if (!again && mshrs_.Full(entry)) return Fail(ReservationFail::kMerge);
  if ((again || mshrs_.one_each()) && mshrs_.free() == 0) return Fail(ReservationFail::kMshr);
  if (again && queue_room == 0) return Fail(ReservationFail::kMissQueue);
  ++counters_.accesses;
  ++counters_.pending_hits;
  if (way != nullptr) Use(WordOf(way));
  pending_[entry].dirty |= write;
  if (again) {
    entry = mshrs_.AllocateApart(now);
    pending_[entry] = {.again = true};
  }
  return {.result = CacheResult::kPendingHit,
          .fetch = again,
          .waits = true,
          .entry = entry,
          .waiter = mshrs_.Merge(entry, now)};
}

CacheOutcome Cache::Access(uint64_t line, uint32_t set, CacheOperation operation, WritePolicy policy, SlotId owner,
                           uint32_t queue_room, Cycle now) {
  const bool write = operation != CacheOperation::kRead;
  uint64_t* way = FindWay(line, set);
  const LineState state = way == nullptr ? LineState::kInvalid : StateOf(WordOf(way));
  uint16_t entry = MshrTable::kNone;
  if (state == LineState::kReserved) {
    entry = IdOf(WordOf(way));
  } else if (way == nullptr && allocate_on_fill_) {
    entry = mshrs_.Find(line);
  }

  // A dirty line can only be met by a write that goes through if policies differ by memory space; it stays.
  const bool dirty = state == LineState::kDirty;
  if (write && policy != machine::v1::Cache::WRITE_BACK && !dirty) return WriteThrough(way, entry, policy, queue_room);

  if (way != nullptr && state != LineState::kReserved) {
    ++counters_.accesses;
    ++counters_.hits;
    uint64_t& word = WordOf(way);
    if (write) word = (word & kUses) | StateAndId(LineState::kDirty, IdOf(word));
    Use(word);
    return {.result = CacheResult::kHit};
  }
  if (entry != MshrTable::kNone) return PendingHit(way, entry, write, queue_room, now);

  // A miss.
  const bool fetches = operation != CacheOperation::kWriteLine;
  const bool allocates = !allocate_on_fill_ || !fetches;
  uint32_t places = fetches ? 1 : 0;
  if (allocates) {
    way = FindVictim(set);
    if (way == nullptr) return Fail(ReservationFail::kWay);
    if (StateOf(WordOf(way)) == LineState::kDirty) ++places;
  }
  if (fetches && mshrs_.free() == 0) return Fail(ReservationFail::kMshr);
  if (queue_room < places) return Fail(ReservationFail::kMissQueue);
  ++counters_.accesses;
  ++counters_.misses;
  CacheOutcome outcome{.result = CacheResult::kMiss, .fetch = fetches, .waits = fetches};
  if (!fetches) {
    Replace(way, line, LineState::kDirty, owner, outcome.eviction);
    return outcome;
  }
  outcome.entry = mshrs_.Allocate(line, now);
  outcome.waiter = mshrs_.Merge(outcome.entry, now);
  if (allocates) Replace(way, line, LineState::kReserved, outcome.entry, outcome.eviction);
  pending_[outcome.entry] = {.way = allocates ? way : nullptr, .set = set, .owner = owner, .dirty = write};
  return outcome;
}

CacheEviction Cache::Fill(uint16_t entry) {
  const Pending& pending = pending_[entry];
  const LineState state = pending.dirty ? LineState::kDirty : LineState::kValid;
  CacheEviction eviction;
  if (pending.again) {
    // Nothing: the first request of the line has brought it, or will.
  } else if (pending.way != nullptr) {
    uint64_t& word = WordOf(pending.way);
    word = (word & kUses) | StateAndId(state, pending.owner);
  } else {
    Replace(FindVictim(pending.set), mshrs_.line(entry), state, pending.owner, eviction);
  }
  mshrs_.StartDrain(entry);
  return eviction;
}

Cache::LineState Cache::Peek(uint64_t line, uint32_t set) const {
  const uint64_t* const way = FindWay(line, set);
  return way == nullptr ? LineState::kInvalid : StateOf(WordOf(way));
}

uint16_t Cache::OnItsWay(uint64_t line, uint32_t set) const {
  const uint64_t* const way = FindWay(line, set);
  if (way == nullptr) return allocate_on_fill_ ? mshrs_.Find(line) : MshrTable::kNone;
  return StateOf(WordOf(way)) == LineState::kReserved ? IdOf(WordOf(way)) : MshrTable::kNone;
}

void Cache::Invalidate(uint64_t line, uint32_t set) {
  uint64_t* const way = FindWay(line, set);
  if (way == nullptr || StateOf(WordOf(way)) == LineState::kReserved) return;
  *way = kNoLine;
  WordOf(way) = 0;
}

bool Cache::Consistent() const {
  uint32_t reserved = 0;
  for (uint32_t set = 0; set <= set_mask_; ++set) {
    for (const uint64_t* way = FirstWay(set); way < FirstWay(set) + ways_per_set_; ++way) {
      const uint64_t word = WordOf(way);
      if ((*way == kNoLine) != (word == 0)) return false;
      if (word == 0) continue;
      const LineState state = StateOf(word);
      if (state == LineState::kInvalid || (word & kUses) == 0) return false;
      if ((state == LineState::kReserved) != ((word & kOnItsWay) != 0)) return false;
      for (const uint64_t* other = FirstWay(set); other < way; ++other) {
        if (*other == *way) return false;
      }
      if (state != LineState::kReserved) continue;
      ++reserved;
      const uint16_t entry = IdOf(word);
      if (entry == MshrTable::kNone || mshrs_.line(entry) != *way || pending_[entry].way != way) return false;
    }
  }
  return mshrs_.Consistent() && reserved <= mshrs_.used();
}

}  // namespace heddle::replay
