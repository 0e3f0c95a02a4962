// What a launch takes before its first block, and what it leaves of the storage that L1 and shared memory share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tests/replay/core/cluster_harness.h"
#include "tests/replay/core/engine_harness.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

constexpr uint32_t kKilobyte = 1024;
constexpr uint64_t kIn = 0x7000'0000;

// A launch of some blocks per amount of dynamic shared memory. Their threads read their words of `rows` rows, twice.
std::unique_ptr<trace::TraceReader> ReadTwice(const std::vector<uint32_t>& shared, uint32_t blocks, uint32_t threads,
                                              uint32_t rows) {
  static int number = 0;
  const trace::testing::TemporaryFile file(absl::StrCat("launch_setup_", getpid(), "_", number++, ".htrace"));
  auto writer = *trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader());
  const auto program =
      ProgramBuilder("twice").Block("head").Load().Alu(3).Branch("exit", "head").Block("exit").Alu().Exit().Build();
  EXPECT_TRUE(writer->AddProgram(program).ok());
  for (const uint32_t bytes : shared) {
    trace::v1::Launch launch = trace::testing::MakeLaunch(0, blocks, threads);
    launch.set_dynamic_shared_bytes(bytes);
    EXPECT_TRUE(writer->BeginLaunch(launch).ok());
    for (uint32_t block = 0; block < blocks; ++block) {
      std::vector<ThreadTrace> traces(threads);
      std::vector<trace::ThreadRecord> records;
      for (uint32_t t = 0; t < threads; ++t) {
        for (uint64_t turn = 0; turn < 2 * rows; ++turn) {
          traces[t].decisions.push_back(turn + 1 < 2 * rows);
          traces[t].addresses.push_back(kIn + ((turn % rows * blocks + block) * threads + t) * 4);
        }
        records.push_back(traces[t].record());
      }
      EXPECT_TRUE(writer->AddBlock(block, records, trace::TraceWriter::kNoExpectation).ok());
    }
    EXPECT_TRUE(writer->EndLaunch().ok());
  }
  EXPECT_TRUE(writer->Finish().ok());
  auto reader = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "test");
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

// Cycles of all parts count alike, so that the parts stand to each other as they did however long a launch is set up.
machine::v1::Machine OnOneClock(const std::string& name) {
  machine::v1::Machine machine = name == "toys" ? Toys(4).machine : LoadMachine(name).value();
  machine.set_sms(4);
  machine.clear_clocks();
  machine.mutable_dispatch()->clear_launch_cycles();
  if (machine.memory().has_hierarchy()) {  // PIM draws by cycle
    machine.mutable_memory()->mutable_hierarchy()->mutable_network()->set_allocator(machine::v1::Network::ISLIP);
  }
  return machine;
}

// What counts all cycles of a launch: made longer by `cycles`, or left out.
void Lengthen(result::v1::LaunchResult& launch, uint64_t cycles, const machine::v1::Machine& machine) {
  launch.set_cycles(launch.cycles() + cycles);
  launch.clear_ipc();
  // dwf counts the cycles of a launch by how full its pool is.
  for (const char* pool : {"pool_0_to_15", "pool_16_to_31"}) launch.mutable_divergence_counter()->erase(pool);
  const auto idle = [cycles](result::v1::CacheCounters& cache, uint64_t caches) {
    if (cache.mshr_occupancy_size() == 0) return;
    cache.set_mshr_occupancy(0, cache.mshr_occupancy(0) + cycles * caches);
  };
  if (launch.has_l1_data()) idle(*launch.mutable_l1_data(), machine.sms());
  if (launch.has_l1_texture()) idle(*launch.mutable_l1_texture(), machine.sms());
  if (launch.has_l1_constant()) idle(*launch.mutable_l1_constant(), machine.sms());
  if (launch.has_l1_instruction()) idle(*launch.mutable_l1_instruction(), machine.sms());
  if (!launch.has_dram()) return;  // fixed latencies, or an ideal memory
  for (auto* network : {launch.mutable_network_to_memory(), launch.mutable_network_to_sms()}) {
    network->set_cycles(network->cycles() + cycles);
  }
  if (launch.l2().has_cache()) idle(*launch.mutable_l2()->mutable_cache(), launch.l2().slices());
  launch.mutable_l2()->set_cycles(launch.l2().cycles() + cycles);
  launch.mutable_dram()->set_cycles(launch.dram().cycles() + cycles);
  launch.mutable_dram()->clear_bandwidth_utilisation();
}

// The issues, `later` cycles earlier.
std::vector<std::string> Issues(const Outcome& outcome, Cycle later) {
  std::vector<std::string> issues;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    EXPECT_GE(issue.cycle, later);
    std::string text = absl::StrCat(issue.cycle - later, ":");
    for (const auto& lane : issue.members) {
      absl::StrAppend(&text, " ", lane.block, ".", lane.thread, "@", lane.lane, ":", lane.pc);
    }
    issues.push_back(std::move(text));
  }
  std::ranges::sort(issues);
  return issues;
}

// Every launch is longer by exactly the cycles that it takes to set up, and does the same.
void ExpectOnlyLater(const trace::TraceReader& trace, RunOptions options) {
  const Outcome before = RunTrace(trace, options);
  ASSERT_TRUE(before.status.ok()) << before.status;
  // A single pipeline issues in cycles that this divides.
  const machine::v1::Core& core = options.machine.core();
  const uint32_t period = (core.warp_size() + core.simd_width() - 1) / core.simd_width();
  for (const uint32_t cycles : {period, 175 * period}) {
    options.machine.mutable_dispatch()->set_launch_cycles(cycles);
    for (const bool force_tick : {false, true}) {
      SCOPED_TRACE(absl::StrCat(cycles, force_tick ? " cycles, every cycle run" : " cycles"));
      options.force_tick = force_tick;
      const Outcome after = RunTrace(trace, options);
      ASSERT_TRUE(after.status.ok()) << after.status;
      ASSERT_EQ(after.result.launch_size(), before.result.launch_size());
      EXPECT_EQ(after.result.total().cycles(), before.result.total().cycles() + cycles * before.result.launch_size());
      EXPECT_EQ(Issues(after, cycles), Issues(before, 0));
      for (int i = 0; i < before.result.launch_size(); ++i) {
        result::v1::LaunchResult expected = before.result.launch(i);
        result::v1::LaunchResult found = after.result.launch(i);
        Lengthen(expected, cycles, options.machine);
        Lengthen(found, 0, options.machine);
        EXPECT_EQ(found.DebugString(), expected.DebugString()) << "launch " << i;
      }
    }
  }
}

TEST(LaunchCycles, PassBeforeTheFirstBlockAndChangeNothingElse) {
  const auto trace = ReadTwice({0, 4 * kKilobyte}, 12, 64, 2);
  for (const char* name :
       {"toys", "fermi_fixed", "fermi_buffer_fixed", "thesis_8800gtx", "baws_gtx480", "volta_v100", "ideal_gtx480"}) {
    for (const char* dispatch : {"thread_blocks", "virtual_blocks", "warps"}) {
      for (const char* divergence : {"pdom", "dwf"}) {
        if (std::string(divergence) == "dwf" && std::string(dispatch) != "thread_blocks") continue;
        SCOPED_TRACE(absl::StrCat(name, " ", dispatch, " ", divergence));
        RunOptions options;
        options.machine = OnOneClock(name);
        options.machine.mutable_core()->set_max_blocks(2);  // several rounds of the dispatcher
        options.divergence = divergence;
        options.dispatch = dispatch;
        ExpectOnlyLater(*trace, options);
      }
    }
  }
}

TEST(LaunchCycles, PassBeforeTheFirstClusters) {
  trace::v1::KernelProgram program =
      ProgramBuilder("cluster").Block("head").Alu(5).Load(trace::v1::SPACE_SHARED).Alu(2).Exit().Build();
  MakeClusterBarrier(*program.mutable_instruction(1), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(3), trace::v1::BARRIER_WAIT);
  std::vector<ThreadTrace> threads;
  for (uint32_t t = 0; t < 12 * 8; ++t) threads.push_back(Thread({}, {kClusterShared + t * 4}));
  const auto trace = MakeClusters(program, {6, 2}, {2, 1}, threads);
  for (RunOptions options : {Toys(4), Buffers(4), OnHierarchy(false, 4), OnHierarchy(true, 4)}) {
    options.machine.clear_clocks();
    options.machine.mutable_core()->set_max_blocks(2);
    ExpectOnlyLater(*trace, options);
  }
}

// A bin that ends before the first block is there has nothing in it.
TEST(LaunchCycles, CountInTimeSeriesAsEmptyBins) {
  const auto trace = ReadTwice({0}, 12, 64, 3);
  for (const char* name : {"fermi_fixed", "baws_gtx480"}) {
    RunOptions options;
    options.machine = OnOneClock(name);
    options.metrics.bin_cycles = 100;
    const Outcome before = RunTrace(*trace, options);
    ASSERT_TRUE(before.status.ok()) << before.status;
    options.machine.mutable_dispatch()->set_launch_cycles(300);
    for (const bool force_tick : {false, true}) {
      options.force_tick = force_tick;
      const Outcome after = RunTrace(*trace, options);
      ASSERT_TRUE(after.status.ok()) << after.status;
      const result::v1::TimeSeries& found = after.launch().time_series();
      const result::v1::TimeSeries& expected = before.launch().time_series();
      const auto later = [](const auto& bins) {
        std::vector<uint64_t> all(3);
        all.insert(all.end(), bins.begin(), bins.end());
        return all;
      };
      const auto bins = [](const auto& of) { return std::vector<uint64_t>(of.begin(), of.end()); };
      EXPECT_EQ(bins(found.warp_instructions()), later(expected.warp_instructions())) << name;
      EXPECT_EQ(bins(found.resident_cycles()), later(expected.resident_cycles())) << name;
      EXPECT_EQ(bins(found.scheduler_cycles()), later(expected.scheduler_cycles())) << name;
      // A round of the dispatcher is at the end of a cycle, the first one in the last of the third bin.
      std::vector<uint64_t> dispatched = later(expected.dispatched_blocks());
      ASSERT_GE(dispatched[3], 4) << name << ": a block for each SM";
      dispatched[2] += 4;
      dispatched[3] -= 4;
      EXPECT_EQ(bins(found.dispatched_blocks()), dispatched) << name;
      EXPECT_EQ(bins(found.retired_blocks()), later(expected.retired_blocks())) << name;
      EXPECT_EQ(bins(found.memory_system().l1_accesses()),
                expected.has_memory_system() ? later(expected.memory_system().l1_accesses()) : std::vector<uint64_t>())
          << name;
    }
  }
}

TEST(LaunchCycles, CountAgainstTheMostCyclesOfARun) {
  const auto trace = ReadTwice({0}, 4, 64, 1);
  RunOptions options;
  options.machine = OnOneClock("baws_gtx480");
  const Outcome unbounded = RunTrace(*trace, options);
  ASSERT_TRUE(unbounded.status.ok()) << unbounded.status;
  int refused = 0;
  for (uint64_t most = unbounded.launch().cycles() - 3; most < unbounded.launch().cycles() + 3; ++most) {
    options.machine.mutable_dispatch()->set_launch_cycles(0);
    options.max_cycles = most;
    const bool enough = RunTrace(*trace, options).status.ok();
    if (!enough) ++refused;
    options.machine.mutable_dispatch()->set_launch_cycles(5000);
    options.max_cycles = most + 5000;
    EXPECT_EQ(RunTrace(*trace, options).status.ok(), enough) << most;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 6);
  options.max_cycles = 4000;
  EXPECT_THAT(std::string(RunTrace(*trace, options).status.message()),
              AllOf(HasSubstr("not done after 4000 cycles"), HasSubstr("4 thread blocks are left")));
}

class NeverIssues : public SplittingPolicy {
 public:
  uint32_t interests() const override { return kEveryCycle | kIssue; }
  Verdict AcceptIssue(SlotId /*slot*/, WarpEditor& /*editor*/) override { return Verdict::kRefused; }
};

// The watch counts from the first block on.
TEST(LaunchCycles, AreNoHang) {
  RegisterPolicy("never_issues", [](const DivergenceContext&) { return std::make_unique<NeverIssues>(); });
  const auto trace = ReadTwice({0}, 1, 64, 1);
  RunOptions options;
  options.machine = OnOneClock("fermi_fixed");
  options.divergence = "never_issues";
  EXPECT_THAT(
      std::string(RunTrace(*trace, options).status.message()),
      AllOf(HasSubstr("nothing was issued or completed on SM 0 in 1048577 cycles"), HasSubstr("cycle 1048577")));
  options.machine.mutable_dispatch()->set_launch_cycles(100'000);
  EXPECT_THAT(
      std::string(RunTrace(*trace, options).status.message()),
      AllOf(HasSubstr("nothing was issued or completed on SM 0 in 1048577 cycles"), HasSubstr("cycle 1148577")));
  options.divergence = "pdom";
  EXPECT_TRUE(RunTrace(*trace, options).status.ok()) << "the longest there is";
}

// 64 KB in ways of 1 KB.
machine::v1::Machine Splitting(const std::string& name) {
  machine::v1::Machine machine = OnOneClock(name);
  machine.set_sms(1);
  machine.mutable_core()->set_shared_memory_bytes(48 * kKilobyte);
  machine.mutable_core()->set_shared_bytes_per_block(0);
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.set_l2_between_launches(machine::v1::Hierarchy::FLUSH);  // every launch is as the first
  memory.mutable_network()->set_sms_per_port(1);
  memory.mutable_l1_data()->set_sets(1024 / memory.l1_data().line_bytes());
  memory.mutable_l1_data()->set_ways(64);
  memory.mutable_l1_split()->set_bytes(64 * kKilobyte);
  memory.mutable_l1_split()->clear_shared_bytes();
  for (const uint32_t bytes : {0u, 8u, 16u, 32u, 48u}) memory.mutable_l1_split()->add_shared_bytes(bytes * kKilobyte);
  return machine;
}
machine::v1::Machine Fixed(machine::v1::Machine machine, uint32_t ways) {
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.clear_l1_split();
  memory.mutable_l1_data()->set_ways(ways);
  return machine;
}

// 24 KB are read twice: an L1 of 32 KB has them the second time, one of 16 KB has lost what comes next.
TEST(L1Split, EveryLaunchHasTheL1ThatItsSharedMemoryLeaves) {
  const std::vector<uint32_t> shared = {0, 48 * kKilobyte, 20 * kKilobyte, 4 * kKilobyte, 0};
  const std::vector<uint32_t> ways = {64, 16, 16, 32, 64};  // of five blocks, or as many as fit
  const auto trace = ReadTwice(shared, 2, 64, 48);
  for (const char* name : {"baws_gtx480", "volta_v100", "capri_fx5800"}) {
    for (const bool force_tick : {false, true}) {
      if (force_tick && std::string(name) != "baws_gtx480") continue;
      RunOptions options;
      options.force_tick = force_tick;
      options.machine = Splitting(name);
      options.machine.mutable_core()->set_max_blocks(5);
      const absl::Status legal = CheckMachine(options.machine);
      ASSERT_TRUE(legal.ok()) << name << ": " << legal;
      const Outcome split = RunTrace(*trace, options);
      ASSERT_TRUE(split.status.ok()) << name << ": " << split.status;
      for (const uint32_t some : {64u, 32u, 16u}) {
        options.machine = Fixed(options.machine, some);
        const Outcome fixed = RunTrace(*trace, options);
        ASSERT_TRUE(fixed.status.ok()) << name << ": " << fixed.status;
        for (int i = 0; i < fixed.result.launch_size(); ++i) {
          if (ways[static_cast<size_t>(i)] != some) continue;
          EXPECT_EQ(split.result.launch(i).DebugString(), fixed.result.launch(i).DebugString())
              << name << ", launch " << i;
        }
      }
      const auto hits = [&](int launch) {
        return split.result.launch(launch).l1_data().hits() + split.result.launch(launch).l1_data().pending_hits();
      };
      EXPECT_GT(hits(0), hits(1) + 100) << name;
      EXPECT_EQ(hits(0), hits(4)) << name << ": it has its ways again";
    }
  }
}

// By threads an SM has room for a block and a half of 8 KB: whole blocks leave 56 KB. Warps of three blocks may be
// there at once.
TEST(L1Split, BlocksThatAreThereInPartCount) {
  const auto trace = ReadTwice({8 * kKilobyte}, 6, 64, 48);
  RunOptions options;
  options.machine = Splitting("baws_gtx480");
  options.machine.mutable_core()->set_max_threads(96);
  for (const auto& [dispatch, ways] : {std::pair<const char*, uint32_t>{"thread_blocks", 56}, {"warps", 32}}) {
    options.dispatch = dispatch;
    options.machine = Splitting("baws_gtx480");
    options.machine.mutable_core()->set_max_threads(96);
    const Outcome split = RunTrace(*trace, options);
    ASSERT_TRUE(split.status.ok()) << split.status;
    options.machine = Fixed(options.machine, ways);
    EXPECT_EQ(split.launch().DebugString(), RunTrace(*trace, options).launch().DebugString()) << dispatch;
    options.machine = Fixed(options.machine, 4);
    EXPECT_NE(split.launch().DebugString(), RunTrace(*trace, options).launch().DebugString()) << "ways matter";
  }
}

// Five blocks on four SMs that hold one each: how many start in a cycle, and the fifth behind the first that ends.
TEST(LaunchSetup, BlocksOfAllSmsMayStartAFewPerCycle) {
  const auto trace = MakeTrace(ProgramBuilder("one").Exit().Build(), 5, std::vector<ThreadTrace>(20));
  const auto starts = [&](uint32_t blocks_per_cycle) {
    RunOptions options;
    options.machine.set_sms(4);
    options.machine.mutable_core()->set_max_blocks(1);
    options.machine.mutable_core()->set_pipeline_depth(50);
    options.machine.mutable_dispatch()->set_blocks_per_cycle(blocks_per_cycle);
    const Outcome outcome = RunTrace(*trace, options);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    std::vector<Cycle> cycles;
    for (const LoggedIssue& issue : outcome.log.issues()) cycles.push_back(issue.cycle);
    std::ranges::sort(cycles);
    return cycles;
  };
  EXPECT_EQ(starts(0), (std::vector<Cycle>{0, 0, 0, 0, 51}));
  EXPECT_EQ(starts(1), (std::vector<Cycle>{0, 1, 2, 3, 51}));
  EXPECT_EQ(starts(3), (std::vector<Cycle>{0, 0, 0, 1, 51}));
  EXPECT_EQ(starts(9), (std::vector<Cycle>{0, 0, 0, 0, 51}));
}

}  // namespace
}  // namespace heddle::replay
