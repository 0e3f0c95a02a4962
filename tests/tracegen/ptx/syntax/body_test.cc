// Bodies of functions: registers, scopes, labels, tables, lines.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/ptx/syntax/snippet.h"

namespace heddle::tracegen::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Registers, RangesAndNamesAreNumberedThrough) {
  const Module module = ParsedModule(ModuleText(R"(
.entry k {
	.reg .b32 %r<3>, sum;
	.reg .v4 .f32 v;
	.reg .pred p;
	.reg .b128 %r1<12>;
	mov.b32 sum, %r2;
	mov.b128 %r111, %r110;
})"));
  const Function& k = KernelOf(module);
  ASSERT_THAT(k.registers, SizeIs(5));
  EXPECT_EQ(k.register_count, 3u + 1 + 1 + 1 + 12);
  EXPECT_EQ(k.RegisterName(2), "%r2");
  EXPECT_EQ(k.RegisterName(3), "sum");
  EXPECT_EQ(k.RegisterOf(4).vector, 4);
  EXPECT_EQ(k.RegisterOf(5).type.kind, TypeKind::kPredicate);
  EXPECT_EQ(k.RegisterName(17), "%r111");
  const auto instructions = InstructionsOf(k);
  EXPECT_EQ(instructions[0]->operands[0].index, 3u);
  EXPECT_TRUE(instructions[0]->operands[0].written);
  EXPECT_EQ(instructions[0]->operands[1].index, 2u);
  EXPECT_FALSE(instructions[0]->operands[1].written);
  EXPECT_EQ(instructions[1]->operands[0].index, 17u);
}

TEST(Registers, OutsideOfTheirRangeDoNotExist) {
  EXPECT_THAT(KernelError("mov.b32 %r0, %r100;"), HasSubstr("line 21: a name that is not declared: '%r100'"));
  EXPECT_THAT(KernelError("mov.b32 %r0, %r01;"), HasSubstr("'%r01'"));
  EXPECT_THAT(KernelError(".reg .b32 %r<5>; .reg .b64 %r<7>;"), HasSubstr("a name that this scope has already"));
}

TEST(Scopes, InnerNamesHideOuterOnesAndEnd) {
  const Module module = ParsedKernel(R"(
	mov.b32 %r1, 1;
	{
		.reg .b64 %r1;
		.reg .pred p;
		mov.b64 %r1, 2;
		{ .reg .b16 %r1; mov.b16 %r1, 3; }
	}
	{ .reg .b32 p; mov.b32 p, 4; }
	mov.b32 %r1, 5;
)");
  const Function& k = KernelOf(module);
  std::vector<uint16_t> bits;
  for (const Instruction* instruction : InstructionsOf(k)) {
    bits.push_back(k.RegisterOf(instruction->operands[0].index).type.bits);
  }
  EXPECT_THAT(bits, ElementsAre(32, 64, 16, 32, 32));
  EXPECT_THAT(KernelError("{ .reg .b32 inner; } mov.b32 inner, 1;"), HasSubstr("not declared"));
}

TEST(Labels, AreThoseOfTheScopeOrOfOneAround) {
  // The same text as it is inlined twice; and a branch out of a scope.
  const Module module = ParsedKernel(R"(
	{ LOOP: @%p1 bra DONE; bra.uni LOOP; DONE: }
	{ LOOP: @%p1 bra DONE; bra.uni LOOP; DONE: bra END; }
END:
	ret;
)");
  const Function& k = KernelOf(module);
  ASSERT_THAT(k.labels, SizeIs(5));
  std::vector<uint32_t> to;
  for (const Instruction* instruction : InstructionsOf(k)) {
    if (instruction->opcode() == "bra") to.push_back(instruction->operands[0].index);
  }
  EXPECT_THAT(to, ElementsAre(1u, 0u, 3u, 2u, 4u));
  for (const Label& label : k.labels) {
    EXPECT_TRUE(std::holds_alternative<LabelPlace>(k.body[label.statement].what)) << label.name;
  }
  EXPECT_THAT(KernelError("bra nowhere;"), HasSubstr("line 21: no such label: 'nowhere'"));
  EXPECT_THAT(KernelError("here: here: ret;"), HasSubstr("this scope has already"));
  EXPECT_THAT(KernelError("{ inner: ret; } bra inner;"), HasSubstr("no such label"));
}

TEST(Tables, OfBranchesCallsAndPrototypes) {
  const Module module = ParsedKernel(R"(
	targets: .branchtargets A, B, A;
	brx.idx.uni %r1, targets;
A:	ret;
B:
	{
		.param .b64 p0;
		.param .b32 p1;
		.param .b32 r0;
		prototype: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn;
		callees: .calltargets f;
		call (r0), %rd1, (p0, p1), prototype;
		call.uni (r0), %rd1, (p0, p1), callees;
		call (r0), f, (p0, p1);
	}
	late: .branchtargets A;
)");
  const Function& k = KernelOf(module);
  ASSERT_THAT(k.tables, SizeIs(4));
  EXPECT_EQ(k.tables[0].kind, Table::Kind::kBranchTargets);
  EXPECT_THAT(k.tables[0].labels, ElementsAre(0u, 1u, 0u));
  EXPECT_THAT(k.tables[1].returns, SizeIs(1));
  EXPECT_THAT(k.tables[1].parameters, SizeIs(2));
  EXPECT_EQ(k.tables[1].directives[0].name, "noreturn");
  EXPECT_EQ(module.functions[k.tables[2].functions[0]].name, "f");
  const auto instructions = InstructionsOf(k);
  EXPECT_EQ(instructions[0]->operands[1].kind, Operand::Kind::kTable);
  const Instruction& indirect = *instructions[2];
  ASSERT_THAT(indirect.operands, SizeIs(4));
  EXPECT_EQ(indirect.operands[0].elements.size(), 1u);
  EXPECT_TRUE(indirect.operands[0].elements[0].written);
  EXPECT_EQ(indirect.operands[1].kind, Operand::Kind::kRegister);
  EXPECT_EQ(indirect.operands[2].elements.size(), 2u);
  EXPECT_EQ(indirect.operands[3].index, 1u);
  EXPECT_EQ(instructions[3]->operands[3].index, 2u);
  EXPECT_EQ(instructions[4]->operands[3].kind, Operand::Kind::kNone);
  EXPECT_THAT(KernelError("A: ret; brx.idx %r1, A;"), HasSubstr("a label where a table is due"));
  EXPECT_THAT(KernelError("t: .branchtargets t; bra t;"), HasSubstr("a table where a label is due"));
}

TEST(Calls, HaveFourOperandsHoweverTheyAreWritten) {
  const Module module = ParsedModule(ModuleText(R"(
.func leaf { ret; }
.func (.reg .u32 r) twice (.reg .u32 a) { add.u32 r, a, a; ret; }
.entry k {
	.reg .u32 %r<3>;
	call leaf;
	call.uni
	leaf,
	(
	)
	;
	call (%r1), twice, (%r2);
	call (%r1), twice, (7);
})"));
  for (const Instruction* call : InstructionsOf(KernelOf(module))) {
    ASSERT_THAT(call->operands, SizeIs(4));
    EXPECT_EQ(call->operands[0].kind, Operand::Kind::kList);
    EXPECT_EQ(call->operands[1].symbol, SymbolKind::kFunction);
    EXPECT_EQ(call->operands[2].kind, Operand::Kind::kList);
  }
  EXPECT_THAT(KernelError("call words;"), HasSubstr("neither a function nor a register"));
  EXPECT_THAT(KernelError("call unknown;"), HasSubstr("not declared"));
}

TEST(Body, VariablesOfFunctionsKeepTheirSpaces) {
  const Module module = ParsedKernel(R"(
	{ .param .align 8 .b8 param0[16]; st.param.b64 [param0+8], %rd1; }
	mov.u32 %r1, buffer;
	ld.param.u64 %rd1, [out];
	ld.local.u32 %r2, [frame+4];
)");
  const Function& k = KernelOf(module);
  const auto instructions = InstructionsOf(k);
  const Operand& stored = instructions[0]->operands[0].elements[0];
  EXPECT_EQ(stored.symbol, SymbolKind::kLocal);
  EXPECT_EQ(k.variables[stored.index].space, StateSpace::kParam);
  EXPECT_EQ(instructions[0]->operands[0].offset, 8);
  EXPECT_EQ(k.variables[instructions[1]->operands[1].index].space, StateSpace::kShared);
  EXPECT_EQ(instructions[2]->operands[1].elements[0].symbol, SymbolKind::kParameter);
  EXPECT_EQ(k.variables[instructions[3]->operands[1].elements[0].index].name, "frame");
}

TEST(Body, LinesOfTheSourceAndOfThePtx) {
  const Module module = ParsedKernel(
      "\n.loc 1 12 3\n.loc\t2 7 1, function_name $L__info_string0+8, inlined_at 1 30 5\nret;\n.pragma \"a\", \"b\";");
  const Function& k = KernelOf(module);
  std::vector<const Location*> locations;
  for (const Statement& statement : k.body) {
    if (const auto* location = std::get_if<Location>(&statement.what)) locations.push_back(location);
    if (statement.instruction() != nullptr) {
      EXPECT_EQ(statement.line, 24u);
    }
  }
  ASSERT_THAT(locations, SizeIs(2));
  EXPECT_EQ(locations[0]->source_line, 12u);
  EXPECT_EQ(locations[1]->function_name, "$L__info_string0");
  EXPECT_EQ(locations[1]->function_offset, 8);
  EXPECT_EQ(locations[1]->inlined_line, 30u);
  EXPECT_THAT(std::get<Pragma>(k.body.back().what).texts, ElementsAre("a", "b"));
}

TEST(Body, CommentsAreKeptOnDemand) {
  ParseOptions options;
  options.keep_comments = true;
  const absl::StatusOr<Module> module = ParseModule(KernelText(R"(
L:                                      // %for.body
	{ // callseq 3, 0
	/* two
	   lines */ ret;
	})"),
                                                    options);
  ASSERT_TRUE(module.ok()) << module.status();
  // Each stands behind what is in front of it in the text.
  std::vector<std::string> order;
  for (const Statement& statement : KernelOf(*module).body) {
    if (statement.line < 22) continue;
    if (const auto* comment = std::get_if<Comment>(&statement.what)) {
      order.push_back(absl::StrCat(statement.line, " ", comment->text));
    } else {
      order.push_back(absl::StrCat(statement.line, " #", statement.what.index()));
    }
  }
  EXPECT_THAT(order,
              ElementsAre("22 #1", "22 %for.body", "23 #2", "23 callseq 3, 0", "24 two\n\t   lines", "25 #0", "26 #3"));
}

TEST(Body, BlanksAndEndsOfLinesDoNotMatter) {
  const Module module = ParsedKernel("@%p1\r\n\tadd  \\\r\n.s32\t%r1 ,%r2,\r\n/**/ 3 ;;ret\n;");
  ASSERT_THAT(InstructionsOf(KernelOf(module)), SizeIs(2));
}

TEST(Inline, StatementsHaveArguments) {
  const absl::StatusOr<Module> module = ParseInline(
      "{ .reg .pred p; .reg .b32 %tmp; setp.ne.b32 p, $2, 0; @p ld.global.v2.u32 {$0, %tmp}, [${1:c}+4]; "
      "$$L_${:uid}: bra $$L_${:uid}; mov.u32 $0, %laneid }");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto instructions = InstructionsOf(module->functions[0]);
  ASSERT_THAT(instructions, SizeIs(4));
  EXPECT_EQ(instructions[0]->operands[1].kind, Operand::Kind::kArgument);
  EXPECT_EQ(instructions[0]->operands[1].index, 2u);
  const Instruction& load = *instructions[1];
  EXPECT_TRUE(load.operands[0].elements[0].written);
  EXPECT_EQ(load.operands[1].elements[0].index, 1u);
  EXPECT_EQ(load.operands[1].offset, 4);
  EXPECT_EQ(instructions[3]->operands[1].text, "%laneid");
  const Module symbols = ParsedModule(ModuleText(".shared .u32 counter;"));
  EXPECT_TRUE(ParseInline("st.shared.u32 [counter], $0", &symbols).ok());
  EXPECT_FALSE(ParseInline("st.shared.u32 [counter], $0").ok());
  EXPECT_FALSE(ParseInline("{ ret; ").ok());
}

}  // namespace
}  // namespace heddle::tracegen::ptx
