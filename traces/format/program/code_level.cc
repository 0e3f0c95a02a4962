#include "traces/format/program/code_level.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "traces/format/limits.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {

std::string CodeInWords(const v1::KernelProgram& program) {
  const std::string stand_in =
      program.stand_in_for().empty() ? "" : absl::StrCat("stand-in for ", program.stand_in_for());
  if (program.level() == v1::LEVEL_PTX_COMPILED) return stand_in;
  std::string text = stand_in.empty() ? "" : stand_in + ", ";
  absl::StrAppend(&text, program.level() == v1::LEVEL_MACHINE ? "machine code" : "PTX");
  if (!program.isa_version().empty()) absl::StrAppend(&text, " ", program.isa_version());
  if (!program.producer().empty()) absl::StrAppend(&text, " by ", program.producer());
  if (!program.target().empty()) absl::StrAppend(&text, " for ", program.target());
  return text;
}

uint32_t MinorVersionOf(const v1::KernelProgram& program) {
  if (program.level() == v1::LEVEL_MACHINE) return kMachineMinorVersion;
  if (!program.stand_in_for().empty() || std::ranges::any_of(program.instruction(), IsCollective)) {
    return kCollectiveMinorVersion;
  }
  const bool tells =
      program.level() != v1::LEVEL_PTX_COMPILED || !program.producer().empty() || !program.isa_version().empty() ||
      !program.target().empty() ||
      std::ranges::any_of(program.function(), [](const v1::Function& one) { return !one.register_bits().empty(); }) ||
      std::ranges::any_of(program.instruction(),
                          [](const v1::Instruction& one) { return (one.flags() & v1::FLAG_GUARDED) != 0; });
  return tells ? kGivenCodeMinorVersion : kUsualMinorVersion;
}

}  // namespace heddle::trace
