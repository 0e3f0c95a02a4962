// The ways a scenario can be run: by the driver of the policy tests, and by the engine.
#ifndef HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_RUN_ON_H_
#define HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_RUN_ON_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/replay/engine_runner.h"
#include "tests/replay/policy_driver.h"
#include "tests/replay/scenario.h"

namespace heddle::replay {

enum class Runner { kDriver, kEngine };
inline constexpr std::array kRunners = {Runner::kDriver, Runner::kEngine};

inline std::string RunnerName(const testing::TestParamInfo<Runner>& info) {
  return info.param == Runner::kDriver ? "Driver" : "Engine";
}

// The log of the scenario (Scenario::Format) on the toy machine, every instruction taking one cycle.
inline std::string RunOn(Runner runner, const Scenario& scenario, const std::string& divergence,
                         const std::string& scheduler, int warp_size) {
  if (runner == Runner::kEngine) return RunOnEngine(scenario, divergence, scheduler, warp_size).log;
  PolicyDriver::Options options;
  options.divergence = divergence;
  options.scheduler = scheduler;
  options.warp_size = warp_size;
  return PolicyDriver(scenario, options).Run();
}

// Cycles that an instruction of a thread takes; empty = one.
using Latency = std::function<uint32_t(uint32_t thread, Pc pc)>;

// The driver with a policy, by its text, and such latencies; and the log of its run.
inline PolicyDriver DriverWith(const Scenario& scenario, const std::string& divergence, const Latency& latency = {},
                               int warp_size = 4) {
  PolicyDriver::Options options;
  options.divergence = divergence;
  options.latency = latency;
  options.warp_size = warp_size;
  return PolicyDriver(scenario, options);
}
inline std::string LogWith(const Scenario& scenario, const std::string& divergence, const Latency& latency = {},
                           int warp_size = 4) {
  return DriverWith(scenario, divergence, latency, warp_size).Run();
}

// Issues in a log, or those of one instruction.
inline int CountIssues(const std::string& log) {
  int count = 0;
  for (absl::string_view word : absl::StrSplit(log, ' ')) count += word != "." ? 1 : 0;
  return count;
}
inline int CountIssuesOf(const std::string& log, const std::string& name) {
  int count = 0;
  for (absl::string_view word : absl::StrSplit(log, ' ')) count += absl::StartsWith(word, name + "[") ? 1 : 0;
  return count;
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_RUN_ON_H_
