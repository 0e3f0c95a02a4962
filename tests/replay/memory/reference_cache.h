// A cache with its MSHRs as plain lists: an oracle of replay/memory/cache/cache.h, after docs/reference/timing.md,
// section 6.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_CACHE_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_CACHE_H_

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/sm/sm_memory_counters.h"
#include "replay/seams/memory_policy.h"

namespace heddle::replay {

struct ReferenceWaiter {
  int instruction = 0;  // or fetcher
  LaneMask lanes = 0;   // none: a store
};

struct ReferenceMshr {
  uint64_t line = 0;
  SlotId owner = kNoSlot;
  std::deque<ReferenceWaiter> waiters;
  size_t accepted = 0;
  bool on_its_way = true;
  bool again = false;  // asks for a line that another has asked for, which fills it
  bool written = false;
  bool holds_write_back = false;
  // Under a memory policy: who has asked for it, and where it is put.
  LineAccess access = {};
  LinePlacement placement = LinePlacement::kMostRecent;
  bool prefetch = false;
};

// The sets are lists of lines, the most recently used first.
struct ReferenceCache {
  struct Line {
    uint64_t line = 0;
    bool reserved = false;
    bool dirty = false;
    SlotId owner = kNoSlot;
    CacheLine known = {};  // under a memory policy
  };
  struct Result {
    CacheResult result = CacheResult::kReservationFail;
    ReservationFail cause = ReservationFail::kWay;
    bool fetch = false;
    bool forward = false;
    std::optional<Line> evicted;
    std::shared_ptr<ReferenceMshr> mshr;  // to wait in
  };

  explicit ReferenceCache(const machine::v1::Cache& config) : config(config), sets(config.sets()) {
    occupancy.resize(config.mshrs() + 1);
  }

  std::list<Line>& SetOf(uint64_t line) { return sets[line % sets.size()]; }
  Line* Find(uint64_t line) {
    for (Line& candidate : SetOf(line)) {
      if (candidate.line == line) return &candidate;
    }
    return nullptr;
  }
  std::shared_ptr<ReferenceMshr> OnItsWay(uint64_t line) {
    for (const auto& mshr : mshrs) {
      if (mshr->on_its_way && !mshr->again && mshr->line == line) return mshr;
    }
    return nullptr;
  }
  size_t MshrsInUse() const {
    size_t used = mshrs.size();
    if (config.pending_hits() != machine::v1::Cache::OWN_MSHR) return used;
    for (const auto& mshr : mshrs) {
      if (mshr->waiters.size() > 1) used += mshr->waiters.size() - 1;
    }
    return used;
  }
  void Touch(uint64_t line) {
    std::list<Line>& set = SetOf(line);
    for (auto it = set.begin(); it != set.end(); ++it) {
      if (it->line == line) return set.splice(set.begin(), set, it);
    }
  }
  // The line is the first to give way from now on.
  void Demote(uint64_t line) {
    std::list<Line>& set = SetOf(line);
    for (auto it = set.begin(); it != set.end(); ++it) {
      if (it->line == line) return set.splice(set.end(), set, it);
    }
  }
  // What may give way to the line, the least recently used first; nothing if it does not have to.
  std::vector<Line*> MayGiveWay(uint64_t line) {
    std::vector<Line*> lines;
    if (!Full(line)) return lines;
    std::list<Line>& set = SetOf(line);
    for (auto it = set.rbegin(); it != set.rend(); ++it) {
      if (!it->reserved) lines.push_back(&*it);
    }
    return lines;
  }
  void Drop(uint64_t line) {
    SetOf(line).remove_if([&](const Line& candidate) { return candidate.line == line; });
  }
  bool Full(uint64_t line) { return SetOf(line).size() == config.ways(); }
  // The least recently used line that is not reserved.
  const Line* Victim(uint64_t line) {
    const std::list<Line>& set = SetOf(line);
    for (auto it = set.rbegin(); it != set.rend(); ++it) {
      if (!it->reserved) return &*it;
    }
    return nullptr;
  }
  std::optional<Line> Insert(const Line& line) {
    std::optional<Line> evicted;
    if (Full(line.line)) {
      evicted = *Victim(line.line);
      Drop(evicted->line);
      ++counters.evictions;
      if (evicted->dirty) ++counters.write_backs;
    }
    SetOf(line.line).push_front(line);
    return evicted;
  }

  Result Fail(ReservationFail cause) {
    ++counters.reservation_fails[static_cast<int>(cause)];
    return {.cause = cause, .evicted = {}, .mshr = {}};
  }

  Result Access(uint64_t line, bool write, machine::v1::Cache::Write policy, SlotId owner, uint32_t queue_room) {
    Result out;
    Line* const there = Find(line);
    const std::shared_ptr<ReferenceMshr> pending = OnItsWay(line);
    const bool dirty = there != nullptr && there->dirty && !there->reserved;
    if (write && policy != machine::v1::Cache::WRITE_BACK && !dirty) {
      if (queue_room == 0) return Fail(ReservationFail::kMissQueue);
      out.forward = true;
      if (pending != nullptr) {
        out.result = CacheResult::kPendingHit;
      } else if (there == nullptr) {
        out.result = CacheResult::kMiss;
      } else {
        out.result = CacheResult::kHit;
        if (policy == machine::v1::Cache::WRITE_UPDATE) {
          Touch(line);
        } else {
          Drop(line);
        }
      }
      return Counted(out);
    }
    if (pending != nullptr) {
      const bool again = config.pending_hits() == machine::v1::Cache::OWN_REQUEST;
      if (!again && pending->accepted == config.mshr_merges()) return Fail(ReservationFail::kMerge);
      if (config.pending_hits() != machine::v1::Cache::JOIN_MSHR && MshrsInUse() == config.mshrs()) {
        return Fail(ReservationFail::kMshr);
      }
      if (again && queue_room == 0) return Fail(ReservationFail::kMissQueue);
      ++pending->accepted;
      pending->written |= write;
      Touch(line);
      out.result = CacheResult::kPendingHit;
      out.mshr = pending;
      if (again) {
        out.mshr = std::make_shared<ReferenceMshr>();
        out.mshr->line = line;
        out.mshr->again = true;
        mshrs.push_back(out.mshr);
        out.fetch = true;
      }
      return Counted(out);
    }
    if (there != nullptr) {
      there->dirty |= write;
      Touch(line);
      out.result = CacheResult::kHit;
      return Counted(out);
    }
    const bool on_fill = config.allocate() == machine::v1::Cache::ON_FILL;
    uint32_t places = 1;
    if (!on_fill && Full(line)) {
      if (Victim(line) == nullptr) return Fail(ReservationFail::kWay);
      if (Victim(line)->dirty) ++places;
    }
    if (MshrsInUse() == config.mshrs()) return Fail(ReservationFail::kMshr);
    if (queue_room < places) return Fail(ReservationFail::kMissQueue);
    if (!on_fill) out.evicted = Insert({.line = line, .reserved = true, .owner = owner});
    out.mshr = std::make_shared<ReferenceMshr>();
    out.mshr->line = line;
    out.mshr->owner = owner;
    out.mshr->accepted = 1;
    out.mshr->written = write;
    mshrs.push_back(out.mshr);
    out.fetch = true;
    out.result = CacheResult::kMiss;
    return Counted(out);
  }

  // The line has come.
  std::optional<Line> Fill(ReferenceMshr& mshr) {
    mshr.on_its_way = false;
    if (mshr.again) return {};
    if (config.allocate() == machine::v1::Cache::ON_FILL) {
      return Insert({.line = mshr.line, .dirty = mshr.written, .owner = mshr.owner});
    }
    Line* const line = Find(mshr.line);
    line->reserved = false;
    line->dirty = mshr.written;
    return {};
  }

  void ReleaseIfDone(const std::shared_ptr<ReferenceMshr>& mshr) {
    if (mshr->on_its_way || !mshr->waiters.empty() || mshr->holds_write_back) return;
    mshrs.remove(mshr);
  }

  Result Counted(Result out) {
    ++counters.accesses;
    if (out.result == CacheResult::kHit) ++counters.hits;
    if (out.result == CacheResult::kPendingHit) ++counters.pending_hits;
    if (out.result == CacheResult::kMiss) ++counters.misses;
    return out;
  }

  machine::v1::Cache config;
  std::vector<std::list<Line>> sets;
  std::list<std::shared_ptr<ReferenceMshr>> mshrs;
  CacheCounters counters;
  std::vector<uint64_t> occupancy;  // cycles by MSHRs in use
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_CACHE_H_
