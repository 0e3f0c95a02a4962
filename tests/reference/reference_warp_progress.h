// How unequal the warps of thread blocks run, worked out from the recorded history of every thread of a block.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_WARP_PROGRESS_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_WARP_PROGRESS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "proto/result.pb.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// One for all SMs of a launch. Everything is written down, and looked at when the block retires: phases (BAWS paper,
// equation 1), the shares of barriers, and the tails of the virtual-warp paper. A static warp waits while all its
// threads that have not exited wait at barriers.
class ReferenceWarpProgress {
 public:
  // A block's place: SM and place in it.
  using Place = std::pair<uint32_t, size_t>;
  enum class Event { kArrived, kResumed, kExited };

  // `blocks` in the launch, `resident` at once in the whole machine. Instructions per warp make sense only where the
  // threads of a slot are of one static warp (`static_warps`).
  ReferenceWarpProgress(uint64_t blocks, uint64_t resident, uint32_t warp_size, bool static_warps)
      : blocks_(blocks), resident_(resident), warp_size_(warp_size), static_warps_(static_warps) {}

  // The block's threads may issue from cycle `first` on. `stalls`, here and below: port cycles of the SM without an
  // issue so far.
  void Admitted(Place place, const std::vector<ThreadId>& threads, Cycle first, uint64_t stalls);
  // Something happened to a hardware thread of the block in cycle `at`.
  void Happened(Place place, Event event, ThreadId thread, Cycle at, uint64_t stalls);
  // A barrier of the block lets its threads go.
  void Released(Place place) { histories_.at(place).moments.push_back(Moment{.release = true}); }
  // A warp with this lowest thread issued an instruction.
  void Issued(Place place, ThreadId lowest) { ++histories_.at(place).instructions[lowest / warp_size_]; }
  // How often the present or last warp of the hardware warp issued, as a dispatcher is told; `place` is that of its
  // block.
  uint64_t InstructionsOf(Place place, uint32_t hw_warp) const {
    const auto history = histories_.find(place);
    if (!static_warps_ || history == histories_.end()) return 0;
    const auto issues = history->second.instructions.find(hw_warp);
    return issues == history->second.instructions.end() ? 0 : issues->second;
  }
  // The block has left; `end` is the first cycle without it.
  void Retired(Place place, Cycle end, uint64_t stalls);

  void Fill(result::v1::WarpProgress& out) const;

 private:
  struct Moment {
    bool release = false;  // else something of one thread
    Event event = Event::kArrived;
    ThreadId thread = 0;
    Cycle at = 0;
    uint64_t stalls = 0;
  };
  struct History {
    Cycle first = 0;
    uint64_t stalls = 0;  // before `first`
    std::map<uint32_t, std::vector<ThreadId>> hw_warps;
    std::map<uint32_t, uint64_t> instructions;  // by hardware warp
    std::vector<Moment> moments;
  };
  struct HwWarp {
    Cycle exit = 0;
    Cycle waited = 0;  // at barriers
  };
  // Walks through the history, adds its phases, and returns the hardware warps' times.
  std::map<uint32_t, HwWarp> Walk(const History& history);
  void AddPhase(const std::vector<Cycle>& times);

  const uint64_t blocks_;
  const uint64_t resident_;
  const uint32_t warp_size_;
  const bool static_warps_;
  std::map<Place, History> histories_;

  // One element per phase, block, or warp: what the results are means of.
  std::vector<double> phase_shares_;
  uint64_t phase_idle_ = 0;
  uint64_t phase_capacity_ = 0;
  std::vector<double> block_shares_;
  std::vector<double> barrier_shares_;
  std::vector<double> tails_;
  std::vector<double> tail_stalls_;
  std::map<uint64_t, uint64_t> cycle_blocks_;        // by threshold
  std::map<uint64_t, uint64_t> instruction_blocks_;  // by threshold
  uint64_t retired_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_WARP_PROGRESS_H_
