// Opcodes of machine code (SASS) and our operation classes.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_SASS_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_SASS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/trace.pb.h"

namespace heddle::tools::accelsim {

constexpr uint32_t kZeroRegister = 255;  // R255 reads as 0 and is written nowhere

// What an opcode is here.
struct SassClass {
  trace::v1::OpClass op = trace::v1::OP_UNKNOWN;
  trace::v1::MemorySpace space = trace::v1::SPACE_NONE;  // memory instructions only
  uint32_t micro_ops = 0;                                // special functions only
  bool jumps = false;                                    // a thread that runs it may go on anywhere
  bool ends = false;                                     // the thread ends
};

// Classifies "IMAD.MOV.U32" and the like: by the opcode in front of the first point, and by some modifiers. A modifier
// that names one of our classes (".INT_DIV", written by export) is that class. Unimplemented for opcodes that are not
// known, and for those that no per-thread trace can hold: bulk copies, barriers that only arrive.
absl::StatusOr<SassClass> ClassifySass(absl::string_view opcode);

// Bytes per lane that the modifiers of an opcode name (".64", ".U8"), as Accel-Sim takes them; 0 if none does. The
// width that stands in a trace may be wrong where NVBit did not know it.
uint32_t AccessBytes(absl::string_view opcode);

// An opcode of the Volta generation for an instruction; ClassifySass gives its class and space back. Unimplemented for
// barriers that only some threads of the block take part in.
absl::StatusOr<std::string> SassOf(const trace::v1::Instruction& instruction);

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_SASS_H_
