// DYNCTA: the worked example of docs/policies/dyncta.md, and a launch under it.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/machine/machine.h"
#include "replay/seams/block_dispatcher.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

std::unique_ptr<BlockDispatcher> Make(const DispatchContext& context) {
  const auto entry = DispatchRegistry::Get().Find("dyncta");
  EXPECT_TRUE(entry.ok()) << entry.status();
  const auto parameters = Parameters::Parse((*entry)->info, "");
  EXPECT_TRUE(parameters.ok()) << parameters.status();
  return (*entry)->make(context, *parameters);
}

// One SM that has done what the test says.
class OneSm final : public SmControl {
 public:
  SmActivity Activity(uint32_t) override { return activity; }
  SmWarps Warps(uint32_t) override { return {}; }
  SmMemoryLoad MemoryLoad(uint32_t) override { return {}; }
  uint32_t FirstHwWarp(uint32_t, uint64_t) override { return 0; }
  void Pause(uint32_t, uint64_t block) override { said += " pause " + std::to_string(block); }
  void Resume(uint32_t, uint64_t block) override { said += " resume " + std::to_string(block); }

  SmActivity activity;
  std::string said;
};

// An SM that holds eight blocks; windows of 2,048 cycles.
class WorkedExample : public testing::Test {
 protected:
  WorkedExample() {
    DispatchContext context;
    context.blocks = 100;
    context.blocks_per_sm = 8;
    context.control = &sm_;
    dispatcher_ = Make(context);
  }
  // What the rounds from `first` on say and send, until the dispatcher wants none before the next window.
  std::string Rounds(Cycle first) {
    sm_.said.clear();
    do {
      dispatcher_->BeginRound(first);
      const SmOccupancy occupancy{resident_, 8};
      const bool accepted = false;
      const bool full = resident_ == 8;
      if (const auto next = full ? std::nullopt : dispatcher_->Next({&occupancy, 1}, {&accepted, 1})) {
        ++resident_;
        sm_.said += " send " + std::to_string(next->block);
      }
    } while (dispatcher_->NextFirst() == ++first);
    return sm_.said;
  }
  std::string Window(Cycle end, uint64_t idle, uint64_t memory) {
    sm_.activity.idle_cycles += idle;
    sm_.activity.memory_cycles += memory;
    sm_.activity.issue_cycles += 2048 - idle - memory;
    EXPECT_EQ(dispatcher_->NextFirst(), end);
    return Rounds(end);
  }
  void Retire(uint64_t block) {
    --resident_;
    dispatcher_->Retired(0, block);
  }
  uint64_t Counter(size_t i) const { return dispatcher_->counters()[i]; }

  OneSm sm_;
  std::unique_ptr<BlockDispatcher> dispatcher_;
  int resident_ = 0;
};

TEST_F(WorkedExample, OfThePage) {
  EXPECT_EQ(Rounds(0), " send 0 send 1 send 2 send 3") << "half of eight";
  EXPECT_EQ(Window(2048, 3, 900), " pause 3") << "too many wait for memory: n = 3";
  EXPECT_EQ(Window(4096, 3, 300), "") << "between the thresholds n stays";
  Retire(1);
  EXPECT_EQ(Rounds(5000), " resume 3") << "before a new block comes";
  Retire(0);
  EXPECT_EQ(Rounds(5100), " send 4") << "no block is paused, and two of three run";
  EXPECT_EQ(Window(6144, 40, 700), " send 5") << "idle goes before memory: n = 4";
  EXPECT_EQ(Window(8192, 0, 50), " send 6") << "hardly anybody waits: n = 5";
  EXPECT_EQ(Window(10240, 0, 384), " pause 6") << "n = 4";
  EXPECT_EQ(Window(12288, 0, 384), " pause 5") << "n = 3";
  EXPECT_EQ(Window(14336, 16, 384), " resume 5") << "n = 4, and who came first goes on first";
  EXPECT_EQ(Counter(0), 7) << "windows";
  EXPECT_EQ(Counter(1), 3) << "raised";
  EXPECT_EQ(Counter(2), 3) << "lowered";
  EXPECT_EQ(Counter(3), 3) << "paused";
  EXPECT_EQ(Counter(4), 2) << "resumed";
  EXPECT_EQ(Counter(5), 3 + 3 + 4 + 5 + 4 + 3 + 4) << "limits";
}

TEST_F(WorkedExample, TheLimitStaysBetweenOneAndTheMost) {
  Rounds(0);
  Cycle end = 0;
  for (int i = 0; i < 6; ++i) Window(end += 2048, 0, 2000);
  EXPECT_EQ(Counter(2), 3) << "from 4 to 1";
  for (int i = 0; i < 12; ++i) Window(end += 2048, 2048, 0);
  EXPECT_EQ(Counter(1), 7) << "from 1 to 8";
  EXPECT_EQ(resident_, 8);
}

// Algorithm 1: memory below the lower threshold raises, memory at the upper one lowers.
TEST_F(WorkedExample, TheThresholdsThemselves) {
  Rounds(0);
  EXPECT_EQ(Window(2048, 15, 128), "") << "n stays 4";
  EXPECT_EQ(Window(4096, 15, 383), "");
  EXPECT_EQ(Window(6144, 15, 127), " send 4") << "n = 5";
  EXPECT_EQ(Window(8192, 15, 384), " pause 4") << "n = 4";
}

// A window in which the SM had no block says nothing.
TEST_F(WorkedExample, AnSmThatHasNotRunKeepsItsLimit) {
  Rounds(0);
  EXPECT_EQ(Rounds(2048), "");
  EXPECT_EQ(Counter(0), 0);
}

// --- the claim of the page, on kernels made for it

constexpr uint64_t kLineBytes = 128;

// Blocks of `warps` warps, each of which reads all `lines` lines of its block again and again, with `alu` instructions
// between two reads.
std::unique_ptr<trace::TraceReader> Rereading(uint32_t blocks, uint32_t warps, uint32_t lines, uint32_t rounds,
                                              int alu) {
  const auto program =
      ProgramBuilder("reread").Block("again").Load().Alu(alu).Branch("out", "again").Block("out").Exit().Build();
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < uint64_t{blocks} * warps * 32; ++t) {
    const uint64_t block = t / 32 / warps;
    ThreadTrace thread;
    for (uint64_t i = 0; i < uint64_t{lines} * rounds; ++i) {
      thread.addresses.push_back(0x7000'0000 + (block * lines + i % lines) * kLineBytes + t % 32 * 4);
      thread.decisions.push_back(i + 1 < uint64_t{lines} * rounds);
    }
    threads.push_back(thread);
  }
  return MakeTrace(program, blocks, threads);
}

// How much faster a launch is under `dyncta` than under `thread_blocks`, on two SMs of `baws_gtx480` with `gto`.
double SpeedUp(const trace::TraceReader& trace) {
  double cycles[2] = {};
  const char* const dispatchers[] = {"thread_blocks", "dyncta"};
  for (int i = 0; i < 2; ++i) {
    RunOptions options;
    options.machine = LoadMachine("baws_gtx480").value();
    options.machine.set_sms(2);
    options.scheduler = "gto";
    options.dispatch = dispatchers[i];
    const Outcome outcome = RunTrace(trace, options);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    if (!outcome.status.ok()) return 0;
    cycles[i] = static_cast<double>(outcome.launch().cycles());
  }
  return cycles[0] / cycles[1];
}

// Eight blocks reread 32 KB, four 16 KB: as much as the data cache holds.
TEST(DynCtaClaim, BlocksThatPushOneAnotherOutOfTheCacheRunFaster) {
  EXPECT_GT(SpeedUp(*Rereading(/*blocks=*/48, /*warps=*/6, /*lines=*/32, /*rounds=*/10, /*alu=*/0)), 1.2);
}

TEST(DynCtaClaim, BlocksThatComputeLoseLittle) {
  EXPECT_GT(SpeedUp(*Rereading(/*blocks=*/96, /*warps=*/6, /*lines=*/1, /*rounds=*/60, /*alu=*/40)), 0.98);
}

// What the page says against it: two warps of a block reread 8 KB, so that hardly two blocks fit. All wait whatever n
// is, and n falls.
TEST(DynCtaClaim, BlocksThatWaitHoweverFewTheyAreRunSlower) {
  EXPECT_LT(SpeedUp(*Rereading(/*blocks=*/48, /*warps=*/2, /*lines=*/64, /*rounds=*/10, /*alu=*/2)), 0.7);
}

// Blocks that only wait for memory one after the other: each load is of a line of its own. All threads come to their
// ends, fewer blocks run at once, and the results say why warps did not issue.
TEST(DynCta, RunsFewerBlocksWhereAllWaitForMemory) {
  constexpr uint32_t kBlocks = 64;
  constexpr uint32_t kRounds = 24;
  const auto program =
      ProgramBuilder("chase").Block("again").Load().Alu(1).Branch("out", "again").Block("out").Exit().Build();
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < uint64_t{kBlocks} * 32; ++t) {
    ThreadTrace thread;
    for (uint64_t round = 0; round < kRounds; ++round) {
      thread.addresses.push_back(0x7000'0000 + (round * kBlocks * 32 + t) * 256);
      thread.decisions.push_back(round + 1 < kRounds);
    }
    threads.push_back(thread);
  }
  const auto trace = MakeTrace(program, kBlocks, threads);
  for (const char* name : {"baws_gtx480", "thesis_8800gtx"}) {
    RunOptions options;
    options.machine = LoadMachine(name).value();
    options.machine.set_sms(2);
    options.machine.mutable_core()->set_max_blocks(8);
    options.machine.mutable_core()->set_registers(0);
    options.dispatch = "dyncta:window=512,memory_low=32,memory_high=96,idle_cycles=64";
    const Outcome outcome = RunTrace(*trace, options);
    ASSERT_TRUE(outcome.status.ok()) << name << ": " << outcome.status;
    const auto& counters = outcome.launch().dispatch_counter();
    EXPECT_GT(counters.at("lowered"), 0) << name;
    EXPECT_GT(counters.at("paused"), 0) << name;
    EXPECT_LT(counters.at("limit_sum"), counters.at("windows") * outcome.launch().blocks_per_sm()) << name;
    EXPECT_GT(outcome.launch().idle_threads().paused(), 0) << name;
    if (outcome.launch().has_stalls()) {
      EXPECT_GT(outcome.launch().warp_cycles().paused(), 0);
    }
    options.force_tick = true;
    EXPECT_EQ(RunTrace(*trace, options).launch().DebugString(), outcome.launch().DebugString()) << name;
  }
}

}  // namespace
}  // namespace heddle::replay
