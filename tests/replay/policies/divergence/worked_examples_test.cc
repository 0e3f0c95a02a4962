// The worked examples of the papers, cycle by cycle, on a machine that issues one warp per cycle and completes it in
// the next. B[012-] is an issue of block B with threads 0, 1 and 2 in their lanes.
#include <cstddef>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policies/divergence/run_on.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

class WorkedExample : public testing::TestWithParam<Runner> {
 protected:
  std::string Run(const Scenario& scenario, const std::string& divergence, const std::string& scheduler = "fifo") {
    return RunOn(GetParam(), scenario, divergence, scheduler, 4);
  }
  int Issues(const Scenario& scenario, const std::string& divergence, const std::string& scheduler = "fifo") {
    return CountIssues(Run(scenario, divergence, scheduler));
  }
};

INSTANTIATE_TEST_SUITE_P(Runners, WorkedExample, testing::ValuesIn(kRunners), RunnerName);

// ------------------------------------------------------------------------------------------- one warp, Fung Figure 3.1

TEST_P(WorkedExample, PdomRunsTheTakenPathFirstAndRejoinsAtThePostDominator) {
  EXPECT_EQ(Run(FungFigure31(), "pdom"), "A[0123] B[012-] C[0---] D[-12-] E[012-] F[---3] G[0123]");
}

TEST_P(WorkedExample, PdomWithFallThroughFirst) {
  EXPECT_EQ(Run(FungFigure31(), "pdom:taken_first=false"), "A[0123] F[---3] B[012-] D[-12-] C[0---] E[012-] G[0123]");
}

TEST_P(WorkedExample, NrecNeverRejoins) {
  EXPECT_EQ(Run(FungFigure31(), "nrec"),
            "A[0123] B[012-] F[---3] C[0---] D[-12-] G[---3] E[0---] E[-12-] G[0---] G[-12-]");
}

// ------------------------------------------------------------------------------------------ two warps, Fung Figure 4.1

TEST_P(WorkedExample, PdomOnTwoWarps) {
  EXPECT_EQ(Run(FungFigure41(), "pdom"),
            "A[0123] A[4567] B[012-] B[--67] C[0---] C[--6-] D[-12-] D[---7] E[012-] E[--67] F[---3] F[45--] G[0123] "
            "G[4567]");
}

TEST_P(WorkedExample, MimdFillsEveryIssueWithWhateverIsReady) {
  EXPECT_EQ(Run(FungFigure41(), "mimd"),
            "{AAAA}{0123} {AAAA}{4567} {BBBF}{0123} {FFBB}{4567} {CDDG}{0123} {GGCD}{4567} {EEEE}{0126} {GGGE}{0127} "
            "{GG}{67}");
}

TEST_P(WorkedExample, DwfOldestWarpFirst) {
  EXPECT_EQ(Run(FungFigure41(), "dwf:swizzle=none", "dtime"),
            "A[0123] A[4567] B[0127] F[45-3] B[--6-] C[0-6-] D[-127] G[45-3] E[0167] E[--2-] G[0167] G[--2-]");
}

TEST_P(WorkedExample, DwfLowestPcFirst) {
  EXPECT_EQ(Run(FungFigure41(), "dwf:swizzle=none", "dpc"),
            "A[0123] A[4567] B[0127] B[--6-] C[0-6-] D[-127] E[0167] E[--2-] F[45-3] G[0167] G[4523]");
}

TEST_P(WorkedExample, DwfMajorityFirst) {
  EXPECT_EQ(Run(FungFigure41(), "dwf:swizzle=none", "dmaj"),
            "A[0123] A[4567] B[0127] B[--6-] D[-127] E[-127] F[45-3] G[4127] G[-5-3] C[0-6-] E[0-6-] G[0-6-]");
}

TEST_P(WorkedExample, DwfMajorityFirstTiesToTheOldest) {
  EXPECT_EQ(Run(FungFigure41(), "dwf:swizzle=none", "dmaj:tie=oldest"),
            "A[0123] A[4567] B[0127] B[--6-] F[45-3] D[-127] G[45-3] E[-127] G[-127] C[0-6-] E[0-6-] G[0-6-]");
}

TEST_P(WorkedExample, DwfMinorityFirst) {
  EXPECT_EQ(Run(FungFigure41(), "dwf:swizzle=none", "dmin"),
            "A[0123] F[---3] G[---3] B[012-] C[0---] E[0---] G[0---] D[-12-] E[-12-] G[-12-] A[4567] B[--67] C[--6-] "
            "D[---7] F[45--] E[--67] G[4567]");
}

TEST_P(WorkedExample, DwfMinorityThatKeepsItsTurn) {
  EXPECT_EQ(Run(FungFigure41(), "dwf:swizzle=none", "dmin:sticky=true"),
            "A[0123] A[4567] F[45-3] G[45-3] B[0127] B[--6-] C[0-6-] E[0-6-] G[0-6-] D[-127] E[-127] G[-127]");
}

TEST_P(WorkedExample, DwfFewestPostDominatorsFirst) {
  EXPECT_EQ(Run(FungFigure41(), "dwf:swizzle=none", "dpdpri"),
            "A[0123] A[4567] B[0127] F[45-3] D[-127] B[--6-] C[0-6-] E[0127] G[4523] E[--6-] G[0167]");
}

TEST_P(WorkedExample, DwfFewestPostDominatorsFirstCountedPerThread) {
  EXPECT_EQ(Run(FungFigure41(), "dwf:swizzle=none", "dpdpri:pd_rule=per_thread"),
            "A[0123] A[4567] B[0127] F[45-3] B[--6-] C[0-6-] D[-127] G[45-3] E[0167] E[--2-] G[0167] G[--2-]");
}

// --------------------------------------------------------------------------------------------------- CAPRI, Figure 1

TEST_P(WorkedExample, CapriFigure1UnderPdom) {
  EXPECT_EQ(Run(CapriFigure1(), "pdom"),
            "A0[0123] A0[4567] A1[0123] A1[4567] B0[0---] B0[--67] B1[0---] B1[--67] C0[-123] C0[45--] C1[-123] "
            "C1[45--] D0[0123] D0[4567] D1[0123] D1[4567]");
}

// The majority leaves the threads in B behind until D is done: three warps per instruction of D.
TEST_P(WorkedExample, MajorityStarvesTheMinority) {
  const std::string log = Run(CapriFigure1(), "dwf:swizzle=none", "dmaj");
  EXPECT_EQ(CountIssues(log), 16);
  EXPECT_EQ(CountIssuesOf(log, "D0"), 3);
  EXPECT_EQ(CountIssuesOf(log, "D1"), 3);
  EXPECT_LT(log.rfind("C1["), log.find("D0["));
  EXPECT_LT(log.find("D1["), log.find("B0["));
  EXPECT_EQ(Issues(CapriFigure1(), "dwf:swizzle=none", "dpc"), 14);
}

// ------------------------------------------------------------------------------------------------- swizzled home lanes

TEST_P(WorkedExample, EvenOddLoopNeedsSwizzledHomeLanes) {
  EXPECT_EQ(Issues(EvenOddLoop(), "nrec"), 50);
  EXPECT_EQ(Issues(EvenOddLoop(), "pdom"), 34);
  EXPECT_EQ(Issues(EvenOddLoop(), "dwf:swizzle=none", "dpc"), 34);
  EXPECT_EQ(Issues(EvenOddLoop(), "dwf:swizzle=none", "dmaj"), 38);
  EXPECT_EQ(Issues(EvenOddLoop(), "dwf", "dpc"), 26);
  EXPECT_EQ(Issues(EvenOddLoop(), "dwf", "dmaj"), 26);
}

// Even threads take X first: in warp 0 they are in lanes 0 and 2, in warp 1, swizzled, in lanes 1 and 3.
TEST_P(WorkedExample, SwizzleSwapsNeighboursInOddWarps) {
  const std::string log = Run(EvenOddLoop(), "dwf", "dpc");
  EXPECT_THAT(log, testing::StartsWith("H[0123] H[5476] X[0426] Y[5173] L["));
}

}  // namespace
}  // namespace heddle::replay
