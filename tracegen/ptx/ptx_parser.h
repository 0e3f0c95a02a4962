// Reads the PTX text that LLVM prints: functions, blocks with their IR names, instructions with their debug lines.
#ifndef HEDDLE_TRACEGEN_PTX_PTX_PARSER_H_
#define HEDDLE_TRACEGEN_PTX_PTX_PARSER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tracegen {

// One statement of a function body.
struct PtxInstruction {
  std::string opcode;  // with all modifiers, such as "ld.global.v2.f32"
  std::string guard;   // predicate register of "@%p1" or "@!%p1", empty without one
  std::vector<std::string> operands;
  uint32_t id = 0;               // line of the .loc directive before it, 0 if it has none
  int32_t call_sequence = -1;    // number of the call sequence that it is part of
  bool inline_assembly = false;  // came from the program's asm statement
};

// A block as LLVM prints it. Control can leave it in the middle: LLVM prints both branches of a two-way end.
struct PtxRawBlock {
  std::string label;  // branch target, empty if nothing branches here
  std::string name;   // IR block, empty for blocks that the code generator added on an edge
  std::vector<PtxInstruction> instructions;
};

struct PtxFunction {
  std::string name;
  bool is_kernel = false;
  uint64_t local_bytes = 0;  // of its own frame
  std::vector<PtxRawBlock> blocks;
};

// Errors: text that is not of the shape that LLVM prints, with its line.
absl::StatusOr<std::vector<PtxFunction>> ParsePtx(std::string_view text);

// "[%rd1+8]" or "[name]" taken apart.
struct PtxAddress {
  std::string base;  // register or symbol; empty for an absolute address
  int64_t offset = 0;
};
PtxAddress ParseAddress(std::string_view operand);

// The virtual registers in an operand, in order: "{%f1, %f2}" has two, "%tid.x" none.
std::vector<std::string_view> RegistersOf(std::string_view operand);

// 32-bit registers that a virtual register takes: 0 for predicates, 2 for 64-bit ones.
uint32_t RegisterWords(std::string_view name);
// Bits that it holds: 1 of a predicate; "%rs" has 16, "%rd" 64. "%rc" are those of 8 bits, which LLVM never prints.
uint32_t RegisterBits(std::string_view name);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_PTX_PARSER_H_
