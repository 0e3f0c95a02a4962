// Machine code that tests write, as a kernel that can be lowered. No toolkit is needed.
#ifndef HEDDLE_TESTS_TRACEGEN_PROGRAM_MACHINE_SOURCE_WALK_CODE_H_
#define HEDDLE_TESTS_TRACEGEN_PROGRAM_MACHINE_SOURCE_WALK_CODE_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "llvm/Support/raw_ostream.h"
#include "tracegen/machine/text/disassembly.h"
#include "tracegen/program/machine_source/lower_machine.h"
#include "tracegen/ptx/syntax/parse.h"

namespace heddle::tracegen {

inline constexpr char kPtx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 4 .b8 first[8];\n.const .align 4 .b8 second[8];\n"
    ".global .align 8 .u64 counter;\n.visible .entry walk(.param .u64 out, .param .u16 small, .param .u16 other)\n"
    "{ ret; }\n";

// A kernel "walk" of these instructions, for the PTX above.
struct Code {
  machine::Cubin cubin;
  machine::Disassembly disassembly;

  explicit Code(const std::vector<std::string>& lines) {
    constexpr uint64_t kPlainControl = 0x7f1;
    machine::CodeSection section;
    section.function = "walk";
    section.functions = {{"walk", 0, lines.size() * machine::kInstructionBytes, true}};
    section.code.assign(lines.size(), machine::Encoding{0, kPlainControl << 41});
    section.parameter_offset = 0x160;
    section.parameter_bytes = 12;
    section.static_shared_bytes = 64;
    section.registers = 21;
    cubin.sections.push_back(section);
    cubin.constant_variables = {{"first", 0, 8}, {"second", 8, 8}};
    cubin.constants[3].assign(16, 0);
    cubin.constants[4].assign(8, 0);
    cubin.constant_relocations[4] = {{0, 2, "counter", 0}};
    machine::CodeText text{.function = "walk", .instructions = {}};
    for (const std::string& line : lines) {
      const absl::StatusOr<machine::Instruction> instruction = machine::ParseInstruction(line);
      EXPECT_TRUE(instruction.ok()) << line << ": " << instruction.status();
      if (instruction.ok()) text.instructions.push_back(*instruction);
    }
    disassembly.sections.push_back(text);
  }

  absl::StatusOr<CanonicalModule> Lower(const std::string& ptx = kPtx) const {
    machine::MachineModule module;
    module.cubin = cubin;
    const absl::StatusOr<machine::MachineProgram> program = machine::BuildProgram(cubin, disassembly);
    if (!program.ok()) return program.status();
    module.program = *program;
    const absl::StatusOr<ptx::Module> parsed = ptx::ParseModule(ptx);
    if (!parsed.ok()) return parsed.status();
    return LowerMachine(*parsed, module, "walk.ptx");
  }

  std::string Refusal(const std::string& ptx = kPtx) const {
    const absl::StatusOr<CanonicalModule> lowered = Lower(ptx);
    EXPECT_FALSE(lowered.ok());
    return std::string(lowered.status().message());
  }

  std::string Ir() const {
    const absl::StatusOr<CanonicalModule> lowered = Lower();
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (lowered.ok()) lowered->module->print(stream, nullptr);
    return text;
  }
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_PROGRAM_MACHINE_SOURCE_WALK_CODE_H_
