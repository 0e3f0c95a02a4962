// The oldest of a set of slots, against a search over all of them.
#include "replay/seams/slot_ages.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "gtest/gtest.h"

namespace heddle::replay {
namespace {

constexpr SlotId kSlots = 200;

// Ages as a plain table.
struct Model {
  std::vector<SlotEntry> entries = std::vector<SlotEntry>(kSlots);
  std::vector<bool> live = std::vector<bool>(kSlots, false);
  SlotId OldestIn(const SlotSet& slots) const {
    SlotId oldest = kNoSlot;
    for (SlotId slot = 0; slot < kSlots; ++slot) {
      if (!live[slot] || !slots.Contains(slot)) continue;
      if (oldest == kNoSlot || entries[slot].formed < entries[oldest].formed) oldest = slot;
    }
    return oldest;
  }
};

TEST(SlotAgesTest, BlocksComeAndGo) {
  SlotAges ages;
  SlotSet all;
  for (SlotId slot = 0; slot < 8; ++slot) {
    ages.Add(slot);
    all.Insert(slot);
  }
  EXPECT_EQ(ages.OldestIn(all), 0);
  for (SlotId slot = 0; slot < 4; ++slot) ages.Remove(slot);  // a block retires, another one takes its slots
  EXPECT_EQ(ages.OldestIn(all), 4);
  for (SlotId slot = 0; slot < 4; ++slot) ages.Add(slot);
  EXPECT_EQ(ages.OldestIn(all), 4);
  SlotSet young;
  young.Insert(3);
  young.Insert(1);
  EXPECT_EQ(ages.OldestIn(young), 1);
  EXPECT_EQ(ages.OldestIn(SlotSet()), kNoSlot);
}

TEST(SlotAgesTest, EqualsASearchOverRandomHistories) {
  std::mt19937_64 random(7);
  for (int history = 0; history < 50; ++history) {
    SlotAges ages;
    Model model;
    uint64_t sequence = 0;
    for (int step = 0; step < 600; ++step) {
      const SlotId slot = static_cast<SlotId>(random() % kSlots);
      const uint64_t action = random() % 8;
      if (!model.live[slot]) {
        model.live[slot] = true;
        model.entries[slot].formed = ++sequence;
        ages.Add(slot);
      } else if (action < 3) {
        model.live[slot] = false;
        ages.Remove(slot);
      } else if (action < 5) {  // takes the age of another, or one between
        model.entries[slot].formed = 1 + random() % sequence;
        ages.Move(slot, model.entries);
      }
      SlotSet some;
      const uint64_t one_in = 1 + random() % 5;
      for (SlotId other = 0; other < kSlots; ++other) {
        if (model.live[other] && random() % one_in == 0) some.Insert(other);
      }
      ASSERT_EQ(ages.OldestIn(some), model.OldestIn(some)) << "history " << history << ", step " << step;
      // Those that fit, the oldest first, perhaps without one of them.
      SlotSet left = some;
      const auto but = static_cast<SlotId>(random() % (2 * kSlots));  // half of the time one that is not there
      left.Erase(but);
      std::array<SlotId, kSlots> order{};
      const std::span<SlotId> wanted = std::span(order).first(random() % (kSlots + 1));
      const size_t count = ages.ByAge(some, but, wanted);
      for (const SlotId next : wanted.first(count)) {
        ASSERT_EQ(next, model.OldestIn(left)) << "history " << history << ", step " << step;
        left.Erase(next);
      }
      ASSERT_TRUE(count == wanted.size() || left.empty()) << "history " << history << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace heddle::replay
