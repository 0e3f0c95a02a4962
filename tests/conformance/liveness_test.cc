// No legal machine hangs: docs/reference/timing.md, "Why no machine hangs", says why. Here machines in which everything
// is scarce run random programs to their ends.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/conformance/small_hierarchy.h"
#include "tests/random/random.h"

namespace heddle::replay {
namespace {

// The schedulers take turns, and now and then another divergence policy. None if none of them is wanted.
std::optional<Configuration> DrawConfiguration(Random& random, const machine::v1::Machine& machine) {
  const std::vector<AcceptedConfiguration> all = ForMachine(DefaultConfigurations().accepted, machine);
  std::vector<Configuration> some;
  const bool any = random.Chance(25);
  for (const AcceptedConfiguration& one : all) {
    if (any || one.configuration.divergence.name == "pdom") some.push_back(one.configuration);
  }
  if (some.empty()) return std::nullopt;
  return some[random.Below(some.size())];
}

void RunToTheEnd(const RandomCase& random_case, uint64_t seed) {
  Random random(MixAll({seed, 101}));
  ReplayOptions options;
  options.machine = random_case.machine;
  SetSmallHierarchy(seed, options.machine);
  SCOPED_TRACE("seed " + std::to_string(seed) + ", machine { " + options.machine.ShortDebugString() + " }");
  const absl::Status legal = CheckMachine(options.machine);
  ASSERT_TRUE(legal.ok()) << legal;
  const std::optional<Configuration> configuration = DrawConfiguration(random, options.machine);
  if (!configuration.has_value()) return;
  const auto results = Replay(*random_case.reader, {*configuration}, options);
  ASSERT_TRUE(results.ok()) << results.status();
  NoteChecked(*configuration);
}

TEST(Liveness, SmallMachinesWithInstructionBuffersRunToTheirEnds) {
  for (const uint64_t seed : Seeds(1, 300)) {
    RunToTheEnd(MakeBufferCase(seed), seed);
    if (HasFailure()) return;
  }
}

TEST(Liveness, SmallMachinesWithASinglePipelineRunToTheirEnds) {
  for (const uint64_t seed : Seeds(1, 100)) {
    RunToTheEnd(MakeRandomCase(seed), seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
