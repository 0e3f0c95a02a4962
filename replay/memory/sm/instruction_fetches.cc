#include "replay/memory/sm/instruction_fetches.h"

#include <utility>

namespace heddle::replay {

FetchResult InstructionFetches::Fetch(uint64_t address, uint32_t fetcher, Cycle now, bool& queued) {
  if (!cache_.exists()) return FetchResult::kHit;
  Cache& cache = cache_.cache();
  const uint64_t line = cache.LineOf(address);
  if (fetcher >= line_for_.size()) line_for_.resize(fetcher + 1, kNoLine);
  const uint64_t its_own = std::exchange(line_for_[fetcher], kNoLine);
  if (cache.ReadHit(line, cache.SetOf(line))) return FetchResult::kHit;
  if (its_own == line) {
    cache.CountHit();
    return FetchResult::kHit;
  }
  const CacheOutcome outcome =
      cache.Access(line, cache.SetOf(line), CacheOperation::kRead, machine::v1::Cache::READ_ONLY, kNoSlot,
                   network_.room(FirstLevel::kInstruction), now);
  if (outcome.result == CacheResult::kReservationFail) return FetchResult::kRefused;
  cache_.Wait(outcome.waiter, {.record = fetcher});
  if (outcome.fetch) {
    network_.QueueFetch(FirstLevel::kInstruction, outcome, line, cache.line_bits(), kProgramBase);
    queued = true;
  }
  return FetchResult::kPending;
}

}  // namespace heddle::replay
