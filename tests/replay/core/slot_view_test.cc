// What policies see of slots that wait: what they lack to issue, and when a long wait begins and ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/replay/core/ibuffer_harness.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

using Log = std::vector<std::string>;

std::string_view Name(Lack lack) {
  constexpr std::array<std::string_view, 10> kNames = {"nothing",     "unit",   "result",  "memory",   "far memory",
                                                       "instruction", "branch", "barrier", "decision", "warp"};
  return kNames[static_cast<size_t>(lack)];
}

// Writes down what slot 0 lacks before selection, whenever that changes, and long waits. May park a slot that waits.
class Watcher final : public SplittingPolicy {
 public:
  Watcher(Log& log, bool parks) : log_(log), parks_(parks) { log_.clear(); }
  uint32_t interests() const override { return kEveryCycle | kLongLatency; }
  void SetIssueView(const IssueView& view) override { view_ = &view; }
  void Tick(WarpEditor& editor) override {
    const Lack lack = view_->LackOf(0);
    std::string seen(Name(lack));
    if (const auto awaited = view_->AwaitedRegister(0)) absl::StrAppend(&seen, " r", *awaited);
    if (seen != seen_) log_.push_back(absl::StrCat(editor.now(), " ", seen));
    seen_ = seen;
  }
  void LongLatency(SlotId slot, WarpEditor& editor) override {
    log_.push_back(absl::StrCat(editor.now(), " waits ", slot));
    if (parks_ && editor.table().state[slot] == SlotState::kOffered) editor.Park(slot);
  }
  void LongLatencyEnded(SlotId slot, WarpEditor& editor) override {
    log_.push_back(absl::StrCat(editor.now(), " over ", slot));
    if (editor.table().state[slot] == SlotState::kParked) editor.Offer(slot);
  }

 private:
  Log& log_;
  const bool parks_;
  const IssueView* view_ = nullptr;
  std::string seen_;
};

// 0 a load of r1, 1 its use, 2 the exit.
trace::v1::KernelProgram LoadAndUse() {
  trace::v1::KernelProgram program = ProgramBuilder("load").Load().Alu().Exit().Build();
  SetRegisters(program, 0, {1}, {9});
  SetRegisters(program, 1, {2}, {1});
  return program;
}

// Both are fetched in 0, and in the buffer at the end of 1. The load issues in 2 and has its data in 22. Then the use
// issues, and the buffer is empty: the exit is fetched in 22, issues in 24 and is over in 28. Parked or not, the warp
// goes on in the cycle of its data.
TEST(SlotView, SaysWhatAWarpLacksWithInstructionBuffers) {
  for (const bool parks : {false, true}) {
    static Log log;
    const std::string name = absl::StrCat("watches_buffers_", parks);
    RegisterPolicy(name, [parks](const DivergenceContext&) { return std::make_unique<Watcher>(log, parks); });
    RunOptions options = Small();
    options.divergence = name;
    const std::vector<ThreadTrace> threads(4, Thread({}, {0x1000}));
    const Outcome outcome = RunTrace(*MakeTrace(LoadAndUse(), 1, threads), options);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(Issues(outcome), "2:0 22:1 24:2");
    EXPECT_THAT(log, ElementsAre("0 instruction", "2 nothing", "2 waits 0", "3 far memory r1", "22 over 0",
                                 "22 nothing", "23 instruction", "24 nothing", "25 branch", "28 warp"));
  }
}

// The toy machine: an instruction at a time. A load takes what its memory does, here 20 cycles.
TEST(SlotView, SaysWhatAWarpLacksUnderTheSinglePipeline) {
  static Log log;
  RegisterPolicy("watches_pipeline", [](const DivergenceContext&) { return std::make_unique<Watcher>(log, false); });
  RunOptions options;
  options.divergence = "watches_pipeline";
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(20);
  const std::vector<ThreadTrace> threads(4, Thread({}, {0x1000}));
  const Outcome outcome = RunTrace(*MakeTrace(LoadAndUse(), 1, threads), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(log, ElementsAre("0 nothing", "0 waits 0", "1 far memory", "20 over 0", "20 nothing"));
}

// Two slots want the one SFU; the one that comes second lacks nothing but the unit.
class UnitWatcher final : public SplittingPolicy {
 public:
  explicit UnitWatcher(Log& log) : log_(log) { log_.clear(); }
  uint32_t interests() const override { return kEveryCycle; }
  void SetIssueView(const IssueView& view) override { view_ = &view; }
  void Tick(WarpEditor& editor) override {
    if (view_->LackOf(1) == Lack::kUnit) log_.push_back(absl::StrCat(editor.now()));
  }

 private:
  Log& log_;
  const IssueView* view_ = nullptr;
};

TEST(SlotView, TellsAUnitThatIsTakenFromNothing) {
  static Log log;
  RegisterPolicy("watches_units", [](const DivergenceContext&) { return std::make_unique<UnitWatcher>(log); });
  RunOptions options = Small();
  options.divergence = "watches_units";
  options.scheduler = "oldest";
  trace::v1::KernelProgram program = ProgramBuilder("units").Op(trace::v1::OP_SFU, 2).Exit().Build();
  SetRegisters(program, 0, {1}, {9});
  SetRegisters(program, 1, {2}, {9});
  const Outcome outcome = RunBlock(program, 8, options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // Warp 0 is fetched for in 0, warp 1 in 1. The SFU takes an instruction every 3 cycles: 2 and 5 go to warp 0, the
  // older one, 8 and 11 to warp 1. In these cycles, before the selection, nothing is lacking.
  EXPECT_EQ(Issues(outcome, /*threads=*/true).substr(0, 30), "2:0@0 5:1@0 7:2@0 8:0@4 11:1@4");
  EXPECT_THAT(log, ElementsAre("3", "4", "6", "7", "9", "10"));
}

// A scheduler that asks sees the same; here it lets nothing issue while some slot of the SM waits for far memory.
class Patient final : public WarpScheduler {
 public:
  explicit Patient(const SchedulerContext& context) : context_(context) {}
  bool asks_what_slots_lack() const override { return true; }
  SlotId Pick(const SlotSet& eligible) const override {
    for (SlotId slot = 0; slot < 2; ++slot) {
      if (context_.view->LackOf(slot) == Lack::kFarMemory) return kNoSlot;
    }
    return eligible.First();
  }

 private:
  const SchedulerContext context_;
};

TEST(SlotView, ASchedulerMayAsk) {
  PolicyInfo info;
  info.name = "patient";
  info.summary = "made by a test";
  info.traits.holds_back = true;
  SchedulerRegistry::Get().Register(std::move(info), [](const SchedulerContext& context, const Parameters&) {
    return std::make_unique<Patient>(context);
  });
  RunOptions options = Small();
  options.scheduler = "patient";
  const std::vector<ThreadTrace> threads(8, Thread({}, {0x1000}));
  const Outcome outcome = RunTrace(*MakeTrace(LoadAndUse(), 1, threads), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // Warp 1 has its load in the buffer from 3 on. It stays there until warp 0 has its data.
  for (const LoggedIssue& issue : outcome.log.issues()) {
    if (issue.members[0].thread == 4) {
      EXPECT_GE(issue.cycle, 22);
      break;
    }
  }
}

}  // namespace
}  // namespace heddle::replay
