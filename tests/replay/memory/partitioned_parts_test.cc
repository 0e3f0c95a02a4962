// The parts of the shared memory by themselves: their time, and the networks.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/machine.pb.h"
#include "replay/memory/blocked_replies.h"
#include "replay/memory/message_sizes.h"
#include "replay/memory/partition_time.h"
#include "replay/memory/reply_network.h"
#include "replay/memory/request_network.h"

namespace heddle::replay {
namespace {

using Log = std::vector<std::string>;

// Periods of DRAM, L2, network and core.
constexpr std::array<Tick, kDomains> kPeriods = {2, 3, 1, 6};

machine::v1::Machine MachineWith(uint32_t sms, uint32_t sms_per_port) {
  machine::v1::Machine machine;
  machine.set_sms(sms);
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.mutable_l2()->set_rop_cycles(2);
  memory.mutable_l2()->set_dram_pipe_cycles(3);
  machine::v1::Network& network = *memory.mutable_network();
  network.set_sms_per_port(sms_per_port);
  network.set_flit_bytes(32);
  network.set_header_bytes(8);
  network.set_control_bytes(8);
  network.set_input_speedup(1);
  network.set_input_buffer_flits(4);
  network.set_output_buffer_flits(4);
  network.set_iterations(1);
  return machine;
}

Log RunTo(PartitionTime& time, Cycle cycle) {
  Log log;
  const auto note = [&](const char* domain) {
    return [&log, domain](uint32_t component, Edge edge) { log.push_back(absl::StrCat(domain, component, "@", edge)); };
  };
  time.RunUntil(cycle, note("dram"), note("l2."), note("net"));
  return log;
}

TEST(PartitionTime, RunsEdgesInOrderAndOfTheSameTimeThoseOfTheFirstDomain) {
  PartitionTime time(kPeriods, MachineWith(1, 1).memory().hierarchy().l2(), 2, 3);
  EXPECT_EQ(time.NextCoreCycle(), kNever);
  time.dram().Wake(1, 3);     // tick 6
  time.l2().Wake(0, 2);       // tick 6
  time.l2().Wake(1, 1);       // tick 3
  time.network().Wake(0, 6);  // tick 6
  time.network().Wake(1, 7);  // tick 7, after core cycle 1
  EXPECT_EQ(time.NextCoreCycle(), 1u);
  EXPECT_EQ(RunTo(time, 1), (Log{"l2.1@1", "dram1@3", "l2.0@2", "net0@6"}));
  EXPECT_EQ(time.core_cycle(), 1u);
  EXPECT_EQ(time.NextCoreCycle(), 2u);
  EXPECT_EQ(RunTo(time, 3), (Log{"net1@7"}));
  time.dram().Wake(0, 100);
  EXPECT_EQ(time.NextCoreCycle(), 34u);  // of tick 200
  time.BeginLaunch();
  EXPECT_EQ(time.NextCoreCycle(), kNever);
  EXPECT_EQ(RunTo(time, 50), Log{});
}

TEST(PartitionTime, KnowsThePipelinesBeforeL2AndDram) {
  PartitionTime time(kPeriods, MachineWith(1, 1).memory().hierarchy().l2(), 1, 1);
  EXPECT_EQ(time.AfterRop(4), 6u);  // tick 4 + 2 x 6 = 16, edge at 18
  RunTo(time, 1);
  EXPECT_EQ(time.AfterDramPipe(), 12u);  // tick 6 + 3 x 6 = 24
  EXPECT_FALSE(time.l2_keeps_up());
  EXPECT_TRUE(PartitionTime({1, 1, 1, 1}, {}, 1, 1).l2_keeps_up());
}

TEST(MessageSizes, AreTheSameByMessageAndInSum) {
  machine::v1::Network network;
  network.set_header_bytes(8);
  network.set_control_bytes(6);
  const MessageSizes sizes(network);
  PortCounters sent;
  uint64_t up = 0, down = 0;
  for (const RequestKind kind : {RequestKind::kRead, RequestKind::kWrite, RequestKind::kAtomic}) {
    const MemoryRequest request = {.bytes = static_cast<uint16_t>(32 << static_cast<int>(kind)), .kind = kind};
    sent.CountRequest(request);
    up += sizes.Up(request);
    down += sizes.Down(request);
  }
  EXPECT_EQ(up, 6u + (8 + 64) + (8 + 128));
  EXPECT_EQ(down, (8u + 32) + 6 + (8 + 128));
  EXPECT_EQ(sizes.Up(sent), up);
  EXPECT_EQ(sizes.Down(sent), down);
}

TEST(RequestNetwork, WakesThoseWhoWaitUntilTheyHaveRoom) {
  const machine::v1::Machine machine = MachineWith(2, 1);
  PartitionTime time({1, 1, 1, 1}, machine.memory().hierarchy().l2(), 1, 1);
  RequestNetwork network(machine, 1, time);
  const MemoryRequest write = {.bytes = 120, .slice = 0, .kind = RequestKind::kWrite};
  const uint32_t flits = network.FlitsOf(write);
  EXPECT_EQ(flits, 4u);
  ASSERT_TRUE(network.CanSend(1, 1, 0, flits));
  network.Send(write, 1, flits);
  EXPECT_FALSE(network.CanSend(1, 1, 0, flits));
  network.WaitForRoom(1, 1, 0);
  Log log;
  bool found = false;
  for (Edge edge = 0; edge < 8; ++edge) {
    network.Run(edge, [&](uint32_t slice) { log.push_back(absl::StrCat("slice ", slice, " at ", edge)); });
    network.TakeRoomMade([&](uint32_t sm) {
      found = network.CanSend(sm, 1, 0, flits);
      log.push_back(absl::StrCat("SM ", sm, found ? " has room at " : " is asked at ", edge));
      return found;
    });
  }
  // A flit per edge; nobody asks once there was room.
  EXPECT_EQ(log, (Log{"SM 1 is asked at 0", "SM 1 is asked at 1", "SM 1 is asked at 2", "slice 0 at 3",
                      "SM 1 has room at 3"}));
  ASSERT_NE(network.Peek(0), nullptr);
  EXPECT_EQ(network.Whole(0), 1u);
  network.Take(0, 9);
  EXPECT_TRUE(network.crossbar().CheckDrained("up").ok());
}

TEST(ReplyNetwork, GivesEachSmItsOwnReplyAndOnePerCycleAndPort) {
  const machine::v1::Machine machine = MachineWith(2, 2);
  PartitionTime time({1, 1, 1, 1}, machine.memory().hierarchy().l2(), 1, 1);
  ReplyNetwork network(machine, 1, time);
  network.BeginLaunch(Jitter(0, 0, 0));
  EXPECT_EQ(network.NextWake(), kNever);
  const MemoryRequest first = {.address = 1, .bytes = 24, .sm = 1};
  const MemoryRequest second = {.address = 2, .bytes = 24, .sm = 0};
  ASSERT_TRUE(network.Send(0, first));
  ASSERT_TRUE(network.Send(0, second));
  const auto run = [&](Cycle cycle) {
    time.RunUntil(
        cycle, [](uint32_t, Edge) {}, [](uint32_t, Edge) {},
        [&](uint32_t, Edge edge) {
          network.Run(edge, [](uint32_t) {});
          if (network.has_work()) time.network().Wake(PartitionTime::kDown, edge + 1);
        });
  };
  run(3);
  EXPECT_EQ(network.NextWake(), 4u);
  std::vector<uint32_t> woken;
  network.WakeSms([&](uint32_t sm) { woken.push_back(sm); });
  EXPECT_EQ(woken, std::vector<uint32_t>{1});
  EXPECT_EQ(network.Reply(0, 0), nullptr);
  ASSERT_NE(network.Reply(1, 0), nullptr);
  EXPECT_EQ(network.Reply(1, 0)->address, 1u);
  network.Take(1, 0);
  EXPECT_EQ(network.Reply(0, 0), nullptr);  // one per cycle
  run(4);
  ASSERT_NE(network.Reply(0, 0), nullptr);
  network.Take(0, 0);
  EXPECT_EQ(network.NextWake(), kNever);
  EXPECT_TRUE(network.crossbar().CheckDrained("down").ok());
}

TEST(ReplyNetwork, TellsASliceOfRoomForTheReplyThatWasBlocked) {
  const machine::v1::Machine machine = MachineWith(1, 1);
  PartitionTime time({1, 1, 1, 1}, machine.memory().hierarchy().l2(), 2, 1);
  ReplyNetwork network(machine, 2, time);
  network.BeginLaunch(Jitter(0, 0, 0));
  const MemoryRequest large = {.bytes = 120};  // all of the buffer
  ASSERT_TRUE(network.Send(1, large));
  ASSERT_FALSE(network.Send(1, large));
  Log log;
  for (Edge edge = 0; edge < 8; ++edge) {
    network.Run(edge, [&](uint32_t slice) { log.push_back(absl::StrCat(slice, "@", edge)); });
  }
  EXPECT_EQ(log, (Log{"1@3"}));
  EXPECT_TRUE(network.Send(1, large));
}

}  // namespace
}  // namespace heddle::replay
