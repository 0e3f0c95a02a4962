#include "tracegen/machine/cubin/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/tracegen/machine/cubin/made_cubin.h"
#include "traces/base/printable.h"
#include "traces/base/random.h"

namespace heddle::tracegen::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Refusal(const std::string& bytes) {
  const absl::StatusOr<Cubin> cubin = ReadCubin(bytes);
  EXPECT_FALSE(cubin.ok());
  const std::string message(cubin.status().message());
  EXPECT_TRUE(IsPrintable(message)) << message;
  return message;
}

TEST(Cubin, HasWhatALoaderNeeds) {
  const absl::StatusOr<Cubin> cubin = ReadCubin(MadeCubin().Bytes());
  ASSERT_TRUE(cubin.ok()) << cubin.status();
  EXPECT_EQ(cubin->architecture, Architecture::kSm80);
  EXPECT_EQ(cubin->assembler, "ptxas, Cuda compilation tools, release 0.1, V0.1.2");
  EXPECT_EQ(cubin->uninitialized_global_bytes, 0x40u);
  EXPECT_THAT(cubin->constants.at(3), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(cubin->constant_variables, ElementsAre(VariableSymbol{"table", 2, 2}));
  EXPECT_THAT(cubin->constant_relocations.at(3), ElementsAre(Relocation{0, 2, "walk", 0}));
  ASSERT_EQ(cubin->sections.size(), 1u);
  const CodeSection& code = cubin->sections[0];
  EXPECT_EQ(code.function, "walk");
  EXPECT_EQ(code.code.size(), 4u);
  EXPECT_THAT(code.functions,
              ElementsAre(FunctionSymbol{"walk", 0, 64, true}, FunctionSymbol{"helper", 32, 32, false}));
  EXPECT_EQ(code.registers, 24u);
  EXPECT_EQ(code.frame_bytes, 16u);
  EXPECT_EQ(code.stack_bytes, 48u);
  EXPECT_EQ(code.barriers, 1u);
  EXPECT_EQ(code.static_shared_bytes, 0x100u);
  EXPECT_EQ(code.parameter_offset, 0x160u);
  EXPECT_EQ(code.parameter_bytes, 20u);
  EXPECT_THAT(code.constants0, ElementsAre(1, 2));
  EXPECT_THAT(code.constants2, ElementsAre(3, 4));
  EXPECT_THAT(code.indirect_targets.at(0x10), ElementsAre(0u, 0x10u));
  EXPECT_EQ(cubin->Find("walk"), &code);
  EXPECT_EQ(cubin->Find("helper"), nullptr);
}

TEST(Cubin, OfOlderToolkitsHasTheArchitectureElsewhere) {
  MadeCubin made;
  made.abi = "0x33";
  made.flags = 0x0056054B;
  const absl::StatusOr<Cubin> cubin = ReadCubin(made.Bytes());
  ASSERT_TRUE(cubin.ok()) << cubin.status();
  EXPECT_EQ(cubin->architecture, Architecture::kSm75);
}

TEST(Cubin, OfAnotherArchitectureIsRefused) {
  MadeCubin made;
  made.flags = 0x0A006404;
  EXPECT_THAT(Refusal(made.Bytes()), HasSubstr("'sm_100' cannot be read: take sm_75, sm_80, sm_86 or sm_90"));
}

TEST(Cubin, OtherFilesAreRefused) {
  EXPECT_THAT(Refusal(""), HasSubstr("this is no cubin"));
  EXPECT_THAT(Refusal(".version 8.0"), HasSubstr("this is no cubin"));
  MadeCubin host;
  host.machine = "EM_X86_64";
  EXPECT_THAT(Refusal(host.Bytes()), HasSubstr("ELF file for machine 62, and no cubin"));
  MadeCubin abi;
  abi.abi = "0x50";
  EXPECT_THAT(Refusal(abi.Bytes()), HasSubstr("ABI 0x50 is not known"));
}

TEST(Cubin, DamagedOnesAreRefusedWithThePlace) {
  MadeCubin cut;
  cut.extra_info = "042f0900";
  EXPECT_THAT(Refusal(cut.Bytes()),
              HasSubstr("section .nv.info.walk is damaged at byte 48: the value of an attribute"));
  MadeCubin form;
  form.extra_info = "09000000";
  EXPECT_THAT(Refusal(form.Bytes()), HasSubstr("a form that is not known"));
  MadeCubin targets;
  targets.extra_info = "04340c000000000000000000ffffffff";
  EXPECT_THAT(Refusal(targets.Bytes()), HasSubstr("a cut list of branch targets"));
  MadeCubin helper;
  helper.helper_offset = 0x28;
  EXPECT_THAT(Refusal(helper.Bytes()), HasSubstr("function helper begins at 0x28"));
  MadeCubin outside;
  outside.helper_offset = 0x4000;
  EXPECT_THAT(Refusal(outside.Bytes()), HasSubstr("function helper begins at 0x4000, outside of its section"));
  MadeCubin bank;
  bank.extra_sections = "  - {Name: .nv.constantX, Type: SHT_PROGBITS, Content: \"00\"}\n";
  EXPECT_THAT(Refusal(bank.Bytes()), HasSubstr("section .nv.constantX names no constant bank"));
  MadeCubin short_code;
  short_code.extra_sections = "  - {Name: .text.more, Type: SHT_PROGBITS, Content: \"00\"}\n";
  EXPECT_THAT(Refusal(short_code.Bytes()), HasSubstr("section .text.more has 1 bytes"));
  MadeCubin no_function;
  no_function.extra_sections =
      absl::StrCat("  - {Name: .text.more, Type: SHT_PROGBITS, Content: \"", std::string(32, '0'), "\"}\n");
  EXPECT_THAT(Refusal(no_function.Bytes()), HasSubstr("section .text.more has no function at its beginning"));
}

// Else a small file could make a reader take as much memory as it likes.
TEST(Cubin, OverlappingSectionsAreRefused) {
  MadeCubin made;
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&made.extra_sections, "  - {Name: .text.f", i,
                    ", Type: SHT_PROGBITS, ShOffset: 0x40, ShSize: 0x100}\n");
  }
  EXPECT_THAT(Refusal(made.Bytes()), HasSubstr("its sections overlap"));
}

TEST(Cubin, TruncatedOnesDoNoHarm) {
  const std::string bytes = MadeCubin().Bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::StatusOr<Cubin> cubin = ReadCubin(std::string_view(bytes).substr(0, size));
    EXPECT_TRUE(cubin.ok() || IsPrintable(std::string(cubin.status().message()))) << cubin.status();
  }
  EXPECT_FALSE(ReadCubin(std::string_view(bytes).substr(0, bytes.size() / 2)).ok());
}

TEST(Cubin, DamagedCopiesDoNoHarm) {
  const std::string bytes = MadeCubin().Bytes();
  Random random(20261127);
  int refused = 0;
  constexpr int kCopies = 3000;
  for (int i = 0; i < kCopies; ++i) {
    std::string copy = bytes;
    for (uint64_t changes = 1 + random.Below(6); changes > 0; --changes) {
      copy[random.Below(copy.size())] = static_cast<char>(random.Below(256));
    }
    const absl::StatusOr<Cubin> cubin = ReadCubin(copy);
    if (cubin.ok()) continue;
    ++refused;
    EXPECT_TRUE(IsPrintable(std::string(cubin.status().message()))) << cubin.status();
  }
  EXPECT_GT(refused, kCopies / 10);
}

}  // namespace
}  // namespace heddle::tracegen::machine
