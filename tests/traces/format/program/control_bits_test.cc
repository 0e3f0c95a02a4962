// Control bits of machine code as one number and back.
#include "traces/format/program/control_bits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::trace {
namespace {

using ::testing::HasSubstr;

TEST(ControlBits, AreWhereTheFormatSays) {
  // Nothing but barriers that are none: bits 5 to 10.
  EXPECT_EQ(PackControl({}), 1 + 0x7e0u);
  EXPECT_EQ(PackControl({.stall = 15, .write_barrier = 0, .read_barrier = 0}), 1 + 15u);
  EXPECT_EQ(PackControl({.yield = true, .write_barrier = 0, .read_barrier = 0}), 1 + (1u << 4));
  EXPECT_EQ(PackControl({.write_barrier = 5, .read_barrier = 0}), 1 + (5u << 5));
  EXPECT_EQ(PackControl({.write_barrier = 0, .read_barrier = 4}), 1 + (4u << 8));
  EXPECT_EQ(PackControl({.write_barrier = 0, .read_barrier = 0, .wait_mask = 0x21}), 1 + (0x21u << 11));
  EXPECT_EQ(PackControl({.write_barrier = 0, .read_barrier = 0, .reuse = 9}), 1 + (9u << 17));
}

TEST(ControlBits, OfEveryRightNumberComeBack) {
  uint32_t right = 0;
  for (uint32_t control = 1; control <= 1u << 21; ++control) {
    const std::optional<ControlBits> bits = UnpackControl(control);
    EXPECT_EQ(bits.has_value(), BrokenControlRule(control).empty());
    if (!bits.has_value()) continue;
    ++right;
    ASSERT_EQ(PackControl(*bits), control);
  }
  // Seven values for each of the two barriers.
  EXPECT_EQ(right, 7u * 7u << 15);
}

TEST(ControlBits, ThatAreNotToldAreNone) {
  EXPECT_FALSE(UnpackControl(0).has_value());
  EXPECT_EQ(BrokenControlRule(0), "");
}

TEST(ControlBits, ThatThereCannotBeAreRefused) {
  EXPECT_THAT(BrokenControlRule((1u << 21) + 1), HasSubstr("more than 21 bits"));
  EXPECT_THAT(BrokenControlRule(~0u), HasSubstr("more than 21 bits"));
  EXPECT_THAT(BrokenControlRule(PackControl({.write_barrier = 6})), HasSubstr("names barrier 6"));
  EXPECT_THAT(BrokenControlRule(PackControl({.read_barrier = 6})), HasSubstr("names barrier 6"));
  EXPECT_FALSE(UnpackControl(PackControl({.write_barrier = 6})).has_value());
  EXPECT_FALSE(UnpackControl(~0u).has_value());
}

TEST(ControlBits, AreToldAsPeopleWriteThem) {
  EXPECT_EQ(ControlText({.stall = 4, .yield = true, .write_barrier = 2, .wait_mask = 3}), "B01----:R-:W2:Y:S04");
  EXPECT_EQ(ControlText({.stall = 11, .read_barrier = 0, .wait_mask = 0x20, .reuse = 5}), "B-----5:R0:W-:-:S11:U02");
}

}  // namespace
}  // namespace heddle::trace
