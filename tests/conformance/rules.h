// The rules that hold for every policy, scheduler and machine, checked on the log of issues and on the result.
#ifndef HEDDLE_TESTS_CONFORMANCE_RULES_H_
#define HEDDLE_TESTS_CONFORMANCE_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/reference/thread_expansion.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// One launch under one configuration.
struct LoggedLaunch {
  const AcceptedConfiguration* configuration = nullptr;
  const machine::v1::Machine* machine = nullptr;
  const trace::Program* program = nullptr;
  const std::vector<ExpandedBlock>* blocks = nullptr;
  std::vector<IssueEntry> issues;  // sorted
  const result::v1::LaunchResult* result = nullptr;
};

// Each returns the first break of its rules in words, or nothing.

// Each thread executes exactly its trace, in order, once; its block stays on one SM.
std::string CheckExecution(const LoggedLaunch& run);
// An issue holds one PC unless PCs may mix, threads in their home lanes unless any lane will do, no more than a warp,
// and threads of one block unless blocks may mix.
std::string CheckWarps(const LoggedLaunch& run);
// No thread passes a barrier before the others have arrived or ended.
std::string CheckBarriers(const LoggedLaunch& run);
// Ports issue at scheduler cycles only, one issue at a time; the launch takes at least the cycles its issues take.
std::string CheckPorts(const LoggedLaunch& run);
// No fewer issues than the lane-activity oracle of the same scope, lane rule and swizzle.
std::string CheckOracle(const LoggedLaunch& run);
// Sums within the result, and between result and log.
std::string CheckResult(const LoggedLaunch& run);

// Instruction buffers: no thread reads or writes a register before the arithmetic that wrote it last has written it; of
// results of memory only that they take a cycle. By control bits: no thread goes past a barrier that it has raised for
// such a result; registers do not count then.
std::string CheckDependences(const LoggedLaunch& run);

// Instruction buffers: never more instructions in the inputs of units of a class than there are units, and one memory
// instruction at a time.
std::string CheckUnits(const LoggedLaunch& run);

// All of the above.
std::string CheckAll(const LoggedLaunch& run);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_RULES_H_
