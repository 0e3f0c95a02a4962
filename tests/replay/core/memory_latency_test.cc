// Through everything: core, first-level cache, network, L2 and DRAM of machines that are idle. A pointer chase: what
// every load takes follows from the machine's numbers and the rules of docs/reference/timing.md, to the cycle. And the
// rate of a full memory stage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "replay/machine/machine.h"
#include "replay/memory/address_map.h"
#include "replay/memory/sm/hierarchy_sm.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using trace::testing::ProgramBuilder;

// One clock, so that no latency depends on where in a period it begins. A first-level cache of one way, so that a line
// can be pushed out of it.
machine::v1::Machine Gtx480() {
  machine::v1::Machine machine = LoadMachine("baws_gtx480").value();
  machine.set_sms(1);
  machine.mutable_clocks()->set_dram_mhz(machine.clocks().core_mhz());
  machine.mutable_memory()->mutable_hierarchy()->mutable_l1_data()->set_ways(1);
  return machine;
}

// A thread loads from one address after the other, every load needing the one before it. The cycles from the issue of
// each load to that of the next.
std::vector<uint64_t> Chase(const machine::v1::Machine& machine, const std::vector<uint64_t>& addresses) {
  ProgramBuilder builder("chase");
  for (size_t i = 0; i < addresses.size(); ++i) builder.Load();
  const auto trace = MakeTrace(builder.Alu().Exit().Build(), 1, {Thread({}, addresses)});
  RunOptions options;
  options.machine = machine;
  const Outcome outcome = RunTrace(*trace, options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  std::vector<uint64_t> latencies;
  const std::vector<LoggedIssue>& issues = outcome.log.issues();
  for (size_t i = 0; i < addresses.size() && i + 1 < issues.size(); ++i) {
    latencies.push_back(issues[i + 1].cycle - issues[i].cycle);
  }
  return latencies;
}

// The same for two loads from shared memory: the cycles of the first.
uint64_t ChaseInShared(const machine::v1::Machine& machine) {
  const auto program = ProgramBuilder("shared").Load(trace::v1::SPACE_SHARED).Load(trace::v1::SPACE_SHARED).Exit();
  RunOptions options;
  options.machine = machine;
  const Outcome outcome = RunTrace(*MakeTrace(program.Build(), 1, {Thread({}, {0, 0})}), options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  const std::vector<LoggedIssue>& issues = outcome.log.issues();
  return issues.size() < 2 ? 0 : issues[1].cycle - issues[0].cycle;
}

struct Latencies {
  explicit Latencies(const machine::v1::Machine& machine) {
    const machine::v1::Hierarchy& memory = machine.memory().hierarchy();
    const machine::v1::DramTiming& dram = memory.dram().timing();
    // The load reaches the memory stage, and the next one issues in the cycle in which its data are there.
    const uint64_t stage = machine.core().units().memory_issue_latency();
    l1 = stage + memory.l1_data().hit_cycles();
    // A miss is queued in the cycle of the stage, and sent in the next one. The network moves the request's only flit,
    // the slice takes it in and looks at it when its ROP cycles are over; the network moves the reply's five flits
    // (8 + 128 bytes in flits of 32), and the SM takes it in the cycle of the last one.
    const uint64_t to_slice = stage + 1 + 2 + memory.l2().rop_cycles();
    const uint64_t to_sm = 4;
    l2 = to_slice + memory.l2().cache().hit_cycles() - 1 + 1 + to_sm;
    // A job waits for its pipeline; its waiter is served when the data are there, and the reply sent in the next cycle.
    const uint64_t to_dram = to_slice + memory.l2().dram_pipe_cycles();
    // Two column accesses in one bank group, then the last burst of eight transfers, four per cycle.
    const uint64_t data = dram.ccd_group() + dram.cl() + 2;
    open_row = to_dram + data + 1 + to_sm;
    idle_bank = open_row + dram.rcd();
    other_row = idle_bank + dram.rp();
  }
  uint64_t l1, l2, open_row, idle_bank, other_row;
};

TEST(MemoryLatencyTest, APointerChaseFindsEveryLevel) {
  const machine::v1::Machine machine = Gtx480();
  const machine::v1::Hierarchy& memory = machine.memory().hierarchy();
  const auto map = AddressMap::Make(memory.address_map(), memory.dram(), memory.l2().slices_per_controller());
  ASSERT_TRUE(map.ok()) << map.status();
  // Not with the controller that the program is fetched from, so that its banks are idle.
  uint64_t start = 0x7000'0000;
  while (map->ControllerOf(start) == map->ControllerOf(InstructionFetches::kProgramBase)) start += 128;
  const DramLocation first = map->Locate(start);
  const auto find = [&](bool same_row) {
    for (uint64_t address = start + 128;; address += 128) {
      const DramLocation at = map->Locate(address);
      if (at.controller == first.controller && at.bank == first.bank && (at.row == first.row) == same_row) {
        return address;
      }
    }
  };
  const uint64_t same_row = find(true);
  const uint64_t other_row = find(false);
  const uint64_t set = uint64_t{memory.l1_data().sets()} * 128;
  ASSERT_NE(same_row % set, start % set) << "the test needs lines that do not push one another out";
  ASSERT_NE(other_row % set, start % set);

  const Latencies expected(machine);
  // Row buffers start closed. Then: in the L1; in the open row; in another row of the bank; all three in the L1 or L2.
  EXPECT_THAT(Chase(machine, {start, start + 4, same_row, other_row, start, same_row}),
              ElementsAre(expected.idle_bank, expected.l1, expected.open_row, expected.other_row, expected.l1,
                          same_row % set == other_row % set ? expected.l2 : expected.l1));
  // A line that shares its set pushes the first one out of the L1, not out of the L2.
  const std::vector<uint64_t> pushed = Chase(machine, {start, start + set, start, start});
  ASSERT_EQ(pushed.size(), 4u);
  EXPECT_EQ(pushed[2], expected.l2);
  EXPECT_EQ(pushed[3], expected.l1);
}

// What was measured of the cards, which the numbers of their machines were derived from: a hit in the L1, a hit in the
// L2, a miss of it in an idle bank, and shared memory.
TEST(MemoryLatencyTest, MachinesOfTodayTakeWhatWasMeasured) {
  const struct {
    const char* name;
    uint64_t l1, l2, dram, shared;
  } kCards[] = {{"volta_v100", 28, 193, 375, 19}, {"hopper_h100", 33, 258, 656, 29}};
  for (const auto& card : kCards) {
    SCOPED_TRACE(card.name);
    machine::v1::Machine machine = LoadMachine(card.name).value();
    machine.set_sms(1);
    const machine::v1::Cache& l1 = machine.memory().hierarchy().l1_data();
    const uint64_t way = uint64_t{l1.sets()} * l1.line_bytes();
    // From the start, and from as many lines of its set as push it out of the L1.
    std::vector<uint64_t> addresses;
    for (uint64_t i = 0; i <= l1.ways(); ++i) addresses.push_back(0x7000'0000 + i * way);
    addresses.push_back(0x7000'0000);
    addresses.push_back(0x7000'0000);
    const std::vector<uint64_t> latencies = Chase(machine, addresses);
    ASSERT_EQ(latencies.size(), addresses.size());
    // DRAM's clock is not the core's: what comes from there waits for the next cycle.
    EXPECT_NEAR(static_cast<double>(latencies[0]), static_cast<double>(card.dram), 2);
    EXPECT_EQ(latencies[latencies.size() - 2], card.l2);
    EXPECT_EQ(latencies.back(), card.l1);
    EXPECT_EQ(ChaseInShared(machine), card.shared);
  }
}

// Warps that load from shared memory without conflicts: cycles from `loads` of each of them.
uint64_t SharedLoads(const machine::v1::Machine& machine, int loads) {
  ProgramBuilder builder("shared");
  for (int i = 0; i < loads; ++i) builder.Load(trace::v1::SPACE_SHARED);
  std::vector<trace::testing::ThreadTrace> threads;
  for (uint64_t thread = 0; thread < 1024; ++thread) {
    threads.push_back(Thread({}, std::vector<uint64_t>(static_cast<size_t>(loads), 4 * thread)));
  }
  RunOptions options;
  options.machine = machine;
  const Outcome outcome = RunTrace(*MakeTrace(builder.Exit().Build(), 1, threads), options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  return outcome.status.ok() ? outcome.launch().cycles() : 0;
}

// The way to the memory stage is a pipeline: however long it is, a warp can enter the stage in every cycle.
TEST(MemoryLatencyTest, MachinesWithAScoreboardTakeAWarpPerCycle) {
  for (const char* name : {"baws_gtx480", "vtw_gtx480", "ideal_gtx480", "volta_80sm", "hopper_h100"}) {
    machine::v1::Machine machine = LoadMachine(name).value();
    machine.set_sms(1);
    constexpr uint64_t kMoreAccesses = 32 * 16;
    const uint64_t cycles = SharedLoads(machine, 32) - SharedLoads(machine, 16);
    EXPECT_GE(cycles, kMoreAccesses) << name;
    EXPECT_LT(cycles, kMoreAccesses * 5 / 4) << name;
    machine.mutable_core()->mutable_units()->set_memory_initiation_interval(4);
    EXPECT_GE(SharedLoads(machine, 32) - SharedLoads(machine, 16), 4 * kMoreAccesses) << name;
  }
}

}  // namespace
}  // namespace heddle::replay
