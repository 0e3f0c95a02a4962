// Decisions come out of the windows as the packed bits of a path have them, however they are taken.
#include "replay/trace/decision_windows.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace heddle::replay {
namespace {

constexpr uint32_t kWarp = DecisionWindows::kWarp;

struct Path {
  std::vector<uint8_t> bits;
  uint32_t count;
  uint32_t operator[](uint32_t index) const { return bits[index >> 3] >> (index & 7) & 1; }
};

Path RandomPath(std::mt19937& random, uint32_t count) {
  Path path{std::vector<uint8_t>((count + 7) / 8), count};
  for (uint8_t& byte : path.bits) byte = static_cast<uint8_t>(random());
  return path;
}

TEST(DecisionWindowsTest, OneThreadReadsItsPath) {
  std::mt19937 random(1);
  for (const uint32_t count : {0u, 1u, 7u, 8u, 31u, 32u, 33u, 63u, 64u, 65u, 300u}) {
    const Path path = RandomPath(random, count);
    DecisionWindows windows(4);
    windows.Restart(2);
    EXPECT_FALSE(windows.Refill(2)) << "it is not bound";
    windows.Bind(2, path.bits.data(), path.count);
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(windows.has_next(2) || windows.Refill(2)) << count << ", " << i;
      EXPECT_EQ(windows.Peek(2), path[i]);
      EXPECT_EQ(windows.Take(2), path[i]) << count << ", " << i;
      EXPECT_EQ(windows.taken(2), i + 1);
      if (i % 5 == 3) {  // its chunk goes and comes back
        windows.Unbind(2);
        EXPECT_FALSE(windows.has_next(2));
        windows.Bind(2, path.bits.data(), path.count);
      }
    }
    EXPECT_FALSE(windows.has_next(2));
    EXPECT_FALSE(windows.Refill(2));
    EXPECT_TRUE(windows.used_up(2));
  }
}

TEST(DecisionWindowsTest, AWarpReadsWhatItsThreadsWould) {
  std::mt19937 random(2);
  DecisionWindows windows(2 * kWarp);
  std::vector<Path> paths;
  std::array<ThreadId, kWarp> threads;
  std::iota(threads.begin(), threads.end(), ThreadId{kWarp});
  for (const ThreadId thread : threads) {
    paths.push_back(RandomPath(random, 200));
    windows.Restart(thread);
    windows.Bind(thread, paths.back().bits.data(), paths.back().count);
  }
  LaneMask decisions = 0;
  EXPECT_FALSE(windows.TakeWarp(threads.data(), decisions)) << "no window is filled";
  uint32_t vectors = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    LaneMask expected = 0;
    for (uint32_t lane = 0; lane < kWarp; ++lane) expected |= LaneMask{paths[lane][i]} << lane;
    for (const ThreadId thread : threads) ASSERT_TRUE(windows.has_next(thread) || windows.Refill(thread));
    if (windows.PeekWarp(threads.data(), decisions)) {
      EXPECT_EQ(decisions, expected) << i;
      ASSERT_TRUE(windows.TakeWarp(threads.data(), decisions));
      ++vectors;
    } else {  // a processor without the vectors
      decisions = 0;
      for (uint32_t lane = 0; lane < kWarp; ++lane) decisions |= LaneMask{windows.Take(threads[lane])} << lane;
    }
    EXPECT_EQ(decisions, expected) << i;
  }
  for (const ThreadId thread : threads) EXPECT_TRUE(windows.used_up(thread));
#if defined(__SSE2__)
  EXPECT_EQ(vectors, 200u);
#endif
}

TEST(DecisionWindowsTest, OtherThreadsAreNotAWarp) {
  std::mt19937 random(3);
  const Path path = RandomPath(random, 64);
  DecisionWindows windows(kWarp + 1);
  std::array<ThreadId, kWarp> threads;
  std::iota(threads.begin(), threads.end(), ThreadId{0});
  for (ThreadId thread = 0; thread <= kWarp; ++thread) {
    windows.Restart(thread);
    windows.Bind(thread, path.bits.data(), path.count);
    ASSERT_TRUE(windows.Refill(thread));
  }
  LaneMask decisions = 0;
  std::swap(threads[3], threads[4]);
  EXPECT_FALSE(windows.TakeWarp(threads.data(), decisions)) << "not ascending";
  std::iota(threads.begin(), threads.end(), ThreadId{2});
  EXPECT_FALSE(windows.TakeWarp(threads.data(), decisions)) << "beyond the last thread";
  for (ThreadId thread = 0; thread <= kWarp; ++thread) EXPECT_EQ(windows.taken(thread), 0u);
}

}  // namespace
}  // namespace heddle::replay
