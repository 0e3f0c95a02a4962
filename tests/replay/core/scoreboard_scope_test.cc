// For whom a register with a write pending is pending: the hardware warp, a slot, or a thread, as the policy asks.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replay/seams/divergence_policy.h"
#include "tests/replay/core/ibuffer_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// Both sides of a branch run, as slots of their own, with such scoreboards.
RunOptions Sides(ScoreboardScope scope) {
  const std::string name = "sides_" + std::to_string(static_cast<int>(scope));
  if (DivergenceRegistry::Get().entries().count(name) == 0) {
    PolicyInfo info;
    info.name = name;
    info.summary = "made by a test";
    info.traits.scoreboard.scope = scope;
    DivergenceRegistry::Get().Register(std::move(info), [](const DivergenceContext&, const Parameters&) {
      return std::make_unique<SplittingPolicy>();
    });
  }
  RunOptions options = Small();
  options.divergence = name;
  options.scheduler = "oldest";
  return options;
}

// 0 start; 1 left and 3 right call a function: 4, 5, 6 a chain of loads, 7 the return; 2 the exit of both.
trace::v1::KernelProgram TwoCalls() {
  trace::v1::KernelProgram program = ProgramBuilder("calls")
                                         .Block("start")
                                         .Branch("left", "right")
                                         .Block("left")
                                         .Call("chase", "end")
                                         .Block("end")
                                         .Exit()
                                         .Block("right")
                                         .Call("chase", "end")
                                         .Function("chase")
                                         .Block("loads")
                                         .Load()
                                         .Load()
                                         .Load()
                                         .Return()
                                         .Build();
  for (int load = 4; load < 7; ++load) SetRegisters(program, load, {1}, {1});
  return program;
}

uint64_t LoadCycles(ScoreboardScope scope, std::string* issues = nullptr) {
  std::vector<ThreadTrace> threads;
  for (const uint8_t side : {0, 1, 0, 1}) threads.push_back(Thread({side}, {0x1000, 0x2000, 0x3000}));
  const Outcome outcome = RunBoth(*MakeTrace(TwoCalls(), 1, threads), Sides(scope));
  if (issues != nullptr) *issues = Issues(outcome, /*threads=*/true);
  uint64_t first = 0;
  uint64_t last = 0;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    if (issue.members[0].pc == 4 && first == 0) first = issue.cycle;
    if (issue.members[0].pc == 7) last = issue.cycle;
  }
  return last - first;
}

// Each load takes 20 cycles. With one scoreboard per warp the two chains of three take turns, six loads one after the
// other, though no thread needs what the other side loads: the last one issues 100 cycles after the first. With more
// than one they run side by side, 40 cycles each.
TEST(ScoreboardScope, SidesThatCallOneFunctionDoNotWaitForEachOther) {
  const uint64_t warp = LoadCycles(ScoreboardScope::kWarp);
  EXPECT_GE(warp, 100);
  for (const ScoreboardScope scope : {ScoreboardScope::kSubWarp, ScoreboardScope::kThread}) {
    const uint64_t own = LoadCycles(scope);
    EXPECT_GE(own, 40);
    EXPECT_LT(own, 50);
  }
}

// 0 a load, 1 the branch that does not need it; 2 left and 4 right use it; 3, 5 exits.
trace::v1::KernelProgram UsesBehindABranch() {
  trace::v1::KernelProgram program = ProgramBuilder("uses")
                                         .Block("start")
                                         .Load(trace::v1::SPACE_GENERIC)
                                         .Branch("left", "right")
                                         .Block("left")
                                         .Alu()
                                         .Exit()
                                         .Block("right")
                                         .Alu()
                                         .Exit()
                                         .Build();
  SetRegisters(program, 0, {1}, {9});
  SetRegisters(program, 1, {}, {8});
  SetRegisters(program, 2, {2}, {1});
  SetRegisters(program, 4, {2}, {1});
  return program;
}

std::unique_ptr<trace::TraceReader> NearAndFar() {
  trace::v1::FileHeader header = trace::testing::MakeHeader();
  header.clear_window();
  auto& shared = *header.add_window();
  shared.set_space(trace::v1::SPACE_SHARED);
  shared.set_base(0x100000);
  shared.set_bytes(0x1000);
  std::vector<ThreadTrace> threads;
  for (const uint8_t side : {0, 1, 0, 1}) {
    threads.push_back(Thread({side}, {side == 0 ? uint64_t{0x100000} : uint64_t{0x5000}}));
  }
  return MakeTrace(UsesBehindABranch(), 1, threads, header);
}

// The cycle in which the left side uses what was loaded.
uint64_t UseOfTheLeft(ScoreboardScope scope) {
  const Outcome outcome = RunBoth(*NearAndFar(), Sides(scope));
  for (const LoggedIssue& issue : outcome.log.issues()) {
    if (issue.members[0].pc == 2) return issue.cycle;
  }
  return 0;
}

// The load issues in 2. Threads of the left side have their data after 5 cycles, from shared memory, the others after
// 20. Whoever splits a slot takes along what is pending for it: as a whole, or thread by thread.
TEST(ScoreboardScope, PartsOfASlotThatWasSplitWaitForItsWrites) {
  EXPECT_EQ(UseOfTheLeft(ScoreboardScope::kWarp), 22);
  EXPECT_EQ(UseOfTheLeft(ScoreboardScope::kSubWarp), 22);
  const uint64_t thread = UseOfTheLeft(ScoreboardScope::kThread);
  EXPECT_GE(thread, 7);
  EXPECT_LT(thread, 22);
}

}  // namespace
}  // namespace heddle::replay
