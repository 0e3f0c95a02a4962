// How unequal the warps of a thread block run: phases between barriers, and divergence between warps.
#ifndef HEDDLE_REPLAY_STATS_WARP_PROGRESS_H_
#define HEDDLE_REPLAY_STATS_WARP_PROGRESS_H_

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/result.pb.h"
#include "replay/seams/types.h"
#include "replay/stats/block_tails.h"
#include "replay/stats/mean_share.h"
#include "replay/stats/warp_timeline.h"

namespace heddle::replay {

// Sums over the thread blocks of a launch, all SMs together. They do not depend on the order.
class WarpProgressTotals {
 public:
  // Percentages of table 1 of the virtual-warp paper (Anantpur and Govindarajan).
  static constexpr std::array<uint64_t, 4> kThresholds = {50, 25, 10, 5};

  // `resident`: blocks that the machine holds at once. The share of the tail (DWR) is averaged over all blocks but the
  // last `resident` ones that finish (same paper).
  explicit WarpProgressTotals(uint64_t resident) : tails_(resident) {}

  // One phase of a block: cycles from its start to each warp's arrival.
  void AddPhase(std::span<const Cycle> times);
  struct Block {
    std::span<const Cycle> cycles;           // by warp, from dispatch to its exit
    std::span<const uint64_t> instructions;  // by warp; empty if they are not counted
    std::span<const Cycle> barrier_wait;     // by warp: at barriers, and from its exit to the retirement
    Cycle residence = 0;                     // from dispatch to retirement
    uint64_t stalls = 0;                     // port cycles of the SM without an issue while it was resident
    uint64_t tail_stalls = 0;                // those between its first and its last warp's exit
    Cycle retired = 0;                       // since the launch began
    uint32_t sm = 0;
  };
  // A block has retired. SMs may come in any order: one may be ahead of another.
  void AddBlock(const Block& block);

  void Fill(result::v1::WarpProgress& out) const;

 private:
  MeanShare phase_idle_;  // per phase: sum of (longest - own time) / (warps * longest)
  uint64_t phase_idle_cycles_ = 0;
  uint64_t phase_cycles_ = 0;
  MeanShare block_idle_;    // the same over whole blocks
  MeanShare barrier_wait_;  // per warp: waiting / residence
  std::array<uint64_t, 4> cycles_above_{};
  std::array<uint64_t, 4> instructions_above_{};
  bool counts_instructions_ = false;
  BlockTails tails_;
  MeanShare tail_stalls_;  // per block that has stalls
};

// Follows the static warps of one SM, by hardware warp. A warp arrives at a barrier when the last of
// its live threads does, and exits with its last thread, so that policies which form other warps are measured by the
// same rule. Instructions per warp are
// counted only with `static_warps`: the threads of a slot are of one static warp. `stalls` is the SM's count of port
// cycles without an issue so far, up to `now`.
class WarpProgress {
 public:
  WarpProgress(uint32_t sm, int warp_size, int max_threads, int max_blocks, bool static_warps,
               WarpProgressTotals& totals);

  // A block's threads are in hardware warps first_thread / warp size and following; they may issue from cycle `now` on.
  void Admit(BlockId block, ThreadId first_thread, std::span<const LaneMask> hw_warps, Cycle now, uint64_t stalls);
  // Records the phases of the block's warps, too. After Admit.
  void Record(BlockId block, uint64_t linear_index, WarpTimelines& timelines);
  // A slot issued an instruction of the trace.
  void Issued(const Lanes& lanes) {
    if (static_warps_) ++instructions_[HwWarpOf(lanes, lanes.mask)];
  }
  // Issued for a slot of threads of this hardware warp alone.
  void IssuedOfHwWarp(uint32_t hw_warp, uint64_t issues = 1) {
    if (static_warps_) instructions_[hw_warp] += issues;
  }
  // The threads arrived at a barrier.
  void Arrived(const Lanes& lanes, Cycle now);
  // A barrier of the block opens: the phase ends for the warps that have arrived. (Blocks that use several barriers at
  // once: at whichever of them.)
  void Released(BlockId block);
  // The threads go on behind their barrier.
  void Resumed(const Lanes& lanes, Cycle now);
  // Threads have exited. Calls `warp_exited()` for every static warp without a live thread left.
  template <typename Function>
  void Exited(const Lanes& lanes, LaneMask exited, Cycle now, uint64_t stalls, Function warp_exited) {
    if (static_warps_) {  // all of one hardware warp
      const uint32_t hw_warp = HwWarpOf(lanes, exited);
      if (ThreadsExited(hw_warp, static_cast<uint16_t>(std::popcount(exited)), now, stalls))
        warp_exited(hw_warps_[hw_warp].block);
      return;
    }
    while (exited != 0) {
      // Neighbours are mostly of one hardware warp.
      const uint32_t hw_warp = HwWarpOf(lanes, exited);
      uint16_t threads = 0;
      do {
        ++threads;
        exited &= exited - 1;
      } while (exited != 0 && HwWarpOf(lanes, exited) == hw_warp);
      if (ThreadsExited(hw_warp, threads, now, stalls)) warp_exited(hw_warps_[hw_warp].block);
    }
  }
  void Retired(BlockId block, Cycle now, uint64_t stalls);
  // That the warp in it has issued, if they are counted.
  uint64_t instructions(uint32_t hw_warp) const { return instructions_[hw_warp]; }

 private:
  struct HwWarp {
    BlockId block = 0;
    uint16_t live = 0;     // threads
    uint16_t waiting = 0;  // at a barrier
    bool open = false;     // takes part in the present phase
    Cycle start = 0;       // of the phase
    Cycle arrival = 0;     // of the phase, once all live threads wait or have exited
    Cycle exit = 0;
    Cycle barrier_wait = 0;
    uint32_t timeline = WarpTimelines::kNone;
  };
  struct Block {
    uint32_t first_hw_warp = 0;
    uint32_t hw_warps = 0;
    uint32_t exited = 0;
    Cycle admitted = 0;
    uint64_t stalls_at_admission = 0;
    uint64_t stalls_at_first_exit = 0;
    uint64_t stalls_at_last_exit = 0;
  };

  // Of the lowest lane in the mask.
  uint32_t HwWarpOf(const Lanes& lanes, LaneMask mask) const {
    const uint32_t thread = lanes.thread[static_cast<size_t>(std::countr_zero(mask))];
    return shift_ != 0 ? thread >> shift_ : thread / warp_size_;
  }
  bool ThreadsExited(uint32_t hw_warp, uint16_t threads, Cycle now, uint64_t stalls);
  // Ends the present phase for the hardware warps that have arrived or exited.
  void EndPhase(const Block& block);

  const uint32_t sm_;
  const uint32_t warp_size_;
  const int shift_;  // log2 of the warp size if that is a power of two above 1, else 0: divisions show in the profile
  const bool static_warps_;
  std::vector<HwWarp> hw_warps_;
  // By hardware warp; apart from the rest, which is not looked at for every instruction.
  std::vector<uint64_t> instructions_;
  std::vector<Block> blocks_;
  WarpProgressTotals& totals_;
  WarpTimelines* timelines_ = nullptr;  // if some block's phases are recorded
  std::vector<Cycle> times_;            // scratch, room for all hardware warps
  std::vector<Cycle> waits_;
  std::vector<uint64_t> counts_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_WARP_PROGRESS_H_
