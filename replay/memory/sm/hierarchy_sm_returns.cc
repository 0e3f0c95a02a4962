// What comes back to an SM: replies, fills, data on their way to the registers.
#include <algorithm>
#include <array>
#include <bit>

#include "replay/memory/sm/hierarchy_sm.h"
#include "replay/memory/sm/memory_profile.h"

namespace heddle::replay {

void HierarchySm::TakeReply(const MemoryRequest& reply, Cycle now) {
  const uint32_t tag = reply.tag;
  const FirstLevel level = reply.cache;
  if (reply.kind == RequestKind::kWrite) {
    if (tag != kNoRecord) TakeAcknowledgement(tag, now);
  } else {
    if (Drains(level)) return;
    draining_ |= static_cast<uint8_t>(1u << Index(level));
    if ((tag & kDirect) != 0) {
      direct_ = tag & ~kDirect;
    } else {
      const auto entry = static_cast<uint16_t>(tag);
      LevelOf(level).draining = entry;
      if (level == FirstLevel::kInstruction) arrived_line_ = LevelOf(level).cache->LineOf(reply.address - kProgramBase);
      freed_ = true;
      const CacheEviction eviction = LevelOf(level).cache->Fill(entry);
      if (eviction.happened && level == FirstLevel::kData) NoticeEviction(eviction);
      if (eviction.dirty) {
        held_.push_back({entry, eviction.line});
        holds_any_ = true;
        holds_[entry] = Hold::kWriteBack;
      }
    }
  }
  port_.TakeReply();
  --outstanding_;
  ++counters_.replies;
}

void HierarchySm::NoticeEviction(const CacheEviction& eviction) {
  client_.CacheEvent(
      {CacheNotice::Kind::kEviction, eviction.owner, eviction.line << LevelOf(FirstLevel::kData).cache->line_bits()});
}

void HierarchySm::TakeAcknowledgement(RecordId id, Cycle now) {
  Record& record = records_[id];
  if (--record.left != 0 || record.in_stage) return;
  client_.StoreAcknowledged(record.id, now);
  FreeRecord(id);
}

bool HierarchySm::StoreIsNext(FirstLevel level) const {
  const Level& of = level_[Index(level)];
  if (of.draining == MshrTable::kNone) return false;
  return of.waiters[of.cache->mshrs().NextWaiter(of.draining)].lanes == 0;
}

void HierarchySm::ReturnData(Cycle now) {
  constexpr std::array kDataLevels = {FirstLevel::kData, FirstLevel::kTexture, FirstLevel::kConstant};
  if (Drains(FirstLevel::kInstruction)) DrainOne(FirstLevel::kInstruction, now);
  if (returns_per_cycle_ == 0) {
    for (const FirstLevel level : kDataLevels) {
      if (Drains(level)) DrainOne(level, now);
    }
    return;
  }
  // Stores that waited for a line use up the turn of its cache, but not a way to the registers.
  uint32_t turn_used = 0;
  for (const FirstLevel level : kDataLevels) {
    if (!Drains(level) || !StoreIsNext(level)) continue;
    DrainOne(level, now);
    turn_used |= 1u << Index(level);
  }
  uint32_t left = returns_per_cycle_;
  for (uint32_t sources; left != 0 && (sources = SourcesWithData(turn_used, now)) != 0; --left) {
    const uint32_t behind = sources & ~((2u << last_return_) - 1);
    last_return_ = static_cast<uint8_t>(std::countr_zero(behind != 0 ? behind : sources));
    ReturnFrom(static_cast<Source>(last_return_), turn_used, now);
  }
}

// A bit for every source that has data for the registers.
uint32_t HierarchySm::SourcesWithData(uint32_t turn_used, Cycle now) const {
  const uint32_t draining = draining_ & ~turn_used;
  uint32_t sources = (draining >> Index(FirstLevel::kTexture) & 1) << kFromTexture |
                     (draining >> Index(FirstLevel::kConstant) & 1) << kFromConstant |
                     (draining >> Index(FirstLevel::kData) & 1) << kFromReturns;
  for (uint32_t filled = filled_pipes_; filled != 0; filled &= filled - 1) {
    const auto source = static_cast<uint32_t>(std::countr_zero(filled));
    if (pipe_[source].front().ready <= now) sources |= 1u << source;
  }
  return sources;
}

// One of the data that the source has.
void HierarchySm::ReturnFrom(Source source, uint32_t& turn_used, Cycle now) {
  if (source >= kFromTexture && source != kFromDataHits) {
    const FirstLevel level = source == kFromTexture    ? FirstLevel::kTexture
                             : source == kFromConstant ? FirstLevel::kConstant
                                                       : FirstLevel::kData;
    if (Drains(level) && (turn_used >> Index(level) & 1) == 0) {
      DrainOne(level, now);
      turn_used |= 1u << Index(level);
      return;
    }
  }
  Ring<PipedHit>& pipe = pipe_[source];
  const Waiter waiter = pipe.front().waiter;
  pipe.pop_front();
  if (pipe.empty()) filled_pipes_ &= static_cast<uint8_t>(~(1u << source));
  freed_ = true;
  Deliver(waiter, now, /*returned=*/false);
}

void HierarchySm::DrainOne(FirstLevel level, Cycle now) {
  Level& of = LevelOf(level);
  if (of.draining == MshrTable::kNone) {
    // An atomic, or a load where there is no cache.
    draining_ &= static_cast<uint8_t>(~(1u << Index(level)));
    free_directs_.push_back(direct_);
    Deliver(directs_[direct_], now, /*returned=*/true);
    return;
  }
  const Waiter waiter = of.waiters[of.cache->mshrs().TakeWaiter(of.draining, now)];
  freed_ |= of.cache->mshrs().one_each();
  if (of.cache->mshrs().Drained(of.draining)) FinishEntry(level, now);
  if (level == FirstLevel::kInstruction) {
    line_for_[waiter.record] = arrived_line_;
    client_.FetchArrived(waiter.record);
  } else if (waiter.lanes == 0) {
    TakeAcknowledgement(waiter.record, now);
  } else {
    Deliver(waiter, now, /*returned=*/true);
  }
}

void HierarchySm::FinishEntry(FirstLevel level, Cycle now) {
  Level& of = LevelOf(level);
  const uint16_t entry = of.draining;
  of.draining = MshrTable::kNone;
  draining_ &= static_cast<uint8_t>(~(1u << Index(level)));
  if (level == FirstLevel::kData && holds_[entry] == Hold::kWriteBack) {
    holds_[entry] = Hold::kOnlyWriteBack;
    return;
  }
  of.cache->mshrs().Release(entry, now);
  freed_ = true;
}

void HierarchySm::MoveHeldWriteBack(Cycle now) {
  Level& data = LevelOf(FirstLevel::kData);
  if (data.queue.full()) return;
  const HeldWriteBack held = held_.front();
  held_.pop_front();
  holds_any_ = !held_.empty();
  const uint32_t line_bits = data.cache->line_bits();
  Queue(FirstLevel::kData, RequestKind::kWrite, held.line << line_bits, 1u << line_bits, kNoRecord);
  if (holds_[held.entry] == Hold::kOnlyWriteBack) {
    data.cache->mshrs().Release(held.entry, now);
    freed_ = true;
  }
  holds_[held.entry] = Hold::kNone;
}

void HierarchySm::Hit(Source source, const Waiter& waiter, Cycle ready) {
  if (!uses_pipes_) {
    Deliver(waiter, ready, /*returned=*/false);
    return;
  }
  pipe_[source].push_back({waiter, ready});
  filled_pipes_ |= static_cast<uint8_t>(1u << source);
}

void HierarchySm::Deliver(const Waiter& waiter, Cycle at, bool returned) {
  Record& record = records_[waiter.record];
  record.last = std::max(record.last, at);
  record.returned |= returned;
  if (!record.joined) client_.LanesDone(record.id, waiter.lanes, at, returned);
  if (--record.left != 0) return;
  if (record.joined) client_.LanesDone(record.id, record.lanes, record.last, record.returned);
  counters_.load_to_use.Record(record.last - record.submitted);
  if (profile_ != nullptr) {
    ++(*profile_)[record.pc].returns;
    (*profile_)[record.pc].load_to_use_sum += record.last - record.submitted;
  }
  FreeRecord(waiter.record);
}

}  // namespace heddle::replay
