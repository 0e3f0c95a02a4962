// Launches that take time to set up, on machines whose L1 has what shared memory leaves, against the polling reference:
// the same issues in the same cycles, before caches in which everything is scarce.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"
#include "tests/conformance/small_hierarchy.h"
#include "tests/random/random.h"
#include "tests/random/random_trace.h"
#include "tests/reference/reference_engine.h"

namespace heddle::replay {
namespace {

constexpr uint32_t kSharedBytes = 49152;

// Two launches, of kernels that take different amounts of shared memory.
RandomCase MakeSplitCase(uint64_t seed, bool buffers) {
  RandomCase out = buffers ? MakeBufferCase(seed) : MakeRandomCase(seed);
  Random random(MixAll({seed, 211}));
  SetSmallHierarchy(seed, out.machine);
  out.machine.mutable_core()->set_shared_memory_bytes(kSharedBytes);
  out.machine.mutable_core()->set_shared_bytes_per_block(random.OneOf({0u, 0u, 64u, 1024u, 9000u}));
  out.machine.mutable_dispatch()->set_launch_cycles(random.OneOf({0u, 1u, 30u, 999u}));
  machine::v1::Hierarchy& memory = *out.machine.mutable_memory()->mutable_hierarchy();
  memory.clear_jitter_cycles();
  machine::v1::Cache& cache = *memory.mutable_l1_data();
  const uint32_t way = cache.sets() * cache.line_bytes();
  cache.set_ways(16);
  machine::v1::L1Split& split = *memory.mutable_l1_split();
  // From a way to all of them, and in between sizes that are no whole ways.
  split.set_bytes(kSharedBytes + way + static_cast<uint32_t>(random.Below(2 * way + 1)));
  for (uint32_t bytes = 0; bytes < kSharedBytes; bytes += 1 + static_cast<uint32_t>(random.Below(12'000))) {
    split.add_shared_bytes(bytes);
  }
  // Most ways are lost between the last sizes: an L1 is small.
  for (uint32_t ways = 6; ways > 0; --ways) {
    const uint32_t bytes = kSharedBytes - ways * way / 2;
    if (way != 0 && bytes > *split.shared_bytes().rbegin()) split.add_shared_bytes(bytes);
  }
  if (*split.shared_bytes().rbegin() < kSharedBytes) split.add_shared_bytes(kSharedBytes);
  std::vector<const RandomKernel*> kernels;
  if (out.kernels.size() == 1) out.kernels.push_back(out.kernels.front());
  for (RandomKernel& kernel : out.kernels) {
    kernel.program.set_static_shared_bytes(random.OneOf({0u, 100u, 5000u, 11'000u, 20'000u, 40'000u}));
    kernels.push_back(&kernel);
  }
  out.reader = WriteAndOpen(kernels);
  return out;
}

// Whether the size of the L1 changes a run. Under the same policies always, so that a new one does not decide it.
bool FeelsItsL1(const RandomCase& random_case) {
  Configuration configuration;
  configuration.divergence = {"nrec", ""};
  configuration.scheduler = {"swl", ""};  // few warps, which find their lines again
  machine::v1::Machine whole = random_case.machine;
  whole.mutable_memory()->mutable_hierarchy()->clear_l1_split();
  SortedIssueLog whole_log;
  SortedIssueLog split_log;
  EXPECT_TRUE(ReplayByReference(*random_case.reader, configuration, whole, &whole_log).ok());
  EXPECT_TRUE(ReplayByReference(*random_case.reader, configuration, random_case.machine, &split_log).ok());
  return !Difference(whole_log.Sorted(), split_log.Sorted()).empty();
}

TEST(LaunchEquality, SplitsAndTheTimeToSetUp) {
  int smaller = 0;
  for (const uint64_t seed : Seeds(1, 40)) {
    const RandomCase random_case = MakeSplitCase(seed, /*buffers=*/seed % 2 == 0);
    SCOPED_TRACE(random_case.Text());
    const absl::Status legal = CheckMachine(random_case.machine);
    ASSERT_TRUE(legal.ok()) << legal;
    if (smaller == 0) smaller += FeelsItsL1(random_case);
    Random random(MixAll({seed, 212}));
    std::vector<AcceptedConfiguration> drawn = DrawConfigurations(random, random_case.machine, 1);
    std::erase_if(drawn, [](const AcceptedConfiguration& one) { return one.by_warp; });
    if (drawn.empty()) continue;
    SCOPED_TRACE(drawn.front().Text());
    const Configuration& configuration = drawn.front().configuration;
    SortedIssueLog engine_log;
    ReplayOptions options;
    options.machine = random_case.machine;
    options.force_tick = random.Chance(30);
    options.observer = &engine_log;
    const auto engine = Replay(*random_case.reader, {configuration}, options);
    ASSERT_TRUE(engine.ok()) << engine.status();
    NoteChecked(configuration);
    SortedIssueLog log;
    const auto reference = ReplayByReference(*random_case.reader, configuration, random_case.machine, &log);
    ASSERT_TRUE(reference.ok()) << reference.status();
    EXPECT_EQ(Difference(engine_log.Sorted(), log.Sorted()), "");
    ASSERT_EQ(engine->front().launch_size(), static_cast<int>(reference->launches.size()));
    for (int launch = 0; launch < engine->front().launch_size(); ++launch) {
      EXPECT_EQ(engine->front().launch(launch).cycles(), reference->launches[static_cast<size_t>(launch)].cycles());
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(smaller, 0) << "no program had an L1 that was too small for it";
}

}  // namespace
}  // namespace heddle::replay
