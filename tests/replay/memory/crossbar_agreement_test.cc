// The crossbar that sleeps against the one that does everything at every edge: random machines, random traffic.
#include <gtest/gtest.h>

#include <vector>

#include "replay/memory/network/crossbar.h"
#include "tests/random/random.h"
#include "tests/replay/memory/reference_crossbar.h"

namespace heddle::replay {
namespace {

using machine::v1::Network;

struct Shape {
  uint32_t inputs = 1;
  uint32_t outputs = 1;
  Network network;
  uint32_t largest = 1;  // flits of a message
};

Shape RandomShape(Random& random) {
  Shape shape;
  const bool wide = random.Chance(1);
  shape.inputs = wide ? random.In(30, 80) : random.In(1, 7);
  shape.outputs = wide ? random.In(60, 130) : random.In(1, 7);
  shape.network.set_flit_bytes(32);
  shape.network.set_input_speedup(random.In(1, 3));
  shape.network.set_input_buffer_flits(random.In(1, 12));
  shape.network.set_output_buffer_flits(random.In(1, 12));
  shape.network.set_allocator(random.OneOf({Network::PIM, Network::ISLIP}));
  shape.network.set_iterations(random.In(1, 3));
  shape.network.set_fifo_inputs(random.Chance(30));
  shape.network.set_no_message_reservation(random.Chance(20));
  shape.largest = random.In(1, std::min(shape.network.input_buffer_flits(), shape.network.output_buffer_flits()));
  return shape;
}

// Drives both with the same traffic. `force`: the one under test ticks at every edge, not only when it has work.
void Compare(uint64_t seed, bool force) {
  Random random(seed);
  const Shape shape = RandomShape(random);
  const uint64_t edges = shape.outputs > 10 ? 60 : 250;
  Crossbar crossbar(shape.inputs, shape.outputs, shape.network, seed);
  ReferenceCrossbar reference(shape.inputs, shape.outputs, shape.network, seed);
  uint32_t tag = 0;
  uint64_t push_chance = 50, pop_chance = 50;
  const auto push = [&](uint64_t next_edge) {
    for (uint32_t input = 0; input < shape.inputs; ++input) {
      if (!random.Chance(push_chance)) continue;
      const uint32_t output = random.Below(shape.outputs);
      const uint32_t flits = random.In(1, shape.largest);
      ASSERT_EQ(crossbar.HasRoom(input, output, flits), reference.HasRoom(input, output, flits));
      if (!crossbar.HasRoom(input, output, flits)) continue;
      const MemoryRequest request{.tag = ++tag};
      crossbar.Push(input, output, request, flits, next_edge);
      reference.Push(input, output, request, flits, next_edge);
    }
  };
  const auto pop = [&](uint64_t next_edge) {
    for (uint32_t output = 0; output < shape.outputs; ++output) {
      const MemoryRequest* ours = crossbar.Peek(output);
      const MemoryRequest* theirs = reference.Peek(output);
      ASSERT_EQ(ours == nullptr, theirs == nullptr) << "output " << output << " after edge " << next_edge - 1;
      if (ours == nullptr || !random.Chance(pop_chance)) continue;
      ASSERT_EQ(ours->tag, theirs->tag) << "output " << output << " after edge " << next_edge - 1;
      crossbar.Pop(output, next_edge);
      reference.Pop(output);
    }
  };
  for (uint64_t edge = 0; edge < edges; ++edge) {
    if (edge % 32 == 0) {  // bursts, rests, and outputs that are not served
      push_chance = random.OneOf({0, 2, 20, 100});
      pop_chance = random.OneOf({0, 10, 60, 100});
    }
    // Whoever runs before the network at the same time, the edge itself, whoever runs after it.
    ASSERT_NO_FATAL_FAILURE(push(edge));
    ASSERT_NO_FATAL_FAILURE(pop(edge));
    if (force || crossbar.has_work()) crossbar.Tick(edge);
    reference.Tick(edge);
    ASSERT_NO_FATAL_FAILURE(push(edge + 1));
    ASSERT_NO_FATAL_FAILURE(pop(edge + 1));
  }
  crossbar.Settle(edges);
  ASSERT_EQ(crossbar.counters(), reference.counters());
}

TEST(CrossbarAgreement, SleepingChangesNothing) {
  for (uint64_t seed = 0; seed < 3'000; ++seed) {
    ASSERT_NO_FATAL_FAILURE(Compare(seed, /*force=*/false)) << "seed " << seed;
  }
}

TEST(CrossbarAgreement, TickingEveryEdgeChangesNothing) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    ASSERT_NO_FATAL_FAILURE(Compare(seed, /*force=*/true)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace heddle::replay
