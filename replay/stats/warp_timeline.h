// When the warps of some thread blocks ran, and when they waited.
#ifndef HEDDLE_REPLAY_STATS_WARP_TIMELINE_H_
#define HEDDLE_REPLAY_STATS_WARP_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "proto/result.pb.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// The phases between barriers of the static warps of the first blocks of a launch, all SMs together.
class WarpTimelines {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Of the `blocks` recorded thread blocks that have the lowest numbers in the grid.
  explicit WarpTimelines(uint64_t blocks) : blocks_(blocks) {}

  // `place`: among the recorded ones, in ascending order of their numbers.
  bool Records(uint64_t place) const { return place < blocks_; }
  // A warp is dispatched; its number for AddPhase.
  uint32_t Begin(uint64_t block, uint32_t warp, uint32_t sm) {
    warps_.push_back({block, warp, sm, {}});
    return static_cast<uint32_t>(warps_.size() - 1);
  }
  void AddPhase(uint32_t warp, Cycle start, Cycle arrival, Cycle release) {
    warps_[warp].phases.push_back({start, arrival, release});
  }

  // By block, then by warp.
  void Fill(result::v1::LaunchResult& out);

 private:
  struct Phase {
    Cycle start = 0;
    Cycle arrival = 0;
    Cycle release = 0;
  };
  struct WarpPhases {
    uint64_t block = 0;  // linear index in the grid
    uint32_t warp = 0;
    uint32_t sm = 0;
    std::vector<Phase> phases;
  };

  const uint64_t blocks_;
  std::vector<WarpPhases> warps_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_WARP_TIMELINE_H_
