#include "tests/replay/memory/memory_driver.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

Cycle MemoryDriver::Run(SmMemory& memory, const std::vector<DrivenAccess>& accesses,
                        const std::vector<DrivenFetch>& fetches, const Options& options) {
  issued.assign(accesses.size(), kNever);
  done.assign(accesses.size(), 0);
  acknowledged.assign(accesses.size(), kNever);
  lanes_done.assign(accesses.size(), 0);
  size_t next = 0;
  std::vector<bool> fetched(fetches.size(), false);
  std::vector<bool> waiting(fetches.size(), false);
  std::vector<bool> refused(fetches.size(), false);
  size_t left = fetches.size();
  Cycle wake = 0;
  for (now_ = 0; now_ < options.most_cycles; ++now_) {
    bool awake = port_.Begin(now_) || now_ >= wake || !options.asleep || (options.extra && options.extra(now_));
    // As a core with a ready instruction. A stage that is not free becomes so in a cycle of the memory.
    awake |=
        next < accesses.size() && (accesses[next].from == now_ || (accesses[next].from < now_ && memory.StageFree()));
    for (size_t index = 0; index < fetches.size(); ++index) awake |= fetches[index].from == now_ || refused[index];
    if (!awake) continue;
    ++cycles_run;
    arrived_.clear();
    memory.RunCycle(now_);
    if (next < accesses.size() && accesses[next].from <= now_ && memory.StageFree()) {
      WarpAccess access = accesses[next].access;
      access.id = static_cast<AccessId>(next);
      if (accesses[next].has_addresses) access.addresses = &accesses[next].addresses;
      access.threads = &accesses[next].threads;
      log.push_back(absl::StrCat(now_, " issue ", next));
      issued[next++] = now_;
      memory.Submit(access, now_);
    }
    for (const uint32_t fetcher : arrived_) waiting[fetcher] = false;
    for (size_t index = 0; index < fetches.size(); ++index) {
      if (fetched[index] || waiting[index] || fetches[index].from > now_) continue;
      const FetchResult result = memory.Fetch(fetches[index].address, static_cast<uint32_t>(index), now_);
      log.push_back(absl::StrCat(now_, " fetch ", index, " ", static_cast<int>(result)));
      fetched[index] = result == FetchResult::kHit;
      waiting[index] = result == FetchResult::kPending;
      refused[index] = result == FetchResult::kRefused;
      if (fetched[index]) --left;
    }
    if (options.check) options.check();
    wake = memory.NextWake(now_);
    if (next == accesses.size() && left == 0 && port_.idle() && memory.drained()) return now_ + 1;
  }
  return 0;
}

void MemoryDriver::LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) {
  log.push_back(
      absl::StrCat(now_, " lanes ", absl::Hex(lanes), " of ", access, " at ", at, returned ? " returned" : ""));
  done[access] = std::max(done[access], at);
  if ((lanes_done[access] & lanes) != 0 || at < now_) log.push_back("a lane came twice or too late");
  lanes_done[access] |= lanes;
}

void MemoryDriver::StoreAcknowledged(AccessId access, Cycle at) {
  log.push_back(absl::StrCat(now_, " acknowledged ", access, " at ", at));
  acknowledged[access] = at;
}

void MemoryDriver::WaitsOffCore(AccessId access) { log.push_back(absl::StrCat(now_, " off core ", access)); }

void MemoryDriver::FetchArrived(uint32_t fetcher) {
  log.push_back(absl::StrCat(now_, " arrived ", fetcher));
  arrived_.push_back(fetcher);
}

void MemoryDriver::CacheEvent(const CacheNotice& notice) {
  log.push_back(absl::StrCat(now_, notice.kind == CacheNotice::Kind::kMiss ? " miss " : " eviction ", notice.slot, " ",
                             notice.line_address));
}

}  // namespace heddle::replay
