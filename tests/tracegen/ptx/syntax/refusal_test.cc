// PTX of strangers: what is wrong is refused with its line, and nothing takes more than the limits.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/ptx/syntax/snippet.h"
#include "traces/base/printable.h"

namespace heddle::tracegen::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Refusals, NameLineAndText) {
  EXPECT_EQ(ModuleError(ModuleText("\n.colour red;")), "PTX line 5: a state space was expected: '.colour'");
  EXPECT_EQ(KernelError("add.s32 %r1, %r2, %r3"), "PTX line 22: ';' was expected: '}'");
  EXPECT_EQ(KernelError("\n\n.colour red;"), "PTX line 23: a directive that is not known within a function: '.colour'");
  EXPECT_EQ(KernelError("{ ret;"), "PTX line 23: a statement was expected, but the text ends");
}

TEST(Refusals, HoldNothingThatActsOnATerminal) {
  for (const std::string_view text :
       {"\x1b[2J", "add.s32 %r1, %r2\x1b]0;title\x07;", "// \x1b\n mov.u32 %r1, \"\x9b\";", ".pragma \"\x1b[31m;\n",
        "\xff\xfe", "a\xe2\x80\xae: b"}) {
    EXPECT_TRUE(IsPrintable(KernelError(text))) << text;
  }
  EXPECT_LT(KernelError(Repeated("x", 100'000)).size(), 300u);
}

TEST(Refusals, OfTextsThatEndTooEarly) {
  const std::string whole = KernelText(
      "{ .param .b32 p; @!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+8]; call (p), f, (p, p); }\n"
      "t: .branchtargets L; L: mov.f64 %fd1, 0d3FF0000000000000; /* end */ .pragma \"x\"; .loc 1 2 3, inlined_at 1 2 "
      "3\n");
  ASSERT_TRUE(ParseModule(ModuleText("")).ok());
  // Every beginning of a right text is either right or refused, and comes to an end.
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const absl::StatusOr<Module> module = ParseModule(whole.substr(0, bytes));
    if (!module.ok()) {
      EXPECT_TRUE(IsPrintable(std::string(module.status().message())));
    }
  }
}

TEST(Limits, OfNesting) {
  EXPECT_THAT(KernelError(Repeated("{", 100'000)), HasSubstr("scopes that nest too deeply"));
  EXPECT_THAT(KernelError(absl::StrCat("mov.b32 %r1, ", Repeated("(", 100'000))), HasSubstr("nests too deeply"));
  EXPECT_THAT(KernelError(absl::StrCat("mov.b32 %r1, ", Repeated("- ", 100'000), "1;")), HasSubstr("nests too deeply"));
  EXPECT_THAT(KernelError(absl::StrCat("mov.b32 %r1, ", Repeated("{", 100'000))), HasSubstr("nest too deeply"));
  EXPECT_THAT(KernelError(absl::StrCat("mov.b32 %r1, ", Repeated("1?", 100'000), "1;")), HasSubstr("nests too deeply"));
  EXPECT_THAT(ModuleError(ModuleText(absl::StrCat(".global .u32 x = ", Repeated("{", 100'000)))),
              HasSubstr("more braces than dimensions"));
  ParsedKernel(absl::StrCat(Repeated("{", 200), Repeated("}", 200)));
}

TEST(Limits, OfSizesAndCounts) {
  EXPECT_THAT(KernelError(".reg .b32 %big<4000000000>;"),
              HasSubstr("a function of more than 4194304 registers: '%big'"));
  EXPECT_THAT(KernelError(".reg .b32 %a<4000000>; .reg .b32 %b<4000000>;"), HasSubstr("more than 4194304 registers"));
  EXPECT_THAT(ModuleError(ModuleText(".global .b8 x[99999999999999];")), HasSubstr("a variable of more than"));
  EXPECT_THAT(ModuleError(ModuleText(".global .b8 x[4294967296][4294967296];")), HasSubstr("a variable of more than"));
  EXPECT_THAT(ModuleError(ModuleText(".global .b8 x[-1];")), HasSubstr("no count"));
  EXPECT_THAT(ModuleError(ModuleText(".global .align 3 .b8 x;")), HasSubstr("no power of two"));
  EXPECT_THAT(ModuleError(ModuleText(".global .b8 x[2] = {1, 2, 3};")), HasSubstr("more initial values than elements"));
  EXPECT_THAT(ModuleError(ModuleText(".global .b8 x[3][0] = {{}, {2}};")), HasSubstr("an array of size 0"));
  EXPECT_THAT(ModuleError(ModuleText(absl::StrCat(".global .b8 x", Repeated("[1]", 100), ";"))),
              HasSubstr("too many dimensions"));
  EXPECT_THAT(KernelError(absl::StrCat("add", Repeated(".sat", 100), ".s32 %r1, %r2, %r3;")), HasSubstr("'add'"));
  EXPECT_THAT(KernelError(absl::StrCat("add.s32 %r1", Repeated(", %r1", 100), ";")), HasSubstr("too many operands"));
}

TEST(Limits, OfTheWholeText) {
  ParseOptions small;
  small.limits.nodes = 50;
  small.limits.text_bytes = 2000;
  EXPECT_THAT(ModuleError(KernelText(Repeated("ret;", 50)), small), HasSubstr("more than 50 statements"));
  EXPECT_THAT(ModuleError(std::string(3000, ' '), small), StartsWith("PTX of 3000 bytes; at most 2000"));
  EXPECT_THAT(ModuleError(ModuleText(absl::StrCat(".global .b8 x[100] = {", Repeated("1,", 99), "1};")), small),
              HasSubstr("more than 50 statements"));
}

TEST(Limits, LargeButEmptyThingsTakeNoMemory) {
  const Module module =
      ParsedModule(ModuleText(".global .b8 x[1099511627776];\n.global .u32 y[1000000][1000] = {{7}};"));
  EXPECT_EQ(module.variables[0].Bytes(), uint64_t{1} << 40);
  EXPECT_EQ(module.variables[1].initial.size(), 1u);
}

}  // namespace
}  // namespace heddle::tracegen::ptx
