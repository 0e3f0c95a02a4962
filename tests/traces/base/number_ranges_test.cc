// Ranges of a command line.
#include "traces/base/number_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr uint64_t kMost = ~uint64_t{0};

TEST(NumberRanges, WithoutATextHoldEverything) {
  const NumberRanges all;
  EXPECT_TRUE(all.everything());
  EXPECT_TRUE(all.Holds(0));
  EXPECT_TRUE(all.Holds(kMost));
  EXPECT_EQ(all.CountWithin(5, 9), 5);
}

TEST(NumberRanges, AreSortedAndJoined) {
  const auto ranges = NumberRanges::Parse("7,3-4,5,20-,10-12,11-14", "--blocks");
  ASSERT_TRUE(ranges.ok()) << ranges.status();
  EXPECT_THAT(ranges->ranges(), ElementsAre(Pair(3, 5), Pair(7, 7), Pair(10, 14), Pair(20, kMost)));
  EXPECT_FALSE(ranges->everything());
  EXPECT_FALSE(ranges->Holds(2));
  EXPECT_TRUE(ranges->Holds(4));
  EXPECT_FALSE(ranges->Holds(6));
  EXPECT_TRUE(ranges->Holds(1'000'000));
  EXPECT_EQ(ranges->CountWithin(0, 19), 3 + 1 + 5);
  EXPECT_EQ(ranges->CountWithin(5, 11), 1 + 1 + 2);
  EXPECT_EQ(ranges->CountWithin(15, 19), 0);
  EXPECT_TRUE(NumberRanges::Parse("0-", "x")->everything());
}

TEST(NumberRanges, AreMadeOfRangesInAnyOrder) {
  const NumberRanges ranges({{7, 9}, {0, 3}, {8, 12}, {4, 4}, {20, kMost}, {kMost, kMost}});
  EXPECT_THAT(ranges.ranges(), ElementsAre(Pair(0, 4), Pair(7, 12), Pair(20, kMost)));
  const NumberRanges none(std::vector<std::pair<uint64_t, uint64_t>>{});
  EXPECT_FALSE(none.everything());
  EXPECT_EQ(none.CountWithin(0, kMost - 1), 0u);
}

TEST(NumberRanges, RefuseWhatIsNone) {
  for (const char* text :
       {"", ",", "1,", "a", "-3", "1-2-3", "+1", " 1", "1 ", "0x10", "18446744073709551616", "1.5"}) {
    const auto ranges = NumberRanges::Parse(text, "--blocks");
    ASSERT_TRUE(absl::IsInvalidArgument(ranges.status())) << '"' << text << '"';
    EXPECT_THAT(std::string(ranges.status().message()), HasSubstr("--blocks: \""));
  }
  EXPECT_THAT(std::string(NumberRanges::Parse("9-3", "--blocks").status().message()),
              HasSubstr("\"9-3\" ends before it begins"));
}

}  // namespace
}  // namespace heddle::trace
