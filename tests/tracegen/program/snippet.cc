#include "tests/tracegen/program/snippet.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "gtest/gtest.h"
#include "tracegen/program/compiled/canonicalize.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

std::vector<trace::v1::Instruction> Snippet::All(trace::v1::OpClass op) const {
  std::vector<trace::v1::Instruction> found;
  for (const trace::v1::Instruction& instruction : program().instruction()) {
    if (instruction.op() == op) found.push_back(instruction);
  }
  return found;
}

std::vector<trace::v1::Instruction> Snippet::Starting(const std::string& prefix) const {
  std::vector<trace::v1::Instruction> found;
  for (const trace::v1::Instruction& instruction : program().instruction()) {
    if (instruction.mnemonic().rfind(prefix, 0) == 0) found.push_back(instruction);
  }
  return found;
}

std::vector<uint32_t> Snippet::Ending(trace::v1::Terminator terminator) const {
  std::vector<uint32_t> found;
  for (int i = 0; i < program().block_size(); ++i) {
    if (program().block(i).terminator() == terminator) found.push_back(i);
  }
  return found;
}

int Snippet::PostDominator(uint32_t block) const {
  return static_cast<int>(program().block(block).immediate_post_dominator()) - 1;
}

uint32_t Snippet::BlockOfLine(uint32_t line) const {
  for (int b = 0; b < program().block_size(); ++b) {
    const trace::v1::BasicBlock& block = program().block(b);
    for (uint32_t i = 0; i < block.instruction_count(); ++i) {
      if (program().instruction(block.first_instruction() + i).source_line() == line) return b;
    }
  }
  ADD_FAILURE() << "no instruction of line " << line;
  return 0;
}

absl::StatusOr<DeviceModule> CompileText(const std::string& source, const std::string& ending,
                                         const CompileOptions& options) {
  static int count = 0;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("heddle-test-" + std::to_string(getpid()) + "-" + std::to_string(count++));
  std::filesystem::create_directory(folder);
  const std::filesystem::path file = folder / ("snippet" + ending);
  std::ofstream(file) << source;
  absl::StatusOr<DeviceModule> result = Compile(file.string(), options);
  std::filesystem::remove_all(folder);
  return result;
}

absl::StatusOr<CanonicalModule> CanonicalText(const std::string& source, const std::string& ending,
                                              const CompileOptions& options) {
  absl::StatusOr<DeviceModule> device = CompileText(source, ending, options);
  if (!device.ok()) return device.status();
  return Canonicalize(std::move(device->context), std::move(device->module), options.target);
}

absl::StatusOr<Snippet> ReadText(const std::string& source, const std::string& ending, const CompileOptions& options) {
  absl::StatusOr<CanonicalModule> module = CanonicalText(source, ending, options);
  if (!module.ok()) return module.status();
  Snippet snippet;
  snippet.module = *std::move(module);
  absl::StatusOr<KernelUnit> unit = ReadKernel(snippet.module, "k");
  if (!unit.ok()) return unit.status();
  snippet.unit = *std::move(unit);
  return snippet;
}

Snippet MustRead(const std::string& source, const std::string& ending, const CompileOptions& options) {
  absl::StatusOr<Snippet> snippet = ReadText(source, ending, options);
  EXPECT_TRUE(snippet.ok()) << snippet.status();
  if (!snippet.ok()) return Snippet();
  absl::StatusOr<trace::Program> program = trace::Program::Create(snippet->program());
  EXPECT_TRUE(program.ok()) << program.status();
  return *std::move(snippet);
}

}  // namespace heddle::tracegen
