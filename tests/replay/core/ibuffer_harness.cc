#include "tests/replay/core/ibuffer_harness.h"

#include <gtest/gtest.h>

#include "tests/reference/small_machine.h"

namespace heddle::replay {

using machine::v1::InstructionBuffer;
using machine::v1::OperationTiming;

machine::v1::ExecutionUnits& Units(RunOptions& options) { return *options.machine.mutable_core()->mutable_units(); }
InstructionBuffer& Buffer(RunOptions& options) { return *options.machine.mutable_core()->mutable_ibuffer(); }

void AddTiming(RunOptions& options, OperationTiming::Operation operation, uint32_t latency, uint32_t interval,
               OperationTiming::Unit unit) {
  OperationTiming& timing = *Units(options).add_timing();
  timing.set_operation(operation);
  timing.set_latency(latency);
  timing.set_initiation_interval(interval);
  timing.set_unit(unit);
}

RunOptions Small() {
  RunOptions options;
  options.machine = SmallIBufferMachine();
  return options;
}

std::string Issues(const Outcome& outcome, bool threads) {
  std::string text;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    text += (text.empty() ? "" : " ") + std::to_string(issue.cycle) + ":" + std::to_string(issue.members[0].pc);
    if (threads) text += "@" + std::to_string(issue.members[0].thread);
  }
  return text;
}

Outcome RunBoth(const trace::TraceReader& trace, RunOptions options) {
  options.force_tick = true;
  const Outcome ticking = RunTrace(trace, options);
  options.force_tick = false;
  Outcome outcome = RunTrace(trace, options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  if (outcome.status.ok() && ticking.status.ok()) {
    EXPECT_EQ(outcome.launch().DebugString(), ticking.launch().DebugString());
  }
  return outcome;
}

Outcome RunBlock(const trace::v1::KernelProgram& program, uint32_t threads, const RunOptions& options,
                 const std::vector<uint8_t>& decisions, const std::vector<uint64_t>& addresses) {
  const std::vector<trace::testing::ThreadTrace> alike(threads, Thread(decisions, addresses));
  return RunBoth(*MakeTrace(program, 1, alike), options);
}

std::unique_ptr<trace::TraceReader> TwoSides() {
  const trace::v1::KernelProgram program = trace::testing::ProgramBuilder("sides")
                                               .Block("start")
                                               .Branch("left", "right")
                                               .Block("left")
                                               .Alu(1)
                                               .Jump("end")
                                               .Block("right")
                                               .Alu(1)
                                               .Block("end")
                                               .Exit()
                                               .Build();
  return MakeTrace(program, 1, {Thread({0}), Thread({1}), Thread({0}), Thread({1})});
}

void SetRegisters(trace::v1::KernelProgram& program, int instruction, const std::vector<uint32_t>& written,
                  const std::vector<uint32_t>& read) {
  trace::v1::Instruction& one = *program.mutable_instruction(instruction);
  one.clear_dst();
  one.clear_src();
  for (const uint32_t number : written) one.add_dst(number);
  for (const uint32_t number : read) one.add_src(number);
}

}  // namespace heddle::replay
