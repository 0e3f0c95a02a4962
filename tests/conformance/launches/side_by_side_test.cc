// Launches side by side: examples worked out by hand, against the polling reference on random traces, and what holds
// for every trace.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/engine/replay_batch.h"
#include "replay/machine/machine.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"
#include "tests/conformance/small_hierarchy.h"
#include "tests/random/random.h"
#include "tests/random/random_machine.h"
#include "tests/random/random_trace.h"
#include "tests/reference/reference_engine.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

// --- by hand

// A launch of one-warp blocks that add and exit: with a pipeline of two stages a block issues in cycles 0 and 2, and is
// done at the start of 4; the SM's next one issues in 5.
RandomKernel AddAndExit(uint32_t blocks) {
  RandomKernel kernel;
  kernel.shape.blocks = blocks;
  kernel.shape.threads_per_block = 4;
  kernel.program.set_name("add_and_exit");
  for (const v1::OpClass op : {v1::OP_INT_ALU, v1::OP_EXIT}) kernel.program.add_instruction()->set_op(op);
  v1::BasicBlock& block = *kernel.program.add_block();
  block.set_instruction_count(2);
  block.set_terminator(v1::EXIT);
  v1::Function& function = *kernel.program.add_function();
  function.set_name("add_and_exit");
  function.set_block_count(1);
  ThreadScript script;
  script.steps = {ScriptStep{0}, ScriptStep{1}};
  kernel.threads.assign(size_t{4} * blocks, script);
  return kernel;
}

// Two SMs with room for a block each.
machine::v1::Machine TwoSms(uint32_t launch_cycles) {
  machine::v1::Machine machine;
  machine.set_name("by_hand");
  machine.set_sms(2);
  machine::v1::Core& core = *machine.mutable_core();
  core.set_front_end(machine::v1::Core::THESIS);
  core.set_warp_size(4);
  core.set_simd_width(4);
  core.set_schedulers(1);
  core.set_pipeline_depth(2);
  core.set_max_threads(4);
  core.set_max_blocks(1);
  core.set_shared_memory_bytes(1024);
  machine.mutable_dispatch()->set_launch_cycles(launch_cycles);
  machine::v1::FixedLatency& fixed = *machine.mutable_memory()->mutable_fixed();
  for (const auto set : {&machine::v1::FixedLatency::set_global_cycles, &machine::v1::FixedLatency::set_shared_cycles,
                         &machine::v1::FixedLatency::set_local_cycles, &machine::v1::FixedLatency::set_constant_cycles,
                         &machine::v1::FixedLatency::set_param_cycles, &machine::v1::FixedLatency::set_texture_cycles,
                         &machine::v1::FixedLatency::set_atomic_cycles}) {
    (fixed.*set)(2);
  }
  return machine;
}

// Launch 0 of three blocks in stream 0; launch 1 of one block in stream 1, and launch 2 likewise, if asked for, which
// waits for it.
std::unique_ptr<trace::TraceReader> TwoStreams(bool third) {
  const RandomKernel three = AddAndExit(3);
  const RandomKernel one = AddAndExit(1);
  std::vector<const RandomKernel*> kernels = {&three, &one};
  if (third) kernels.push_back(&one);
  LayDown lay_down;
  int launch = 0;
  lay_down.edit = [&launch](v1::Launch& out) {
    out.set_stream(launch == 0 ? 0 : 1);
    if (launch == 2) out.add_depends_on(1);
    ++launch;
  };
  return WriteAndOpen(kernels, lay_down);
}

struct Times {
  uint64_t ready;
  uint64_t began;
  uint64_t ended;
  friend bool operator==(const Times&, const Times&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Times& times) {
    return out << times.ready << " " << times.began << " " << times.ended;
  }
};

// Of both engines, which agree.
std::vector<Times> TimesOf(const trace::TraceReader& reader, const machine::v1::Machine& machine, LaunchRule rule) {
  ReplayOptions options;
  options.machine = machine;
  options.launch_rule = rule;
  const auto results = Replay(reader, std::vector<Configuration>{Configuration()}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  const auto reference = ReplaySideBySideByReference(reader, Configuration(), machine, rule, nullptr);
  EXPECT_TRUE(reference.ok()) << reference.status();
  std::vector<Times> times;
  if (!results.ok() || !reference.ok()) return times;
  for (int launch = 0; launch < results->front().launch_size(); ++launch) {
    const result::v1::LaunchResult& result = results->front().launch(launch);
    EXPECT_EQ(Difference(result, reference->launches[static_cast<size_t>(launch)]), "") << launch;
    EXPECT_EQ(result.cycles(), result.times().ended() - result.times().ready());
    times.push_back({result.times().ready(), result.times().began(), result.times().ended()});
  }
  return times;
}

// Two blocks of launch 0 fill the machine. When they are done at 4 its last one needs one SM, and launch 1 gets the
// other: 9 cycles, where one launch after the other takes 9 and 4.
TEST(SideBySideByHand, TheOldestFirst) {
  EXPECT_THAT(TimesOf(*TwoStreams(false), TwoSms(0), LaunchRule::kFillFirst),
              testing::ElementsAre(Times{0, 0, 9}, Times{0, 5, 9}));
}

// An SM for each. Launch 1 is done at 4, and launch 0 goes on with both.
TEST(SideBySideByHand, EqualShares) {
  EXPECT_THAT(TimesOf(*TwoStreams(false), TwoSms(0), LaunchRule::kSpatialSplit),
              testing::ElementsAre(Times{0, 0, 9}, Times{0, 0, 4}));
}

// Launch 2 takes the place of launch 1, so that launch 0 has one SM to the end.
TEST(SideBySideByHand, WhoWaitsComesWhenTheOtherHasEnded) {
  EXPECT_THAT(TimesOf(*TwoStreams(true), TwoSms(0), LaunchRule::kSpatialSplit),
              testing::ElementsAre(Times{0, 0, 14}, Times{0, 0, 4}, Times{5, 5, 9}));
}

// Launch 2 is ready in 8 and asks for SMs from 11 on. Launch 0 has had both since 8: they are busy until 12.
TEST(SideBySideByHand, ASmIsGivenBackWhenItIsEmpty) {
  EXPECT_THAT(TimesOf(*TwoStreams(true), TwoSms(3), LaunchRule::kSpatialSplit),
              testing::ElementsAre(Times{0, 3, 12}, Times{0, 3, 7}, Times{8, 13, 17}));
}

// --- random traces

// Launches in some streams, with some that wait for others. Every third machine has caches in which everything is
// scarce, and every sixth sizes of L1 that depend on the launch.
struct LaunchCase {
  RandomCase random_case;
  std::vector<RandomKernel> kernels;
  std::unique_ptr<trace::TraceReader> reader;
};

// Of the storage that it shares with shared memory, the L1 has what the launch leaves: from one way to all of them.
void SplitL1(Random& random, machine::v1::Machine& machine, std::vector<RandomKernel>& kernels) {
  constexpr uint32_t kSharedBytes = 49152;
  machine.mutable_core()->set_shared_memory_bytes(kSharedBytes);
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  machine::v1::Cache& cache = *memory.mutable_l1_data();
  cache.set_sets(std::max(cache.sets(), 1u));
  cache.set_ways(8);
  const uint32_t way = cache.sets() * cache.line_bytes();
  memory.mutable_l1_split()->set_bytes(kSharedBytes + way);
  for (uint32_t ways = 8; ways > 0; --ways)
    memory.mutable_l1_split()->add_shared_bytes(kSharedBytes - (ways - 1) * way);
  for (RandomKernel& kernel : kernels) {
    kernel.program.set_static_shared_bytes(
        random.OneOf({0u, kSharedBytes - 6 * way, kSharedBytes - 2 * way, kSharedBytes}));
  }
}

LaunchCase MakeLaunchCase(uint64_t seed, bool chain = false) {
  LaunchCase out;
  Random random(MixAll({seed, 731}));
  out.random_case = seed % 2 == 0 ? MakeRandomCase(seed) : MakeBufferCase(seed);
  machine::v1::Machine& machine = out.random_case.machine;
  if (seed % 3 == 0) SetSmallHierarchy(seed, machine);
  machine.set_sms(static_cast<uint32_t>(random.In(1, 6)));
  machine.clear_clusters();
  machine.mutable_dispatch()->set_launch_cycles(random.OneOf({0u, 0u, 1u, 30u, 300u}));
  const uint64_t launches = random.In(2, 6);
  for (uint64_t launch = 0; launch < launches; ++launch) {
    RandomKernel kernel = out.random_case.kernels.front();
    if (launch > 0) {
      KernelShape shape = kernel.shape;
      shape.seed = MixAll({seed, launch, 5});
      shape.blocks = static_cast<uint32_t>(random.In(1, 5));
      shape.max_steps = std::min(shape.max_steps, 120u);
      shape.least_steps = std::min(shape.least_steps, shape.max_steps);
      kernel = MakeRandomKernel(shape);
    }
    out.kernels.push_back(std::move(kernel));
  }
  if (seed % 6 == 0) SplitL1(random, machine, out.kernels);
  std::vector<const RandomKernel*> kernels;
  for (const RandomKernel& kernel : out.kernels) kernels.push_back(&kernel);
  LayDown lay_down;
  uint32_t launch = 0;
  lay_down.edit = [&](v1::Launch& view) {
    view.set_stream(static_cast<uint32_t>(random.Below(3)));
    for (uint32_t earlier = 0; earlier < launch; ++earlier) {
      if (chain ? earlier + 1 == launch : random.Chance(25)) view.add_depends_on(earlier);
    }
    ++launch;
  };
  out.reader = WriteAndOpen(kernels, lay_down);
  return out;
}

// Policies of single warps, and those that watch SMs or keep state, are refused as soon as launches overlap.
bool IsRefused(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) && status.message().find("--launches in_order") != std::string::npos;
}

TEST(SideBySide, RandomTracesAgainstTheReference) {
  int overlapping = 0;
  int compared = 0;
  int split = 0;
  std::vector<uint64_t> seeds;
  for (const uint64_t seed : Seeds(1, 80)) seeds.push_back(seed);
  // Lanes of an access reached the registers one by one, the last of them before it left the memory's stage.
  if (Slice() == 0) seeds.insert(seeds.end(), {132, 150, 156});
  for (const uint64_t seed : seeds) {
    const LaunchCase launch_case = MakeLaunchCase(seed);
    const machine::v1::Machine& machine = launch_case.random_case.machine;
    SCOPED_TRACE(launch_case.random_case.Text());
    if (!CheckMachine(machine).ok()) continue;
    Random random(MixAll({seed, 732}));
    std::vector<AcceptedConfiguration> drawn = DrawConfigurations(random, machine, 2);
    drawn.emplace_back();
    for (const AcceptedConfiguration& one : drawn) {
      if (one.by_warp) continue;
      SCOPED_TRACE(one.Text());
      const LaunchRule rule = random.Chance(50) ? LaunchRule::kFillFirst : LaunchRule::kSpatialSplit;
      SortedIssueLog engine_log;
      ReplayOptions options;
      options.machine = machine;
      options.force_tick = random.Chance(30);
      options.cache_bytes = random.OneOf<uint64_t>({1, 10'000, 256u << 20});
      options.launch_rule = rule;
      options.observer = &engine_log;
      const auto engine = Replay(*launch_case.reader, std::vector<Configuration>{one.configuration}, options);
      if (IsRefused(engine.status())) continue;
      if (absl::IsFailedPrecondition(engine.status()) &&
          engine.status().message().find("does not fit") != std::string::npos) {
        continue;
      }
      ASSERT_TRUE(engine.ok()) << engine.status();
      NoteChecked(one.configuration);
      SortedIssueLog reference_log;
      const auto reference =
          ReplaySideBySideByReference(*launch_case.reader, one.configuration, machine, rule, &reference_log);
      ASSERT_TRUE(reference.ok()) << reference.status();
      EXPECT_EQ(Difference(engine_log.Sorted(), reference_log.Sorted()), "");
      const result::v1::Result& result = engine->front();
      ASSERT_EQ(result.launch_size(), static_cast<int>(reference->launches.size()));
      for (int launch = 0; launch < result.launch_size(); ++launch) {
        EXPECT_EQ(Difference(result.launch(launch), reference->launches[static_cast<size_t>(launch)]), "") << launch;
      }
      ASSERT_EQ(result.side_by_side().stretch_size(), static_cast<int>(reference->stretches.size()));
      for (int i = 0; i < result.side_by_side().stretch_size(); ++i) {
        EXPECT_EQ(Difference(result.side_by_side().stretch(i), reference->stretches[static_cast<size_t>(i)]), "") << i;
        overlapping += result.side_by_side().stretch(i).launch_size() > 1 ? 1 : 0;
      }
      EXPECT_EQ(Difference(result.total(), reference->total), "");
      ++compared;
      split +=
          machine.memory().hierarchy().has_l1_split() && result.side_by_side().stretch(0).launch_size() > 1 ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(overlapping, compared / 2) << "too few launches ran side by side";
  if (Slice() == 0) {
    EXPECT_GT(split, 0) << "none of them where the L1 depends on the launch";
  }
}

// Launches of which each waits for the one before are replayed as if they were run in order, in every counter.
TEST(SideBySide, OneStreamIsInOrder) {
  for (const uint64_t seed : Seeds(10'001, 30)) {
    const LaunchCase launch_case = MakeLaunchCase(seed, /*chain=*/true);
    const machine::v1::Machine& machine = launch_case.random_case.machine;
    if (!CheckMachine(machine).ok()) continue;
    ReplayOptions options;
    options.machine = machine;
    const auto in_order = Replay(*launch_case.reader, std::vector<Configuration>{Configuration()}, options);
    ASSERT_TRUE(in_order.ok()) << in_order.status();
    for (const LaunchRule rule : {LaunchRule::kFillFirst, LaunchRule::kSpatialSplit}) {
      options.launch_rule = rule;
      auto side_by_side = Replay(*launch_case.reader, std::vector<Configuration>{Configuration()}, options);
      ASSERT_TRUE(side_by_side.ok()) << side_by_side.status();
      for (int launch = 0; launch < in_order->front().launch_size(); ++launch) {
        result::v1::LaunchResult& result = *side_by_side->front().mutable_launch(launch);
        EXPECT_TRUE(result.has_times());
        result.clear_times();
        EXPECT_EQ(Difference(result, in_order->front().launch(launch)), "") << launch;
      }
      EXPECT_EQ(Difference(side_by_side->front().total(), in_order->front().total()), "");
    }
    if (HasFailure()) return;
  }
}

// Small launches that do not wait for one another, on a machine of several SMs.
TEST(SideBySide, SmallLaunchesTogetherTakeLessTime) {
  const RandomKernel one = AddAndExit(1);
  const auto reader = WriteAndOpen(std::vector<const RandomKernel*>(8, &one));
  machine::v1::Machine machine = TwoSms(10);
  machine.set_sms(4);
  ReplayOptions options;
  options.machine = machine;
  const auto cycles = [&](LaunchRule rule) {
    options.launch_rule = rule;
    const auto results = Replay(*reader, std::vector<Configuration>{Configuration()}, options);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? results->front().total().cycles() : 0;
  };
  EXPECT_EQ(cycles(LaunchRule::kInOrder), 8 * (10 + 4));
  // Four at a time: 10 cycles to set up, blocks until 14, and from 15 on until 19.
  EXPECT_EQ(cycles(LaunchRule::kFillFirst), 19);
  EXPECT_EQ(cycles(LaunchRule::kSpatialSplit), 19);
}

// --- what the engine says

TEST(SideBySide, TheNumberOfThreadsDoesNotMatter) {
  const LaunchCase launch_case = MakeLaunchCase(6);
  const std::vector<Configuration> configurations(3);
  ReplayOptions options;
  options.machine = launch_case.random_case.machine;
  options.launch_rule = LaunchRule::kSpatialSplit;
  const trace::TraceReader* const traces[] = {launch_case.reader.get(), launch_case.reader.get()};
  const auto one = ReplayTraces(traces, configurations, options);
  options.jobs = 4;
  const auto four = ReplayTraces(traces, configurations, options);
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(four.ok()) << four.status();
  for (size_t trace = 0; trace < 2; ++trace) {
    for (size_t i = 0; i < configurations.size(); ++i) {
      EXPECT_EQ(Difference((*one)[trace][i], (*four)[trace][i]), "");
    }
  }
  // In a sweep it is the same run.
  BatchReplayer batch(*launch_case.reader, CacheBounds::Of(ReplayOptions::kDefaultCacheBytes, /*once=*/true));
  const auto checked = CheckConfiguration(Configuration());
  ASSERT_TRUE(checked.ok());
  const std::vector<BatchRun> runs = {{*checked, options}};
  const auto outcomes = batch.Replay(runs, [] { return true; });
  ASSERT_TRUE(outcomes.front().ok()) << outcomes.front().status();
  EXPECT_EQ(Difference(*outcomes.front(), (*one)[0][0]), "");
}

TEST(SideBySide, ErrorsNameTheLaunch) {
  const auto reader = TwoStreams(true);
  ReplayOptions options;
  options.machine = TwoSms(0);
  options.launch_rule = LaunchRule::kSpatialSplit;
  options.max_cycles = 6;
  const auto bound = Replay(*reader, std::vector<Configuration>{Configuration()}, options);
  EXPECT_TRUE(absl::IsDeadlineExceeded(bound.status())) << bound.status();
  EXPECT_THAT(std::string(bound.status().message()),
              testing::StartsWith("launch 0 (add_and_exit) under pdom and lrr: not done"));
  options.max_cycles = 0;
  Configuration warps;
  warps.dispatch = {"warps", ""};
  const auto refused = Replay(*reader, std::vector<Configuration>{warps}, options);
  EXPECT_TRUE(IsRefused(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), testing::HasSubstr("launch 0 (add_and_exit)"));
  options.metrics.bin_cycles = 10;
  const auto bins = Replay(*reader, std::vector<Configuration>{Configuration()}, options);
  EXPECT_TRUE(absl::IsInvalidArgument(bins.status())) << bins.status();
}

TEST(SideBySide, IsStoppedOnRequest) {
  const auto reader = TwoStreams(false);
  ReplayOptions options;
  options.machine = TwoSms(40'000);  // long enough for a report
  options.launch_rule = LaunchRule::kFillFirst;
  options.progress = [](uint64_t, uint64_t) { return false; };
  const auto stopped = Replay(*reader, std::vector<Configuration>{Configuration()}, options);
  EXPECT_TRUE(absl::IsCancelled(stopped.status())) << stopped.status();
}

}  // namespace
}  // namespace heddle::replay
