// What a PTX opcode is: class, memory space, bytes per thread.
#ifndef HEDDLE_TRACEGEN_PTX_OPCODE_H_
#define HEDDLE_TRACEGEN_PTX_OPCODE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "proto/trace.pb.h"

namespace heddle::tracegen {

struct Opcode {
  trace::v1::OpClass op = trace::v1::OP_UNKNOWN;
  trace::v1::MemorySpace space = trace::v1::SPACE_NONE;
  uint32_t access_bytes = 0;
  uint32_t micro_ops = 0;  // OP_SFU
  bool has_result = true;  // operand 0 is written
  bool is_volatile = false;
};

// Class of a PTX opcode with its modifiers (names and meaning: PTX ISA 7.0). OP_UNKNOWN if the opcode is not known.
// Calls, `ret` in a kernel and parameter moves depend on their surroundings and are classified by the caller.
Opcode ClassifyOpcode(std::string_view opcode);

// A math function of the device that stays one call ("__nv_sinf"): its cost in operations of the special function unit;
// nothing if the name is not one of them. The counts are those of the usual short sequences on a GPU: one for what the
// unit computes directly, more for argument reduction, division and double precision.
std::optional<uint32_t> MathMicroOps(std::string_view function);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_OPCODE_H_
