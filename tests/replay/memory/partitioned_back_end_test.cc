// Network, L2 and DRAM together: latencies to the cycle, limits of bandwidth, exhaustion, conservation.
#include "replay/memory/partitioned_back_end.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/memory/back_end_driver.h"

namespace heddle::replay {
namespace {

std::unique_ptr<PartitionedBackEnd> Make(const machine::v1::Machine& machine, bool force_tick = false,
                                         uint64_t seed = 1) {
  auto memory = PartitionedBackEnd::Make(machine, seed, force_tick);
  if (!memory.ok()) ADD_FAILURE() << memory.status();
  return *std::move(memory);
}

machine::v1::Hierarchy& Memory(machine::v1::Machine& machine) { return *machine.mutable_memory()->mutable_hierarchy(); }

// Three SMs to a port of the network.
machine::v1::Machine WithSharedPorts(uint32_t sms) {
  machine::v1::Machine machine = BackEndMachine();
  machine.set_sms(sms);
  Memory(machine).mutable_network()->set_sms_per_port(3);
  return machine;
}

// Cycles from sending to reply, in the order of the script.
std::vector<Cycle> Latencies(const DrivenLaunch& launch) {
  std::vector<Cycle> latencies(launch.replies.size());
  for (const Reply& reply : launch.replies) latencies[reply.request] = reply.taken - reply.sent;
  return latencies;
}

// The steps of a read of a 128-byte line with one clock, sent in core cycle c:
//   c+1    the network moves its only flit
//   c+2    the slice takes it in
//   c+2+R  the slice looks at it (R: ROP cycles, at least 1)
//   hit:   the reply is ready H cycles later and enters the network, which moves 5 flits (8 + 128 bytes in 32-byte
//          flits), the first at once: R + H + 6 cycles in all
//   miss:  the DRAM controller takes the job P cycles later (pipe, at least 1), and has the data after `dram` cycles;
//   the
//          slice serves the waiter in that cycle, and sends the reply in the next: 2 + R + P + dram + 1 + 4.
constexpr Cycle kHit = 1 + 1 + 6;
constexpr Cycle MissLatency(Cycle dram) { return 2 + 1 + 1 + dram + 1 + 4; }
// Idle bank: activate, tRCD, two column accesses (32 bytes x 2 chips each) tCCD apart, tCL, two cycles on the bus.
constexpr Cycle kIdleBank = 12 + 2 + 12 + 2;

TEST(PartitionedBackEndTest, PointerChaseFindsTheLatenciesOfDramRowAndL2) {
  const auto memory = Make(BackEndMachine());
  // With two controllers, and 256 bytes to each in turn: +128 is the same bank and row, +64 MB another row of it.
  const std::vector<ScriptedRequest> script = {
      {0, 0, Read(0)},            // an idle bank: activate
      {0, 1000, Read(0)},         // in the L2
      {0, 2000, Read(128)},       // the row is open
      {0, 3000, Read(64 << 20)},  // another row of the bank: precharge, tRP, activate
      {0, 4000, Read(128)},       // in the L2
      {1, 5000, Read(64 << 20)}   // in the L2, for another SM
  };
  const DrivenLaunch launch = Drive(*memory, 2, script);
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_THAT(Latencies(launch), ::testing::ElementsAre(MissLatency(kIdleBank), kHit, MissLatency(2 + 12 + 2),
                                                        MissLatency(12 + kIdleBank), kHit, kHit));
  EXPECT_EQ(launch.result.l2().cache().hits(), 3);
  EXPECT_EQ(launch.result.l2().cache().misses(), 3);
  EXPECT_EQ(launch.result.dram().row_hits(), 1);
  EXPECT_EQ(launch.result.dram().activates(), 2);
  EXPECT_EQ(launch.result.dram().precharges(), 1);
  EXPECT_EQ(launch.result.dram().bus_busy(), 3 * 4);
}

TEST(PartitionedBackEndTest, PipelinesAddTheirCycles) {
  machine::v1::Machine machine = BackEndMachine();
  Memory(machine).mutable_l2()->set_rop_cycles(120);
  Memory(machine).mutable_l2()->set_dram_pipe_cycles(100);
  Memory(machine).mutable_l2()->mutable_cache()->set_hit_cycles(7);
  const auto memory = Make(machine);
  const DrivenLaunch launch = Drive(*memory, 2, {{0, 0, Read(0)}, {0, 1000, Read(0)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_THAT(Latencies(launch), ::testing::ElementsAre(MissLatency(kIdleBank) + 119 + 99, kHit + 119 + 6));
}

TEST(PartitionedBackEndTest, RequestsOfOneSliceFollowOneAnotherThroughThePipeline) {
  // Twenty hits in a row: the ROP pipeline holds them all though the queue behind it has one place.
  machine::v1::Machine machine = BackEndMachine();
  Memory(machine).mutable_l2()->set_rop_cycles(120);
  Memory(machine).mutable_l2()->set_input_queue(1);
  Memory(machine).mutable_network()->set_flit_bytes(256);  // a message is one flit
  const auto memory = Make(machine);
  std::vector<ScriptedRequest> script = {{0, 0, Read(0)}};
  for (int i = 0; i < 20; ++i) script.push_back({0, 1000, Read(0)});
  const DrivenLaunch launch = Drive(*memory, 2, script);
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  for (uint32_t i = 1; i < launch.replies.size(); ++i) {
    EXPECT_EQ(launch.replies[i].taken, 1000 + 120 + 1 + 2 + i - 1);
  }
}

TEST(PartitionedBackEndTest, ClocksScaleTheirParts) {
  // Network, L2 and DRAM at half the core's frequency: their steps take two core cycles each.
  machine::v1::Machine machine = BackEndMachine();
  machine.mutable_clocks()->set_core_mhz(1000);
  machine.mutable_clocks()->set_network_mhz(500);
  machine.mutable_clocks()->set_l2_mhz(500);
  machine.mutable_clocks()->set_dram_mhz(500);
  const auto memory = Make(machine);
  const DrivenLaunch launch = Drive(*memory, 2, {{0, 0, Read(0)}, {0, 1000, Read(0)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_THAT(Latencies(launch), ::testing::ElementsAre(2 * MissLatency(kIdleBank), 2 * kHit));
}

TEST(PartitionedBackEndTest, RopCyclesAreCoreCyclesWhateverTheL2sClock) {
  // Core period 1, L2 period 3. Sent at 0, moved by the network at 1, taken in by the L2 at its edge at 3; the ROP
  // pipeline's 10 core cycles end at 13, the next edge is at 15; the reply is sent at 18, and moved in 18 to 22.
  machine::v1::Machine machine = BackEndMachine();
  machine.mutable_clocks()->set_core_mhz(900);
  machine.mutable_clocks()->set_network_mhz(900);
  machine.mutable_clocks()->set_l2_mhz(300);
  machine.mutable_clocks()->set_dram_mhz(900);
  Memory(machine).mutable_l2()->set_rop_cycles(10);
  const auto memory = Make(machine);
  const DrivenLaunch launch = Drive(*memory, 2, {{0, 0, Read(0)}, {0, 900, Read(0)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_EQ(Latencies(launch)[1], 22);
}

TEST(PartitionedBackEndTest, AStreamReachesThePeakOfTheDram) {
  // Two controllers with 32 bytes per cycle each: a line per 4 cycles and controller. Row hits but for one activate per
  // row. A reply has three flits, so that the network can carry more.
  machine::v1::Machine machine = BackEndMachine();
  machine.set_sms(4);
  Memory(machine).mutable_network()->set_flit_bytes(64);
  Memory(machine).mutable_l2()->set_rop_cycles(20);
  Memory(machine).mutable_l2()->set_dram_pipe_cycles(20);
  const auto memory = Make(machine);
  std::vector<ScriptedRequest> script;
  constexpr uint64_t kLines = 32000;
  for (uint64_t line = 0; line < kLines; ++line)
    script.push_back({static_cast<uint32_t>(line / 2 % 4), 0, Read(line * 128)});
  const DrivenLaunch launch = Drive(*memory, 4, script);
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  const uint64_t peak = kLines * 4 / 2;
  EXPECT_GE(launch.end, peak);
  EXPECT_LE(launch.end, peak * 102 / 100);
  EXPECT_GT(launch.result.dram().bandwidth_utilisation(), 98);
  EXPECT_GT(launch.result.dram().row_hit_rate(), 90);
}

TEST(PartitionedBackEndTest, WholeLinesAreWrittenWithoutReadingThemFirst) {
  const auto memory = Make(BackEndMachine());
  std::vector<ScriptedRequest> script;
  // Twice what the L2 holds: 2 slices of 64 sets of 8 ways.
  constexpr uint64_t kLines = 2 * 2 * 64 * 8;
  for (uint64_t line = 0; line < kLines; ++line) script.push_back({0, 0, Write(line * 128)});
  const DrivenLaunch launch = Drive(*memory, 2, script);
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_EQ(launch.result.dram().read_requests(), 0);
  EXPECT_EQ(launch.result.dram().write_requests(), kLines / 2);
  EXPECT_EQ(launch.result.l2().cache().write_backs(), kLines / 2);
  EXPECT_EQ(launch.result.l2().writes(), kLines);
}

TEST(PartitionedBackEndTest, PartOfALineIsWrittenIntoTheLine) {
  const auto memory = Make(BackEndMachine());
  const DrivenLaunch launch =
      Drive(*memory, 2, {{0, 0, Write(0, 32)}, {0, 1, Write(64, 32)}, {0, 2, Read(0)}, {0, 500, Read(0)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_EQ(launch.result.l2().cache().misses(), 1);
  EXPECT_EQ(launch.result.l2().cache().pending_hits(), 2);
  EXPECT_EQ(launch.result.l2().cache().hits(), 1);
  EXPECT_EQ(launch.result.dram().read_requests(), 1);
  EXPECT_EQ(launch.result.dram().write_requests(), 0);
}

TEST(PartitionedBackEndTest, AtomicsOfAWarpOnOneAddressTakeAPassEach) {
  const auto memory = Make(BackEndMachine());
  const DrivenLaunch launch = Drive(*memory, 2,
                                    {{0, 0, Read(0)},
                                     {0, 1000, Atomic(0, 1)},   // one flit back
                                     {0, 2000, Atomic(0, 32)},  // 31 more passes
                                     {0, 3000, Atomic(0, 32)},  // holds the unit
                                     {1, 3001, Atomic(0, 1)},   // behind it
                                     {0, 4000, Atomic(0, 32)},  // locks its line,
                                     {1, 4001, Read(128)},      // but not the others
                                     {0, 5000, Atomic(0, 32)},
                                     {1, 5001, Read(0)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  const std::vector<Cycle> latencies = Latencies(launch);
  EXPECT_EQ(latencies[1], kHit - 4);
  EXPECT_EQ(latencies[2], kHit - 4 + 31);
  EXPECT_EQ(latencies[3], kHit - 4 + 31);
  EXPECT_EQ(latencies[4], kHit - 4 + 31);  // looked at in the cycle in which the first ends, one later than it was sent
  EXPECT_EQ(latencies[6], MissLatency(2 + 12 + 2));
  EXPECT_EQ(latencies[8], kHit + 31);
  EXPECT_EQ(launch.result.l2().atomics(), 6);
  EXPECT_EQ(launch.result.l2().atomic_passes(), 1 + 32 + 32 + 1 + 32 + 32);
  EXPECT_EQ(launch.result.l2().atomic_wait(), 31 + 31);
}

TEST(PartitionedBackEndTest, WithoutAnL2EveryRequestGoesToDram) {
  machine::v1::Machine machine = BackEndMachine();
  Memory(machine).mutable_l2()->Clear();
  Memory(machine).mutable_l2()->set_input_queue(2);
  Memory(machine).mutable_l2()->set_output_queue(2);
  Memory(machine).mutable_l2()->set_dram_queue(2);
  const auto memory = Make(machine);
  const DrivenLaunch launch = Drive(
      *memory, 2,
      {{0, 0, Read(0)}, {0, 1000, Read(0)}, {0, 2000, Write(0)}, {0, 3000, Atomic(0, 4)}, {0, 4000, Read(64, 32)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  const std::vector<Cycle> latencies = Latencies(launch);
  EXPECT_EQ(latencies[0], MissLatency(kIdleBank));
  EXPECT_EQ(latencies[1], MissLatency(2 + 12 + 2));
  // 5 flits there (4 more than the request of a read), tWL instead of tCL, one flit back.
  EXPECT_EQ(latencies[2], MissLatency(2 + 4 + 2) + 4 - 4);
  // One column access and a flit back; 4 passes.
  EXPECT_EQ(latencies[3], MissLatency(12 + 2) - 4 + 3 + 0);
  EXPECT_EQ(latencies[4], MissLatency(12 + 2) - 3);
  EXPECT_EQ(launch.result.dram().read_requests(), 4);
  EXPECT_EQ(launch.result.dram().write_requests(), 2);  // the store, and what the atomic computed
  EXPECT_FALSE(launch.result.l2().has_cache());
}

TEST(PartitionedBackEndTest, SmsThatShareAPortGetTheirOwnReplies) {
  const auto memory = Make(WithSharedPorts(/*sms=*/5));
  std::vector<ScriptedRequest> script;
  for (uint32_t i = 0; i < 400; ++i) script.push_back({i % 5, 0, i % 3 == 0 ? Write(i * 128) : Read(i / 4 * 128)});
  const DrivenLaunch launch = Drive(*memory, 5, script);
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  ASSERT_EQ(launch.replies.size(), script.size());
  for (const Reply& reply : launch.replies) EXPECT_EQ(reply.sm, script[reply.request].sm);
  EXPECT_EQ(launch.result.network_to_memory().inputs(), 2);
  // A port hands over one reply per core cycle.
  for (uint32_t port = 0; port < 2; ++port) {
    Cycle last = kNever;
    for (const Reply& reply : launch.replies) {
      if (reply.sm / 3 != port) continue;
      EXPECT_NE(reply.taken, last);
      last = reply.taken;
    }
  }
}

TEST(PartitionedBackEndTest, SmsThatShareAPortTakeTurns) {
  const auto memory = Make(WithSharedPorts(/*sms=*/3));
  std::vector<ScriptedRequest> script;
  for (uint32_t i = 0; i < 300; ++i) script.push_back({i % 3, 0, Write(i / 3 % 4 * 128)});
  const DrivenLaunch launch = Drive(*memory, 3, script);
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  std::vector<Reply> replies = launch.replies;
  std::sort(replies.begin(), replies.end(), [](const Reply& a, const Reply& b) { return a.taken < b.taken; });
  std::array<uint32_t, 3> answered{};
  for (const Reply& reply : replies) {
    ++answered[reply.sm];
    const auto [least, most] = std::minmax_element(answered.begin(), answered.end());
    // All want to send all the time; what was sent before the port was full went in ascending order.
    EXPECT_LE(*most - *least, 4) << "after " << reply.taken << " cycles";
  }
}

TEST(PartitionedBackEndTest, MshrsBoundTheLinesUnderWay) {
  // One MSHR: each miss of a slice waits for the one before. Another: no second access merges.
  machine::v1::Machine machine = BackEndMachine();
  Memory(machine).mutable_l2()->mutable_cache()->set_mshrs(1);
  Memory(machine).mutable_l2()->mutable_cache()->set_mshr_merges(1);
  const auto memory = Make(machine);
  const DrivenLaunch launch = Drive(*memory, 2, {{0, 0, Read(0)}, {0, 0, Read(128)}, {0, 0, Read(128)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_GT(launch.replies[1].taken, launch.replies[0].taken + 12);
  EXPECT_GT(launch.result.l2().cache().wait_mshr(), 20);
  EXPECT_GT(launch.result.l2().cache().wait_merge(), 10);
  EXPECT_EQ(launch.result.l2().cache().mshr_occupancy_size(), 2);
  EXPECT_EQ(launch.result.l2().cache().hits(), 1);
}

TEST(PartitionedBackEndTest, AnAccessWaitsWhileAllWaysOfItsSetAreReserved) {
  machine::v1::Machine machine = BackEndMachine();
  Memory(machine).mutable_l2()->mutable_cache()->set_sets(1);
  Memory(machine).mutable_l2()->mutable_cache()->set_ways(2);
  const auto memory = Make(machine);
  const DrivenLaunch launch = Drive(*memory, 2, {{0, 0, Read(0)}, {0, 0, Read(128)}, {0, 0, Read(512)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_GT(launch.result.l2().cache().wait_way(), 10);
  EXPECT_EQ(launch.result.l2().cache().evictions(), 1);
}

TEST(PartitionedBackEndTest, TheL2StaysWarmBetweenLaunchesUnlessItIsFlushed) {
  for (const bool flush : {false, true}) {
    machine::v1::Machine machine = BackEndMachine();
    if (flush) Memory(machine).set_l2_between_launches(machine::v1::Hierarchy::FLUSH);
    const auto memory = Make(machine);
    const std::vector<ScriptedRequest> script = {{0, 0, Read(0)}, {1, 3, Write(256, 32)}};
    const DrivenLaunch first = Drive(*memory, 2, script);
    ASSERT_TRUE(first.status.ok()) << first.status;
    EXPECT_EQ(first.result.l2().cache().misses(), 2);
    const DrivenLaunch second = Drive(*memory, 2, script, false, 1);
    ASSERT_TRUE(second.status.ok()) << second.status;
    EXPECT_EQ(second.result.l2().cache().misses(), flush ? 2 : 0);
    EXPECT_EQ(second.result.l2().cache().hits(), flush ? 0 : 2);
    if (flush) {
      EXPECT_EQ(second.replies, first.replies);
    }
  }
}

TEST(PartitionedBackEndTest, WhatIsWrittenBetweenLaunchesIsNoLongerInTheL2) {
  // Lines of 128 bytes: 0, 1, 2 (dirty), 8. Written: the last byte of line 0, line 2 and some, nothing of 1 and 8.
  const std::vector<ScriptedRequest> script = {
      {0, 0, Read(0)}, {0, 0, Read(128)}, {1, 3, Write(256, 32)}, {1, 9, Read(1024)}};
  const std::vector<std::vector<AddressRange>> orders = {{{127, 127}, {256, 511}, {300, 301}, {1152, ~uint64_t{0}}},
                                                         {{1152, 1152}, {256, 300}, {120, 127}, {290, 1023}}};
  for (const std::vector<AddressRange>& ranges : orders) {
    const auto memory = Make(BackEndMachine());
    memory->Invalidate(ranges);  // before any launch: nothing to drop
    ASSERT_TRUE(Drive(*memory, 2, script).status.ok());
    memory->Invalidate(ranges);
    const DrivenLaunch second = Drive(*memory, 2, script, false, 1);
    ASSERT_TRUE(second.status.ok()) << second.status;
    EXPECT_EQ(second.result.l2().cache().misses(), 2);
    EXPECT_EQ(second.result.l2().cache().hits(), 2);
    EXPECT_EQ(second.result.l2().cache().evictions(), 0);
  }
}

TEST(PartitionedBackEndTest, SleepingComponentsCostNothing) {
  // One read, alone: a handful of cycles are run, not the 5000 that pass.
  machine::v1::Machine machine = BackEndMachine();
  Memory(machine).mutable_l2()->set_rop_cycles(5000);
  const auto memory = Make(machine);
  const DrivenLaunch launch = Drive(*memory, 2, {{0, 0, Read(0)}});
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  EXPECT_GT(launch.end, 5000);
  EXPECT_LT(launch.cycles_run, 40);
}

TEST(PartitionedBackEndTest, JitterDelaysRepliesByUpToItsCyclesAndRepeatsWithItsSeed) {
  machine::v1::Machine machine = BackEndMachine();
  const std::vector<ScriptedRequest> script = [] {
    std::vector<ScriptedRequest> requests = {{0, 0, Read(0)}};
    for (uint32_t i = 1; i <= 200; ++i) requests.push_back({0, 1000 * i, Read(0)});
    return requests;
  }();
  Memory(machine).set_jitter_cycles(9);
  const DrivenLaunch launch = Drive(*Make(machine), 2, script);
  ASSERT_TRUE(launch.status.ok()) << launch.status;
  std::vector<int> seen(10);
  const std::vector<Cycle> latencies = Latencies(launch);
  for (size_t i = 1; i < latencies.size(); ++i) {
    ASSERT_GE(latencies[i], kHit);
    ASSERT_LE(latencies[i], kHit + 9);
    ++seen[latencies[i] - kHit];
  }
  EXPECT_THAT(seen, ::testing::Each(::testing::Gt(5)));
  EXPECT_EQ(Drive(*Make(machine), 2, script).replies, launch.replies);
  EXPECT_NE(Drive(*Make(machine, false, 2), 2, script).replies, launch.replies);
}

}  // namespace
}  // namespace heddle::replay
