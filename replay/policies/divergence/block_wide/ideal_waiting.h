// The ideal that predictions at a branch are measured against.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_IDEAL_WAITING_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_IDEAL_WAITING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/policies/divergence/block_wide/warp_compaction.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// The part of a warp that takes one path of a branch.
struct BranchSide {
  uint32_t warp = 0;  // number among the warps that executed the branch
  uint32_t path = 0;  // number of the path
  LaneMask lanes = 0;
};

// How many warps of one executed branch have to wait so that its compaction is as good as if all of them waited (CAPRI,
// section 5.1: the search over all potential compactions for the minimum number of warps that maximal compaction
// requires).
//
// A warp need not wait if every path that it takes comes out one warp smaller without it. For a set of such warps that
// means: of the warps of a path, as many may stay away without any given lane as that lane has fewer threads than the
// fullest one. The largest such set is found by branch and bound if at most kExactWarps warps come into question, else
// greedily, the warp with the fewest empty lanes first.
class IdealWaiting {
 public:
  static constexpr size_t kExactWarps = 16;

  // `sides` in ascending order of warps; `counts[p]` are those of path p, made of the same sides.
  uint32_t Fewest(std::span<const BranchSide> sides, std::span<const LaneCounts> counts, int warp_size);

 private:
  struct Candidate {
    size_t first = 0;  // sides
    size_t count = 0;
    int missing = 0;  // empty lanes
  };

  bool Fits(const Candidate& candidate) const;
  // Lets the candidate stay away (-1), or takes that back (+1).
  void Change(const Candidate& candidate, int by);
  void Search(size_t next, uint32_t away);
  LaneMask Missing(const BranchSide& side) const { return every_ & ~side.lanes; }
  int32_t& Slack(uint32_t path, int lane) { return slack_[path * kMaxLanes + static_cast<size_t>(lane)]; }

  std::span<const BranchSide> sides_;
  LaneMask every_ = 0;
  std::vector<int32_t> slack_;   // by path and lane: warps without that lane that may still stay away
  std::vector<LaneMask> tight_;  // by path: lanes whose slack is used up
  std::vector<Candidate> candidates_;
  uint32_t best_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_IDEAL_WAITING_H_
