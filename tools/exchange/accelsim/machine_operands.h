// Operands of machine code as Accel-Sim's tracer lists them.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_MACHINE_OPERANDS_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_MACHINE_OPERANDS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/trace.pb.h"

namespace heddle::tools::accelsim {

// Numbers of general registers, one for each operand, the first of those that a wide operand takes.
struct TracedOperands {
  std::vector<uint32_t> dst;
  std::vector<uint32_t> src;
};

// What util/tracer_nvbit/tracer_tool.cu of Accel-Sim writes of an instruction whose function tells its registers:
//   * general registers only, no predicates and uniform registers;
//   * the first operand is the destination if it is a general register, also where it is read (RET, BRX). If it is a
//     predicate (SHFL, ATOMG) or an address, nothing is, and the register that is written stands among the sources;
//   * an operand of several registers is listed by its first one; one in a place of a constant bank (LDC) is not
//   listed.
// A trace says which registers an instruction names, not by which operands. What belongs together follows from the
// opcode's widths. R255 and a register's second mention are not in a trace, so they are missing.
TracedOperands OperandsOf(const trace::v1::Function& function, const trace::v1::Instruction& instruction);

// The width that the tracer reads off the opcode: the first modifier that is a number, or U and a number, else 4 bytes.
uint32_t TracedWidth(std::string_view opcode);

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_MACHINE_OPERANDS_H_
