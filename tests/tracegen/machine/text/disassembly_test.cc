#include "tracegen/machine/text/disassembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "traces/base/printable.h"

namespace heddle::tracegen::machine {
namespace {

using ::testing::HasSubstr;

constexpr char kHead[] = R"({"SM":{"version":{"major":8,"minor":0}},"Producer":"a disassembler"})";

std::string Json(std::string_view instructions) {
  return absl::StrCat("[", kHead, R"(,[{"function-name":"kernel","start":0,"sass-instructions":[)",
                      std::string(instructions), "]}]]");
}

std::string Refusal(const absl::StatusOr<Disassembly>& read) {
  EXPECT_FALSE(read.ok());
  EXPECT_TRUE(IsPrintable(std::string(read.status().message())));
  return std::string(read.status().message());
}

TEST(Disassembly, OfJson) {
  const auto read = ReadDisassembly(
      Json(R"({"opcode":"S2R","operands":"R0,SR_TID.X"},{"predicate":"@!P0","opcode":"BRA","operands":"0x0"},)"
           R"({"opcode":"EXIT"})"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->architecture, Architecture::kSm80);
  EXPECT_EQ(read->disassembler, "a disassembler");
  ASSERT_EQ(read->sections.size(), 1u);
  EXPECT_EQ(read->sections[0].function, "kernel");
  ASSERT_EQ(read->sections[0].instructions.size(), 3u);
  EXPECT_EQ(InstructionText(read->sections[0].instructions[1]), "@!P0 BRA 0x0");
}

TEST(Disassembly, NamesThePlaceOfWhatItDoesNotKnow) {
  const std::string message = Refusal(ReadDisassembly(Json(R"({"opcode":"NOP"},{"opcode":"FROB","operands":"R1"})")));
  EXPECT_THAT(message, HasSubstr("kernel+0x10: opcode 'FROB' is not known"));
}

TEST(Disassembly, RefusesOtherArchitectures) {
  const std::string json = absl::StrReplaceAll(Json(R"({"opcode":"NOP"})"), {{"\"major\":8", "\"major\":10"}});
  EXPECT_THAT(Refusal(ReadDisassembly(json)), HasSubstr("'sm_100' cannot be read: take sm_75, sm_80, sm_86 or sm_90"));
}

TEST(Disassembly, RefusesOtherShapes) {
  EXPECT_THAT(Refusal(ReadDisassembly("")), HasSubstr("it is no JSON"));
  EXPECT_THAT(Refusal(ReadDisassembly(Json("").substr(0, 60))), HasSubstr("it is no JSON"));
  EXPECT_THAT(Refusal(ReadDisassembly("{}")), HasSubstr("no list of a head and functions"));
  EXPECT_THAT(Refusal(ReadDisassembly("[{},[]]")), HasSubstr("does not name an architecture"));
  EXPECT_THAT(Refusal(ReadDisassembly(R"([{"SM":{"version":{"major":"8","minor":0}}},[]])")), HasSubstr("no number"));
  EXPECT_THAT(Refusal(ReadDisassembly(absl::StrCat("[", kHead, ",[{}]]"))), HasSubstr("a function has no name"));
  EXPECT_THAT(Refusal(ReadDisassembly(absl::StrCat("[", kHead, R"(,[{"function-name":"f"}]])"))),
              HasSubstr("f has no instructions"));
  EXPECT_THAT(Refusal(ReadDisassembly(Json("3"))), HasSubstr("kernel+0x0 has no opcode"));
}

constexpr char kListing[] = R"(
	.target	sm_90
//--------------------- .text.walk --------------------------
	.section	.text.walk,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=8"
walk:
.text.walk:
        /*0000*/                   S2R R0, SR_TID.X ;    /* 0x0123456789abcdef */
                                                         /* 0x0123456789abcdef */
.L_x_1:
        /*0010*/              @!P0 BRA `(.L_x_2) ;       /* 0x0123456789abcdef */
        /*0020*/                   BRA `(.L_x_1) ;
        /*0030*/                   BRX R2 -0x40  (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)  ;
.L_x_2:
        /*0040*/                   CALL.REL.NOINC `(walk) ;
        /*0050*/                   EXIT ;
        /*0060*/               @P1 RET.REL.NODEC R12 `(walk) ;
	.section	.nv.info,"",@"SHT_CUDA_INFO"
        /*0000*/ 	.byte	0x04, 0x37
)";

TEST(Disassembly, OfAListing) {
  const auto read = ReadListing(kListing);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->architecture, Architecture::kSm90);
  ASSERT_EQ(read->sections.size(), 1u);
  EXPECT_EQ(read->sections[0].function, "walk");
  std::vector<std::string> texts;
  for (const Instruction& instruction : read->sections[0].instructions) texts.push_back(InstructionText(instruction));
  EXPECT_THAT(texts, testing::ElementsAre("S2R R0, SR_TID.X", "@!P0 BRA 0x40", "BRA 0x10", "BRX R2, -0x40",
                                          "CALL.REL.NOINC walk", "EXIT", "@P1 RET.REL.NODEC R12, walk"));
}

TEST(Disassembly, RefusesDamagedListings) {
  EXPECT_THAT(Refusal(ReadListing("")), HasSubstr("there is no .target line"));
  EXPECT_THAT(Refusal(ReadListing(absl::StrReplaceAll(kListing, {{"0020", "0028"}}))),
              HasSubstr("line 12: an instruction stands at '0028' instead of 0x20"));
  EXPECT_THAT(Refusal(ReadListing(absl::StrReplaceAll(kListing, {{".L_x_2:", ""}}))),
              HasSubstr("label .L_x_2 is nowhere"));
  EXPECT_THAT(Refusal(ReadListing(absl::StrReplaceAll(kListing, {{"EXIT ;", "EXIT"}}))), HasSubstr("no semicolon"));
  EXPECT_THAT(Refusal(ReadListing(absl::StrReplaceAll(kListing, {{"EXIT", "FROB"}}))),
              HasSubstr("walk+0x50: opcode 'FROB' is not known"));
  EXPECT_THAT(Refusal(ReadListing(absl::StrReplaceAll(kListing, {{"sm_90", "sm_52"}}))), HasSubstr("'sm_52'"));
}

}  // namespace
}  // namespace heddle::tracegen::machine
