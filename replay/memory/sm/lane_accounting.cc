#include "replay/memory/sm/lane_accounting.h"

#include <bit>

namespace heddle::replay {
namespace {

// `lanes` accesses of an instruction, the first of which had this outcome.
void Profile(const CacheOutcome& outcome, uint64_t lanes, InstructionMemoryCounters& counters) {
  switch (outcome.result) {
    case CacheResult::kHit:
      counters.hits += lanes;
      break;
    case CacheResult::kPendingHit:
      counters.pending_hits += lanes;
      break;
    case CacheResult::kMiss:
      counters.misses += outcome.fetch ? 1 : lanes;
      if (outcome.fetch) counters.pending_hits += lanes - 1;
      break;
    case CacheResult::kReservationFail:
      break;
  }
}

}  // namespace

void LaneAccounting::Count(const AccessStep& step, const CacheOutcome& outcome, Pc pc, CacheCounters& counters) {
  const uint64_t more = per_lane_ ? static_cast<uint64_t>(std::popcount(step.lanes)) - 1 : 0;
  if (profile_ != nullptr) Profile(outcome, 1 + more, (*profile_)[pc]);
  counters.accesses += more;
  if (outcome.result == CacheResult::kHit) {
    counters.hits += more;
  } else if (outcome.result == CacheResult::kMiss && !outcome.fetch) {
    counters.misses += more;
  } else {
    counters.pending_hits += more;
  }
}

}  // namespace heddle::replay
