// Compiles a few lines of device code for a test and asks about the static program.
#ifndef HEDDLE_TESTS_TRACEGEN_PROGRAM_SNIPPET_H_
#define HEDDLE_TESTS_TRACEGEN_PROGRAM_SNIPPET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

// A compiled snippet with the program of its kernel `k`.
struct Snippet {
  CanonicalModule module;
  KernelUnit unit;

  const trace::v1::KernelProgram& program() const { return unit.program; }
  // Instructions of an opcode class, in order.
  std::vector<trace::v1::Instruction> All(trace::v1::OpClass op) const;
  // Instructions whose mnemonic starts with `prefix`, in order.
  std::vector<trace::v1::Instruction> Starting(const std::string& prefix) const;
  // Blocks with a terminator, in order.
  std::vector<uint32_t> Ending(trace::v1::Terminator terminator) const;
  // 0-based index of a block's immediate post-dominator, -1 for the end of the function.
  int PostDominator(uint32_t block) const;
  // The block that holds the first instruction of a class on or behind a source line.
  uint32_t BlockOfLine(uint32_t line) const;
};

// Writes `source` to a temporary file that ends in `ending` (".cu", ".cl") and compiles it.
absl::StatusOr<DeviceModule> CompileText(const std::string& source, const std::string& ending,
                                         const CompileOptions& options = {});
absl::StatusOr<CanonicalModule> CanonicalText(const std::string& source, const std::string& ending = ".cu",
                                              const CompileOptions& options = {});
absl::StatusOr<Snippet> ReadText(const std::string& source, const std::string& ending = ".cu",
                                 const CompileOptions& options = {});

// ReadText, failing the test on an error.
Snippet MustRead(const std::string& source, const std::string& ending = ".cu", const CompileOptions& options = {});

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_PROGRAM_SNIPPET_H_
