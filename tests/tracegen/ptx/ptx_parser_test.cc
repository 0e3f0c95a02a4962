// Reading PTX text.
#include "tracegen/ptx/ptx_parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace heddle::tracegen {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ParsePtx, BlocksNamesLinesAndFrames) {
  const auto functions = ParsePtx(R"(
.version 7.0
.extern .func g
(
	.param .b32 g_param_0
)
;
.visible .entry k(
	.param .u64 k_param_0
)
{
	.local .align 4 .b8 	__local_depot0[24];
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<2>;
// %bb.0:                               // %b0
	.loc	1 7 0                           // kernel:7:0
	ld.global.v2.u32 	{%r1, %r2}, [%rd1+8];
	@%p1 bra 	$L__BB0_2;
	bra.uni 	$L__BB0_1;
$L__BB0_1:
	{ .reg .b32 tmp; mov.b64 {tmp, %r2}, %rd1; }
$L__BB0_2:                              // %b1
                                        // =>This Inner Loop Header: Depth=1
	ret;
}
)");
  ASSERT_TRUE(functions.ok()) << functions.status();
  ASSERT_THAT(*functions, SizeIs(1));
  const PtxFunction& k = functions->front();
  EXPECT_EQ(k.name, "k");
  EXPECT_TRUE(k.is_kernel);
  EXPECT_EQ(k.local_bytes, 24u);
  ASSERT_THAT(k.blocks, SizeIs(3));
  EXPECT_EQ(k.blocks[0].name, "b0");
  EXPECT_EQ(k.blocks[1].name, "");
  EXPECT_EQ(k.blocks[2].name, "b1");
  EXPECT_EQ(k.blocks[2].label, "$L__BB0_2");
  EXPECT_EQ(k.blocks[0].instructions[0].id, 7u);
  EXPECT_THAT(k.blocks[0].instructions[0].operands, ElementsAre("{%r1, %r2}", "[%rd1+8]"));
  EXPECT_EQ(k.blocks[0].instructions[1].guard, "%p1");
  EXPECT_EQ(k.blocks[1].instructions[0].opcode, "mov.b64");
}

TEST(ParsePtx, TextThatEndsInsideAFunctionIsAnError) {
  EXPECT_FALSE(ParsePtx(".version 7.0\n.visible .entry k(\n)\n{\n// %bb.0: // %b0\n ret;\n").ok());
}

TEST(ParseAddress, BaseAndOffset) {
  EXPECT_EQ(ParseAddress("[%rd1+-8]").offset, -8);
  EXPECT_EQ(ParseAddress("[table+4]").base, "table");
  EXPECT_EQ(ParseAddress("[%rd7]").offset, 0);
}

TEST(RegistersOf, SkipsSpecialRegisters) {
  EXPECT_THAT(RegistersOf("%tid.x"), IsEmpty());
  EXPECT_THAT(RegistersOf("%clock64"), IsEmpty());
  EXPECT_THAT(RegistersOf("{%f1, %fd22}"), ElementsAre("%f1", "%fd22"));
  EXPECT_EQ(RegisterWords("%rd1"), 2u);
  EXPECT_EQ(RegisterWords("%p1"), 0u);
}

}  // namespace
}  // namespace heddle::tracegen
