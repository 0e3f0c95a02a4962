// Files whose programs are hostile.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/right_trace.h"
#include "tests/traces/collective_programs.h"
#include "tests/traces/machine_programs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"
#include "traces/format/program/control_bits.h"

namespace heddle::trace::testing {
namespace {

// The right trace with another program, and no blocks.
std::function<std::string()> ProgramOnly(std::function<v1::KernelProgram()> make) {
  return [make = std::move(make)] {
    std::vector<v1::Record> records = Right();
    records[1] = Wrap(make());
    records.erase(records.begin() + 3);
    return Assemble(std::move(records));
  };
}

// A file with a changed MachineSample.
std::function<std::string()> MachineOnly(std::function<void(v1::KernelProgram&)> change) {
  return ProgramOnly([change = std::move(change)] {
    v1::KernelProgram program = MachineSample();
    change(program);
    return program;
  });
}

// A barrier for each of 16 blocks that reach, one after the other, the branch with the most targets that there may be;
// behind it a wait for a barrier that has not been set in front of it.
v1::KernelProgram ManyBarrierPaths() {
  ProgramBuilder builder("x");
  for (int b = 0; b < 16; ++b) {
    builder.Block(absl::StrCat("set", b)).Alu().Branch(absl::StrCat("set", (b + 1) % 16), "wide");
  }
  builder.Block("wide").Wide({"sync", "wide"}).Block("sync").Alu().Exit().Function("f").Block("lone").Alu().Return();
  v1::KernelProgram program = builder.Build();
  program.set_level(v1::LEVEL_MACHINE);
  for (uint32_t b = 0; b < 16; ++b) {
    MakeConvergence(*program.mutable_instruction(static_cast<int>(2 * b)), v1::Convergence::SET, b);
  }
  v1::BasicBlock& wide = *program.mutable_block(16);
  for (int i = 0; i < (1 << 20) - 2; ++i) wide.add_successor(17);
  MakeConvergence(*program.mutable_instruction(33), v1::Convergence::SYNC, 5);
  MakeConvergence(*program.mutable_instruction(35), v1::Convergence::SYNC, 5);
  return program;
}

void AddMachineCode(std::vector<HostileFile>& files) {
  const auto add = [&](const char* name, std::function<void(v1::KernelProgram&)> change, const char* says) {
    files.push_back({name, MachineOnly(std::move(change)), says});
  };
  const auto no_control = [](v1::KernelProgram& program) {
    for (v1::Instruction& instruction : *program.mutable_instruction()) instruction.clear_control();
  };
  add(
      "register_files_of_another_length",
      [](auto& program) { program.mutable_function(0)->mutable_register_file()->append(8u << 20, 0); },
      "register_file has");
  add(
      "register_numbers_of_another_length",
      [](auto& program) { program.mutable_function(1)->mutable_register_number()->clear(); }, "register_number has");
  add(
      "register_of_no_file", [](auto& program) { program.mutable_function(0)->mutable_register_file()->front() = 5; },
      "unknown file 5");
  add(
      "register_beyond_its_file",
      [](auto& program) { program.mutable_function(0)->mutable_register_number()->front() = '\xff'; },
      "the last one is R254");
  add(
      "register_listed_twice",
      [](auto& program) {
        v1::Function& function = *program.mutable_function(0);
        function.mutable_register_file()->at(1) = function.register_file()[0];
        function.mutable_register_number()->at(1) = function.register_number()[0];
      },
      "is listed twice");
  add(
      "registers_of_ptx",
      [no_control](auto& program) {
        no_control(program);
        program.set_level(v1::LEVEL_PTX_GIVEN);
      },
      "only machine code has register_file");
  add(
      "control_bits_of_ptx",
      [](auto& program) {
        program = ProgramBuilder("x").Alu().Exit().Build();
        program.mutable_instruction(0)->set_control(1);
      },
      "only machine code has control bits");
  add(
      "control_barrier_6",
      [](auto& program) { program.mutable_instruction(0)->set_control(PackControl({.write_barrier = 6})); },
      "control names barrier 6");
  add(
      "control_of_many_bits", [](auto& program) { program.mutable_instruction(0)->set_control(~0u); },
      "control has more than 21 bits");
  add(
      "convergence_of_another_class",
      [](auto& program) { program.mutable_instruction(0)->mutable_convergence()->set_role(v1::Convergence::YIELD); },
      "go together");
  add(
      "convergence_of_no_role",
      [](auto& program) { program.mutable_instruction(2)->mutable_convergence()->set_role(v1::Convergence::Role(99)); },
      "unknown role 99");
  add(
      "convergence_barrier_beyond_its_file",
      [](auto& program) { program.mutable_instruction(2)->mutable_convergence()->set_barrier(~0u); },
      "is not below 16");
  add(
      "convergence_barrier_of_no_register",
      [](auto& program) { program.mutable_instruction(2)->mutable_convergence()->set_barrier(7); },
      "does not have its convergence barrier B7");
  add(
      "convergence_block_of_another_function",
      [](auto& program) { program.mutable_instruction(2)->mutable_convergence()->set_block(1 + 8); },
      "not of the same function");
  files.push_back({"sync_without_a_set", ProgramOnly(ManyBarrierPaths), "which no path to it sets or restores"});
}

}  // namespace

std::vector<HostileFile> HostilePrograms() {
  std::vector<HostileFile> files;
  AddMachineCode(files);
  files.push_back({"endless_block", ProgramOnly([] { return ProgramBuilder("x").Block("a").Alu().Jump("a").Build(); }),
                   "never leave"});
  files.push_back({"endless_circle", ProgramOnly([] {
                     ProgramBuilder builder("x");
                     for (int b = 0; b < 2'000; ++b) {
                       builder.Block(absl::StrCat(b)).Alu().Jump(absl::StrCat((b + 1) % 2'000));
                     }
                     return builder.Build();
                   }),
                   "never leave"});
  files.push_back({"endless_recursion", ProgramOnly([] {
                     return ProgramBuilder("x")
                         .Block("a")
                         .Call("f", "b")
                         .Block("b")
                         .Exit()
                         .Function("f")
                         .Block("c")
                         .Call("g", "d")
                         .Block("d")
                         .Return()
                         .Function("g")
                         .Block("e")
                         .Call("f", "h")
                         .Block("h")
                         .Return()
                         .Build();
                   }),
                   "recursion without a decision"});
  files.push_back({"operand_of_no_kind", ProgramOnly([] {
                     v1::KernelProgram program = ProgramBuilder("x").Alu().Exit().Build();
                     MakeCopy(*program.mutable_instruction(0));
                     program.mutable_instruction(0)->mutable_operand(1)->set_kind(v1::Operand::Kind(99));
                     return program;
                   }),
                   "unknown kind 99"});
  files.push_back({"matrix_of_no_shape", ProgramOnly([] {
                     v1::KernelProgram program = ProgramBuilder("x").Alu().Exit().Build();
                     MakeProduct(*program.mutable_instruction(0));
                     program.mutable_instruction(0)->mutable_matrix()->set_k(~0u);
                     return program;
                   }),
                   "a matrix of a shape"});
  files.push_back({"circle_through_a_call", ProgramOnly([] {
                     return ProgramBuilder("x").Block("a").Call("f", "a").Function("f").Block("c").Return().Build();
                   }),
                   "never leave"});
  files.push_back({"too_many_targets", ProgramOnly([] {
                     v1::KernelProgram program =
                         ProgramBuilder("x").Block("a").Wide({"b", "b"}).Block("b").Exit().Build();
                     for (int i = 0; i < 1 << 20; ++i) program.mutable_block(0)->add_successor(1);
                     return program;
                   }),
                   "successors"});
  files.push_back({"too_many_blocks", ProgramOnly([] {
                     v1::KernelProgram program = LargestProgram();
                     for (uint32_t i = 0; i < 4; ++i) *program.add_instruction() = program.instruction(0);
                     program.mutable_block(0)->set_instruction_count(kMaxInstructions + 4);
                     return program;
                   }),
                   "the limit is"});
  files.push_back({"unknown_level", ProgramOnly([] {
                     v1::KernelProgram program = ProgramBuilder("x").Block("a").Exit().Build();
                     program.set_level(static_cast<v1::CodeLevel>(1'000'000));
                     return program;
                   }),
                   "unknown level of code"});
  files.push_back({"too_many_register_widths", ProgramOnly([] {
                     v1::KernelProgram program = LargestProgram();
                     program.mutable_function(0)->set_register_bits(std::string(8u << 20, '\x20'));
                     return program;
                   }),
                   "register_bits has"});
  files.push_back({"guarded_access_without_a_decision", ProgramOnly([] {
                     return ProgramBuilder("x").Block("a").Load().Flags(v1::FLAG_GUARDED).Exit().Build();
                   }),
                   "entered without a decision"});
  return files;
}

}  // namespace heddle::trace::testing
