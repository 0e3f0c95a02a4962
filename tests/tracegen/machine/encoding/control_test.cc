#include "tracegen/machine/encoding/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tracegen::machine {
namespace {

using ::testing::HasSubstr;

// The 21 control bits as the papers number them, over a code whose other bits are all set.
Encoding Code(uint64_t packed) { return {~uint64_t{0}, (packed << 41) | ~(((uint64_t{1} << 21) - 1) << 41)}; }

// The same bits of what was decoded.
uint64_t Packed(const Control& control) {
  return control.stall | uint64_t{!control.yield} << 4 | uint64_t{control.write_barrier} << 5 |
         uint64_t{control.read_barrier} << 8 | uint64_t{control.wait_mask} << 11 | uint64_t{control.reuse} << 17;
}

TEST(Control, FieldsStandWhereThePapersSay) {
  // reuse 0b0101, mask 0b100010, read barrier 3, write barrier 7, yield bit 0, stall 13.
  const uint64_t packed = uint64_t{0b0101} << 17 | uint64_t{0b100010} << 11 | uint64_t{3} << 8 | uint64_t{7} << 5 | 13;
  for (const Architecture architecture : kArchitectures) {
    const auto control = DecodeControl(architecture, Code(packed));
    ASSERT_TRUE(control.ok()) << control.status();
    EXPECT_EQ(control->stall, 13);
    EXPECT_TRUE(control->yield);
    EXPECT_EQ(control->write_barrier, Control::kNoBarrier);
    EXPECT_EQ(control->read_barrier, 3);
    EXPECT_EQ(control->wait_mask, 0b100010);
    EXPECT_EQ(control->reuse, 0b0101);
    EXPECT_EQ(Packed(*control), packed);
  }
}

TEST(Control, TheYieldBitIsStoredTheOtherWayRound) {
  const auto control = DecodeControl(Architecture::kSm80, Code(uint64_t{1} << 4));
  ASSERT_TRUE(control.ok());
  EXPECT_FALSE(control->yield);
  EXPECT_EQ(Packed(*control), 1u << 4);
}

TEST(Control, RefusesABarrierThatThereIsNot) {
  for (const uint64_t packed : {uint64_t{6} << 5, uint64_t{6} << 8}) {
    const auto control = DecodeControl(Architecture::kSm90, Code(packed));
    ASSERT_FALSE(control.ok());
    EXPECT_THAT(std::string(control.status().message()), HasSubstr("barrier 6, where sm_90 has 0 to 5"));
  }
}

TEST(Architectures, HaveNames) {
  for (const Architecture architecture : kArchitectures) {
    EXPECT_EQ(*ArchitectureOf(ArchitectureName(architecture)), architecture);
  }
  EXPECT_THAT(std::string(ArchitectureOf("sm_70\n").status().message()), HasSubstr("'sm_70\\n' cannot be read"));
}

}  // namespace
}  // namespace heddle::tracegen::machine
