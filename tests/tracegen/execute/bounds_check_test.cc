// Addresses outside everything that is allocated, one by one and by ranges.
#include "tracegen/execute/memory/bounds_check.h"

#include <gtest/gtest.h>

#include <vector>

#include "tracegen/instrument/thread_context.h"
#include "traces/base/random.h"

namespace heddle::tracegen {
namespace {

using trace::AddressBounds;

BoundsCheck Two() {
  std::vector<trace::v1::Allocation> allocations(2);
  allocations[0].set_base(kGlobalBase + 512);
  allocations[0].set_bytes(100);
  allocations[0].set_name("a");
  allocations[1].set_base(kGlobalBase + 1024);
  allocations[1].set_bytes(1000);
  allocations[1].set_name("b");
  BoundsCheck check;
  check.SetAllocations(allocations);
  return check;
}

bool Holds(const BoundsCheck& check, uint64_t lowest, uint64_t highest) {
  const AddressBounds bounds[] = {{lowest, highest}};
  return check.Holds(bounds);
}

TEST(BoundsCheck, HoldsRangesWithinOneAllocation) {
  const BoundsCheck check = Two();
  EXPECT_TRUE(Holds(check, kGlobalBase + 512, kGlobalBase + 611));
  EXPECT_FALSE(Holds(check, kGlobalBase + 512, kGlobalBase + 612));
  EXPECT_FALSE(Holds(check, kGlobalBase + 511, kGlobalBase + 600));
  EXPECT_TRUE(Holds(check, kGlobalBase + 1024, kGlobalBase + 2023));
  EXPECT_FALSE(Holds(check, kGlobalBase + 600, kGlobalBase + 1100));  // the gap between them
  EXPECT_TRUE(Holds(check, kSharedBase, kSharedBase + 4096));
  EXPECT_FALSE(Holds(check, kGlobalBase - 8, kGlobalBase + 600));
  EXPECT_FALSE(Holds(check, kGlobalBase + 600, kGlobalBase + 520));
  EXPECT_FALSE(check.Holds({}));
  const AddressBounds one_outside[] = {{kSharedBase, kSharedBase}, {kGlobalBase, kGlobalBase}};
  EXPECT_FALSE(check.Holds(one_outside));
}

TEST(BoundsCheck, SharedMemoryEndsWhereThatOfTheBlockDoes) {
  BoundsCheck check = Two();
  check.SetShared(256);
  EXPECT_TRUE(Holds(check, kSharedBase, kSharedBase + 255));
  EXPECT_FALSE(Holds(check, kSharedBase, kSharedBase + 256));
  EXPECT_TRUE(Holds(check, kConstantBase, kConstantBase + 4096));
  const std::vector<uint64_t> only_shared = {kSharedBase, kSharedBase + 255, kSharedBase + 300};
  const std::vector<uint64_t> mixed = {kGlobalBase + 512, kSharedBase + 256, kConstantBase};
  EXPECT_EQ(check.FindOutside(only_shared), 2u);
  EXPECT_EQ(check.FindOutside(mixed), 1u);
  EXPECT_EQ(check.FindOutside(std::span(only_shared).first(2)), BoundsCheck::kNone);
  EXPECT_EQ(check.Describe(kSharedBase + 300), "44 bytes behind the end of the block's shared memory (256 bytes)");
  check.SetShared(0);
  EXPECT_EQ(check.FindOutside(only_shared), 0u);
}

TEST(BoundsCheck, WhatIsHeldHasNothingOutside) {
  const BoundsCheck check = Two();
  Random random(3);
  int held = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t lowest = kGlobalBase + random.Below(2100);
    const uint64_t highest = lowest + random.Below(60);
    if (!Holds(check, lowest, highest)) continue;
    ++held;
    for (uint64_t address = lowest; address <= highest; ++address) {
      ASSERT_EQ(check.FindOutside({&address, 1}), BoundsCheck::kNone);
    }
  }
  EXPECT_GT(held, 1000);
}

}  // namespace
}  // namespace heddle::tracegen
