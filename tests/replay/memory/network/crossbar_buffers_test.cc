// The buffers of a crossbar by themselves: order, credits, and what they say when something is left.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/network/input_buffers.h"
#include "replay/memory/network/output_buffers.h"
#include "replay/memory/network/port_set.h"

namespace heddle::replay {
namespace {

machine::v1::Network NetworkWith(uint32_t speedup, uint32_t flits, bool fifo) {
  machine::v1::Network network;
  network.set_input_speedup(speedup);
  network.set_input_buffer_flits(flits);
  network.set_fifo_inputs(fifo);
  return network;
}

// Beside a model of queues of whole messages, through random pushes and flits that leave.
void ComparesWithQueues(bool fifo) {
  constexpr uint32_t kInputs = 3, kOutputs = 4, kSpeedup = 2, kFlits = 7;
  InputBuffers buffers(kInputs, kOutputs, NetworkWith(kSpeedup, kFlits, fifo));
  struct Expected {
    uint64_t address;
    uint32_t flits;
    uint32_t output;
  };
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Expected>> queues;  // by buffer and output (fifo: 0)
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> left;
  std::vector<uint32_t> held(kInputs * kSpeedup);
  std::mt19937 random(5);
  uint64_t number = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint32_t input = random() % kInputs, output = random() % kOutputs, flits = 1 + random() % 4;
    const uint32_t buffer = buffers.BufferOf(input, output);
    ASSERT_EQ(buffer, input * kSpeedup + output % kSpeedup);
    ASSERT_EQ(buffers.InputOf(buffer), input);
    ASSERT_EQ(buffers.HasRoom(input, output, flits), held[buffer] + flits <= kFlits);
    const auto key = std::make_pair(buffer, fifo ? 0 : output);
    if (random() % 2 == 0 && buffers.HasRoom(input, output, flits)) {
      const bool head = buffers.Push(buffer, output, {.address = ++number}, flits, number);
      ASSERT_EQ(head, queues[key].empty());
      if (head) left[key] = flits;
      queues[key].push_back({number, flits, output});
      held[buffer] += flits;
    } else if (!queues[key].empty()) {
      const Expected expected = queues[key].front();
      InputBuffers::Queue& queue = buffers.TakeFlit(buffer, output);
      --held[buffer];
      ASSERT_EQ(queue.left, --left[key]);
      ASSERT_EQ(buffers.HeadOf(buffer, queue).request.address, expected.address);
      ASSERT_EQ(buffers.HeadOf(buffer, queue).output, expected.output);
      if (queue.left == 0) {
        queues[key].pop_front();
        const InputBuffers::Message* const next = buffers.PopHead(buffer, queue);
        ASSERT_EQ(next == nullptr, queues[key].empty());
        if (next != nullptr) {
          ASSERT_EQ(next->request.address, queues[key].front().address);
          left[key] = queues[key].front().flits;
        }
      }
    }
    uint32_t occupied = 0;
    for (const uint32_t flits_held : held) occupied += flits_held != 0;
    ASSERT_EQ(buffers.occupied(), occupied);
    ASSERT_EQ(buffers.CheckEmpty("net").ok(), occupied == 0);
    ASSERT_EQ(buffers.Explain("net").empty(), occupied == 0);
  }
}

TEST(InputBuffers, KeepTheOrderOfEachVirtualOutputQueue) { ComparesWithQueues(/*fifo=*/false); }
TEST(InputBuffers, KeepOneOrderForAllOutputsWithFifoInputs) { ComparesWithQueues(/*fifo=*/true); }

TEST(InputBuffers, SayWhatIsLeft) {
  InputBuffers buffers(2, 2, NetworkWith(1, 4, false));
  EXPECT_TRUE(buffers.Push(1, 0, {}, 3, 0));
  EXPECT_EQ(buffers.CheckEmpty("net").message(), "net: input 1, buffer 0 has 1 of 4 credits at the end.");
  EXPECT_EQ(buffers.Explain("net"), "net: input 1, buffer 0: 3 of 4 flits, for output 0\n");
}

TEST(OutputBuffers, GiveWholeMessagesInTheirOrderAndTheirCreditsBack) {
  constexpr uint32_t kCapacity = 5;
  OutputBuffers buffers(2, kCapacity);
  EXPECT_EQ(buffers.Peek(1), nullptr);
  for (uint64_t message = 0; message < 20; ++message) {
    // Two are there at a time, so that the ring goes round.
    buffers[1].credits -= 2;
    buffers.Arrive(1, {.address = message}, 2);
    if (message == 0) continue;
    EXPECT_EQ(buffers[1].whole, 2u);
    EXPECT_EQ(buffers[1].credits, kCapacity - 4);
    ASSERT_NE(buffers.Peek(1), nullptr);
    EXPECT_EQ(buffers.Peek(1)->address, message - 1);
    buffers.Pop(1);
  }
  EXPECT_EQ(buffers.Peek(0), nullptr);
  EXPECT_EQ(buffers.CheckEmpty("net").message(), "net: output 1 has 3 of 5 credits at the end.");
  buffers.Pop(1);
  EXPECT_TRUE(buffers.CheckEmpty("net").ok());
  EXPECT_EQ(buffers.Explain("net"), "");
}

TEST(OutputBuffers, CountStates) {
  using State = OutputBuffers::State;
  OutputBuffers buffers(3, 4);
  buffers.SetState(buffers[0], State::kReady);
  buffers.SetState(buffers[1], State::kBlocked);
  buffers.SetState(buffers[2], State::kBlocked);
  buffers.SetState(buffers[2], State::kBlocked);
  EXPECT_EQ(buffers.ready(), 1u);
  EXPECT_EQ(buffers.blocked(), 2u);
  buffers[1].credits = 1;
  EXPECT_EQ(buffers.Explain("net"),
            "net: output 1: 3 of 4 flits taken or reserved, 0 whole messages, no room for what is sent to it\n");
  buffers.SetState(buffers[1], State::kReady);
  buffers.SetState(buffers[0], State::kUnwanted);
  EXPECT_EQ(buffers.ready(), 1u);
  EXPECT_EQ(buffers.blocked(), 1u);
}

TEST(PortSet, GivesItsPortsAscendingAndForgetsThem) {
  PortSet set(130), wanted(130);
  for (const uint32_t port : {129u, 3u, 64u, 63u}) set.Insert(port);
  set.Erase(63);
  EXPECT_TRUE(set.Contains(64));
  EXPECT_FALSE(set.Contains(63));
  std::vector<uint32_t> seen;
  const auto see = [&](uint32_t port) { seen.push_back(port); };
  set.ForEach(see);
  EXPECT_EQ(seen, (std::vector<uint32_t>{3, 64, 129}));
  seen.clear();
  wanted.Insert(64);
  wanted.Insert(65);
  set.TakeEachOf(wanted, see);
  EXPECT_EQ(seen, (std::vector<uint32_t>{64}));
  seen.clear();
  set.TakeEach(see);
  EXPECT_EQ(seen, (std::vector<uint32_t>{}));
}

}  // namespace
}  // namespace heddle::replay
