// Statistics that are collected on request, on random programs under both front ends and on sample traces before real
// memories: they add up to the launch's counters, follow from the log of issues, do not depend on which cycles run, and
// change nothing else.
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"

#ifndef HEDDLE_SAMPLES_DIR
#error "the build names the folder of the sample traces"
#endif

namespace heddle::replay {
namespace {

using result::v1::InstructionCounters;
using result::v1::LaunchResult;
using result::v1::TimeSeries;
using result::v1::WarpTimeline;
using Bins = google::protobuf::RepeatedField<uint64_t>;

MetricOptions Everything(uint64_t bin_cycles) {
  MetricOptions metrics;
  metrics.per_instruction = true;
  metrics.bin_cycles = bin_cycles;
  metrics.timeline_blocks = ~uint64_t{0};
  return metrics;
}

uint64_t Sum(const Bins& bins) {
  uint64_t sum = 0;
  for (const uint64_t value : bins) sum += value;
  return sum;
}

void ExpectBinsAddUp(const LaunchResult& launch) {
  const TimeSeries& series = launch.time_series();
  const auto expect = [&](const char* what, const Bins& bins, uint64_t total) {
    EXPECT_EQ(bins.size(), series.warp_instructions_size()) << what;
    EXPECT_EQ(Sum(bins), total) << what;
  };
  const auto count = static_cast<uint64_t>(series.warp_instructions_size());
  ASSERT_GE(count, 1);
  EXPECT_GE(count * series.bin_cycles(), launch.cycles());
  EXPECT_LT((count - 1) * series.bin_cycles(), std::max<uint64_t>(launch.cycles(), 1));
  expect("warp-instructions", series.warp_instructions(), launch.warp_instructions());
  expect("thread-instructions", series.thread_instructions(), launch.thread_instructions());
  expect("dispatched blocks", series.dispatched_blocks(), launch.blocks());
  expect("retired blocks", series.retired_blocks(), launch.blocks());
  expect("exited threads", series.exited_threads(), launch.threads());
  expect("scheduler cycles", series.scheduler_cycles(), launch.scheduler_cycles().total());
  expect("issued", series.issued(), launch.scheduler_cycles().issued());
  expect("stall", series.stall(), launch.scheduler_cycles().stall());
  expect("memory", series.memory(), launch.scheduler_cycles().memory());
  expect("idle", series.idle(), launch.scheduler_cycles().idle());
  uint64_t issues = 0;
  for (const TimeSeries::SizeClass& sizes : series.issues_by_size()) {
    uint64_t total = 0;
    for (uint64_t n = sizes.least_threads(); n <= sizes.most_threads(); ++n) {
      total += launch.issues_by_size(static_cast<int>(n - 1));
    }
    expect("issues of a size", sizes.issues(), total);
    issues += total;
  }
  EXPECT_EQ(issues, launch.warp_instructions());
  ASSERT_EQ(series.has_stalls(), launch.has_stalls());
  if (launch.has_stalls()) {
    expect("structural", series.stalls().structural(), launch.stalls().structural());
    expect("data, memory", series.stalls().data_memory(), launch.stalls().data_memory());
    expect("data, arithmetic", series.stalls().data_arithmetic(), launch.stalls().data_arithmetic());
    expect("control", series.stalls().control(), launch.stalls().control());
    expect("fetch", series.stalls().fetch(), launch.stalls().fetch());
    expect("policy", series.stalls().policy(), launch.stalls().policy());
    expect("barrier", series.stalls().barrier(), launch.stalls().barrier());
    expect("exit", series.stalls().exit(), launch.stalls().exit());
    expect("empty", series.stalls().empty(), launch.stalls().empty());
  }
  for (const TimeSeries::PolicySeries& policy : series.policy()) {
    const auto& counters = policy.seam() == "divergence"  ? launch.divergence_counter()
                           : policy.seam() == "scheduler" ? launch.scheduler_counter()
                           : policy.seam() == "dispatch"  ? launch.dispatch_counter()
                           : policy.seam() == "fetch"     ? launch.fetch_counter()
                                                          : launch.memory_counter();
    ASSERT_TRUE(counters.contains(policy.name())) << policy.seam() << " " << policy.name();
    if (policy.adds_up()) {
      expect(policy.name().c_str(), policy.value(), counters.at(policy.name()));
    } else {
      EXPECT_EQ(policy.value_size(), series.warp_instructions_size());
      EXPECT_EQ(policy.value(policy.value_size() - 1), counters.at(policy.name())) << policy.name();
    }
  }
  EXPECT_EQ(static_cast<size_t>(series.policy_size()),
            launch.divergence_counter().size() + launch.scheduler_counter().size() + launch.dispatch_counter().size() +
                launch.fetch_counter().size() + launch.memory_counter().size());
  ASSERT_EQ(series.has_memory_system(), launch.has_memory_instructions());
  if (!series.has_memory_system()) return;
  const TimeSeries::MemorySeries& memory = series.memory_system();
  expect("L1 accesses", memory.l1_accesses(), launch.l1_data().accesses());
  expect("L1 misses", memory.l1_misses(), launch.l1_data().misses());
  expect("L2 accesses", memory.l2_accesses(), launch.l2().cache().accesses());
  expect("L2 misses", memory.l2_misses(), launch.l2().cache().misses());
  expect("DRAM requests", memory.dram_requests(), launch.dram().read_requests() + launch.dram().write_requests());
  expect("DRAM bus", memory.dram_bus_busy(), launch.dram().bus_busy());
  uint64_t outstanding = 0;
  for (int n = 0; n < launch.l1_data().mshr_occupancy_size(); ++n) {
    outstanding += static_cast<uint64_t>(n) * launch.l1_data().mshr_occupancy(n);
  }
  expect("outstanding misses", memory.outstanding_misses(), outstanding);
}

// The engine checks itself that cycles, issues and threads add up; here is what it does not check.
void ExpectInstructionsAddUp(const LaunchResult& launch, bool coalesces) {
  uint64_t accesses = 0, transactions = 0, hits = 0, pending = 0, misses = 0, returns = 0, latency = 0, passes = 0;
  uint64_t parts = 0, last_pc = 0;
  for (const InstructionCounters& one : launch.instruction_profile().instruction()) {
    EXPECT_TRUE(one.pc() > last_pc || one.pc() == 0);
    last_pc = one.pc();
    EXPECT_LE(one.issues(), one.thread_instructions());
    const result::v1::InstructionMemory& memory = one.memory();
    EXPECT_LE(memory.data_accesses(), memory.static_accesses());
    // Apart, the threads of a warp touch no fewer lines than together.
    EXPECT_LE(memory.transactions(), memory.static_transactions());
    accesses += memory.accesses();
    transactions += memory.transactions();
    parts += memory.shared_parts();
    passes += memory.shared_passes();
    hits += memory.l1_hits();
    pending += memory.l1_pending_hits();
    misses += memory.l1_misses();
    returns += memory.returns();
    latency += memory.load_to_use_sum();
  }
  if (!launch.has_memory_instructions()) return;
  const result::v1::InstructionMemory& all = launch.instruction_profile().memory();
  EXPECT_EQ(all.accesses(), accesses);
  EXPECT_EQ(all.transactions(), transactions);
  EXPECT_EQ(hits, launch.l1_data().hits());
  EXPECT_EQ(pending, launch.l1_data().pending_hits());
  EXPECT_EQ(misses, launch.l1_data().misses());
  EXPECT_EQ(parts, launch.memory_instructions().shared_parts());
  EXPECT_EQ(passes, launch.memory_instructions().shared_passes());
  EXPECT_EQ(latency, launch.memory_instructions().load_to_use_sum());
  uint64_t expected = 0;
  for (const result::v1::LatencyCount& bin : launch.memory_instructions().load_to_use()) expected += bin.count();
  EXPECT_EQ(returns, expected);
  if (!coalesces || launch.has_l1_texture()) return;
  expected = 0;
  for (const result::v1::SizeCount& size : launch.memory_instructions().transactions()) expected += size.count();
  EXPECT_EQ(transactions, expected);
}

// Every cache of every SM is counted in every cycle, of SMs without a block, too.
void ExpectOccupancyOfAllCaches(const LaunchResult& launch, uint64_t sms) {
  for (const result::v1::CacheCounters& cache :
       {launch.l1_data(), launch.l1_texture(), launch.l1_constant(), launch.l1_instruction()}) {
    uint64_t cycles = 0;
    for (const uint64_t count : cache.mshr_occupancy()) cycles += count;
    if (cache.mshr_occupancy_size() != 0) {
      EXPECT_EQ(cycles, sms * launch.cycles());
    }
  }
}

// Phases of a warp follow one another from the dispatch of its block to the retirement, which all warps of the block
// share.
void ExpectTimelinesHold(const LaunchResult& launch) {
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> blocks;  // dispatch and retirement
  std::pair<uint64_t, uint32_t> last;
  for (const WarpTimeline& warp : launch.warp_timeline()) {
    const std::pair<uint64_t, uint32_t> place(warp.block(), warp.warp());
    EXPECT_TRUE(blocks.empty() || place > last);
    last = place;
    ASSERT_GE(warp.phase_size(), 1);
    for (int i = 0; i < warp.phase_size(); ++i) {
      const WarpTimeline::Phase& phase = warp.phase(i);
      EXPECT_LE(phase.start(), phase.arrival());
      EXPECT_LE(phase.arrival(), phase.release());
      if (i > 0) {
        EXPECT_EQ(phase.start(), warp.phase(i - 1).release());
      }
    }
    const std::pair<uint64_t, uint64_t> residence(warp.phase(0).start(), warp.phase(warp.phase_size() - 1).release());
    EXPECT_LE(residence.second, launch.cycles());
    EXPECT_EQ(blocks.emplace(warp.block(), residence).first->second, residence);
  }
  EXPECT_EQ(blocks.size(), launch.blocks());
}

// Threads by launch and PC.
using Counts = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;
void ExpectProfileFollowsFromLog(const std::vector<IssueEntry>& log, const result::v1::Result& result) {
  Counts expected, counted;
  for (const IssueEntry& issue : log) {
    for (const LoggedLane& lane : issue.lanes) ++expected[{issue.launch, lane.pc * 8}];
  }
  for (const LaunchResult& launch : result.launch()) {
    for (const InstructionCounters& one : launch.instruction_profile().instruction()) {
      if (one.thread_instructions() != 0) counted[{launch.launch(), one.pc()}] = one.thread_instructions();
    }
  }
  EXPECT_EQ(counted, expected);
}

void ExpectThatOnlyMetricsAreNew(const result::v1::Result& with, const result::v1::Result& without) {
  result::v1::Result rest = with;
  for (LaunchResult& launch : *rest.mutable_launch()) {
    launch.clear_instruction_profile();
    launch.clear_time_series();
    launch.clear_warp_timeline();
  }
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(rest, without));
}

void ExpectMetricsHold(const trace::TraceReader& reader, const std::vector<Configuration>& configurations,
                       ReplayOptions options, uint64_t bin_cycles) {
  const auto plain = Replay(reader, configurations, options);
  ASSERT_TRUE(plain.ok()) << plain.status();
  options.metrics = Everything(bin_cycles);
  options.force_tick = true;
  const auto ticking = Replay(reader, configurations, options);
  ASSERT_TRUE(ticking.ok()) << ticking.status();
  options.force_tick = false;
  SortedIssueLog log(configurations.size());
  options.observer = &log;
  const auto results = Replay(reader, configurations, options);
  ASSERT_TRUE(results.ok()) << results.status();
  const bool coalesces = options.machine.memory().hierarchy().coalescing() != machine::v1::Hierarchy::COALESCING_OFF;
  for (size_t i = 0; i < configurations.size(); ++i) {
    const result::v1::Result& result = results->at(i);
    SCOPED_TRACE(configurations[i].divergence.name + " " + configurations[i].divergence.parameters + " / " +
                 configurations[i].scheduler.name);
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(result, ticking->at(i)));
    ExpectThatOnlyMetricsAreNew(result, plain->at(i));
    ExpectProfileFollowsFromLog(log.Sorted(i), result);
    for (const LaunchResult& launch : result.launch()) {
      ExpectBinsAddUp(launch);
      ExpectInstructionsAddUp(launch, coalesces);
      ExpectTimelinesHold(launch);
      ExpectOccupancyOfAllCaches(launch, options.machine.sms());
    }
  }
}

std::vector<Configuration> Draw(Random& random, const std::vector<AcceptedConfiguration>& all, size_t count) {
  std::vector<Configuration> drawn;
  drawn.reserve(count);
  for (size_t i = 0; i < count; ++i) drawn.push_back(all[random.Below(all.size())].configuration);
  return drawn;
}

TEST(Metrics, HoldOnRandomProgramsUnderTheSinglePipeline) {
  for (const uint64_t seed : Seeds(1, 60)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 9}));
    ReplayOptions options;
    options.machine = random_case.machine;
    ExpectMetricsHold(*random_case.reader, Draw(random, DefaultConfigurations().accepted, 6), options,
                      static_cast<uint64_t>(random.In(1, 40)));
    if (HasFailure()) return;
  }
}

TEST(Metrics, HoldOnRandomProgramsWithInstructionBuffers) {
  for (const uint64_t seed : Seeds(1001, 60)) {
    const RandomCase random_case = MakeBufferCase(seed);
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 9}));
    ReplayOptions options;
    options.machine = random_case.machine;
    ExpectMetricsHold(*random_case.reader,
                      Draw(random, ForMachine(DefaultConfigurations().accepted, random_case.machine), 6), options,
                      static_cast<uint64_t>(random.In(1, 40)));
    if (HasFailure()) return;
  }
}

void ExpectMetricsHoldOnSample(const std::string& sample, const std::string& machine,
                               const std::vector<std::string>& policies, uint32_t sms = 3) {
  const auto reader = trace::TraceReader::Open(std::string(HEDDLE_SAMPLES_DIR) + "/" + sample + ".htrace");
  ASSERT_TRUE(reader.ok()) << reader.status();
  ReplayOptions options;
  options.machine = LoadMachine(machine).value();
  options.machine.set_sms(sms);
  std::vector<Configuration> configurations;
  for (const std::string& policy : policies) {
    configurations.emplace_back().divergence = PolicySpec::FromText(policy);
  }
  ExpectMetricsHold(**reader, configurations, options, 500);
}

TEST(Metrics, HoldBeforeTheMemoryOfAGtx480) { ExpectMetricsHoldOnSample("bfs", "baws_gtx480", {"pdom", "tbc", "dwf"}); }
TEST(Metrics, HoldBeforeTheMemoryOfThe8800Gtx) { ExpectMetricsHoldOnSample("bfs", "thesis_8800gtx", {"pdom", "dwf"}); }

// The sample has eight blocks.
TEST(Metrics, HoldWhereSomeSmsGetNoBlock) {
  for (const std::string machine : {"baws_gtx480", "thesis_8800gtx"}) {
    ExpectMetricsHoldOnSample("bfs", machine, {"pdom", "dwf"}, 12);
  }
}

// LWM is asked once more for a sub-warp that the memory's stage did not take in its turn: every issue counts once.
TEST(Metrics, LwmCountsSubWarpsThatTheMemoryTakesLaterOnce) {
  for (const std::string machine : {"baws_gtx480", "thesis_8800gtx"}) {
    const auto reader = trace::TraceReader::Open(std::string(HEDDLE_SAMPLES_DIR) + "/bfs.htrace");
    ASSERT_TRUE(reader.ok()) << reader.status();
    ReplayOptions options;
    options.machine = LoadMachine(machine).value();
    options.machine.set_sms(1);
    Configuration lwm;
    lwm.divergence.name = "lwm";
    const auto results = Replay(**reader, {lwm}, options);
    ASSERT_TRUE(results.ok()) << results.status();
    for (const LaunchResult& launch : results->front().launch()) {
      EXPECT_EQ(launch.divergence_counter().at("sub_warps"), launch.warp_instructions()) << machine;
    }
  }
}

// Policies that keep static warps have no extra lines; dynamic warp formation has.
TEST(Metrics, ExtraLinesAreThoseOfRegroupedWarps) {
  const auto reader = trace::TraceReader::Open(std::string(HEDDLE_SAMPLES_DIR) + "/bfs.htrace");
  ASSERT_TRUE(reader.ok()) << reader.status();
  ReplayOptions options;
  options.machine = LoadMachine("baws_gtx480").value();
  options.machine.set_sms(1);
  options.metrics.per_instruction = true;
  Configuration pdom, dwf;
  dwf.divergence.name = "dwf";
  const auto results = Replay(**reader, {pdom, dwf}, options);
  ASSERT_TRUE(results.ok()) << results.status();
  double extra = 0;
  for (int i = 0; i < results->at(0).launch_size(); ++i) {
    EXPECT_EQ(results->at(0).launch(i).instruction_profile().memory().extra_transactions(), 0);
    extra += results->at(1).launch(i).instruction_profile().memory().extra_transactions();
  }
  EXPECT_GT(extra, 0.1);
}

}  // namespace
}  // namespace heddle::replay
