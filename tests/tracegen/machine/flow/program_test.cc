#include "tracegen/machine/flow/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracegen/machine/flow/accesses.h"

namespace heddle::tracegen::machine {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: ends of blocks
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint32_t kPlainControl = 0x7f1;

// A section of code "walk" with these instructions.
struct Code {
  Cubin cubin;
  Disassembly disassembly;

  explicit Code(const std::vector<std::string>& lines) {
    CodeSection section;
    section.function = "walk";
    section.functions = {{"walk", 0, lines.size() * 16, true}};
    section.code.assign(lines.size(), Encoding{0, uint64_t{kPlainControl} << 41});
    cubin.sections.push_back(section);
    CodeText text{.function = "walk", .instructions = {}};
    for (const std::string& line : lines) {
      const absl::StatusOr<Instruction> instruction = ParseInstruction(line);
      EXPECT_TRUE(instruction.ok()) << line << ": " << instruction.status();
      if (instruction.ok()) text.instructions.push_back(*instruction);
    }
    disassembly.sections.push_back(text);
  }

  MachineProgram Program() const {
    const absl::StatusOr<MachineProgram> program = BuildProgram(cubin, disassembly);
    EXPECT_TRUE(program.ok()) << program.status();
    return program.ok() ? *program : MachineProgram();
  }
  std::string Refusal() const {
    const absl::StatusOr<MachineProgram> program = BuildProgram(cubin, disassembly);
    EXPECT_FALSE(program.ok());
    return std::string(program.status().message());
  }
};

std::vector<std::string> Names(const std::vector<Register>& registers) {
  std::vector<std::string> names;
  for (const Register& reg : registers) names.push_back(RegisterText(reg));
  return names;
}

Accesses AccessesOfLine(std::string_view line) {
  const absl::StatusOr<Instruction> instruction = ParseInstruction(line);
  EXPECT_TRUE(instruction.ok()) << line << ": " << instruction.status();
  const absl::StatusOr<Accesses> accesses = AccessesOf(*instruction);
  EXPECT_TRUE(accesses.ok()) << accesses.status();
  return *accesses;
}

TEST(MachineAccesses, GuardsAndWideOperands) {
  const Accesses load = AccessesOfLine("@!P2 LDG.E.128 R8, [R4.64+UR6+0x10]");
  EXPECT_THAT(Names(load.written), ElementsAre("R8", "R9", "R10", "R11"));
  EXPECT_THAT(Names(load.read), ElementsAre("P2", "R4", "R5", "UR6", "UR7"));
  const Accesses wide = AccessesOfLine("IMAD.WIDE R2, P0, R4, 0x4, R6");
  EXPECT_THAT(Names(wide.written), ElementsAre("R2", "R3", "P0"));
  EXPECT_THAT(Names(wide.read), ElementsAre("R4", "R6", "R7"));
  const Accesses doubles = AccessesOfLine("DFMA R2, -R4, |R6|, c[0x2][R8+0x10]");
  EXPECT_THAT(Names(doubles.read), ElementsAre("R4", "R5", "R6", "R7", "R8"));
}

TEST(MachineAccesses, ConstantRegistersHoldNothing) {
  const Accesses plain = AccessesOfLine("ISETP.GE.AND P0, PT, R3, RZ, !PT");
  EXPECT_THAT(Names(plain.written), ElementsAre("P0"));
  EXPECT_THAT(Names(plain.read), ElementsAre("R3"));
}

TEST(MachineAccesses, MasksNamePredicates) {
  EXPECT_THAT(Names(AccessesOfLine("R2P PR, R4, 0x5").written), ElementsAre("P0", "P2"));
  EXPECT_THAT(Names(AccessesOfLine("P2R R4, PR, RZ, 0x42").read), ElementsAre("P1", "P6"));
}

TEST(MachineAccesses, AddressesByMemory) {
  EXPECT_THAT(Names(AccessesOfLine("LDG.E.SYS R0, [R2]").read), ElementsAre("R2", "R3"));
  EXPECT_THAT(Names(AccessesOfLine("LDG.E R0, [R2.U32+UR4]").read), ElementsAre("R2", "UR4", "UR5"));
  EXPECT_THAT(Names(AccessesOfLine("LDS R0, [R2.X4+UR4]").read), ElementsAre("R2", "UR4"));
  EXPECT_THAT(Names(AccessesOfLine("STG.E desc[UR6][R4.64], R5").read), ElementsAre("UR6", "UR7", "R4", "R5"));
}

TEST(MachineAccesses, CopiesAndMatrices) {
  EXPECT_THAT(Names(AccessesOfLine("LDGSTS.E.128 [R7+UR4], desc[UR6][R2.64+UR8], P0").read),
              ElementsAre("R7", "UR4", "UR6", "UR7", "R2", "R3", "UR8", "UR9", "P0"));
  EXPECT_THAT(Names(AccessesOfLine("LDGSTS.E [R7], [R2]").read), ElementsAre("R7", "R2", "R3"));
  const Accesses product = AccessesOfLine("DMMA.16x8x16 R8, R16, R32, R8");
  EXPECT_EQ(product.written.size(), 8u);
  EXPECT_EQ(product.read.size(), 16u + 8u + 8u);
}

TEST(MachineAccesses, OfFormsThatAreOnlyNamed) {
  const auto status = AccessesOf(*ParseInstruction("TEX.SCR.LL RZ, R9, R8, R2, 0x0, 0x5e, 2D, 0x1")).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("which registers TEX.SCR.LL takes is not known yet"));
}

TEST(MachineProgram, BranchesMakeBlocks) {
  const MachineProgram program = Code({"ISETP.GE.AND P0, PT, R0, RZ, PT",  // 0x00
                                       "@P0 BRA 0x40",                     // 0x10
                                       "IADD3 R0, R0, 0x1, RZ",            // 0x20
                                       "BRA 0x0",                          // 0x30
                                       "@!P0 EXIT",                        // 0x40
                                       "EXIT",                             // 0x50
                                       "NOP"})                             // 0x60: padding
                                     .Program();
  ASSERT_EQ(program.blocks.size(), 4u);
  EXPECT_EQ(program.blocks[0].terminator, BRANCH_CONDITIONAL);
  EXPECT_THAT(program.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_EQ(program.blocks[1].terminator, FALL_THROUGH);
  EXPECT_THAT(program.blocks[1].successors, ElementsAre(0));
  EXPECT_EQ(program.blocks[2].terminator, BRANCH_CONDITIONAL);
  EXPECT_THAT(program.blocks[2].successors, ElementsAre(3, kExits));
  EXPECT_EQ(program.blocks[3].terminator, EXIT);
  EXPECT_THAT(program.blocks[3].successors, IsEmpty());
  EXPECT_EQ(program.instructions.size(), 6u);
  ASSERT_EQ(program.functions.size(), 1u);
  EXPECT_TRUE(program.functions[0].is_kernel);
  EXPECT_THAT(Names(program.functions[0].registers), ElementsAre("R0", "P0"));
  EXPECT_THAT(program.instructions[0].dst, ElementsAre(2));
  EXPECT_THAT(program.instructions[0].src, ElementsAre(1));
  EXPECT_TRUE(program.instructions[1].is_guarded);
  EXPECT_EQ(program.instructions[2].control.stall, 1);
}

TEST(MachineProgram, GuardsThatAreConstantDecideNothing) {
  const MachineProgram program = Code({"@PT BRA 0x10", "@!UPT EXIT", "EXIT"}).Program();
  EXPECT_EQ(program.blocks[0].terminator, FALL_THROUGH);
  EXPECT_EQ(program.blocks[1].terminator, BRANCH_CONDITIONAL);
}

TEST(MachineProgram, IndirectBranchesHaveTheirTable) {
  Code code({"BRX R2, -0x10", "EXIT", "EXIT"});
  EXPECT_THAT(code.Refusal(), HasSubstr("walk+0x0: the cubin has no table of targets"));
  code.cubin.sections[0].indirect_targets[0] = {0x20, 0x10, 0x20};
  const MachineProgram program = code.Program();
  EXPECT_EQ(program.blocks[0].terminator, BRANCH_WIDE);
  EXPECT_THAT(program.blocks[0].successors, ElementsAre(2, 1));
  code.cubin.sections[0].indirect_targets[0] = {0x30};
  EXPECT_THAT(code.Refusal(), HasSubstr("leads to offset 48, where the section has no instruction"));
}

TEST(MachineProgram, CallsNameFunctions) {
  Code code({"CALL.REL.NOINC helper", "CALL.REL.NOINC R8, walk", "CALL.ABS.NOINC R4", "EXIT", "RET.REL.NODEC R2, walk",
             "RET.REL.NODEC R2, walk"});
  code.cubin.sections[0].functions.push_back({"helper", 0x50, 16, false});
  const MachineProgram program = code.Program();
  ASSERT_EQ(program.functions.size(), 2u);
  EXPECT_EQ(program.functions[0].name, "walk");
  EXPECT_EQ(program.functions[1].name, "helper");
  EXPECT_EQ(program.functions[1].section, "walk");
  EXPECT_FALSE(program.functions[1].is_kernel);
  EXPECT_EQ(program.blocks[0].terminator, CALL);
  EXPECT_THAT(program.blocks[0].callees, ElementsAre(1));
  EXPECT_THAT(program.blocks[0].successors, ElementsAre(1));
  EXPECT_EQ(program.blocks[1].terminator, CALL_INDIRECT);
  EXPECT_EQ(program.blocks[2].terminator, CALL_INDIRECT);
  EXPECT_EQ(program.blocks[program.functions[1].first_block].terminator, RETURN);
  EXPECT_EQ(program.Find("helper"), &program.functions[1]);
}

TEST(MachineProgram, CallsWithoutANameAreJumps) {
  const MachineProgram program = Code({"@P0 CALL.REL.NOINC 0x20", "NOP", "EXIT"}).Program();
  EXPECT_EQ(program.functions.size(), 1u);
  EXPECT_EQ(program.blocks[0].terminator, BRANCH_CONDITIONAL);
  EXPECT_THAT(program.blocks[0].successors, ElementsAre(1, 2));
}

TEST(MachineProgram, ConvergenceBarriersLeadToWhereThreadsMeet) {
  const MachineProgram program = Code({"BSSY B0, 0x50",  // 0x00
                                       "@P0 BRA 0x30",   // 0x10
                                       "BSYNC B0",       // 0x20
                                       "BREAK B0",       // 0x30
                                       "BRA 0x50",       // 0x40
                                       "YIELD",          // 0x50
                                       "WARPSYNC 0xffffffff", "EXIT"})
                                     .Program();
  ASSERT_EQ(program.blocks.size(), 4u);
  const ProgramInstruction& set = program.instructions[0];
  EXPECT_EQ(set.convergence, Convergence::kSet);
  EXPECT_EQ(set.convergence_block, 3u);
  // BSYNC goes on where its BSSY says, not behind itself.
  EXPECT_EQ(program.blocks[1].terminator, FALL_THROUGH);
  EXPECT_THAT(program.blocks[1].successors, ElementsAre(3));
  EXPECT_EQ(program.instructions[2].convergence, Convergence::kSync);
  EXPECT_EQ(program.instructions[3].convergence, Convergence::kBreak);
  EXPECT_EQ(program.instructions[5].convergence, Convergence::kYield);
  EXPECT_EQ(program.instructions[6].convergence, Convergence::kWarpSync);
}

TEST(MachineProgram, GuardedCallsAreCalls) {
  const MachineProgram program = Code({"@P0 CALL.REL.NOINC walk", "EXIT"}).Program();
  EXPECT_EQ(program.blocks[0].terminator, CALL);
  EXPECT_THAT(program.blocks[0].successors, ElementsAre(1));
  EXPECT_TRUE(program.instructions[0].is_guarded);
}

TEST(MachineProgram, BarriersKeepTheirPlaceInRegisters) {
  const MachineProgram program = Code({"BSSY B0, 0x80",         // 0x00
                                       "BMOV.32.CLEAR R4, B0",  // 0x10
                                       "BSSY B0, 0x40",         // 0x20
                                       "BSYNC B0",              // 0x30
                                       "BMOV.32 B0, R4",        // 0x40
                                       "@P0 BRA 0x70",          // 0x50
                                       "BSYNC B0",              // 0x60
                                       "EXIT",                  // 0x70
                                       "EXIT"})                 // 0x80
                                     .Program();
  const auto after = [&](uint64_t offset) {
    std::vector<uint64_t> offsets;
    for (const ProgramBlock& block : program.blocks) {
      if (program.instructions[block.first_instruction + block.instruction_count - 1].offset != offset) continue;
      for (const uint32_t to : block.successors) {
        offsets.push_back(program.instructions[program.blocks[to].first_instruction].offset);
      }
    }
    return offsets;
  };
  EXPECT_THAT(after(0x30), ElementsAre(0x40));
  // Not behind itself, where the code goes on in the section.
  EXPECT_THAT(after(0x60), ElementsAre(0x80));
}

TEST(MachineProgram, BarriersUnderAGuardMayKeepTheirPlace) {
  const MachineProgram program =
      Code({"BSSY B0, 0x40", "@P0 BSSY B0, 0x50", "BSYNC B0", "EXIT", "EXIT", "EXIT"}).Program();
  EXPECT_EQ(program.blocks[0].terminator, BRANCH_WIDE);
  EXPECT_EQ(program.blocks[0].successors.size(), 2u);
}

TEST(MachineProgram, FunctionsThatShareCodeLinkTheirOwnBarriers) {
  Code code({"BSSY B0, 0x40",  // 0x00
             "NOP",            // 0x10: "late" begins here, behind the BSSY
             "BSYNC B0",       // 0x20
             "EXIT",           // 0x30
             "EXIT"});         // 0x40
  code.cubin.sections[0].functions.push_back({"late", 0x10, 0x20, false});
  const MachineProgram program = code.Program();
  ASSERT_EQ(program.functions.size(), 2u);
  const auto offset_of = [&](uint32_t block) {
    return program.instructions[program.blocks[block].first_instruction].offset;
  };
  const ProgramBlock& whole = program.blocks[program.functions[0].first_block];
  ASSERT_EQ(whole.successors.size(), 1u);
  EXPECT_EQ(offset_of(whole.successors[0]), 0x40u);
  const ProgramBlock& late = program.blocks[program.functions[1].first_block];
  ASSERT_EQ(late.successors.size(), 1u);
  EXPECT_EQ(offset_of(late.successors[0]), 0x30u);
}

// Else a small file could make a program of any size.
TEST(MachineProgram, SharedCodeIsBounded) {
  std::vector<std::string> lines(200, "NOP");
  lines.push_back("EXIT");
  Code code(lines);
  for (uint64_t i = 1; i < 200; ++i) {
    code.cubin.sections[0].functions.push_back({absl::StrCat("f", i), i * 16, 16, false});
  }
  EXPECT_THAT(code.Refusal(), HasSubstr("share so much code that it would be kept more than 64 times"));
  code.cubin.sections[0].functions.resize(30);
  EXPECT_EQ(code.Program().functions.size(), 30u);
}

TEST(MachineProgram, AccessesHaveSpaceAndSize) {
  const MachineProgram program =
      Code({"LDG.E.U16 R0, [R2.64]", "STS.128 [R4], R8", "LDC.64 R2, c[0x0][0x8]", "EXIT"}).Program();
  EXPECT_EQ(program.instructions[0].space, SPACE_GLOBAL);
  EXPECT_EQ(program.instructions[0].access_bytes, 2u);
  EXPECT_EQ(program.instructions[1].space, SPACE_SHARED);
  EXPECT_EQ(program.instructions[1].access_bytes, 16u);
  EXPECT_EQ(program.instructions[2].space, SPACE_CONSTANT);
  EXPECT_EQ(program.instructions[2].access_bytes, 8u);
  EXPECT_EQ(program.instructions[3].space, SPACE_NONE);
}

TEST(MachineProgram, LinesHoldUntilTheNextRow) {
  Code code({"NOP", "NOP", "NOP", "EXIT"});
  code.cubin.sections[0].lines = {{0x10, "a.cu", 7}, {0x30, "b.cu", 9}};
  const MachineProgram program = code.Program();
  EXPECT_THAT(program.source_files, ElementsAre("a.cu", "b.cu"));
  EXPECT_EQ(program.instructions[0].source_line, 0u);
  EXPECT_EQ(program.instructions[2].source_line, 7u);
  EXPECT_EQ(program.instructions[2].source_file, 1u);
  EXPECT_EQ(program.instructions[3].source_line, 9u);
}

TEST(MachineProgram, RefusesWithThePlace) {
  EXPECT_THAT(Code({"NOP", "BRA 0x40"}).Refusal(), HasSubstr("walk+0x10: leads to offset 64"));
  EXPECT_THAT(Code({"BRA 0x8", "EXIT"}).Refusal(), HasSubstr("leads to offset 8"));
  EXPECT_THAT(Code({"NOP", "NOP"}).Refusal(), HasSubstr("walk+0x10: the code runs past its end"));
  EXPECT_THAT(Code({"CALL.REL.NOINC nowhere", "EXIT"}).Refusal(),
              HasSubstr("calls nowhere, of which the cubin has no code"));
  EXPECT_THAT(Code({"TEX.SCR.LL RZ, R9, R8, R2, 0x0, 0x5e, 2D, 0x1", "EXIT"}).Refusal(),
              HasSubstr("walk+0x0: which registers TEX.SCR.LL takes"));
  Code control({"NOP", "EXIT"});
  control.cubin.sections[0].code[1][1] = uint64_t{6} << 46;
  EXPECT_THAT(control.Refusal(), HasSubstr("walk+0x10: control bits name barrier 6"));
}

TEST(MachineProgram, RefusesADisassemblyOfAnotherCubin) {
  Code architecture({"EXIT"});
  architecture.disassembly.architecture = Architecture::kSm90;
  EXPECT_THAT(architecture.Refusal(), HasSubstr("the disassembly is of sm_90, the cubin of sm_80"));
  Code size({"NOP", "EXIT"});
  size.disassembly.sections[0].instructions.pop_back();
  EXPECT_THAT(size.Refusal(), HasSubstr("it is of another cubin"));
  Code name({"EXIT"});
  name.disassembly.sections[0].function = "other";
  EXPECT_THAT(name.Refusal(), HasSubstr("it is of another cubin"));
}

}  // namespace
}  // namespace heddle::tracegen::machine
