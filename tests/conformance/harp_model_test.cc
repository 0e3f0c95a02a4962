// HARP against a second reading of the paper, cycle by cycle, and what it is equal to at its limits.
#include "tests/conformance/harp_model.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/logged_runs.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"
#include "tests/random/random_trace.h"
#include "tests/reference/thread_expansion.h"

namespace heddle::replay {
namespace {

// One block without barriers on one SM with one scheduler.
struct Case {
  std::unique_ptr<trace::TraceReader> reader;
  machine::v1::Machine machine;
};

Case MakeCase(uint64_t seed, uint32_t warp_size, uint64_t pipeline, uint64_t memory) {
  KernelShape shape = RandomShape(seed, warp_size);
  shape.guards = false;  // the model reads decisions as branches
  shape.uniform_values = false;
  shape.blocks = 1;
  shape.barriers = false;
  shape.counted_barriers = false;
  const RandomKernel kernel = MakeRandomKernel(shape);
  Case out;
  out.reader = WriteAndOpen({&kernel});
  out.machine = MakeRandomCase(seed).machine;
  out.machine.set_sms(1);
  machine::v1::Core& core = *out.machine.mutable_core();
  core.clear_scripted_latency();
  out.machine.mutable_dispatch()->clear_launch_cycles();
  core.clear_block_barriers();
  core.set_registers(0);
  core.set_shared_memory_bytes(1 << 20);
  core.set_schedulers(1);
  core.set_warp_size(warp_size);
  core.set_simd_width(warp_size);
  core.set_max_blocks(1);
  core.set_max_threads((shape.threads_per_block + warp_size - 1) / warp_size * warp_size);
  core.set_pipeline_depth(static_cast<uint32_t>(pipeline));
  machine::v1::FixedLatency& fixed = *out.machine.mutable_memory()->mutable_fixed();
  const uint32_t cycles = static_cast<uint32_t>(memory);
  fixed.set_global_cycles(cycles);
  fixed.set_shared_cycles(cycles);
  fixed.set_local_cycles(cycles);
  fixed.set_constant_cycles(cycles);
  fixed.set_param_cycles(cycles);
  fixed.set_texture_cycles(cycles);
  fixed.set_atomic_cycles(cycles);
  return out;
}

std::vector<HarpModel::Issue> IssuesOfPolicy(const Case& c, const std::string& parameters) {
  Configuration configuration;
  configuration.divergence = {"harp", parameters};
  configuration.scheduler = {"fifo", ""};
  ReplayOptions options;
  options.machine = c.machine;
  SortedIssueLog log;
  options.observer = &log;
  const auto results = Replay(*c.reader, {configuration}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  std::vector<HarpModel::Issue> issues;
  for (const IssueEntry& issue : log.Sorted()) {
    HarpModel::Issue& out = issues.emplace_back();
    out.cycle = issue.cycle;
    out.pc = issue.lanes[0].pc;
    for (const LoggedLane& lane : issue.lanes) out.threads.insert(lane.thread);
  }
  return issues;
}

TEST(HarpModel, AgreesOnRandomProgramsCycleByCycle) {
  uint64_t misses = 0;
  uint64_t waiting_merges = 0;
  uint64_t ready_merges = 0;
  for (const uint64_t seed : Seeds(800'001, 300)) {
    Random random(seed);
    HarpModel::Options options;
    options.warp_size = random.OneOf({2u, 4u, 4u, 8u});
    options.pipeline = random.In(1, 6);
    options.memory = random.In(1, 30);
    options.first_level = random.OneOf({0u, 1u, 3u, 8u});
    options.ready_lookup = random.OneOf({0u, 1u, 2u, 8u});
    options.waiting_lookup = random.OneOf({0u, 1u, 8u});
    options.low_water = random.OneOf({1u, 2u, 5u});
    options.low_water_counts_both = random.Chance(30);
    options.one_port = random.Chance(60);
    options.lookup_delay = random.In(0, 3);
    options.barrier_delay = options.lookup_delay;  // so that the model's queue of arrivals is in order
    options.restamp = random.Chance(70);
    options.sets = random.OneOf({1u, 2u, 8u});
    options.ways = random.OneOf({1u, 2u, 16u});
    const auto text = [](const char* name, uint64_t value) { return std::string(name) + "=" + std::to_string(value); };
    const std::string parameters =
        text("first_level", options.first_level) + text(",ready_lookup", options.ready_lookup) +
        text(",waiting_lookup", options.waiting_lookup) + text(",lookup_low_water", options.low_water) +
        text(",lookup_delay", options.lookup_delay) + text(",barrier_delay", options.barrier_delay) +
        text(",barrier_entries", options.sets * options.ways) + text(",barrier_ways", options.ways) +
        (options.low_water_counts_both ? ",low_water_counts=both" : "") +
        (options.one_port ? "" : ",second_level_port=unlimited") + (options.restamp ? "" : ",lookup_order=insertion");
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", warps of " << options.warp_size << ", pipeline "
                                    << options.pipeline << ", memory " << options.memory << ", " << parameters);
    const Case c = MakeCase(seed, options.warp_size, options.pipeline, options.memory);
    const trace::LaunchView& view = c.reader->launches()[0];
    const auto blocks = ExpandLaunch(*c.reader, view);
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    HarpModel model(*view.program, blocks->at(0).threads, options);
    const std::vector<HarpModel::Issue> expected = model.Run();
    const std::vector<HarpModel::Issue> issues = IssuesOfPolicy(c, parameters);
    const size_t common = std::min(issues.size(), expected.size());
    for (size_t i = 0; i < common; ++i) {
      ASSERT_TRUE(issues[i] == expected[i])
          << "issue " << i << ": pc " << issues[i].pc * 8 << " in cycle " << issues[i].cycle << ", the model has pc "
          << expected[i].pc * 8 << " in cycle " << expected[i].cycle;
    }
    ASSERT_EQ(issues.size(), expected.size());
    misses += model.barrier_misses();
    waiting_merges += model.waiting_merges();
    ready_merges += model.ready_merges();
  }
  EXPECT_GT(misses, 0);
  EXPECT_GT(waiting_merges, 0);
  EXPECT_GT(ready_merges, 0);
}

// The issues of the case under each policy, without their order.
std::vector<IssuesWithoutOrder> Issues(const RandomCase& random_case, const std::vector<std::string>& policies) {
  std::vector<IssuesWithoutOrder> issues;
  for (const auto& log : LogsOf(*random_case.reader, random_case.machine, policies, "lrr")) {
    issues.push_back(WithoutOrder(log));
  }
  return issues;
}

// Without any table HARP splits warps and never joins them: NREC. With barriers alone every warp is whole again at its
// reconvergence points: the issues of PDOM, in another order.
TEST(HarpEquivalences, WithoutTablesItIsNrecAndWithBarriersAloneItIssuesAsPdom) {
  size_t differ = 0;
  for (const uint64_t seed : Seeds(810'001, 150)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    const std::string alone = "harp:ready_lookup=0,waiting_lookup=0,";
    const std::vector<IssuesWithoutOrder> issues =
        Issues(random_case, {"nrec", alone + "barrier_entries=0", "pdom", alone + "barriers=per_warp",
                             alone + "barrier_entries=2048,barrier_ways=256"});
    EXPECT_TRUE(issues[1] == issues[0]) << "nothing rejoins";
    EXPECT_TRUE(issues[3] == issues[2]) << "a barrier per warp";
    EXPECT_TRUE(issues[4] == issues[2]) << "a table without limits";
    differ += issues[2] != issues[0];
    if (HasFailure()) return;
  }
  EXPECT_GT(differ, Programs(150) / 5);
}

// Regrouping alone, which is what is left without barriers, issues more often: threads that never rejoin spread out.
TEST(HarpEquivalences, BarriersSaveIssues) {
  uint64_t with = 0;
  uint64_t without = 0;
  for (const uint64_t seed : Seeds(820'001, 100)) {
    const std::vector<IssuesWithoutOrder> issues = Issues(MakeRandomCase(seed), {"harp", "harp:barrier_entries=0"});
    with += issues[0].size();
    without += issues[1].size();
    if (HasFailure()) return;
  }
  EXPECT_LT(with, without);
}

}  // namespace
}  // namespace heddle::replay
