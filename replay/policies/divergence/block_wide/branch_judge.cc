#include "replay/policies/divergence/block_wide/branch_judge.h"

#include <algorithm>
#include <utility>

namespace heddle::replay {
namespace {

bool Compacts(const StackEntry& entry, const StackEntry& path) {
  return path.next != entry.branch.target && path.next != entry.rpc;
}

}  // namespace

uint32_t BranchJudge::FewestWaiting(const StackEntry& entry, const StackEntries& entries) {
  sides_.clear();
  lane_counts_.clear();
  for (uint32_t number = 0; number < entry.branch.paths.size(); ++number) {
    const StackEntry& path = entries[entry.branch.paths[number]];
    if (!Compacts(entry, path)) continue;
    for (const BranchSide& side : entry.branch.sides) {
      if (side.path == number) sides_.push_back({side.warp, static_cast<uint32_t>(lane_counts_.size()), side.lanes});
    }
    lane_counts_.push_back(path.counts);
  }
  std::sort(sides_.begin(), sides_.end(), [](const BranchSide& a, const BranchSide& b) {
    return std::pair(a.warp, a.path) < std::pair(b.warp, b.path);
  });
  return ideal_.Fewest(sides_, lane_counts_, warp_size_);
}

std::optional<BranchOutcome> BranchJudge::RecordOutcome(const StackEntry& entry, std::span<const StackEntryId> order,
                                                        const StackEntries& entries) {
  const StagedBranch& branch = entry.branch;
  if (!branch.conditional) {
    counts_.Count(kJumps);
    return std::nullopt;
  }
  BranchOutcome outcome;
  outcome.pc = branch.from.pc();
  outcome.diverged = branch.diverged;
  for (const StackEntryId id : branch.paths) {
    const StackEntry& path = entries[id];
    if (!Compacts(entry, path)) continue;
    outcome.all_active += path.counts.active();
    outcome.all_needed += path.counts.needed();
  }
  for (size_t i = order.size(); i-- > 0;) {
    const StackEntry& path = entries[order[i]];
    if (!Compacts(entry, path)) continue;
    outcome.next_active = path.counts.active();
    outcome.next_needed = path.counts.needed();
    break;
  }
  counts_.Count(kBranches);
  counts_.Count(branch.paths.size() == 1                   ? kUniformBranches
                : outcome.all_needed == outcome.all_active ? kIncompactableBranches
                                                           : kCompactableBranches);
  counts_.Count(kWarpsBefore, outcome.all_active);

  const uint32_t ideal = outcome.all_needed == outcome.all_active ? 0 : FewestWaiting(entry, entries);
  const uint32_t stalled = branch.stalled;
  const uint32_t bypassed = branch.arrivals - stalled;
  counts_.Count(kStallStall, std::min(stalled, ideal));
  counts_.Count(kBypassBypass, std::min(bypassed, branch.arrivals - ideal));
  counts_.Count(kBypassStall, ideal - std::min(ideal, stalled));
  counts_.Count(kStallBypass, stalled - std::min(ideal, stalled));
  if (branch.forked || outcome.next_active == 0) return std::nullopt;
  return outcome;
}

}  // namespace heddle::replay
