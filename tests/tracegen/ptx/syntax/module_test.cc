// What stands at the top of a module: head, variables, functions, debugging data.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/ptx/syntax/snippet.h"

namespace heddle::tracegen::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Module, HeadInAnyShapeThatProducersGiveIt) {
  const Module module = ParsedModule(
      "//\n// Generated\n//\n\n.version 6.0\r\n.target sm_75, texmode_independent\r\n"
      ".address_size 32\r\n");
  EXPECT_EQ(module.version_major, 6u);
  EXPECT_EQ(module.version_minor, 0u);
  EXPECT_THAT(module.targets, ElementsAre("sm_75", "texmode_independent"));
  EXPECT_EQ(module.Architecture(), "sm_75");
  EXPECT_EQ(module.address_size, 32u);
  // Without targets and address size, as strings in programs often are; and with the end of a C string.
  const Module bare = ParsedModule(std::string_view(".version 3.0\n\0", 14));
  EXPECT_THAT(bare.targets, IsEmpty());
  EXPECT_EQ(bare.address_size, 64u);
  EXPECT_EQ(bare.Architecture(), "");
}

TEST(Module, VersionsThatNobodyKnowsAreRefused) {
  EXPECT_EQ(ModuleError(".version 10.0"), "PTX line 1: a version of PTX that is not known (2.0 to 9.x are): '10.0'");
  EXPECT_THAT(ModuleError(".version 1.4"), HasSubstr("not known"));
  EXPECT_THAT(ModuleError(".version eight"), HasSubstr("a version such as 8.0"));
  EXPECT_THAT(ModuleError(".target sm_70"), HasSubstr("PTX begins with .version"));
  EXPECT_THAT(ModuleError(""), HasSubstr("no .version"));
}

TEST(Module, VariablesOfAllStateSpacesAndLinkages) {
  const Module module = ParsedModule(ModuleText(R"(
.visible .global .align 16 .b8 bytes[40];
.extern .shared .align 16 .b8 dynamic[];
.weak .const .f64 pi = 0d400921FB54442D18;
.common .global .u32 shared_by_all;
.global .v4 .f32 vector;
.global .attribute(.managed) .u64 managed_word;
.global .attribute(.unified(19, 95)) .align 4 .b32 unified_word;
.const[3] .u8 banked;
.shared .u16 a, b[3][5];
)"));
  ASSERT_THAT(module.variables, SizeIs(10));
  const auto& v = module.variables;
  EXPECT_EQ(v[0].linkage, Linkage::kVisible);
  EXPECT_EQ(v[0].Bytes(), 40u);
  EXPECT_EQ(v[0].Alignment(), 16u);
  EXPECT_EQ(v[0].line, 5u);
  EXPECT_EQ(v[1].linkage, Linkage::kExtern);
  EXPECT_EQ(v[1].space, StateSpace::kShared);
  EXPECT_EQ(v[1].Bytes(), 0u);
  EXPECT_THAT(v[1].dimensions, ElementsAre(0u));
  EXPECT_EQ(v[2].linkage, Linkage::kWeak);
  EXPECT_EQ(v[2].initial[0].bits, 0x400921fb54442d18u);
  EXPECT_EQ(v[3].linkage, Linkage::kCommon);
  EXPECT_EQ(v[4].Bytes(), 16u);
  EXPECT_EQ(v[4].Alignment(), 16u);  // that of the vector
  EXPECT_TRUE(v[5].managed);
  EXPECT_TRUE(v[6].has_unified);
  EXPECT_EQ(v[6].unified, std::make_pair(uint64_t{19}, uint64_t{95}));
  EXPECT_EQ(v[7].bank, 3);
  EXPECT_EQ(v[8].name, "a");
  EXPECT_EQ(v[9].Bytes(), 30u);
  EXPECT_EQ(module.FindVariable("b"), 9u);
  EXPECT_EQ(module.FindVariable("c"), std::nullopt);
}

TEST(Module, ExternAndThenDefinedIsOneVariable) {
  const Module module =
      ParsedModule(ModuleText(".extern .global .u32 x[];\n.global .u32 x[2] = {7, 8};\n"
                              ".extern .global .u32 x[];\n"));
  ASSERT_THAT(module.variables, SizeIs(1));
  EXPECT_EQ(module.variables[0].linkage, Linkage::kInternal);
  EXPECT_EQ(module.variables[0].initial[1].bits, 8u);
  EXPECT_THAT(ModuleError(ModuleText(".global .u32 x;\n.global .u32 x;")), HasSubstr("line 5: a name that the module"));
}

std::vector<std::pair<uint64_t, uint64_t>> ValuesOf(const Variable& variable) {
  std::vector<std::pair<uint64_t, uint64_t>> values;
  for (const InitialValue& value : variable.initial) values.emplace_back(value.element, value.bits);
  return values;
}

TEST(Initializer, NumbersOfAllForms) {
  const Module module = ParsedModule(ModuleText(R"(
.global .s32 integers[] = {-1, 0x10, 0b101, 017, 3U, (1 << 4) | 1, 0, 7 / 2};
.global .f32 floats[3] = {0f3F800000, 1.5, -2};
.global .f64 doubles[2] = {1e3, 0f3F800000};
.global .u8 cut = 511;
.global .b64 large = 0xffffffffffffffff;
)"));
  using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;
  EXPECT_THAT(module.variables[0].dimensions, ElementsAre(8u));
  EXPECT_EQ(ValuesOf(module.variables[0]), (Pairs{{0, 0xffffffff}, {1, 16}, {2, 5}, {3, 15}, {4, 3}, {5, 17}, {7, 3}}));
  EXPECT_EQ(ValuesOf(module.variables[1]), (Pairs{{0, 0x3f800000}, {1, 0x3fc00000}, {2, 0xc0000000}}));
  EXPECT_EQ(ValuesOf(module.variables[2]), (Pairs{{0, 0x408f400000000000}, {1, 0x3ff0000000000000}}));
  EXPECT_EQ(ValuesOf(module.variables[3]), (Pairs{{0, 0xff}}));
  EXPECT_EQ(ValuesOf(module.variables[4]), (Pairs{{0, ~uint64_t{0}}}));
}

TEST(Initializer, NestedBracesAndShortRows) {
  const Module module = ParsedModule(ModuleText(R"(
.global .u32 rows[3][2] = {{1}, {2, 3}, {}};
.global .u32 flat[2][2] = {1, 2, 3, 4};
.global .v2 .u32 vectors[] = {{1, 2}, {3, 4}};
.global .u32 zeros[4] = {0, 0};
)"));
  using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;
  EXPECT_EQ(ValuesOf(module.variables[0]), (Pairs{{0, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(ValuesOf(module.variables[1]), (Pairs{{0, 1}, {1, 2}, {2, 3}, {3, 4}}));
  EXPECT_EQ(ValuesOf(module.variables[2]), (Pairs{{0, 1}, {1, 2}, {2, 3}, {3, 4}}));
  EXPECT_THAT(module.variables[2].dimensions, ElementsAre(2u));
  EXPECT_TRUE(module.variables[3].is_initialized);
  EXPECT_THAT(module.variables[3].initial, IsEmpty());
}

TEST(Initializer, AddressesOfVariablesAndFunctions) {
  const Module module = ParsedModule(ModuleText(R"(
.global .u32 target[8];
.func helper;
.global .u64 table[4] = {target, generic(target)+8, helper, target-4};
.global .b8 parts[2] = {0xFF(generic(target)), 0xFF00(target+4)};
)"));
  const auto& table = module.variables[1].initial;
  ASSERT_THAT(table, SizeIs(4));
  EXPECT_EQ(table[0].kind, InitialValue::Kind::kAddress);
  EXPECT_FALSE(table[0].generic);
  EXPECT_TRUE(table[1].generic);
  EXPECT_EQ(table[1].addend, 8);
  EXPECT_EQ(table[2].symbol, SymbolKind::kFunction);
  EXPECT_EQ(module.functions[table[2].index].name, "helper");
  EXPECT_EQ(table[3].addend, -4);
  const auto& parts = module.variables[2].initial;
  EXPECT_EQ(parts[0].mask, 0xffu);
  EXPECT_TRUE(parts[0].generic);
  EXPECT_EQ(parts[1].mask, 0xff00u);
  EXPECT_EQ(parts[1].addend, 4);
}

TEST(Initializer, SamplersHaveFields) {
  const Module module = ParsedModule(
      ModuleText(".global .samplerref s = { addr_mode_0 = clamp_to_edge, filter_mode = linear };\n.global .texref t;"));
  EXPECT_THAT(module.variables[0].fields,
              ElementsAre(std::pair<std::string, std::string>("addr_mode_0", "clamp_to_edge"),
                          std::pair<std::string, std::string>("filter_mode", "linear")));
  EXPECT_EQ(module.variables[1].type.kind, TypeKind::kOpaque);
}

TEST(Function, ParametersReturnsAndDirectives) {
  const Module module = ParsedModule(ModuleText(R"(
.visible .entry kernel(
	.param .u64 .ptr .global .align 16 kernel_param_0,
	.param .u64 .ptr kernel_param_1,
	.param .align 8 .b8 kernel_param_2[24],
	.param .texref kernel_param_3
)
.maxntid 256, 1, 1
.minnctapersm 2
.maxnreg 64
.reqnctapercluster 2, 1, 1
.pragma "nounroll";
{
	ret;
}
.weak .func  (.param .b32 func_retval0) helper(.param .b32 a, .param .b8 rest[]) .noreturn
{
	ret;
}
.func (.reg .f32 result) old (.reg .f32 a, .reg .u32 b) { ret; }
.entry plain { ret; }
)"));
  ASSERT_THAT(module.functions, SizeIs(4));
  const Function& kernel = module.functions[0];
  EXPECT_TRUE(kernel.is_kernel);
  EXPECT_EQ(kernel.linkage, Linkage::kVisible);
  ASSERT_THAT(kernel.parameters, SizeIs(4));
  EXPECT_EQ(kernel.parameters[0].pointer->space, StateSpace::kGlobal);
  EXPECT_EQ(kernel.parameters[0].pointer->alignment, 16u);
  EXPECT_EQ(kernel.parameters[1].pointer->space, StateSpace::kNone);
  EXPECT_EQ(kernel.parameters[2].Bytes(), 24u);
  EXPECT_EQ(kernel.parameters[2].Alignment(), 8u);
  EXPECT_THAT(kernel.Find("maxntid")->numbers, ElementsAre(256u, 1u, 1u));
  EXPECT_THAT(kernel.Find("minnctapersm")->numbers, ElementsAre(2u));
  EXPECT_THAT(kernel.Find("pragma")->texts, ElementsAre("nounroll"));
  EXPECT_EQ(kernel.Find("reqntid"), nullptr);
  const Function& helper = module.functions[1];
  EXPECT_EQ(helper.linkage, Linkage::kWeak);
  EXPECT_FALSE(helper.is_kernel);
  EXPECT_EQ(helper.returns[0].Bytes(), 4u);
  EXPECT_EQ(helper.parameters[1].Bytes(), 0u);
  EXPECT_NE(helper.Find("noreturn"), nullptr);
  const Function& old = module.functions[2];
  EXPECT_EQ(old.register_count, 3u);
  EXPECT_EQ(old.returns[0].register_number, 0u);
  EXPECT_EQ(old.parameters[1].register_number, 2u);
  EXPECT_EQ(old.RegisterName(2), "b");
  EXPECT_THAT(module.functions[3].parameters, IsEmpty());
}

TEST(Function, DeclaredAndThenDefinedIsOneFunction) {
  const Module module = ParsedModule(ModuleText(R"(
.func (.param .b32 r) f (.param .b32 a);
.func g { { .param .b32 p; .param .b32 q; call.uni (q), f, (p); } ret; }
.func (.param .b32 r) f (.param .b32 a) { ret; }
)"));
  ASSERT_THAT(module.functions, SizeIs(2));
  EXPECT_TRUE(module.functions[0].is_defined);
  EXPECT_EQ(module.FindFunction("f"), 0u);
  ASSERT_THAT(module.items, SizeIs(3));
  EXPECT_EQ(module.items[0].kind, ModuleItem::Kind::kDeclaration);
  EXPECT_EQ(module.items[2].kind, ModuleItem::Kind::kDefinition);
  EXPECT_EQ(module.items[2].index, 0u);
  EXPECT_THAT(ModuleError(ModuleText(".func f { ret; }\n.func f { ret; }")), HasSubstr("a second definition"));
  EXPECT_THAT(ModuleError(ModuleText(".func f (.param .b32 a);\n.func f (.param .b64 a) { ret; }")),
              HasSubstr("declared in another way"));
}

TEST(Module, DebuggingDataIsKeptAsWritten) {
  const Module module = ParsedModule(ModuleText(R"(
.file 1 "/src/a \"b\".cu", 1600000000, 42
.file	2 "b.cu"
.func one { ret; }
.func two;
.alias two, one;
.section .debug_str
{
$L__info_string0:
.b8 95,90 // a name
.b8 0
}
.section	.debug_info	{ .b32 .debug_str }
)"));
  ASSERT_THAT(module.files, SizeIs(2));
  EXPECT_EQ(module.files[0].name, "/src/a \\\"b\\\".cu");
  EXPECT_EQ(module.files[0].timestamp, 1600000000u);
  EXPECT_EQ(module.files[0].size, 42u);
  EXPECT_EQ(module.files[1].index, 2u);
  ASSERT_THAT(module.aliases, SizeIs(1));
  EXPECT_EQ(module.functions[module.aliases[0].aimed].name, "one");
  ASSERT_THAT(module.sections, SizeIs(2));
  EXPECT_EQ(module.sections[0].name, ".debug_str");
  EXPECT_THAT(module.sections[0].text, HasSubstr(".b8 95,90 // a name"));
}

}  // namespace
}  // namespace heddle::tracegen::ptx
