// Queues of bounded length, and sets of bits asked in turn.
#include "traces/base/ring.h"

#include <deque>
#include <random>

#include "gtest/gtest.h"
#include "traces/base/bit_set.h"

namespace heddle::replay {
namespace {

struct Element {
  int number = 0;
  uint64_t ready = 0;
};

TEST(TimedRingTest, KnowsWhenTheFirstElementIsReadyThroughAnyOrderOfPushesAndPops) {
  constexpr uint32_t kCapacity = 5;  // not a power of two
  TimedRing<Element> ring(kCapacity);
  std::deque<Element> expected;
  std::mt19937 random(7);
  for (int step = 0; step < 2000; ++step) {
    ASSERT_EQ(ring.size(), expected.size());
    ASSERT_EQ(ring.room(), kCapacity - expected.size());
    ASSERT_EQ(ring.ready(), expected.empty() ? TimedRing<Element>::kNever : expected.front().ready);
    if (!expected.empty()) {
      ASSERT_EQ(ring.front().number, expected.front().number);
    }
    if (!ring.full() && (ring.empty() || random() % 2 == 0)) {
      const Element element = {step, random() % 100};
      ring.push_back(element);
      expected.push_back(element);
    } else {
      ring.pop_front();
      expected.pop_front();
    }
  }
}

// The smallest member that is at least `from`, else the smallest.
template <uint32_t kWords>
uint32_t FirstCyclicByTrying(const BitSet<kWords>& set, uint32_t from) {
  uint32_t bit = from;
  while (!set.Contains(bit)) bit = (bit + 1) % (64 * kWords);
  return bit;
}

template <uint32_t kWords>
void ExpectFirstCyclicOfRandomSets() {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    BitSet<kWords> set;
    for (uint32_t members = 1 + random() % 4; members != 0; --members) set.Insert(random() % (64 * kWords));
    for (uint32_t from = 0; from < 64 * kWords; ++from) {
      ASSERT_EQ(set.FirstCyclic(from), FirstCyclicByTrying(set, from)) << "from " << from << ", round " << round;
    }
  }
}

TEST(BitSetTest, FindsTheFirstMemberInTurn) {
  ExpectFirstCyclicOfRandomSets<1>();
  ExpectFirstCyclicOfRandomSets<2>();
}

}  // namespace
}  // namespace heddle::replay
