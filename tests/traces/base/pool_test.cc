// Numbers that are used again.
#include "traces/base/pool.h"

#include "gtest/gtest.h"

namespace heddle {
namespace {

TEST(PoolTest, UsesTheNumberFirstThatWasGivenBackLast) {
  Pool<int> pool;
  EXPECT_TRUE(pool.idle());
  for (uint32_t number = 0; number < 3; ++number) {
    EXPECT_EQ(pool.Take(), number);
    pool[number] = 10 * static_cast<int>(number);
  }
  pool.Give(0);
  pool.Give(2);
  EXPECT_FALSE(pool.idle());
  EXPECT_EQ(pool.Take(), 2u);
  EXPECT_EQ(pool[2], 20);
  EXPECT_EQ(pool.Take(), 0u);
  EXPECT_EQ(pool.Take(), 3u);
  for (const uint32_t number : {1u, 3u, 0u, 2u}) pool.Give(number);
  EXPECT_TRUE(pool.idle());
}

}  // namespace
}  // namespace heddle
