// Several PTX modules made one: what finds what by name, what is renamed, and what is refused with both places.
#include "tracegen/ptx/syntax/link_modules.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/ptx/syntax/snippet.h"
#include "tracegen/ptx/syntax/print.h"

namespace heddle::tracegen::ptx {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Texts = std::vector<std::pair<std::string, std::string>>;  // names and directives behind the head

std::string Explain(std::string_view function) {
  return function == "vprintf" ? "" : absl::StrCat("'", std::string(function), "' is nowhere");
}

absl::StatusOr<Module> TryLink(const Texts& texts) {
  ModuleLinker linker(Explain);
  for (const auto& [name, text] : texts) linker.Add(name, ParsedModule(ModuleText(text)));
  return linker.Link();
}

Module Linked(const Texts& texts) {
  absl::StatusOr<Module> linked = TryLink(texts);
  EXPECT_TRUE(linked.ok()) << linked.status();
  if (!linked.ok()) return {};
  // What is printed of it is PTX that reads to the same functions.
  const Module again = ParsedModule(Print(*linked));
  EXPECT_THAT(again.functions, SizeIs(linked->functions.size()));
  EXPECT_THAT(again.variables, SizeIs(linked->variables.size()));
  return *std::move(linked);
}

std::string Refusal(const Texts& texts) {
  const absl::StatusOr<Module> linked = TryLink(texts);
  EXPECT_FALSE(linked.ok());
  return std::string(linked.status().message());
}

std::vector<std::string> FunctionNames(const Module& module) {
  std::vector<std::string> names;
  for (const Function& function : module.functions) names.push_back(function.name);
  return names;
}

// The function that a function's first call goes to.
const Function& Called(const Module& module, std::string_view function) {
  for (const Instruction* instruction : InstructionsOf(module.functions[*module.FindFunction(function)])) {
    if (instruction->opcode() == "call") return module.functions[instruction->operands[1].index];
  }
  ADD_FAILURE() << "no call in " << function;
  return module.functions[0];
}

constexpr char kDeclared[] = ".extern .func (.param .b32 r) twice(.param .b32 x);\n";
constexpr char kKernel[] = ".visible .entry k()\n{\n.param .b32 a, b;\ncall (a), twice, (b);\nret;\n}\n";
constexpr char kDefined[] =
    ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<2>;\nld.param.u32 %r0, [x];\n"
    "st.param.u32 [r], %r0;\nret;\n}\n";

TEST(LinkModules, DeclaredInOneAndDefinedInAnother) {
  const Module module = Linked({{"a.ptx", absl::StrCat(kDeclared, kKernel)}, {"b.ptx", kDefined}});
  EXPECT_THAT(FunctionNames(module), ElementsAre("twice", "k"));
  EXPECT_TRUE(Called(module, "k").is_defined);
  EXPECT_EQ(Called(module, "k").part, 1u);
  EXPECT_EQ(module.functions[1].part, 0u);
  EXPECT_EQ(module.Where(1, 7), "b.ptx: PTX line 7");
  // In the other order, too.
  const Module turned = Linked({{"b.ptx", kDefined}, {"a.ptx", absl::StrCat(kDeclared, kKernel)}});
  EXPECT_TRUE(Called(turned, "k").is_defined);
}

TEST(LinkModules, VariablesAreFoundInBodiesAndInitialValues) {
  const Module module =
      Linked({{"a.ptx",
               ".extern .global .u32 table[];\n.visible .global .u64 where = generic(table) + 4;\n"
               ".visible .entry k()\n{\n.reg .b32 %r<2>;\nld.global.u32 %r0, [table+8];\nret;\n}\n"},
              {"b.ptx", ".visible .global .u32 other;\n.visible .global .u32 table[3] = {1, 2, 3};\n"}});
  const uint32_t table = *module.FindVariable("table");
  EXPECT_EQ(module.variables[table].initial[1].bits, 2u);
  EXPECT_EQ(module.variables[table].linkage, Linkage::kVisible);
  EXPECT_EQ(module.variables[*module.FindVariable("where")].initial[0].index, table);
  EXPECT_EQ(InstructionsOf(module.functions[0])[0]->operands[1].elements[0].index, table);
}

TEST(LinkModules, NamesOfOneModuleStayApart) {
  const std::string own = ".global .u32 x = 1;\n.func helper()\n{\nret;\n}\n";
  const auto kernel = [](const std::string& name) {
    return absl::StrCat(".visible .entry ", name,
                        "()\n{\n.reg .b32 %r<2>;\nld.global.u32 %r0, [x];\ncall helper;\nret;\n}\n");
  };
  const Module module = Linked({{"a.ptx", own + kernel("ka")}, {"b.ptx", own + kernel("kb")}, {"c.ptx", own}});
  EXPECT_THAT(FunctionNames(module), ElementsAre("helper", "ka", "helper$2", "kb", "helper$3"));
  EXPECT_EQ(Called(module, "ka").name, "helper");
  EXPECT_EQ(Called(module, "kb").name, "helper$2");
  const Instruction* load = InstructionsOf(module.functions[3])[0];
  EXPECT_EQ(module.variables[load->operands[1].elements[0].index].name, "x$2");
  // The name of an own function is another module's visible one.
  const Module shadowed = Linked({{"a.ptx", own + kernel("ka")}, {"b.ptx", ".visible .func helper()\n{\nret;\n}\n"}});
  EXPECT_EQ(Called(shadowed, "ka").name, "helper$2");
}

TEST(LinkModules, VariablesOfBodiesThatAreNotSharedGetNamesOfTheirOwn) {
  const std::string text =
      ".visible .entry a()\n{\n.global .u32 count;\n.shared .u32 s;\nret;\n}\n"
      ".visible .entry b()\n{\n.global .u32 count;\n.shared .u32 s;\nret;\n}\n";
  const Module module = Linked({{"a.ptx", text}});
  EXPECT_EQ(module.functions[0].variables[0].name, "count");
  EXPECT_EQ(module.functions[1].variables[0].name, "count$2");
  EXPECT_EQ(module.functions[1].variables[1].name, "s");
  EXPECT_THAT(module.parts, SizeIs(0)) << "a single text";
}

TEST(LinkModules, WeakAndCommonOnes) {
  const auto weak = [](int number) {
    return absl::StrCat(".weak .global .u32 w = ", number, ";\n.weak .func f()\n{\n.reg .b32 %r<2>;\nmov.u32 %r0, ",
                        number, ";\nret;\n}\n.weak .entry k()\n{\ncall f;\nret;\n}\n");
  };
  const auto value = [](const Module& module) { return InstructionsOf(Called(module, "k"))[0]->operands[1].bits; };
  const Module first = Linked({{"a.ptx", weak(1)}, {"b.ptx", weak(2)}});
  EXPECT_THAT(FunctionNames(first), ElementsAre("f", "k"));
  EXPECT_EQ(value(first), 1u);
  EXPECT_EQ(first.variables[0].initial[0].bits, 1u);
  const Module strong = Linked({{"a.ptx", weak(1)},
                                {"b.ptx",
                                 ".visible .global .u32 w = 3;\n.visible .func f()\n{\n.reg .b32 %r<2>;\n"
                                 "mov.u32 %r0, 3;\nret;\n}\n"}});
  EXPECT_EQ(value(strong), 3u);
  EXPECT_EQ(strong.variables[0].initial[0].bits, 3u);
  const Module common = Linked({{"a.ptx", ".common .global .u32 c[2];\n"}, {"b.ptx", ".common .global .u32 c[5];\n"}});
  EXPECT_EQ(common.variables[0].Bytes(), 20u);
}

TEST(LinkModules, DynamicSharedMemoryIsOneArrayOfTheLargestAlignment) {
  const auto text = [](const std::string& alignment, const std::string& kernel) {
    return absl::StrCat(".extern .shared .align ", alignment, " .b8 dynamic[];\n.visible .entry ", kernel,
                        "()\n{\n.reg .b32 %r<2>;\nld.shared.u32 %r0, [dynamic];\nret;\n}\n");
  };
  const Module module = Linked({{"a.ptx", text("4", "a")}, {"b.ptx", text("16", "b")}});
  ASSERT_THAT(module.variables, SizeIs(1));
  EXPECT_EQ(module.variables[0].Alignment(), 16u);
}

TEST(LinkModules, FilesOfLinesAndAliasesAndTablesFollow) {
  const Module module =
      Linked({{"a.ptx", ".file 1 \"a.cu\"\n.visible .func f()\n{\nret;\n}\n.visible .func g();\n.alias g, f;\n"},
              {"b.ptx",
               ".file 1 \"b.cu\"\n.extern .func g();\n.visible .entry k()\n{\n.reg .b64 %rd<2>;\n.loc 1 7 0\n"
               "mov.u64 %rd0, g;\ncall g;\nT: .calltargets g;\ncall %rd0, (), T;\nret;\n}\n"}});
  EXPECT_EQ(module.files[1].name, "b.cu");
  ASSERT_THAT(module.aliases, SizeIs(1));
  EXPECT_EQ(module.functions[module.aliases[0].function].name, "g");
  EXPECT_EQ(Called(module, "k").name, "g");
  const Function& kernel = module.functions[*module.FindFunction("k")];
  EXPECT_EQ(kernel.tables[0].functions[0], module.aliases[0].function);
  for (const Statement& statement : kernel.body) {
    const auto* location = std::get_if<Location>(&statement.what);
    EXPECT_TRUE(location == nullptr || location->file == 2u);
  }
}

TEST(LinkModules, ThePartsAreAsNewAsTheNewest) {
  ModuleLinker linker(Explain);
  linker.Add("a.ptx", ParsedModule(".version 7.1\n.target sm_80\n"));
  linker.Add("b.ptx", ParsedModule(".version 6.0\n.target sm_90a\n"));
  const absl::StatusOr<Module> module = linker.Link();
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->version_major, 7u);
  EXPECT_EQ(module->Architecture(), "sm_90a");
}

TEST(LinkModules, ClashesNameBothPlaces) {
  EXPECT_EQ(Refusal({{"a.ptx", kDefined}, {"b.ptx", absl::StrCat("\n", kDefined)}}),
            "b.ptx: PTX line 5: 'twice' is defined here a second time; its first definition is at a.ptx: PTX line 4");
  EXPECT_THAT(Refusal({{"a.ptx", ".visible .global .u32 x;\n"}, {"b.ptx", ".visible .global .u32 x;\n"}}),
              AllOf(HasSubstr("a second time"), HasSubstr("a.ptx"), HasSubstr("b.ptx")));
  EXPECT_THAT(Refusal({{"a.ptx", ".entry k()\n{\nret;\n}\n"}, {"b.ptx", ".entry k()\n{\nret;\n}\n"}}),
              HasSubstr("a second time"));
  EXPECT_THAT(Refusal({{"a.ptx", ".extern .func f(.param .b64 x);\n"}, {"b.ptx", ".visible .func f()\n{\nret;\n}\n"}}),
              AllOf(HasSubstr("other parameters"), HasSubstr("a.ptx: PTX line 4")));
  EXPECT_THAT(Refusal({{"a.ptx", ".extern .global .u32 x;\n"}, {"b.ptx", ".visible .const .u32 x;\n"}}),
              HasSubstr("another state space"));
  EXPECT_THAT(Refusal({{"a.ptx", ".extern .global .u32 x[2];\n"}, {"b.ptx", ".visible .global .u32 x[3];\n"}}),
              HasSubstr("has 12 bytes here, and 8 at a.ptx"));
  EXPECT_THAT(Refusal({{"a.ptx", ".extern .global .u32 x;\n"}, {"b.ptx", ".visible .func x()\n{\nret;\n}\n"}}),
              HasSubstr("is a function here, and a variable at a.ptx"));
}

TEST(LinkModules, WhatNobodyDefinesIsRefusedWhereItIsUsed) {
  const std::string call = ".visible .entry k()\n{\ncall f;\nret;\n}\n";
  EXPECT_EQ(Refusal({{"a.ptx", ".extern .func f();\n" + call}, {"b.ptx", "\n.extern .func f();\n"}}),
            "a.ptx: PTX line 7: 'f' is nowhere; it is declared at a.ptx: PTX line 4; link it with the PTX that defines "
            "it");
  // A function of its own is nobody else's.
  EXPECT_THAT(Refusal({{"a.ptx", ".extern .func f();\n" + call}, {"b.ptx", ".func f()\n{\nret;\n}\n"}}),
              HasSubstr("'f' is nowhere"));
  EXPECT_THAT(Refusal({{"a.ptx",
                        ".extern .global .u32 x;\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n"
                        "ld.global.u32 %r0, [x];\nret;\n}\n"}}),
              AllOf(HasSubstr("PTX line 8"), HasSubstr("'x' is declared, but not defined"), HasSubstr("PTX line 4")));
  EXPECT_THAT(Refusal({{"a.ptx", ".extern .global .u32 x;\n.global .u64 p = x;\n"}}), HasSubstr("PTX line 5"));
  // What the device has, and what nobody uses, need no definition.
  Linked({{"a.ptx",
           ".extern .func f();\n.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
           ".visible .entry k()\n{\n.param .b32 r;\n.param .b64 a, b;\ncall (r), vprintf, (a, b);\nret;\n}\n"}});
}

TEST(LinkModules, AddressesOfOneSize) {
  ModuleLinker linker(Explain);
  linker.Add("a.ptx", ParsedModule(".version 7.1\n.target sm_70\n.address_size 64\n"));
  linker.Add("b.ptx", ParsedModule(".version 7.1\n.target sm_70\n.address_size 32\n"));
  EXPECT_THAT(std::string(linker.Link().status().message()), HasSubstr("32 bits cannot be linked with a.ptx"));
  EXPECT_FALSE(ModuleLinker(Explain).Link().ok());
}

}  // namespace
}  // namespace heddle::tracegen::ptx
