// The attributes of functions: sections .nv.info and .nv.info.FUNCTION of a cubin.
#ifndef HEDDLE_TRACEGEN_MACHINE_CUBIN_ATTRIBUTES_H_
#define HEDDLE_TRACEGEN_MACHINE_CUBIN_ATTRIBUTES_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tracegen::machine {

// Numbers as the disassembler shows them beside the names of attributes.
enum class AttributeKind : uint8_t {
  kParameterBank = 0x0a,          // index of the section of the bank, offset, size
  kFrameSize = 0x11,              // symbol, bytes
  kMinimalStackSize = 0x12,       // symbol, bytes
  kParameterSize = 0x19,          // bytes
  kRegisterCount = 0x2f,          // symbol, registers
  kIndirectBranchTargets = 0x34,  // offset of the branch, two unused halves, count, offsets
  kBarrierCount = 0x4c,           // barriers
};

struct Attribute {
  uint8_t kind = 0;  // AttributeKind, or one that nobody here needs
  std::vector<uint8_t> value;
};

// Reads a section of attributes: form, kind and value, one behind the other. `name`: of the section, for messages.
// Errors: a form that is not known, a value that is cut.
absl::StatusOr<std::vector<Attribute>> ReadAttributes(std::string_view name, std::span<const uint8_t> bytes);

// Words of 32 bits of a value; a rest that is no whole word is left out.
std::vector<uint32_t> Words(std::span<const uint8_t> bytes);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_CUBIN_ATTRIBUTES_H_
