// Files whose programs are hostile.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/right_trace.h"
#include "tests/traces/collective_programs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"

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

}  // namespace

std::vector<HostileFile> HostilePrograms() {
  std::vector<HostileFile> files;
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
