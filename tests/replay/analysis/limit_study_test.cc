// The limit studies: worked examples, and the alignment against a search that tries everything.
#include "replay/analysis/limit_study.h"

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/analysis/alignment.h"
#include "tests/random/random.h"
#include "tests/replay/policies/divergence/figures.h"

namespace heddle::replay {
namespace {

constexpr uint64_t kCells = 1 << 20;

// One sequence per thread, written as letters: piece = letter - 'A'.
std::vector<Alignment> Sequences(const std::vector<std::string>& paths) {
  std::vector<Alignment> sequences;
  for (size_t thread = 0; thread < paths.size(); ++thread) {
    Alignment& sequence = sequences.emplace_back();
    for (const char letter : paths[thread]) {
      sequence.push_back({static_cast<uint32_t>(letter - 'A'), LaneMask{1} << thread});
    }
  }
  return sequences;
}

// The fewest instructions that contain every path in its order, by trying every interleaving.
uint64_t ShortestCommonSchedule(const std::vector<std::string>& paths, const std::vector<uint32_t>& weights) {
  using State = std::vector<uint8_t>;  // how far each path is
  std::map<State, uint64_t> reached;
  std::priority_queue<std::pair<uint64_t, State>, std::vector<std::pair<uint64_t, State>>, std::greater<>> open;
  open.push({0, State(paths.size(), 0)});
  while (!open.empty()) {
    const auto [cost, state] = open.top();
    open.pop();
    if (!reached.emplace(state, cost).second) continue;
    bool done = true;
    for (size_t lead = 0; lead < paths.size(); ++lead) {
      if (state[lead] == paths[lead].size()) continue;
      done = false;
      const char letter = paths[lead][state[lead]];
      State next = state;
      for (size_t t = 0; t < paths.size(); ++t) {
        if (state[t] < paths[t].size() && paths[t][state[t]] == letter) ++next[t];
      }
      open.push({cost + weights[static_cast<size_t>(letter - 'A')], next});
    }
    if (done) return cost;
  }
  return 0;
}

// Every thread's columns spell its path.
void ExpectSpells(const Alignment& columns, const std::vector<std::string>& paths) {
  for (size_t thread = 0; thread < paths.size(); ++thread) {
    std::string spelt;
    for (const AlignedColumn& column : columns) {
      if ((column.lanes >> thread & 1) != 0) spelt += static_cast<char>('A' + column.piece);
    }
    EXPECT_EQ(spelt, paths[thread]);
  }
}

// Fung, Figure 3.3: in every iteration even and odd threads part. Letting the odd ones get one iteration ahead aligns
// them: (n + 1)(h + b) + 1 issues instead of n (h + 2 b) + 1, for n iterations of h header and b body instructions.
uint64_t EvenOdd(uint32_t n, uint32_t h, uint32_t b) {
  std::vector<std::string> paths(4);
  for (uint32_t thread = 0; thread < 4; ++thread) {
    for (uint32_t i = 0; i < n; ++i) paths[thread] += (thread + i) % 2 == 0 ? "AB" : "AC";
    paths[thread] += 'D';
  }
  const std::vector<uint32_t> weights = {h, b, b, 1};
  Aligner aligner(weights, kCells);
  const auto best = aligner.BestOfAllTrees(Sequences(paths));
  EXPECT_TRUE(best.has_value());
  ExpectSpells(*best, paths);
  return aligner.Issues(*best);
}

TEST(OptimalReconvergence, OfTheEvenOddLoop) {
  EXPECT_EQ(EvenOdd(4, 1, 1), 11);      // 13 at the post-dominator
  EXPECT_EQ(EvenOdd(4, 2, 4), 31);      // 41
  EXPECT_EQ(EvenOdd(16, 2, 8), 171);    // 289
  EXPECT_EQ(EvenOdd(50, 2, 24), 1327);  // 2501
  EXPECT_EQ(EvenOdd(50, 3, 50), 2704);  // 5151: Fung's 92 % is within reach
}

TEST(Aligner, PrefersTheHeavierOfTwoMatches) {
  const std::vector<uint32_t> weights = {1, 5};
  Aligner aligner(weights, kCells);
  const auto merged = aligner.Merge(Sequences({"AB"})[0], Sequences({"BA"})[0]);
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(aligner.Issues(*merged), 7);
}

TEST(Aligner, RefusesTablesBeyondItsLimit) {
  const std::vector<uint32_t> weights = {1, 1, 1};
  Aligner aligner(weights, 8);
  const std::vector<Alignment> both = Sequences({"ABCABC", "CBACBA"});
  EXPECT_FALSE(aligner.Merge(both[0], both[1]).has_value());
  EXPECT_FALSE(aligner.Saving(both[0], both[1]).has_value());
  EXPECT_FALSE(aligner.Greedy(both).has_value());
}

TEST(Aligner, IsExactForTwoPathsAndSpellsAllOfThem) {
  size_t better_than_greedy = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    std::vector<uint32_t> weights;
    for (int piece = 0; piece < 3; ++piece) weights.push_back(static_cast<uint32_t>(random.In(1, 4)));
    std::vector<std::string> paths(static_cast<size_t>(random.In(1, 4)));
    for (std::string& path : paths) {
      const uint64_t length = random.In(0, 7);
      for (uint64_t i = 0; i < length; ++i) path += static_cast<char>('A' + random.In(0, 2));
    }
    SCOPED_TRACE(seed);
    Aligner aligner(weights, kCells);
    const std::vector<Alignment> sequences = Sequences(paths);
    const auto trees = aligner.BestOfAllTrees(sequences);
    const auto greedy = aligner.Greedy(sequences);
    ASSERT_TRUE(trees.has_value() && greedy.has_value());
    ExpectSpells(*trees, paths);
    ExpectSpells(*greedy, paths);
    const uint64_t exact = ShortestCommonSchedule(paths, weights);
    EXPECT_GE(aligner.Issues(*trees), exact);
    EXPECT_LE(aligner.Issues(*trees), aligner.Issues(*greedy));
    better_than_greedy += aligner.Issues(*trees) < aligner.Issues(*greedy);
    if (paths.size() <= 2) {
      EXPECT_EQ(aligner.Issues(*trees), exact);
    }
    if (paths.size() == 2) {
      EXPECT_EQ(
          aligner.Issues(sequences[0]) + aligner.Issues(sequences[1]) - *aligner.Saving(sequences[0], sequences[1]),
          exact);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(better_than_greedy, 0);
}

LaunchLimits LimitsOf(const Scenario& scenario, LimitOptions options = {}) {
  options.warp_size = 4;
  const auto trace = scenario.Trace();
  const auto launches = StudyLimits(*trace, options);
  EXPECT_TRUE(launches.ok()) << launches.status();
  return launches->at(0);
}

TEST(LimitStudy, OfFungFigure31) {
  const LaunchLimits limits = LimitsOf(FungFigure31());
  EXPECT_EQ(limits.thread_instructions, 18);
  EXPECT_EQ(limits.warps, 1);
  EXPECT_EQ(limits.nrec_issues, 10);
  EXPECT_EQ(limits.pdom_issues, 7);
  EXPECT_EQ(limits.optimal_issues, 7);
  EXPECT_EQ(limits.lane_activity_issues, 7);
}

TEST(LimitStudy, OfFungFigure41) {
  const LaunchLimits limits = LimitsOf(FungFigure41());
  EXPECT_EQ(limits.thread_instructions, 34);
  EXPECT_EQ(limits.lane_activity_issues, 11);
  EXPECT_EQ(limits.pdom_issues, 14);
}

TEST(LimitStudy, OfTheEvenOddLoopWithItsLatch) {
  const LaunchLimits limits = LimitsOf(EvenOddLoop());
  EXPECT_EQ(limits.nrec_issues, 50);
  EXPECT_EQ(limits.pdom_issues, 34);
  EXPECT_EQ(limits.lane_activity_issues, 26);
  EXPECT_EQ(limits.optimal_issues,
            2 * ShortestCommonSchedule({"HXLHYLHXLHYLE", "HYLHXLHYLHXLE"}, std::vector<uint32_t>(26, 1)));
  EXPECT_LT(limits.optimal_issues, limits.pdom_issues);
}

TEST(LimitStudy, CountsTheFirstThreadsOnly) {
  LimitOptions options;
  options.first_threads = 4;
  const LaunchLimits limits = LimitsOf(EvenOddLoop(), options);
  EXPECT_EQ(limits.warps, 1);
  EXPECT_EQ(limits.pdom_issues, 17);
  EXPECT_EQ(limits.lane_activity_issues, 26);
}

// A barrier in every iteration holds the odd threads back: nothing is left to gain (Fung, section 3.3, on bitonic).
TEST(LimitStudy, BarriersKeepIterationsTogether) {
  Scenario scenario = EvenOddLoop();
  scenario.Barrier('L', 0);
  const LaunchLimits limits = LimitsOf(scenario);
  EXPECT_EQ(limits.optimal_issues, limits.pdom_issues);
}

TEST(LimitStudy, CountsWarpsThatAreTooLongAsPdom) {
  LimitOptions options;
  options.max_cells = 4;
  const LaunchLimits limits = LimitsOf(EvenOddLoop(), options);
  EXPECT_EQ(limits.long_warps, 2);
  EXPECT_EQ(limits.optimal_issues, limits.pdom_issues);
}

TEST(LimitStudy, RefusesAWarpSizeOutOfRange) {
  LimitOptions options;
  options.warp_size = 65;
  const auto trace = FungFigure31().Trace();
  EXPECT_THAT(std::string(StudyLimits(*trace, options).status().message()), testing::HasSubstr("not 65"));
}

}  // namespace
}  // namespace heddle::replay
