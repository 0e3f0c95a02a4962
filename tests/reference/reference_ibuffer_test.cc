// The reference core with instruction buffers against cycles that were worked out by hand from
// docs/reference/timing.md.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "replay/seams/fetch_policy.h"
#include "tests/reference/reference_engine.h"
#include "tests/reference/small_machine.h"
#include "tests/traces/program_builder.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;

// The lowest slot. Enough where one warp matters.
struct LowestFirst final : FetchPolicy {
  SlotId Pick(const FetchView& view) const override {
    return view.eligible.empty() ? view.at_barrier.First() : view.eligible.First();
  }
};
HEDDLE_FETCH_POLICY(PolicyInfo{.name = "test_lowest", .summary = "The lowest slot", .source = "tests"},
                    [](const FetchContext&, const Parameters&) { return std::make_unique<LowestFirst>(); });

// "2:0 6:1": instruction 0 issues in cycle 2. Ports and warps are told apart by the first thread, if there are several:
// "2:0@4".
class Log final : public IssueObserver {
 public:
  explicit Log(bool threads) : threads_(threads) {}
  void Issued(const IssueEvent& event) override {
    text_ += (text_.empty() ? "" : " ") + std::to_string(event.cycle) + ":" + std::to_string(event.lanes[0].pc);
    if (threads_) text_ += "@" + std::to_string(event.lanes[0].thread);
  }
  const std::string& text() const { return text_; }

 private:
  bool threads_;
  std::string text_;
};

struct ReferenceRun {
  std::string issues;
  result::v1::LaunchResult launch;
};

// One block of `threads` threads that all decide alike, and access addresses from 4 times their number on.
ReferenceRun Replay(const trace::v1::KernelProgram& program, uint32_t threads, const machine::v1::Machine& machine,
                    std::vector<uint8_t> decisions = {}, size_t accesses = 0) {
  const trace::testing::TemporaryFile file("reference_ibuffer");
  auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader(), {});
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE((*writer)->AddProgram(program).ok());
  EXPECT_TRUE((*writer)->BeginLaunch(trace::testing::MakeLaunch(0, 1, threads)).ok());
  std::vector<std::vector<uint64_t>> addresses(threads);
  std::vector<trace::ThreadRecord> records;
  for (uint32_t t = 0; t < threads; ++t) {
    addresses[t].assign(accesses, 0x1000 + 4 * t);
    records.push_back({decisions, addresses[t]});
  }
  EXPECT_TRUE((*writer)->AddBlock(0, records, trace::TraceWriter::kNoExpectation).ok());
  EXPECT_TRUE((*writer)->EndLaunch().ok());
  EXPECT_TRUE((*writer)->Finish().ok());
  const auto reader = trace::TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  Log log(threads > 4);
  Configuration configuration;
  configuration.fetch = {"test_lowest", ""};
  const auto result = ReplayByReference(**reader, configuration, machine, &log);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  return {log.text(), result->launches.at(0)};
}

// ProgramBuilder's arithmetic reads what the instruction before it wrote.
TEST(ReferenceBufferCore, AChainOfDependentAddsIssuesEveryLatency) {
  const ReferenceRun run = Replay(ProgramBuilder("chain").Alu(3).Exit().Build(), 4, SmallIBufferMachine());
  // Fetched in 0, decoded in 1. The exit reads nothing; its result is there in 15, where the block retires.
  EXPECT_EQ(run.issues, "2:0 6:1 10:2 11:3");
  EXPECT_EQ(run.launch.cycles(), 16);
}

TEST(ReferenceBufferCore, OperandReadAndWriteBackLengthenTheChain) {
  machine::v1::Machine machine = SmallIBufferMachine();
  machine.mutable_core()->mutable_units()->set_operand_read_cycles(2);
  machine.mutable_core()->mutable_units()->set_write_back_cycles(1);
  const ReferenceRun run = Replay(ProgramBuilder("chain").Alu(3).Exit().Build(), 4, machine);
  EXPECT_EQ(run.issues, "2:0 9:1 16:2 17:3");
  EXPECT_EQ(run.launch.cycles(), 17 + 7 + 1);
}

TEST(ReferenceBufferCore, ABranchFlushesAndTheWarpIsFetchedForInTheCycleOfItsResult) {
  // 0 add, 1 branch, once round.
  const trace::v1::KernelProgram program =
      ProgramBuilder("loop").Block("head").Alu(1).Branch("end", "head").Block("end").Exit().Build();
  const ReferenceRun run = Replay(program, 4, SmallIBufferMachine(), {1, 0});
  // Add 2, branch 6 (it reads the add's result), its result in 10: fetch in 10, issue in 12. The second time the branch
  // is not taken: the exit follows, but was not buffered, since nothing is fetched behind an unresolved branch.
  EXPECT_EQ(run.issues, "2:0 6:1 12:0 16:1 22:2");
}

TEST(ReferenceBufferCore, MicroOperationsTakeTheUnitOneAfterAnother) {
  trace::v1::KernelProgram program =
      ProgramBuilder("sfu").Op(trace::v1::OP_SFU).Op(trace::v1::OP_SFU).Alu(1).Exit().Build();
  for (int i = 0; i < 2; ++i) {
    program.mutable_instruction(i)->clear_src();
    program.mutable_instruction(i)->set_dst(0, static_cast<uint32_t>(i + 1));
    program.mutable_instruction(i)->set_micro_ops(2);
  }
  program.mutable_instruction(2)->clear_src();
  program.mutable_instruction(2)->add_src(2);
  const ReferenceRun run = Replay(program, 4, SmallIBufferMachine());
  // The unit is taken for 2 x 3 cycles; the second result is there 3 + 10 cycles after issue.
  EXPECT_EQ(run.issues, "2:0 8:1 21:2 22:3");
}

TEST(ReferenceBufferCore, AWriteWaitsForAWriteOfTheSameRegister) {
  trace::v1::KernelProgram program = ProgramBuilder("waw").Load().Alu(1).Exit().Build();
  program.mutable_instruction(1)->clear_src();
  program.mutable_instruction(1)->set_dst(0, program.instruction(0).dst(0));
  const ReferenceRun run = Replay(program, 4, SmallIBufferMachine(), {}, 1);
  // The buffer is empty only after the second instruction: the exit is fetched in 22.
  EXPECT_EQ(run.issues, "2:0 22:1 24:2");
}

TEST(ReferenceBufferCore, BanksServeOneReadPerCycleTheOldestFirst) {
  machine::v1::Machine machine = SmallIBufferMachine();
  machine.mutable_core()->mutable_units()->set_register_banks(4);
  trace::v1::KernelProgram program = ProgramBuilder("banks").Alu(3).Exit().Build();
  for (int i = 0; i < 3; ++i) {
    program.mutable_instruction(i)->clear_src();
    program.mutable_instruction(i)->set_dst(0, static_cast<uint32_t>(20 + i));
  }
  for (const uint32_t reg : {1u, 5u, 9u}) program.mutable_instruction(0)->add_src(reg);  // all in bank 1
  program.mutable_instruction(1)->add_src(13);                                           // behind them
  program.mutable_instruction(2)->add_src(21);                                           // what instruction 1 writes
  const ReferenceRun run = Replay(program, 4, machine);
  // Reads of 0 in 3, 4, 5; that of 1, issued in 3, in 6; its result in 10.
  EXPECT_EQ(run.issues, "2:0 3:1 10:2 11:3");
}

TEST(ReferenceBufferCore, WarpsArriveAtABarrierWithLoadsOutstandingAndGoOnInTheNextCycle) {
  const trace::v1::KernelProgram program = ProgramBuilder("barrier").Load().Barrier().Exit().Build();
  const ReferenceRun run = Replay(program, 8, SmallIBufferMachine(), {}, 1);
  // Fetches: slot 0 in 0, slot 1 in 1. The second warp arrives in 5, and both go on in 6; the exits were fetched while
  // they waited.
  EXPECT_EQ(run.issues, "2:0@0 3:0@4 4:1@0 5:1@4 6:2@0 7:2@4");
  // The loads are there in 22 and 23, later than the exits.
  EXPECT_EQ(run.launch.cycles(), 24);
}

}  // namespace
}  // namespace heddle::replay
