// Programs of PTX: kernels that are lowered one by one, texts that are linked, and what the text asks of registers.
#include "tracegen/program/ptx_source/ptx_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracegen/program/kernel_list.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHead[] = ".version 7.0\n.target sm_75\n.address_size 64\n";

std::string Kernel(const std::string& name, const std::string& body, const std::string& directives = "") {
  return absl::StrCat(".visible .entry ", name, "()\n", directives,
                      "{\n.reg .b32 %r<40>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<9>;\n", body, "ret;\n}\n");
}

std::string Function(const std::string& name, const std::string& body = "") {
  return absl::StrCat(".visible .func ", name, "()\n{\n.reg .b32 %r<4>;\n", body, "ret;\n}\n");
}

PtxProgram Program(const std::vector<PtxText>& texts) {
  absl::StatusOr<PtxProgram> program = PtxProgram::Read(texts);
  EXPECT_TRUE(program.ok()) << program.status();
  return *std::move(program);
}

std::string Refusal(const absl::Status& status) {
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

std::vector<std::string> FunctionsOf(const CanonicalModule& module) {
  std::vector<std::string> names;
  for (const llvm::Function& function : *module.module) {
    if (!function.isDeclaration()) names.push_back(function.getName().str());
  }
  return names;
}

trace::v1::KernelProgram StaticProgram(const PtxProgram& program, const std::string& kernel) {
  const absl::StatusOr<CanonicalModule> module = program.LowerKernel(kernel);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*module, kernel);
  EXPECT_TRUE(unit.ok()) << unit.status();
  return unit.ok() ? unit->program : trace::v1::KernelProgram();
}

TEST(PtxProgramTest, AKernelIsLoweredWithWhatItCalls) {
  const std::string text = absl::StrCat(kHead, Function("deep"), Function("f", "call deep;\n"), Function("g"),
                                        Kernel("a", "call f;\n"), Kernel("b", "call g;\n"));
  const PtxProgram program = Program({{"a.ptx", text}});
  EXPECT_THAT(program.kernels(), ElementsAre("a", "b"));
  EXPECT_EQ(program.target(), "sm_75");
  EXPECT_THAT(FunctionsOf(*program.LowerKernel("a")), ElementsAre("deep", "f", "a"));
  EXPECT_THAT(FunctionsOf(*program.LowerKernel("b")), ElementsAre("g", "b"));
  EXPECT_EQ(FunctionsOf(*program.Lower()).size(), 5u);
  EXPECT_TRUE(absl::IsNotFound(program.LowerKernel("f").status()));
  EXPECT_TRUE(absl::IsNotFound(program.LowerKernel("c").status()));
}

TEST(PtxProgramTest, WhatCannotBeExecutedDoesNoHarmToOtherKernels) {
  const std::string text = absl::StrCat(kHead, Kernel("right", ""), Kernel("tensor", "wgmma.fence.sync.aligned;\n"));
  const PtxProgram program = Program({{"a.ptx", text}});
  EXPECT_TRUE(program.Declare().ok());
  EXPECT_TRUE(program.LowerKernel("right").ok());
  EXPECT_THAT(Refusal(program.LowerKernel("tensor").status()),
              AllOf(HasSubstr("a.ptx: PTX line 16"), HasSubstr("wgmma")));
}

TEST(PtxProgramTest, DeclarationsHaveKernelsAndVariablesWithTheirValues) {
  const std::string text = absl::StrCat(kHead, ".visible .global .u32 x[2] = {7, 8};\n.global .u64 p = x;\n",
                                        Function("f"), ".global .u64 q = f;\n", Kernel("k", "call f;\n"));
  const PtxProgram program = Program({{"a.ptx", text}});
  EXPECT_TRUE(program.takes_addresses());
  const absl::StatusOr<CanonicalModule> declared = program.Declare();
  ASSERT_TRUE(declared.ok()) << declared.status();
  EXPECT_NE(declared->module->getNamedGlobal("x"), nullptr);
  EXPECT_FALSE(declared->module->getNamedGlobal("q")->getInitializer()->isNullValue());
  EXPECT_EQ(ListKernels(*declared).size(), 1u);
  EXPECT_FALSE(Program({{"a.ptx", absl::StrCat(kHead, Function("f"), Kernel("k", "call f;\n"))}}).takes_addresses());
}

TEST(PtxProgramTest, LinkedTextsHaveTheirOwnLines) {
  const std::string one = absl::StrCat(kHead, ".extern .func f();\n", Kernel("k", "call f;\n"));
  const std::string two = absl::StrCat(kHead, "\n\n", Function("f", "mov.u32 %r0, 7;\n"));
  const PtxProgram program = Program({{"one.ptx", one}, {"two.ptx", two}});
  const trace::v1::KernelProgram kernel = StaticProgram(program, "k");
  const absl::StatusOr<CanonicalModule> module = program.LowerKernel("k");
  ASSERT_TRUE(module.ok());
  std::vector<std::string> places;
  for (const auto& at : kernel.instruction()) {
    places.push_back(
        absl::StrCat(at.mnemonic(), " ", module->source_files[at.source_file() - 1], ":", at.source_line()));
  }
  EXPECT_THAT(places, ElementsAre("call one.ptx:10", "ret one.ptx:11", "mov.u32 two.ptx:9", "ret two.ptx:10"));
  // What cannot be lowered names its own text.
  const std::string wrong = absl::StrCat(kHead, Function("f", "cp.async.bulk.commit_group;\n"));
  const PtxProgram broken = Program({{"one.ptx", one}, {"wrong.ptx", wrong}});
  EXPECT_THAT(Refusal(broken.LowerKernel("k").status()), HasSubstr("wrong.ptx: PTX line 7"));
}

TEST(PtxProgramTest, FunctionsThatNobodyHasAreTold) {
  const std::string text = absl::StrCat(kHead, ".extern .func f();\n", Kernel("k", "call f;\n"));
  EXPECT_EQ(Refusal(PtxProgram::Read({{"a.ptx", text}}).status()),
            "a.ptx: PTX line 10: the device function 'f' is declared, but not defined; it is declared at PTX line 4; "
            "link it with the PTX that defines it");
  EXPECT_TRUE(PtxProgram::Check({"a.ptx", text}).ok()) << "its syntax is right";
  const std::string provided =
      absl::StrCat(kHead, ".extern .func (.param .b32 r) __nv_sinf(.param .b32 x);\n",
                   Kernel("k", "{\n.param .b32 r, x;\nst.param.f32 [x], %f0;\ncall (r), __nv_sinf, (x);\n}\n"));
  EXPECT_TRUE(Program({{"a.ptx", provided}}).LowerKernel("k").ok());
}

TEST(PtxProgramTest, TheTextBoundsTheRegisters) {
  // 24 values that are live at once.
  std::string body;
  for (int i = 0; i < 24; ++i) absl::StrAppend(&body, "mov.u32 %r", i, ", %clock;\n");
  for (int i = 1; i < 24; ++i) absl::StrAppend(&body, "add.u32 %r0, %r0, %r", i, ";\n");
  body += "mov.u64 %rd0, 4096;\nst.global.u32 [%rd0], %r0;\n";
  const auto registers = [&](const std::string& directives) {
    return StaticProgram(Program({{"a.ptx", absl::StrCat(kHead, Kernel("k", body, directives))}}), "k");
  };
  const uint32_t free = registers("").register_count();
  EXPECT_GE(free, 24u);
  EXPECT_EQ(registers("").registers_requested(), 0u);
  EXPECT_EQ(registers(".maxnreg 20\n").register_count(), 20u);
  EXPECT_EQ(registers(".maxnreg 20\n").registers_requested(), 20u);
  // 65,536 registers for 8 blocks of 512 threads: 16 each.
  EXPECT_EQ(registers(".maxntid 512, 1, 1\n.minnctapersm 8\n").register_count(), 16u);
  EXPECT_EQ(registers(".maxntid 64, 1, 1\n.minnctapersm 2\n").register_count(), free);
}

}  // namespace
}  // namespace heddle::tracegen
