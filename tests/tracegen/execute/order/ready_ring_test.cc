// A queue of threads, against a simple list.
#include "tracegen/execute/order/ready_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>

#include "traces/base/random.h"

namespace heddle::tracegen {
namespace {

TEST(ReadyRing, FirstInFirstOut) {
  ReadyRing ring;
  ring.Resize(3);
  EXPECT_TRUE(ring.empty());
  for (const uint32_t thread : {2, 0, 1}) ring.Push(thread);
  EXPECT_EQ(ring.size(), 3u);
  EXPECT_EQ(ring.front(), 2u);
  EXPECT_EQ(ring.back(), 1u);
  EXPECT_EQ(ring.Pop(), 2u);
  ring.Push(2);
  EXPECT_EQ(ring.Pop(), 0u);
  EXPECT_EQ(ring.Pop(), 1u);
  EXPECT_EQ(ring.Pop(), 2u);
  EXPECT_TRUE(ring.empty());
}

TEST(ReadyRing, RemovingAThreadThatIsNotThereDoesNothing) {
  ReadyRing ring;
  ring.Resize(4);
  ring.Push(3);
  ring.Remove(1);
  EXPECT_EQ(ring.size(), 1u);
  EXPECT_EQ(ring.Pop(), 3u);
}

TEST(ReadyRing, DoesWhatAListDoes) {
  constexpr uint32_t kThreads = 7;
  Random random(1);
  ReadyRing ring;
  ring.Resize(kThreads);
  std::deque<uint32_t> list;
  for (int step = 0; step < 20000; ++step) {
    const auto thread = static_cast<uint32_t>(random.Below(kThreads));
    const auto at = std::find(list.begin(), list.end(), thread);
    switch (random.Below(6)) {
      case 0:
      case 1:
        if (at != list.end()) break;
        ring.Push(thread);
        list.push_back(thread);
        break;
      case 2:
        if (list.empty()) break;
        EXPECT_EQ(ring.Pop(), list.front());
        list.pop_front();
        break;
      case 3:
        ring.Remove(thread);
        if (at != list.end()) list.erase(at);
        break;
      case 4:
        if (list.empty()) break;
        ring.Rotate();
        list.push_back(list.front());
        list.pop_front();
        break;
      default:
        if (list.empty()) break;
        const auto place = static_cast<uint32_t>(random.Below(list.size()));
        ring.SwapFront(place);
        std::swap(list[0], list[place]);
        if (thread == 0) {
          ring.PopBack();
          list.pop_back();
        }
        break;
    }
    ASSERT_EQ(ring.size(), list.size());
    if (list.empty()) continue;
    ASSERT_EQ(ring.front(), list.front());
    ASSERT_EQ(ring.back(), list.back());
  }
}

}  // namespace
}  // namespace heddle::tracegen
