// Small programs of copies and barriers, and a machine to count their cycles by hand.
#ifndef HEDDLE_TESTS_REPLAY_CORE_ASYNC_HARNESS_H_
#define HEDDLE_TESTS_REPLAY_CORE_ASYNC_HARNESS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {

inline constexpr uint64_t kGlobal = 0x7000'0000'0000;
inline constexpr uint64_t kShared = 0x100'0000;  // the window of MakeHeader

// The toy machine (every instruction takes a cycle), but for 20 cycles to global memory and 5 to shared memory, and for
// what `assignments` say.
RunOptions Slow(const std::vector<std::string>& assignments = {});

// So many instructions and an exit, to be made others.
trace::v1::KernelProgram Straight(int instructions);
// Threads with the same two addresses for each copy, a few bytes apart.
std::vector<trace::testing::ThreadTrace> Threads(uint32_t count, int copies);
// A block of one warp of four threads: a transaction barrier for four arrivals, a copy, arrivals behind it, a wait for
// the phase, and the exit.
std::unique_ptr<trace::TraceReader> ArrivalsBehindACopy();

// Runs it, and again with every cycle run, which must not change the issues. Errors of the run fail the test.
Outcome RunTicking(const trace::TraceReader& trace, RunOptions options);
// The issues of RunTicking.
std::string LogOf(const trace::TraceReader& trace, const RunOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_CORE_ASYNC_HARNESS_H_
