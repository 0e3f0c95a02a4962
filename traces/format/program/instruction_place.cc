#include "traces/format/program/instruction_place.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace heddle::trace {

std::string InstructionPlace(const v1::FileHeader& header, const Program& program, Pc pc) {
  constexpr uint64_t kPcBytes = 8;
  const v1::Instruction& instruction = program.instruction(pc);
  const std::string number = absl::StrCat("PC ", pc * kPcBytes);
  const int file = static_cast<int>(instruction.source_file()) - 1;
  if (instruction.source_line() == 0) return number;
  const bool known = file >= 0 && file < header.source_file_size();
  return absl::StrCat(known ? absl::StrCat(header.source_file(file), ":") : "line ", instruction.source_line(), " (",
                      number, ")");
}

}  // namespace heddle::trace
