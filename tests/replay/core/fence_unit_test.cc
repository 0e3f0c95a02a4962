// Fences wait for the stores of their threads, and for nobody else's.
#include "replay/core/single_pipeline/fence_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::replay {
namespace {

using testing::ElementsAre;

Lanes One(ThreadId thread) {
  Lanes lanes;
  lanes.mask = 1;
  lanes.thread[0] = thread;
  return lanes;
}

TEST(FenceUnit, StoresArePendingUntilTheyAreAcknowledged) {
  FenceUnit fences(64);
  fences.Admit(0, 64, 1);
  fences.AddStore(0, One(5), 1);
  fences.AddStore(1, One(5), 1);
  EXPECT_FALSE(fences.StoresPending(One(4)));
  fences.Acknowledge(0);
  EXPECT_TRUE(fences.StoresPending(One(5)));
  fences.Acknowledge(1);
  EXPECT_FALSE(fences.StoresPending(One(5)));
}

TEST(FenceUnit, ABlockThatHasComeSinceHasNoPartInOlderStores) {
  FenceUnit fences(64);
  fences.Admit(0, 64, 1);
  fences.AddStore(0, One(5), 1);
  fences.Admit(0, 64, 2);
  EXPECT_FALSE(fences.StoresPending(One(5)));
  fences.AddStore(1, One(5), 2);
  fences.Acknowledge(0);
  EXPECT_TRUE(fences.StoresPending(One(5)));
}

TEST(FenceUnit, ReleasesSlotsInTheirOrder) {
  FenceUnit fences(64);
  for (const SlotId slot : {7, 2, 5}) fences.Wait(slot);
  EXPECT_THAT(fences.TakeReleased([](SlotId slot) { return slot == 5; }), ElementsAre(2, 7));
  EXPECT_THAT(fences.TakeReleased([](SlotId) { return false; }), ElementsAre(5));
}

}  // namespace
}  // namespace heddle::replay
