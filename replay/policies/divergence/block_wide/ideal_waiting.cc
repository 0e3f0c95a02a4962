#include "replay/policies/divergence/block_wide/ideal_waiting.h"

#include <algorithm>
#include <bit>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

bool IdealWaiting::Fits(const Candidate& candidate) const {
  for (const BranchSide& side : sides_.subspan(candidate.first, candidate.count)) {
    if ((Missing(side) & tight_[side.path]) != 0) return false;
  }
  return true;
}

void IdealWaiting::Change(const Candidate& candidate, int by) {
  for (const BranchSide& side : sides_.subspan(candidate.first, candidate.count)) {
    ForEachLane(Missing(side), [&](int lane) {
      const LaneMask bit = LaneMask{1} << lane;
      int32_t& slack = Slack(side.path, lane);
      slack += by;
      if (slack == 0) {
        tight_[side.path] |= bit;
      } else {
        tight_[side.path] &= ~bit;
      }
    });
  }
}

void IdealWaiting::Search(size_t next, uint32_t away) {
  best_ = std::max(best_, away);
  for (size_t i = next; i < candidates_.size(); ++i) {
    if (away + static_cast<uint32_t>(candidates_.size() - i) <= best_) return;
    if (!Fits(candidates_[i])) continue;
    Change(candidates_[i], -1);
    Search(i + 1, away + 1);
    Change(candidates_[i], 1);
  }
}

uint32_t IdealWaiting::Fewest(std::span<const BranchSide> sides, std::span<const LaneCounts> counts, int warp_size) {
  uint32_t saved = 0;
  for (const LaneCounts& path : counts) saved += path.active() - path.needed();
  if (saved == 0) return 0;

  sides_ = sides;
  every_ = warp_size == kMaxLanes ? ~LaneMask{0} : (LaneMask{1} << warp_size) - 1;
  slack_.assign(counts.size() * kMaxLanes, 0);
  tight_.assign(counts.size(), 0);
  for (uint32_t path = 0; path < counts.size(); ++path) {
    for (int lane = 0; lane < warp_size; ++lane) {
      Slack(path, lane) = static_cast<int32_t>(counts[path].needed() - counts[path].of_lane(lane));
      if (Slack(path, lane) == 0) tight_[path] |= LaneMask{1} << lane;
    }
  }

  // Warps all of whose threads take a path that is not compacted never have to wait.
  // So do warps that fill every lane of their paths; all others have a part in the search.
  uint32_t in_question = 0;
  candidates_.clear();
  for (size_t i = 0; i < sides.size();) {
    Candidate candidate{i, 0, 0};
    for (; i < sides.size() && sides[i].warp == sides[candidate.first].warp; ++i) {
      ++candidate.count;
      candidate.missing += std::popcount(Missing(sides[i]));
    }
    if (candidate.missing == 0) continue;
    ++in_question;
    if (Fits(candidate)) candidates_.push_back(candidate);
  }
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.missing < b.missing; });
  best_ = 0;
  if (candidates_.size() <= kExactWarps) {
    Search(0, 0);
  } else {
    for (const Candidate& candidate : candidates_) {
      if (!Fits(candidate)) continue;
      Change(candidate, -1);
      ++best_;
    }
  }
  return in_question - best_;
}

}  // namespace heddle::replay
