#include "replay/memory/sm/reply_path.h"

#include <array>
#include <bit>

namespace heddle::replay {

ReplyPath::ReplyPath(const machine::v1::Hierarchy& memory, FirstLevelCaches& caches, NetworkInterface& network,
                     HitPipes& pipes, AccessTable& accesses, DirectRequests& directs, InstructionFetches& fetches,
                     MemoryClient& client)
    : returns_per_cycle_(memory.returns_per_cycle()),
      atomic_cycles_(memory.atomic_cycles()),
      caches_(caches),
      network_(network),
      pipes_(pipes),
      accesses_(accesses),
      directs_(directs),
      fetches_(fetches),
      client_(client),
      held_(memory.l1_data().sets() != 0 ? memory.l1_data().mshrs() : 0) {}

bool ReplyPath::TakeReply(const MemoryRequest& reply, Cycle now) {
  bool freed = false;
  if (reply.kind == RequestKind::kWrite) {
    if (reply.tag != NetworkInterface::kNobody) accesses_.Acknowledge(reply.tag, now);
  } else {
    if (Drains(reply.cache)) return false;
    SetDrains(reply.cache);
    if (DirectRequests::IsTag(reply.tag)) {
      direct_ = reply.tag;
      direct_cycles_ = reply.kind == RequestKind::kAtomic ? atomic_cycles_ : 0;
    } else {
      freed = Fill(reply.cache, reply, now);
    }
  }
  network_.TakeReply();
  return freed;
}

bool ReplyPath::Fill(FirstLevel level, const MemoryRequest& reply, Cycle now) {
  FirstLevelCache& of = caches_[level];
  const auto entry = static_cast<uint16_t>(reply.tag);
  of.StartDrain(entry);
  if (level == FirstLevel::kInstruction) fetches_.LineCame(reply.address);
  const bool asks = policy_ != nullptr && level == FirstLevel::kData;
  const CacheEviction eviction = asks ? policy_->Fill(entry, now) : of.cache().Fill(entry);
  if (eviction.happened && level == FirstLevel::kData) client_.CacheEvent(EvictionNotice(of.cache(), eviction));
  if (eviction.dirty) held_.Add(entry, eviction.line);
  // Nobody waits for a prefetch that no access has met.
  if (asks && of.cache().mshrs().Drained(entry)) FinishEntry(level, now);
  return true;
}

bool ReplyPath::StoreIsNext(FirstLevel level) const {
  const FirstLevelCache& of = caches_[level];
  return of.draining() != MshrTable::kNone && of.NextWaiter().lanes == 0;
}

bool ReplyPath::ReturnData(Cycle now) {
  constexpr std::array kDataLevels = {FirstLevel::kData, FirstLevel::kTexture, FirstLevel::kConstant};
  bool freed = false;
  if (Drains(FirstLevel::kInstruction)) freed |= DrainOne(FirstLevel::kInstruction, now);
  if (returns_per_cycle_ == 0) {
    for (const FirstLevel level : kDataLevels) {
      if (Drains(level)) freed |= DrainOne(level, now);
    }
    return freed;
  }
  // Stores that waited for a line use up the turn of its cache, but not a way to the registers.
  uint32_t turn_used = 0;
  for (const FirstLevel level : kDataLevels) {
    if (!Drains(level) || !StoreIsNext(level)) continue;
    freed |= DrainOne(level, now);
    turn_used |= 1u << static_cast<int>(level);
  }
  uint32_t left = returns_per_cycle_;
  for (uint32_t sources; left != 0 && (sources = SourcesWithData(turn_used, now)) != 0; --left) {
    const uint32_t behind = sources & ~((2u << last_return_) - 1);
    last_return_ = static_cast<uint8_t>(std::countr_zero(behind != 0 ? behind : sources));
    freed |= ReturnFrom(static_cast<RegisterSource>(last_return_), turn_used, now);
  }
  return freed;
}

uint32_t ReplyPath::SourcesWithData(uint32_t turn_used, Cycle now) const {
  const uint32_t draining = draining_ & ~turn_used;
  const auto from = [&](FirstLevel level, RegisterSource source) {
    return (draining >> static_cast<int>(level) & 1) << static_cast<int>(source);
  };
  return from(FirstLevel::kTexture, RegisterSource::kTexture) | from(FirstLevel::kConstant, RegisterSource::kConstant) |
         from(FirstLevel::kData, RegisterSource::kReturns) | pipes_.Ready(now);
}

bool ReplyPath::ReturnFrom(RegisterSource source, uint32_t& turn_used, Cycle now) {
  if (source != RegisterSource::kShared && source != RegisterSource::kDataHits) {
    const FirstLevel level = source == RegisterSource::kTexture    ? FirstLevel::kTexture
                             : source == RegisterSource::kConstant ? FirstLevel::kConstant
                                                                   : FirstLevel::kData;
    if (Drains(level) && (turn_used >> static_cast<int>(level) & 1) == 0) {
      turn_used |= 1u << static_cast<int>(level);
      return DrainOne(level, now);
    }
  }
  accesses_.Deliver(pipes_.Take(source), now, /*returned=*/false);
  return true;
}

bool ReplyPath::DrainOne(FirstLevel level, Cycle now) {
  FirstLevelCache& of = caches_[level];
  if (of.draining() == MshrTable::kNone) {
    // An atomic, or a load where there is no cache.
    ClearDrains(level);
    accesses_.Deliver(directs_.Take(direct_), now + direct_cycles_, /*returned=*/true);
    return false;
  }
  const Waiter waiter = of.TakeWaiter(now);
  bool freed = of.cache().mshrs().one_each();
  if (of.cache().mshrs().Drained(of.draining())) freed |= FinishEntry(level, now);
  if (level == FirstLevel::kInstruction) {
    fetches_.Arrived(waiter.record);
  } else if (waiter.lanes == 0) {
    accesses_.Acknowledge(waiter.record, now);
  } else {
    accesses_.Deliver(waiter, now, /*returned=*/true);
  }
  return freed;
}

bool ReplyPath::FinishEntry(FirstLevel level, Cycle now) {
  FirstLevelCache& of = caches_[level];
  const uint16_t entry = of.draining();
  of.EndDrain();
  ClearDrains(level);
  if (level == FirstLevel::kData && held_.HoldsDrained(entry)) return false;
  of.cache().mshrs().Release(entry, now);
  return true;
}

bool ReplyPath::MoveHeldWriteBack(Cycle now) {
  if (network_.full(FirstLevel::kData)) return false;
  Cache& cache = caches_[FirstLevel::kData].cache();
  bool drained = false;
  const HeldWriteBacks::Line held = held_.Take(drained);
  const uint32_t line_bits = cache.line_bits();
  network_.Queue(FirstLevel::kData, RequestKind::kWrite, held.line << line_bits, 1u << line_bits,
                 NetworkInterface::kNobody);
  if (drained) cache.mshrs().Release(held.entry, now);
  return drained;
}

}  // namespace heddle::replay
