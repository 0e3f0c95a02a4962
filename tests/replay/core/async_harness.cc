#include "tests/replay/core/async_harness.h"

#include <gtest/gtest.h>

#include <utility>

#include "replay/machine/machine.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {

using trace::testing::MakeTransactionBarrier;
using trace::testing::ThreadTrace;
using trace::v1::Async;
using trace::v1::KernelProgram;

RunOptions Slow(const std::vector<std::string>& assignments) {
  RunOptions options;
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(20);
  options.machine.mutable_memory()->mutable_fixed()->set_shared_cycles(5);
  for (const std::string& assignment : assignments) EXPECT_TRUE(Override(options.machine, assignment).ok());
  EXPECT_TRUE(CheckMachine(options.machine).ok());
  return options;
}

KernelProgram Straight(int instructions) {
  return trace::testing::ProgramBuilder("async").Alu(instructions).Exit().Build();
}

std::vector<ThreadTrace> Threads(uint32_t count, int copies) {
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < count; ++t) {
    std::vector<uint64_t> addresses;
    for (int i = 0; i < copies; ++i) {
      addresses.push_back(kGlobal + 16 * t);
      addresses.push_back(kShared + 16 * t);
    }
    threads.push_back(Thread({}, std::move(addresses)));
  }
  return threads;
}

std::unique_ptr<trace::TraceReader> ArrivalsBehindACopy() {
  KernelProgram program = Straight(4);
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 4);
  trace::testing::MakeCopy(*program.mutable_instruction(1));
  MakeTransactionBarrier(*program.mutable_instruction(2), Async::BARRIER_COPIES);
  program.mutable_instruction(2)->set_mnemonic("cp.async.mbarrier.arrive.noinc.shared.b64");
  MakeTransactionBarrier(*program.mutable_instruction(3), Async::BARRIER_WAIT, 1);
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.push_back(Thread({}, {kShared, kGlobal + 16 * t, kShared + 64 + 16 * t, kShared, kShared}));
  }
  return MakeTrace(program, 1, threads);
}

Outcome RunTicking(const trace::TraceReader& trace, RunOptions options) {
  Outcome outcome = RunTrace(trace, options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  options.force_tick = true;
  const Outcome ticking = RunTrace(trace, options);
  EXPECT_EQ(outcome.log.text(), ticking.log.text());
  return outcome;
}

std::string LogOf(const trace::TraceReader& trace, const RunOptions& options) {
  return RunTicking(trace, options).log.text();
}

}  // namespace heddle::replay
