// Replays of one trace under several policies, and what they issued: for tests of what must coincide.
#ifndef HEDDLE_TESTS_CONFORMANCE_LOGGED_RUNS_H_
#define HEDDLE_TESTS_CONFORMANCE_LOGGED_RUNS_H_

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "proto/machine.pb.h"
#include "tests/conformance/issue_log.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Policies as on the command line: "dwf:lane_aware=false", "gto".
struct LoggedRun {
  std::string divergence;
  std::string scheduler;
};

// The sorted log of each run, in the order given; empty ones, and a failure of the test, if they cannot be replayed.
std::vector<std::vector<IssueEntry>> LogsOf(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                                            const std::vector<LoggedRun>& runs);

// LogsOf for several divergence policies under one scheduler.
std::vector<std::vector<IssueEntry>> LogsOf(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                                            const std::vector<std::string>& divergence, const std::string& scheduler);

// Which threads issued which instruction together, whenever: launch, block, PC, threads.
using IssuesWithoutOrder = std::multiset<std::tuple<uint32_t, uint64_t, Pc, std::set<uint32_t>>>;
IssuesWithoutOrder WithoutOrder(const std::vector<IssueEntry>& log);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_LOGGED_RUNS_H_
