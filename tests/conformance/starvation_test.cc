// How long a warp that is ready can wait, on random programs: docs/policies/schedulers.md states the bounds.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"

namespace heddle::replay {
namespace {

// The most issues of a port between a warp's being ready and its own, over all launches.
uint64_t LongestWait(const RandomCase& random_case, const std::string& divergence, const std::string& scheduler) {
  Configuration configuration;
  configuration.divergence = PolicySpec::FromText(divergence);
  configuration.scheduler = PolicySpec::FromText(scheduler);
  ReplayOptions options;
  options.machine = random_case.machine;
  const auto results = Replay(*random_case.reader, {configuration}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  uint64_t longest = 0;
  if (results.ok()) {
    for (const auto& launch : (*results)[0].launch()) {
      longest = std::max(longest, launch.scheduler_counter().at("longest_wait"));
    }
  }
  return longest;
}

uint64_t WarpsOfAPort(const machine::v1::Machine& machine) {
  const machine::v1::Core& core = machine.core();
  return core.max_threads() / core.warp_size();
}

// Under these every other warp of the port issues at most once before a warp that is ready. (On the single pipeline;
// with instruction buffers a wait is counted from a warp's last issue, whether it could issue or not.)
TEST(Starvation, RoundRobinAndFirstReadyFirstAreBounded) {
  uint64_t most = 0;
  for (const uint64_t seed : Seeds(810'001, 120)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    for (const char* scheduler : {"lrr", "fifo"}) {
      const uint64_t wait = LongestWait(random_case, "pdom", scheduler);
      EXPECT_LT(wait, WarpsOfAPort(random_case.machine)) << scheduler;
      most = std::max(most, wait);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(most, 3u) << "somebody has to wait for the test to mean anything";
}

// The others let a warp wait as long as others go before it: such waits do happen, and every one of them ends.
TEST(Starvation, OfTheOthersEnds) {
  uint64_t most = 0;
  for (const uint64_t seed : Seeds(820'001, 20)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    for (const auto& [scheduler, entry] : SchedulerRegistry::Get().entries()) {
      if (!entry.info.traits.needs_regrouping.empty() || scheduler == "lrr" || scheduler == "fifo") continue;
      const auto declared = std::ranges::any_of(
          entry.info.counters, [](const CounterSpec& counter) { return counter.name == "longest_wait"; });
      if (declared) most = std::max(most, LongestWait(random_case, "pdom", scheduler));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(most, 20u);
}

}  // namespace
}  // namespace heddle::replay
