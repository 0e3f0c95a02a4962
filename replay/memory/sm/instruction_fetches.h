// Fetches of instructions through the instruction cache.
#ifndef HEDDLE_REPLAY_MEMORY_SM_INSTRUCTION_FETCHES_H_
#define HEDDLE_REPLAY_MEMORY_SM_INSTRUCTION_FETCHES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/first_level_cache.h"
#include "replay/memory/sm/network_interface.h"

namespace heddle::replay {

// A line of the program that has come for a fetcher which has not fetched since is its own to fetch from once, even if
// the cache has given its way to another line meanwhile. Otherwise warps that miss in the same set could take the lines
// from one another for ever.
class InstructionFetches {
 public:
  // Where the program lies for the memory behind the first level: apart from all data.
  static constexpr uint64_t kProgramBase = uint64_t{1} << 46;

  // All outlive this.
  InstructionFetches(FirstLevelCache& cache, NetworkInterface& network, MemoryClient& client)
      : cache_(cache), network_(network), client_(client) {}

  // As SmMemory::Fetch. `queued`: whether a request was queued.
  FetchResult Fetch(uint64_t address, uint32_t fetcher, Cycle now, bool& queued) {
    if (!cache_.exists()) return FetchResult::kHit;
    const uint64_t line = cache_.cache().LineOf(address);
    if (fetcher >= line_for_.size()) line_for_.resize(fetcher + 1, kNoLine);
    const uint64_t its_own = std::exchange(line_for_[fetcher], kNoLine);
    if (cache_.cache().ReadHit(line, cache_.cache().SetOf(line))) return FetchResult::kHit;
    return FetchAfterMiss(line, its_own, fetcher, now, queued);
  }
  // The line at `address` of the memory behind has come, for those that arrive from now on.
  void LineCame(uint64_t address) { arrived_line_ = cache_.cache().LineOf(address - kProgramBase); }
  // The line is there for a fetcher.
  void Arrived(uint32_t fetcher) {
    line_for_[fetcher] = arrived_line_;
    client_.FetchArrived(fetcher);
  }

 private:
  static constexpr uint64_t kNoLine = ~uint64_t{0};

  // The line is not in the cache; `its_own`: the one that had come for the fetcher.
  FetchResult FetchAfterMiss(uint64_t line, uint64_t its_own, uint32_t fetcher, Cycle now, bool& queued);

  FirstLevelCache& cache_;
  NetworkInterface& network_;
  MemoryClient& client_;
  std::vector<uint64_t> line_for_;   // by fetcher
  uint64_t arrived_line_ = kNoLine;  // that the cache tells its waiters of
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_INSTRUCTION_FETCHES_H_
