// A program of a trace as the text of Accel-Sim's lines, as far as that does not depend on threads.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_CODE_TEXT_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_CODE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/program/program.h"

namespace heddle::tools::accelsim {

// A static instruction: what stands in front of the mask, and behind it up to the addresses.
struct Line {
  std::string pc;
  std::string operands;  // " DST_COUNT [R..] OPCODE SRC_COUNT [R..] WIDTH"
  uint64_t immediate = 0;
  uint32_t columns = 0;  // numbers that a thread recorded each time
  // An address that is written: its place among the columns, and what it counts from, for machine code has places in
  // shared and local memory.
  struct Address {
    uint32_t column = 0;
    uint64_t base = 0;
  };
  std::vector<Address> addresses;     // a copy between memories has two, each with a line of its own
  trace::Pc falls_to = trace::kNoPc;  // conditional branch: where the lanes go on that do not take it
  bool is_left_out = false;           // nop.join, which is no instruction of the machine
};

struct CodeText {
  std::vector<Line> lines;                        // by instruction
  std::vector<std::optional<Line>> jumps_behind;  // by block: a branch that only machine code needs
  std::string header;                             // lines of the header that import reads: see KernelHeader
  uint32_t binary_version = 0;
  uint64_t lost_registers = 0;     // of static instructions: operands beyond what the format holds
  uint64_t guarded_computing = 0;  // of static instructions: machine code, whose masks have lanes with a false guard
};

// Where the windows of shared and local memory lie among generic addresses.
struct WindowBases {
  uint64_t shared = 0;
  uint64_t local = 0;
};

// The text of a program: of machine code its own instructions, of PTX opcodes that stand for our classes. Refuses what
// machine code cannot have, and machine code of architectures that Accel-Sim does not know.
absl::StatusOr<CodeText> TextOf(const trace::Program& program, const WindowBases& windows);

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_CODE_TEXT_H_
