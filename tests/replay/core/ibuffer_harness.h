// A small machine with instruction buffers, and its issues as text.
#ifndef HEDDLE_TESTS_REPLAY_CORE_IBUFFER_HARNESS_H_
#define HEDDLE_TESTS_REPLAY_CORE_IBUFFER_HARNESS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {

// On the SmallIBufferMachine.
RunOptions Small();

machine::v1::ExecutionUnits& Units(RunOptions& options);
machine::v1::InstructionBuffer& Buffer(RunOptions& options);
void AddTiming(RunOptions& options, machine::v1::OperationTiming::Operation operation, uint32_t latency,
               uint32_t interval, machine::v1::OperationTiming::Unit unit);

// "2:0 6:1@4": instruction 0 issues in cycle 2, instruction 1 in cycle 6; the thread in the lowest lane follows if
// there are several warps.
std::string Issues(const Outcome& outcome, bool threads = false);

// Runs it twice, also with force_tick, which must not change anything. Errors of the run fail the test.
Outcome RunBoth(const trace::TraceReader& trace, RunOptions options);
// One block of `threads` threads that decide alike.
Outcome RunBlock(const trace::v1::KernelProgram& program, uint32_t threads, const RunOptions& options,
                 const std::vector<uint8_t>& decisions = {}, const std::vector<uint64_t>& addresses = {});

// A branch (instruction 0) with two sides of one instruction (1 and 2, the latter taken), which meet at the exit (3);
// and four threads that take them in turn.
std::unique_ptr<trace::TraceReader> TwoSides();

// The registers of one instruction.
void SetRegisters(trace::v1::KernelProgram& program, int instruction, const std::vector<uint32_t>& written,
                  const std::vector<uint32_t>& read);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_CORE_IBUFFER_HARNESS_H_
