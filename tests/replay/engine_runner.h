// Runs a scenario through the whole engine, from a trace file on, on the toy machine.
#ifndef HEDDLE_TESTS_REPLAY_ENGINE_RUNNER_H_
#define HEDDLE_TESTS_REPLAY_ENGINE_RUNNER_H_

#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "tests/replay/scenario.h"

namespace heddle::replay {

struct EngineRun {
  std::string log;  // as Scenario::Format gives it; the error instead if the run failed
  std::vector<LoggedIssue> issues;
  result::v1::Result result;
};

// `divergence` and `scheduler` are written as on the command line. Every instruction takes one cycle unless `latencies`
// says otherwise. All thread blocks are resident from the start as far as the machine dispatches them at once, or
// `resident_blocks` at a time.
EngineRun RunOnEngine(const Scenario& scenario, const std::string& divergence, const std::string& scheduler,
                      int warp_size = 4, const std::vector<machine::v1::ScriptedLatency>& latencies = {},
                      uint32_t resident_blocks = 0);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_ENGINE_RUNNER_H_
