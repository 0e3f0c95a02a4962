// Machine code to Accel-Sim: its own instructions, registers as the tracer lists them, guards as masks, and back.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "tests/traces/machine_programs.h"
#include "tests/traces/program_builder.h"
#include "tools/exchange/accelsim/export_traces.h"
#include "tools/exchange/accelsim/import_traces.h"
#include "tools/exchange/accelsim/machine_operands.h"
#include "traces/format/program/post_dominators.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::tools::accelsim {
namespace {

namespace fs = std::filesystem;
namespace v1 = trace::v1;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kSharedBase = 0x7f00'0000'0000;
constexpr uint32_t kGeneral = 32;  // R0 to R31, then P0 to P6, UR0 to UR15, B0

// "R4 P0 UR6 B0" as numbers of a function that lists these registers.
std::vector<uint32_t> Numbers(const std::string& names) {
  std::vector<uint32_t> numbers;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(names, ' ', absl::SkipEmpty()))) {
    const size_t letters = name.find_first_of("0123456789");
    const auto number = static_cast<uint32_t>(std::stoul(name.substr(letters)));
    const std::string file = name.substr(0, letters);
    numbers.push_back(1 + number +
                      (file == "R"    ? 0
                       : file == "P"  ? kGeneral
                       : file == "UR" ? kGeneral + 7
                                      : kGeneral + 23));
  }
  return numbers;
}

v1::Function AllRegisters() {
  v1::Function function;
  const auto add = [&](v1::RegisterFile file, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      function.mutable_register_file()->push_back(static_cast<char>(file));
      function.mutable_register_number()->push_back(static_cast<char>(i));
    }
  };
  add(v1::FILE_GENERAL, kGeneral);
  add(v1::FILE_PREDICATE, 7);
  add(v1::FILE_UNIFORM, 16);
  add(v1::FILE_CONVERGENCE, 1);
  return function;
}

v1::Instruction Make(const std::string& mnemonic, v1::OpClass op, const std::string& dst, const std::string& src) {
  v1::Instruction instruction;
  instruction.set_op(op);
  const bool is_guarded = mnemonic[0] == '@';
  instruction.set_mnemonic(is_guarded ? mnemonic.substr(1) : mnemonic);
  for (const uint32_t number : Numbers(dst)) instruction.add_dst(number);
  for (const uint32_t number : Numbers(src)) instruction.add_src(number);
  if (is_guarded) {
    instruction.set_flags(v1::FLAG_GUARDED);
    for (const uint32_t number : Numbers(dst)) instruction.add_src(number);
  }
  return instruction;
}

v1::Instruction MakeAccess(const std::string& mnemonic, v1::OpClass op, v1::MemorySpace space, uint32_t bytes,
                           const std::string& dst, const std::string& src) {
  v1::Instruction instruction = Make(mnemonic, op, dst, src);
  instruction.set_space(space);
  instruction.set_access_bytes(bytes);
  return instruction;
}

struct OperandCase {
  std::string mnemonic, dst, src;
  std::vector<uint32_t> traced_dst, traced_src;
};

TEST(MachineOperands, AreListedAsTheTracerListsThem) {
  const OperandCase cases[] = {
      {"IADD3", "R1", "R2 R3 R4", {1}, {2, 3, 4}},
      {"IADD3", "R1 P0", "R2 R3", {1}, {2, 3}},
      {"ISETP.GE.U32.AND", "P0", "R2 R3 P1", {}, {2, 3}},
      {"LOP3.LUT", "P1 R6", "R2 R3", {}, {6, 2, 3}},  // the predicate is the first operand
      {"SHFL.IDX", "R5", "R3 R4", {}, {5, 3, 4}},     // PT is
      {"R2UR", "UR4", "R2", {}, {2}},
      {"IMAD", "R1", "R4 R5 R6", {1}, {4, 5, 6}},
      {"IMAD.WIDE.U32", "R2 R3", "R5 R2 R3", {2}, {5, 2}},
      {"IMAD.WIDE", "R2 R3", "R4 R5", {2}, {4, 5}},  // R2 = R4 * R5 + RZ
      {"IMAD.WIDE", "R2 R3", "R6 R7 R8 R9", {2}, {6, 7, 8}},
      {"IMAD.HI.U32", "R9", "R6 R7", {9}, {6, 7}},
      {"DFMA", "R2 R3", "R4 R5 R6 R7 R8 R9", {2}, {4, 6, 8}},
      {"DADD", "R2 R3", "R4 R5", {2}, {4}},
      {"DSETP.GT.AND", "P0", "R4 R5 R8 R9", {}, {4, 8}},
      {"F2F.F64.F32", "R4 R5", "R8", {4}, {8}},
      {"F2F.F32.F64", "R4", "R8 R9", {4}, {8}},
      {"I2F.F64.S64", "R4 R5", "R8 R9", {4}, {8}},
      {"LDG.E.64", "R4 R5", "R2 R3", {4}, {2}},
      {"LDG.E", "R4", "UR4 UR5 R2 R3", {4}, {2}},
      {"LDG.E.CONSTANT", "R4", "R2 UR6 UR7", {4}, {2}},  // [R2.U32+UR6]
      {"STG.E.128", "", "R2 R3 R8 R9 R10 R11", {}, {2, 8}},
      {"STG.E", "", "R2 R3", {}, {2}},  // RZ is stored
      {"STG.E.64", "", "R3 R6 R7", {}, {3, 6}},
      {"STS.64", "", "R4 R6 R7", {}, {4, 6}},
      {"STS", "", "R4 R5", {}, {4, 5}},
      {"ATOMG.E.CAS.STRONG.GPU", "R1", "R2 R3 R6 R7", {}, {1, 2, 6, 7}},
      {"ATOMG.E.ADD.64.STRONG.GPU", "R4 R5", "R2 R3 R6 R7", {}, {4, 2, 6}},
      {"ATOMS.ADD", "R1", "R2 R3", {1}, {2, 3}},
      {"RED.E.ADD.STRONG.GPU", "", "R2 R3 R6", {}, {2, 6}},
      {"LDC", "R1", "R2", {1}, {}},                // c[0x3][R2] is no register to it
      {"RET.REL.NODEC", "", "R20 R21", {20}, {}},  // the first operand is a register
      {"@IADD3", "R6", "P1 R6 R7", {6}, {6, 7}},   // keeps R6 where the guard is false
      {"@LDG.E", "R7", "P0 R6 R7", {7}, {6}},
  };
  const v1::Function function = AllRegisters();
  for (const OperandCase& one : cases) {
    const TracedOperands found = OperandsOf(function, Make(one.mnemonic, v1::OP_INT_ALU, one.dst, one.src));
    EXPECT_EQ(found.dst, one.traced_dst) << one.mnemonic << " " << one.src;
    EXPECT_EQ(found.src, one.traced_src) << one.mnemonic << " " << one.src;
  }
}

TEST(MachineOperands, ProductsTellHowManyRegistersTheirMatricesTake) {
  v1::Instruction product = Make("HMMA.16816.F32", v1::OP_TENSOR, "R4 R5 R6 R7", "R8 R9 R10 R11 R2 R3 R4 R5 R6 R7");
  product.mutable_matrix()->set_a_registers(4);
  product.mutable_matrix()->set_b_registers(2);
  product.mutable_matrix()->set_c_registers(4);
  EXPECT_THAT(OperandsOf(AllRegisters(), product).src, ElementsAre(8, 2, 4));
}

TEST(MachineOperands, WidthsAreThoseThatTheTracerReads) {
  EXPECT_EQ(TracedWidth("LDG.E"), 4);
  EXPECT_EQ(TracedWidth("LDG.E.U8.CONSTANT"), 1);
  EXPECT_EQ(TracedWidth("LDG.E.S16"), 4);  // it knows no S
  EXPECT_EQ(TracedWidth("LDS.U.128"), 16);
  EXPECT_EQ(TracedWidth("ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU"), 4);
}

// A kernel with an exit, two accesses and a store under guards, a guard that only computes, and a branch.
v1::KernelProgram GuardedProgram() {
  v1::KernelProgram program;
  program.set_name("guarded");
  program.set_level(v1::LEVEL_MACHINE);
  program.set_producer("ptxas 13.0");
  program.set_target("sm_80");
  program.set_register_count(32);
  const auto block = [&](v1::Terminator terminator, const std::vector<uint32_t>& successors,
                         std::vector<v1::Instruction> instructions) {
    v1::BasicBlock& made = *program.add_block();
    made.set_first_instruction(static_cast<uint32_t>(program.instruction_size()));
    made.set_instruction_count(static_cast<uint32_t>(instructions.size()));
    made.set_terminator(terminator);
    for (const uint32_t to : successors) made.add_successor(to);
    for (v1::Instruction& instruction : instructions) *program.add_instruction() = std::move(instruction);
  };
  v1::Instruction set = Make("BSSY", v1::OP_CONVERGENCE, "B0", "");
  trace::testing::MakeConvergence(set, v1::Convergence::SET, 0, 8);
  v1::Instruction sync = Make("BSYNC", v1::OP_CONVERGENCE, "", "B0");
  trace::testing::MakeConvergence(sync, v1::Convergence::SYNC, 0);
  block(v1::BRANCH_CONDITIONAL, {1, 2},
        {Make("S2R", v1::OP_MOVE, "R0", ""), Make("ISETP.GE.AND", v1::OP_INT_ALU, "P0", "R0")});
  block(v1::EXIT, {}, {Make("@EXIT", v1::OP_EXIT, "", "P0")});
  block(v1::BRANCH_CONDITIONAL, {3, 4},
        {Make("IMAD.WIDE", v1::OP_INT_MUL, "R2 R3", "R0 R4 R2 R3"),
         MakeAccess("LDC", v1::OP_LOAD, v1::SPACE_CONSTANT, 4, "R12", "R0"),
         Make("@IADD3", v1::OP_INT_ALU, "R6", "P1 R6"), set});
  block(v1::FALL_THROUGH, {4},
        {MakeAccess("@LDG.E.64", v1::OP_LOAD, v1::SPACE_GLOBAL, 8, "R8 R9", "P1 R2 R3"),
         MakeAccess("@LDG.E", v1::OP_LOAD, v1::SPACE_GLOBAL, 4, "R7", "P1 R4 R5")});
  block(v1::BRANCH_CONDITIONAL, {5, 6}, {Make("nop.join", v1::OP_MOVE, "", "")});
  block(v1::FALL_THROUGH, {6}, {MakeAccess("@STS", v1::OP_STORE, v1::SPACE_SHARED, 4, "", "P2 R10 R7")});
  block(v1::BRANCH_CONDITIONAL, {7, 8},
        {Make("ISETP.NE.AND", v1::OP_INT_ALU, "P0", "R7"), Make("BRA", v1::OP_BRANCH, "", "P0")});
  block(v1::FALL_THROUGH, {8},
        {MakeAccess("ATOMG.E.ADD.STRONG.GPU", v1::OP_ATOMIC, v1::SPACE_GLOBAL, 4, "R11", "R2 R3 R8")});
  block(v1::FALL_THROUGH, {9}, {sync});
  block(v1::EXIT, {}, {Make("EXIT", v1::OP_EXIT, "", "")});
  v1::Function& function = *program.add_function();
  function = AllRegisters();
  function.set_name("guarded");
  function.set_block_count(static_cast<uint32_t>(program.block_size()));
  function.set_register_count(32);
  const std::vector<uint32_t> dominators = trace::ComputePostDominators(trace::Program::Create(program).value());
  for (size_t b = 0; b < dominators.size(); ++b) {
    program.mutable_block(static_cast<int>(b))
        ->set_immediate_post_dominator(dominators[b] == trace::kNoBlock ? 0 : dominators[b] + 1);
  }
  return program;
}

struct Thread {
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;
};

class AccelSimMachine : public testing::Test {
 protected:
  AccelSimMachine() : folder_(fs::temp_directory_path() / ("accelsim_machine_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~AccelSimMachine() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  std::unique_ptr<trace::TraceReader> Write(v1::KernelProgram program, const std::vector<std::vector<Thread>>& blocks) {
    v1::FileHeader header = trace::testing::MakeHeader();
    header.clear_window();
    header.set_abstraction_level("machine");
    header.set_target(program.target());
    for (const auto& [space, base] :
         {std::pair{v1::SPACE_SHARED, kSharedBase}, std::pair{v1::SPACE_LOCAL, 2 * kSharedBase}}) {
      v1::AddressWindow& window = *header.add_window();
      window.set_space(space);
      window.set_base(base);
      window.set_bytes(uint64_t{16} << 20);
    }
    auto writer = trace::TraceWriter::Create(Path("out.htrace"), header, {}).value();
    const trace::Program* added = writer->AddProgram(std::move(program)).value();
    EXPECT_TRUE(writer
                    ->BeginLaunch(trace::testing::MakeLaunch(added->id(), static_cast<uint32_t>(blocks.size()),
                                                             static_cast<uint32_t>(blocks[0].size())))
                    .ok());
    for (size_t b = 0; b < blocks.size(); ++b) {
      std::vector<trace::ThreadRecord> records;
      for (const Thread& thread : blocks[b]) records.push_back({thread.decisions, thread.addresses, true});
      const absl::Status status = writer->AddBlock(b, records, trace::TraceWriter::kNoExpectation);
      EXPECT_TRUE(status.ok()) << status;
    }
    EXPECT_TRUE(writer->EndLaunch().ok());
    const absl::Status status = writer->Finish();
    EXPECT_TRUE(status.ok()) << status;
    return trace::TraceReader::Open(Path("out.htrace")).value();
  }

  // Exports, imports again, and gives the trace that comes back.
  std::unique_ptr<trace::TraceReader> Return(const trace::TraceReader& reader) {
    const auto exported = ExportTraces(reader, Path("exported"), false, nullptr);
    EXPECT_TRUE(exported.ok()) << exported.status();
    const auto imported = ImportTraces(Path("exported"), Path("back.htrace"), 1, nullptr);
    EXPECT_TRUE(imported.ok()) << imported.status();
    return trace::TraceReader::Open(Path("back.htrace")).value();
  }

 private:
  fs::path folder_;
};

// Threads as in GuardedProgram: the first leaves, the others take what their decisions say.
std::vector<std::vector<Thread>> GuardedThreads() {
  const std::vector<Thread> some = {
      {{0}, {}},
      {{1, 0, 0, 0}, {0x100, 0x1000, 0x2000, kSharedBase + 0x10, 0x3000}},
      {{1, 1, 1, 1}, {0x100}},
      {{1, 0, 1, 0}, {0x104, 0x1008, 0x2004, 0x3000}},
  };
  return {some, std::vector<Thread>(4, Thread{{1, 1, 1, 1}, {0x100}})};
}

TEST_F(AccelSimMachine, WritesWhatTheTracerWould) {
  const auto reader = Write(GuardedProgram(), GuardedThreads());
  const auto exported = ExportTraces(*reader, Path("exported"), false, nullptr);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_THAT(exported->notes, ElementsAre(HasSubstr("1 guarded instructions compute only")));
  const std::string text = trace::testing::ReadFile(Path("exported/kernel-1.traceg"));
  EXPECT_THAT(text, HasSubstr("-nregs = 32\n-binary version = 80\n"));
  EXPECT_THAT(text, HasSubstr("-heddle guarded = 2 1 7 2 9 1 11 0\n"));
  EXPECT_THAT(text, HasSubstr("thread block = 0,0,0\n\nwarp = 0\ninsts = 15\n"
                              "0000 0000000f 1 R0 S2R 0 0 0 \n"
                              "0010 0000000f 0 ISETP.GE.AND 1 R0 0 0 \n"
                              "0020 00000001 0 EXIT 0 0 0 \n"
                              "0030 0000000e 1 R2 IMAD.WIDE 3 R0 R4 R2 0 0 \n"
                              "0040 0000000e 1 R12 LDC 0 0 0 \n"
                              "0050 0000000e 1 R6 IADD3 1 R6 0 0 \n"
                              "0060 0000000e 0 BSSY 0 0 208 \n"
                              "0070 0000000a 1 R8 LDG.E.64 1 R2 8 2 0x1000 8 0 \n"
                              "0080 0000000a 1 R7 LDG.E 1 R4 4 2 0x2000 4 0 \n"
                              "0090 00000002 0 STS 2 R10 R7 4 2 0x10 0 \n"
                              "00a0 0000000e 0 ISETP.NE.AND 1 R7 0 0 \n"
                              "00b0 00000004 0 BRA 0 0 208 \n"
                              "00c0 0000000a 0 ATOMG.E.ADD.STRONG.GPU 3 R11 R2 R8 4 2 0x3000 0 0 \n"
                              "00d0 0000000e 0 BSYNC 0 0 224 \n"
                              "00e0 0000000e 0 EXIT 0 0 0 \n"));
  // Where no guard holds, the instruction issues all the same.
  EXPECT_THAT(text, HasSubstr("\n0020 00000000 0 EXIT 0 0 0 \n"));
  EXPECT_THAT(text, HasSubstr("\n0070 00000000 1 R8 LDG.E.64 1 R2 8 1 0x0 0 0 \n"));
}

TEST_F(AccelSimMachine, ComesBackWithTheSameThreads) {
  const auto reader = Write(GuardedProgram(), GuardedThreads());
  const auto back = Return(*reader);
  EXPECT_EQ(back->index().thread_instructions(), reader->index().thread_instructions());
  // All accesses but those to constant memory.
  EXPECT_EQ(back->index().accesses(), reader->index().accesses() - 7);
  // The exit that no thread of a block takes is still there, so that paths meet where they did.
  const v1::KernelProgram& program = back->launches()[0].program->proto();
  ASSERT_EQ(program.block_size(), 9);  // what stands behind BSYNC is in its block
  for (int b = 0; b < 8; ++b) {
    EXPECT_EQ(program.block(b).immediate_post_dominator(),
              reader->launches()[0].program->proto().block(b).immediate_post_dominator())
        << b;
  }
}

v1::Operand* AddOperand(v1::Instruction& instruction, v1::Operand::Kind kind, v1::MemorySpace space, uint32_t bytes) {
  v1::Operand* operand = instruction.add_operand();
  operand->set_kind(kind);
  operand->set_space(space);
  operand->set_bytes(bytes);
  return operand;
}

// A copy has a line for each of its places; values of uniform registers are in no line.
TEST_F(AccelSimMachine, CopiesHaveTwoLines) {
  v1::Instruction load = MakeAccess("LDG.E", v1::OP_LOAD, v1::SPACE_GLOBAL, 4, "R2", "UR4 UR5 R4 R5");
  AddOperand(load, v1::Operand::ADDRESS, v1::SPACE_GLOBAL, 4);
  AddOperand(load, v1::Operand::UNIFORM, v1::SPACE_NONE, 0);
  v1::Instruction copy = Make("LDGSTS.E.128", v1::OP_ASYNC, "", "R3 R4 R5");
  copy.mutable_async()->set_role(v1::Async::COPY);
  AddOperand(copy, v1::Operand::ADDRESS, v1::SPACE_GLOBAL, 16);
  AddOperand(copy, v1::Operand::ADDRESS, v1::SPACE_SHARED, 16);
  v1::Instruction commit = Make("LDGDEPBAR", v1::OP_ASYNC, "", "");
  commit.mutable_async()->set_role(v1::Async::COMMIT);
  v1::Instruction wait = Make("DEPBAR.LE", v1::OP_ASYNC, "", "");
  wait.mutable_async()->set_role(v1::Async::WAIT_GROUP);
  wait.mutable_async()->set_most_pending(1);
  v1::KernelProgram program = trace::testing::ProgramBuilder("copy").Block("entry").Alu(4).Exit().Build();
  program.set_level(v1::LEVEL_MACHINE);
  program.set_target("sm_80");
  const v1::Function named = AllRegisters();
  const size_t highest = Numbers("UR5").front();
  program.mutable_function(0)->set_register_file(named.register_file().substr(0, highest));
  program.mutable_function(0)->set_register_number(named.register_number().substr(0, highest));
  int at = 0;
  for (const v1::Instruction& instruction : {load, copy, commit, wait, Make("EXIT", v1::OP_EXIT, "", "")}) {
    *program.mutable_instruction(at++) = instruction;
  }
  const auto reader =
      Write(std::move(program),
            {{{{}, {0x1000, 7, 0x2000, kSharedBase + 0x40}}, {{}, {0x1004, 7, 0x2010, kSharedBase + 0x50}}}});
  const auto exported = ExportTraces(*reader, Path("exported"), false, nullptr);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_THAT(trace::testing::ReadFile(Path("exported/kernel-1.traceg")),
              HasSubstr("insts = 6\n"
                        "0000 00000003 1 R2 LDG.E 1 R4 4 1 0x1000 4 0 \n"
                        "0010 00000003 0 LDGSTS.E.128 2 R3 R4 16 1 0x40 16 0 \n"
                        "0010 00000003 0 LDGSTS.E.128 2 R3 R4 16 1 0x2000 16 0 \n"
                        "0020 00000003 0 LDGDEPBAR 0 0 0 \n"
                        "0030 00000003 0 DEPBAR.LE 0 0 1 \n"
                        "0040 00000003 0 EXIT 0 0 0 \n"));
  EXPECT_EQ(exported->warp_instructions, 6);
}

// The immediate of a branch is where it leads; one that leads to many places has none.
TEST_F(AccelSimMachine, BranchesToManyPlacesComeBack) {
  v1::KernelProgram program = trace::testing::ProgramBuilder("wide")
                                  .Block("entry")
                                  .Alu(3)
                                  .Wide({"one", "two", "three"})
                                  .Block("one")
                                  .Alu(2)
                                  .Exit()
                                  .Block("two")
                                  .Alu(4)
                                  .Exit()
                                  .Block("three")
                                  .Alu(6)
                                  .Exit()
                                  .Build();
  const auto reader = Write(std::move(program), {{{{0}, {}}, {{1}, {}}, {{2}, {}}, {{2}, {}}}});
  EXPECT_EQ(Return(*reader)->index().thread_instructions(), reader->index().thread_instructions());
}

TEST_F(AccelSimMachine, RefusesWhatAccelSimDoesNotKnow) {
  v1::KernelProgram program = GuardedProgram();
  program.set_target("sm_90");
  const auto refused = ExportTraces(*Write(program, GuardedThreads()), Path("exported"), false, nullptr);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("is machine code of sm_90, whose opcodes Accel-Sim does not know; capture with --arch sm_75, "
                        "sm_80 or sm_86"));
  EXPECT_FALSE(fs::exists(Path("exported")));

  program = GuardedProgram();
  program.mutable_instruction(0)->set_op(v1::OP_BARRIER);
  program.mutable_instruction(0)->set_mnemonic("BAR.SYNC.DEFER_BLOCKING");
  program.mutable_instruction(0)->clear_dst();
  program.mutable_instruction(0)->set_barrier_threads(64);
  const auto barrier = ExportTraces(*Write(program, GuardedThreads()), Path("exported"), false, nullptr);
  EXPECT_THAT(std::string(barrier.status().message()), HasSubstr("has a barrier of 64 threads"));
}

}  // namespace
}  // namespace heddle::tools::accelsim
