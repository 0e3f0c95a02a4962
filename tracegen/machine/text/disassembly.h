// What the disassembler says of a whole cubin.
#ifndef HEDDLE_TRACEGEN_MACHINE_TEXT_DISASSEMBLY_H_
#define HEDDLE_TRACEGEN_MACHINE_TEXT_DISASSEMBLY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/machine/encoding/architecture.h"
#include "tracegen/machine/text/instruction.h"

namespace heddle::tracegen::machine {

// The instructions of one section of code, at 0, 16, 32 and so on: a kernel or function with those that it has to
// itself.
struct CodeText {
  std::string function;  // whose section it is, as the linker knows it
  std::vector<Instruction> instructions;
};

struct Disassembly {
  Architecture architecture = Architecture::kSm80;
  std::string disassembler;  // its name and version, if it says so
  std::vector<CodeText> sections;
};

// Reads what `nvdisasm -json` prints (CUDA 12.4 and later). Errors: JSON that is damaged, of another shape, or of an
// architecture that we do not know; an instruction that ParseInstruction refuses, with function and offset.
absl::StatusOr<Disassembly> ReadDisassembly(std::string_view json);

// Reads what `nvdisasm -c` prints, for a disassembler without JSON. Labels become offsets. Errors: as above.
absl::StatusOr<Disassembly> ReadListing(std::string_view listing);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_TEXT_DISASSEMBLY_H_
