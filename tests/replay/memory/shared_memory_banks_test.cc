#include "replay/memory/sm/shared_memory_banks.h"

#include <gtest/gtest.h>

#include <functional>

namespace heddle::replay {
namespace {

struct Shared {
  uint32_t banks = 32;
  uint32_t parts = 1;
  bool broadcast = true;
  bool merge_atomics = false;
  uint32_t bytes = 4;
  bool atomic = false;
  LaneMask lanes = 0xffffffff;
};

uint32_t Passes(const Shared& shared, const std::function<uint64_t(uint64_t)>& address) {
  machine::v1::SharedMemory config;
  config.set_banks(shared.banks);
  config.set_parts(shared.parts);
  config.set_broadcast(shared.broadcast);
  config.set_merge_atomics(shared.merge_atomics);
  LaneAddresses addresses{};
  for (uint64_t lane = 0; lane < 32; ++lane) addresses[lane] = address(lane);
  SharedMemoryBanks banks(config, 32);
  const uint32_t passes = banks.Count(shared.bytes, shared.atomic, shared.lanes, addresses).passes;
  EXPECT_EQ(banks.Count(shared.bytes, shared.atomic, shared.lanes, addresses).passes, passes) << "the second time";
  return passes;
}

TEST(SharedMemoryBanks, StridesOverThirtyTwoBanks) {
  EXPECT_EQ(Passes({}, [](uint64_t lane) { return 4 * lane; }), 1);
  EXPECT_EQ(Passes({}, [](uint64_t lane) { return 8 * lane; }), 2);
  EXPECT_EQ(Passes({}, [](uint64_t lane) { return 12 * lane; }), 1);
  EXPECT_EQ(Passes({}, [](uint64_t lane) { return 4 * 32 * lane; }), 32);
  EXPECT_EQ(Passes({}, [](uint64_t lane) { return 4 * 33 * lane; }), 1);
}

TEST(SharedMemoryBanks, OneWordIsBroadcast) {
  EXPECT_EQ(Passes({}, [](uint64_t) { return 64; }), 1);
  EXPECT_EQ(Passes({.broadcast = false}, [](uint64_t) { return 64; }), 32);
  // Bytes of a word are one word.
  EXPECT_EQ(Passes({.bytes = 1}, [](uint64_t lane) { return lane; }), 1);
  // Two words of bank 0, each asked for by many.
  EXPECT_EQ(Passes({}, [](uint64_t lane) { return lane % 2 * 128; }), 2);
}

TEST(SharedMemoryBanks, AtomicsOnOneWordTakeAPassEachOrOneTogether) {
  const auto one_word = [](uint64_t) { return 64; };
  EXPECT_EQ(Passes({.atomic = true}, one_word), 32);
  EXPECT_EQ(Passes({.merge_atomics = true, .atomic = true}, one_word), 1);
  EXPECT_EQ(Passes({.broadcast = false, .merge_atomics = true, .atomic = true}, one_word), 1);
  EXPECT_EQ(Passes({.broadcast = false, .merge_atomics = true}, one_word), 32) << "a load";
  // Two words of bank 0.
  EXPECT_EQ(Passes({.merge_atomics = true, .atomic = true}, [](uint64_t lane) { return lane % 2 * 128; }), 2);
}

TEST(SharedMemoryBanks, HalfWarpsOnSixteenBanks) {
  EXPECT_EQ(Passes({.banks = 16, .parts = 2}, [](uint64_t lane) { return 4 * lane; }), 2);
  EXPECT_EQ(Passes({.banks = 16, .parts = 2}, [](uint64_t lane) { return 8 * lane; }), 4);
  // A part without active lanes takes no pass.
  EXPECT_EQ(Passes({.banks = 16, .parts = 2, .lanes = 0xffff}, [](uint64_t lane) { return 4 * lane; }), 1);
}

TEST(SharedMemoryBanks, WideAccessesAreMadeInParts) {
  EXPECT_EQ(Passes({.bytes = 8}, [](uint64_t lane) { return 8 * lane; }), 2);
  EXPECT_EQ(Passes({.bytes = 16}, [](uint64_t lane) { return 16 * lane; }), 4);
  EXPECT_EQ(Passes({.bytes = 8}, [](uint64_t) { return 0; }), 2);
}

TEST(SharedMemoryBanks, AtomicsServeLaneByLane) {
  EXPECT_EQ(Passes({.atomic = true}, [](uint64_t) { return 0; }), 32);
  EXPECT_EQ(Passes({.atomic = true}, [](uint64_t lane) { return 4 * (lane / 2); }), 2);
}

}  // namespace
}  // namespace heddle::replay
