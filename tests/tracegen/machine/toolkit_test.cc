// The truth about machine code: what the user's own assembler makes of our kernels is read whole, printed again to the
// same text, and its control bits keep its dependences. Without a toolkit, or without nvdisasm, it is skipped by name.
// By default sm_80 takes all kernels, and each other architecture a quarter; HEDDLE_ALL_KERNELS=1 takes all for all.
// HEDDLE_MACHINE_PTX=FOLDER takes the PTX files of a folder in place of what nvcc makes of traces/kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/tracegen/machine/flow/dependence_check.h"
#include "tracegen/machine/machine_module.h"

namespace heddle::tracegen::machine {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// PTX by name: nvcc's of our kernels, or that of a folder that is named. Empty without an nvcc.
std::map<std::string, std::string> Sources() {
  const char* const named = std::getenv("HEDDLE_MACHINE_PTX");
  std::map<std::string, std::string> sources;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(named != nullptr ? named : HEDDLE_NVCC_PTX_DIR, none)) {
    if (entry.path().extension() == ".ptx") sources[entry.path().stem().string()] = ReadFile(entry.path());
  }
  return sources;
}

std::string WithoutBlanks(const std::string& text) { return absl::StrReplaceAll(text, {{" ", ""}}); }

struct Tally {
  uint64_t instructions = 0;
  std::map<std::string, uint64_t> opcodes;
  std::map<std::string, uint64_t> missing;  // by message
  std::vector<std::string> reprinted;       // to another text
};

// Each instruction by itself, so that what is missing is counted.
void ReadEach(const std::string& json, Tally* tally) {
  const nlohmann::json tree = nlohmann::json::parse(json);
  for (const auto& function : tree[1]) {
    for (const auto& item : function["sass-instructions"]) {
      const std::string guard = item.value("predicate", "");
      const std::string opcode = item["opcode"];
      const std::string operands = item.value("operands", "");
      ++tally->instructions;
      const absl::StatusOr<Instruction> read = ParseInstruction(guard, opcode, operands);
      if (!read.ok()) {
        ++tally->missing[std::string(read.status().message())];
        continue;
      }
      ++tally->opcodes[std::string(read->opcode())];
      if (guard == "PR") continue;  // an operand that the JSON has elsewhere
      const std::string text = absl::StrCat(guard, opcode, operands);
      if (WithoutBlanks(text) != WithoutBlanks(InstructionText(*read))) tally->reprinted.push_back(text);
    }
  }
}

// Forms that are named, but whose registers are not known yet, keep a program from being built.
bool IsNamedOnly(const absl::Status& status) {
  return status.message().find("is not known yet") != absl::string_view::npos &&
         status.message().find("which registers") != absl::string_view::npos;
}

// The listing says the same as the JSON.
void CheckListing(const Toolchain& toolchain, const std::string& cubin, const Disassembly& expected) {
  const absl::StatusOr<std::string> text = toolchain.List(cubin);
  ASSERT_TRUE(text.ok()) << text.status();
  const absl::StatusOr<Disassembly> read = ReadListing(*text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->architecture, expected.architecture);
  ASSERT_EQ(read->sections.size(), expected.sections.size());
  for (const CodeText& section : expected.sections) {
    const auto same = [&](const CodeText& one) { return one.function == section.function; };
    const auto listed = std::find_if(read->sections.begin(), read->sections.end(), same);
    ASSERT_NE(listed, read->sections.end()) << section.function;
    ASSERT_EQ(listed->instructions.size(), section.instructions.size()) << section.function;
    for (size_t i = 0; i < section.instructions.size(); ++i) {
      EXPECT_EQ(InstructionText(listed->instructions[i]), InstructionText(section.instructions[i]))
          << section.function << "+" << i * kInstructionBytes;
    }
  }
}

// Which part of the sources an architecture takes: every `step`th one from `first` on.
struct Share {
  size_t first = 0;
  size_t step = 1;
};

Share ShareOf(Architecture architecture) {
  const bool all = std::getenv("HEDDLE_ALL_KERNELS") != nullptr || std::getenv("HEDDLE_MACHINE_PTX") != nullptr;
  if (all || architecture == Architecture::kSm80) return {};
  // Each takes other ones.
  const auto* place = std::find(std::begin(kArchitectures), std::end(kArchitectures), architecture);
  return {.first = static_cast<size_t>(place - std::begin(kArchitectures)), .step = 4};
}

class ToolkitTest : public ::testing::TestWithParam<Architecture> {};

TEST_P(ToolkitTest, ReadsAllKernels) {
  const absl::StatusOr<Toolchain> toolchain = Toolchain::Find();
  if (!toolchain.ok()) GTEST_SKIP() << toolchain.status().message();
  const std::map<std::string, std::string> sources = Sources();
  if (sources.empty()) GTEST_SKIP() << "there is no PTX of nvcc";
  Tally tally;
  DependenceReport report;
  uint64_t functions = 0, blocks = 0, with_lines = 0, built_instructions = 0, named_only = 0, assembled = 0;
  const Share share = ShareOf(GetParam());
  size_t number = 0;
  for (const auto& [name, ptx] : sources) {
    if (number++ % share.step != share.first) continue;
    SCOPED_TRACE(name);
    const absl::StatusOr<std::string> cubin = toolchain->Assemble(ptx, GetParam());
    if (!cubin.ok()) {
      // Functions of libdevice, which clang's PTX leaves open; PTX for a newer card than this one.
      const std::string message(cubin.status().message());
      EXPECT_THAT(message, AnyOf(HasSubstr("__nv_"), HasSubstr("SM version specified by .target is higher")));
      continue;
    }
    ++assembled;
    const absl::StatusOr<std::string> json = toolchain->Disassemble(*cubin);
    ASSERT_TRUE(json.ok()) << json.status();
    ReadEach(*json, &tally);
    const absl::StatusOr<Cubin> read = ReadCubin(*cubin);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->architecture, GetParam());
    for (const CodeSection& section : read->sections) EXPECT_GT(section.registers, 0u) << section.function;
    const absl::StatusOr<Disassembly> disassembly = ReadDisassembly(*json);
    if (!disassembly.ok()) continue;  // counted above
    if (assembled % 8 == 1) CheckListing(*toolchain, *cubin, *disassembly);
    const absl::StatusOr<MachineProgram> program = BuildProgram(*read, *disassembly);
    if (!program.ok() && IsNamedOnly(program.status())) {
      ++named_only;
      continue;
    }
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok()) continue;
    functions += program->functions.size();
    blocks += program->blocks.size();
    built_instructions += program->instructions.size();
    for (const ProgramInstruction& instruction : program->instructions) {
      with_lines += instruction.source_line != 0 && instruction.source_file != 0;
    }
    CheckDependences(*program, &report);
  }
  EXPECT_GT(assembled, std::getenv("HEDDLE_MACHINE_PTX") != nullptr ? 0u : 50u / share.step);
  std::cout << ArchitectureName(GetParam()) << ": " << assembled << " modules, " << tally.instructions
            << " instructions, " << tally.opcodes.size() << " opcodes, " << functions << " functions, " << blocks
            << " blocks, " << with_lines << " of " << built_instructions << " with a line, " << named_only
            << " modules with forms that are only named; " << report.variable_checked << " and " << report.fixed_checked
            << " dependences\n";
  if (std::getenv("HEDDLE_MACHINE_PTX") != nullptr) {
    for (const auto& [opcode, cycles] : report.fewest_cycles) std::cout << "  " << opcode << " " << cycles;
    std::cout << "\n";
  }
  for (const auto& [message, count] : tally.missing) ADD_FAILURE() << count << " times: " << message;
  EXPECT_THAT(tally.reprinted, IsEmpty());
  if (std::getenv("HEDDLE_MACHINE_PTX") == nullptr) {
    EXPECT_GT(with_lines, built_instructions / 2);
    EXPECT_GT(report.variable_checked, tally.instructions / 20);
    EXPECT_GT(report.fixed_checked, tally.instructions / 4);
  }
  const size_t shown = std::min<size_t>(report.violations.size(), 25);
  for (size_t i = 0; i < shown; ++i) ADD_FAILURE() << report.violations[i];
  EXPECT_EQ(report.violations.size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Architectures, ToolkitTest, ::testing::ValuesIn(kArchitectures),
                         [](const auto& info) { return ArchitectureName(info.param); });

}  // namespace
}  // namespace heddle::tracegen::machine
