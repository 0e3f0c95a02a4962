#include "replay/memory/sm/instruction_fetches.h"

namespace heddle::replay {

FetchResult InstructionFetches::FetchAfterMiss(uint64_t line, uint64_t its_own, uint32_t fetcher, Cycle now,
                                               bool& queued) {
  Cache& cache = cache_.cache();
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
