// Phases, tails, and divergence between warps, on hand-made times.
#include "replay/stats/warp_progress.h"

#include <vector>

#include "gtest/gtest.h"

namespace heddle::replay {
namespace {

constexpr int kWarpSize = 4;

// An SM of eight hardware warps of four threads, up to three blocks.
class Sm {
 public:
  explicit Sm(uint64_t resident = 1) : totals(resident), progress(0, kWarpSize, 32, 3, /*static_warps=*/true, totals) {}

  // Block `id` gets `warps` full hardware warps from hardware warp `first` on.
  void Admit(BlockId id, uint32_t first, uint32_t warps, Cycle now) {
    progress.Admit(id, static_cast<ThreadId>(first * kWarpSize), std::vector<LaneMask>(warps, 0xf), now, stalls);
  }
  static Lanes LanesOf(uint32_t hw_warp, LaneMask mask = 0xf) {
    Lanes lanes;
    lanes.mask = mask;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      lanes.thread[lane] = static_cast<ThreadId>(hw_warp * kWarpSize + lane);
    }
    return lanes;
  }
  // The barrier of block 0 opens; the given hardware warps go on.
  void Release(const std::vector<uint32_t>& hw_warps, Cycle now) {
    progress.Released(0);
    for (const uint32_t hw_warp : hw_warps) progress.Resumed(LanesOf(hw_warp), now);
  }
  // Number of warps that have exited with it.
  int Exit(uint32_t hw_warp, Cycle now, LaneMask mask = 0xf) {
    int warps = 0;
    progress.Exited(LanesOf(hw_warp), mask, now, stalls, [&](BlockId) { ++warps; });
    return warps;
  }
  result::v1::WarpProgress Result() const {
    result::v1::WarpProgress out;
    totals.Fill(out);
    return out;
  }

  uint64_t stalls = 0;
  WarpProgressTotals totals;
  WarpProgress progress;
};

// The example of the BAWS paper's equation: three warps arrive after 40, 50 and 30 cycles.
TEST(Phases, UnderUseOfOnePhase) {
  Sm sm;
  sm.Admit(0, 0, 3, 100);
  sm.progress.Arrived(Sm::LanesOf(2), 130);
  sm.progress.Arrived(Sm::LanesOf(0), 140);
  sm.progress.Arrived(Sm::LanesOf(1), 150);
  sm.Release({0, 1, 2}, 151);
  const result::v1::WarpProgress result = sm.Result();
  EXPECT_EQ(result.phases(), 1u);
  EXPECT_EQ(result.phase_idle_cycles(), 30u);
  EXPECT_EQ(result.phase_cycles(), 150u);
  EXPECT_NEAR(result.rtru(), 20.0, 1e-6);
}

TEST(Phases, TheExitClosesTheLastOne) {
  Sm sm;
  sm.Admit(0, 0, 2, 0);
  sm.progress.Arrived(Sm::LanesOf(0), 10);
  sm.progress.Arrived(Sm::LanesOf(1), 20);
  sm.Release({0, 1}, 21);
  EXPECT_EQ(sm.Exit(0, 31), 1);
  EXPECT_EQ(sm.Exit(1, 61), 1);
  sm.progress.Retired(0, 62, 0);
  const result::v1::WarpProgress result = sm.Result();
  EXPECT_EQ(result.phases(), 2u);
  EXPECT_EQ(result.phase_idle_cycles(), 10u + 30u);
  EXPECT_EQ(result.phase_cycles(), 40u + 80u);
  EXPECT_NEAR(result.rtru(), (25.0 + 37.5) / 2, 1e-6);
  EXPECT_NEAR(result.rtru_weighted(), 100.0 * 40 / 120, 1e-6);
  // Whole block: 31 and 61 cycles.
  EXPECT_NEAR(result.rtru_whole_block(), 100.0 * 30 / 122, 1e-6);
  // Warp 0 waits 11 cycles at the barrier and 31 after its exit, warp 1 one and one, of 62.
  EXPECT_NEAR(result.barrier_share(), (100.0 * 42 / 62 + 100.0 * 2 / 62) / 2, 1e-6);
}

TEST(Phases, AWarpThatExitedBeforeABarrierTakesPartInThatPhaseOnly) {
  Sm sm;
  sm.Admit(0, 0, 2, 0);
  sm.Exit(0, 5);
  sm.progress.Arrived(Sm::LanesOf(1), 10);
  sm.Release({1}, 11);
  sm.progress.Arrived(Sm::LanesOf(1), 31);
  sm.Release({1}, 32);
  const result::v1::WarpProgress result = sm.Result();
  EXPECT_EQ(result.phases(), 2u);
  EXPECT_EQ(result.phase_cycles(), 2u * 10 + 1u * 20);
}

TEST(Phases, AWarpArrivesWithItsLastThread) {
  Sm sm;
  sm.Admit(0, 0, 1, 0);
  sm.progress.Arrived(Sm::LanesOf(0, 0b0011), 10);
  EXPECT_EQ(sm.Exit(0, 15, 0b0100), 0);
  sm.progress.Arrived(Sm::LanesOf(0, 0b1000), 20);
  sm.progress.Released(0);
  sm.progress.Resumed(Sm::LanesOf(0, 0b1011), 21);
  EXPECT_EQ(sm.Result().phase_cycles(), 20u);
  EXPECT_EQ(sm.Exit(0, 30, 0b1011), 1);
}

TEST(Phases, ThreadsThatExitCanBeTheLastThatABarrierWaitsFor) {
  Sm sm;
  sm.Admit(0, 0, 1, 0);
  sm.progress.Arrived(Sm::LanesOf(0, 0b0111), 10);
  EXPECT_EQ(sm.Exit(0, 25, 0b1000), 0);
  sm.progress.Released(0);
  sm.progress.Resumed(Sm::LanesOf(0, 0b0111), 26);
  EXPECT_EQ(sm.Result().phase_cycles(), 25u);
}

// Figure 1 of the virtual-warp paper: three blocks one after another; warps take 40, 50, 30 and 50, 30, 40 and the
// rest.
TEST(Tail, Figure1OfTheVirtualWarpPaper) {
  Sm sm(/*resident=*/1);
  const Cycle times[3][3] = {{40, 50, 30}, {50, 30, 40}, {25, 40, 45}};
  Cycle start = 0;
  for (const auto& block : times) {
    sm.Admit(0, 0, 3, start);
    Cycle last = 0;
    for (uint32_t hw_warp = 0; hw_warp < 3; ++hw_warp) last = std::max(last, block[hw_warp]);
    // In order of time; the SM stalls for 10 port cycles before every exit.
    for (Cycle now = 0; now <= last; ++now) {
      for (uint32_t hw_warp = 0; hw_warp < 3; ++hw_warp) {
        if (block[hw_warp] != now) continue;
        sm.stalls += 10;
        sm.Exit(hw_warp, start + now);
      }
    }
    start += last;
    sm.progress.Retired(0, start, sm.stalls);
  }
  const result::v1::WarpProgress result = sm.Result();
  EXPECT_NEAR(result.dwr(), 40.0, 1e-6) << "1 - 30 / 50 for the first two blocks; the last one is not counted";
  EXPECT_NEAR(result.dws(), 100.0 * 20 / 30, 1e-5);
  ASSERT_EQ(result.divergence_size(), 4);
  EXPECT_EQ(result.divergence(0).above_per_cent(), 50u);
  EXPECT_EQ(result.divergence(0).cycle_blocks(), 3u) << "20 of 30, 20 of 30, 20 of 25";
}

TEST(Tail, IsNotDefinedIfTheLaunchFitsTheMachine) {
  Sm sm(/*resident=*/1);
  sm.Admit(0, 0, 1, 0);
  sm.Exit(0, 10);
  sm.progress.Retired(0, 10, 0);
  EXPECT_FALSE(sm.Result().has_dwr());
  EXPECT_FALSE(sm.Result().has_dws()) << "it never stalled";
}

// Three SMs with a block each; the machine holds one block, so that the two that finish first count, whichever SM is
// told of first.
TEST(Tail, TheBlocksThatFinishLastAreNotCountedInWhateverOrderTheyAreTold) {
  struct Block {
    uint32_t sm;
    Cycle first_exit;
    Cycle last_exit;
  };
  const std::vector<Block> blocks = {{0, 10, 40}, {1, 20, 40}, {2, 5, 50}};
  for (const std::vector<size_t>& order : std::vector<std::vector<size_t>>{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    WarpProgressTotals totals(1);
    for (const size_t index : order) {
      const Block& block = blocks[index];
      WarpProgress progress(block.sm, kWarpSize, 32, 3, /*static_warps=*/true, totals);
      progress.Admit(0, 0, std::vector<LaneMask>(2, 0xf), 0, 0);
      progress.Exited(Sm::LanesOf(0), 0xf, block.first_exit, 0, [](BlockId) {});
      progress.Exited(Sm::LanesOf(1), 0xf, block.last_exit, 0, [](BlockId) {});
      progress.Retired(0, block.last_exit, 0);
    }
    result::v1::WarpProgress result;
    totals.Fill(result);
    EXPECT_NEAR(result.dwr(), (100.0 * 30 / 40 + 100.0 * 20 / 40) / 2, 1e-6);
  }
}

TEST(Instructions, AThresholdIsExceededNotReached) {
  Sm sm;
  sm.Admit(0, 0, 2, 0);
  for (int i = 0; i < 20; ++i) sm.progress.Issued(Sm::LanesOf(0));
  for (int i = 0; i < 22; ++i) sm.progress.Issued(Sm::LanesOf(1));
  sm.Exit(0, 10);
  sm.Exit(1, 10);
  sm.progress.Retired(0, 10, 0);
  const result::v1::WarpProgress result = sm.Result();
  EXPECT_EQ(result.divergence(2).above_per_cent(), 10u);
  EXPECT_EQ(result.divergence(2).instruction_blocks(), 0u) << "2 of 20 is 10 per cent";
  EXPECT_EQ(result.divergence(3).instruction_blocks(), 1u);
  EXPECT_EQ(result.divergence(3).cycle_blocks(), 0u);
}

TEST(Instructions, AreNotCountedForWarpsOfSeveralHwWarps) {
  WarpProgressTotals totals(1);
  WarpProgress progress(0, kWarpSize, 32, 3, /*static_warps=*/false, totals);
  progress.Admit(0, 0, std::vector<LaneMask>(1, 0xf), 0, 0);
  progress.Issued(Sm::LanesOf(0));
  progress.Exited(Sm::LanesOf(0), 0xf, 5, 0, [](BlockId) {});
  progress.Retired(0, 5, 0);
  result::v1::WarpProgress result;
  totals.Fill(result);
  EXPECT_FALSE(result.divergence(0).has_instruction_blocks());
}

}  // namespace
}  // namespace heddle::replay
