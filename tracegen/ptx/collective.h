// What collective and asynchronous PTX instructions are beyond class, space and bytes.
#ifndef HEDDLE_TRACEGEN_PTX_COLLECTIVE_H_
#define HEDDLE_TRACEGEN_PTX_COLLECTIVE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "proto/trace.pb.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// An operand of a PTX instruction as it is written; a result is one, too.
struct WrittenOperand {
  enum class Kind : uint8_t { kRegister, kPredicate, kConstant, kAddress, kOther };
  Kind kind = Kind::kOther;
  uint64_t value = 0;  // kConstant
};

// Operands, role, shape and members of the instruction: the fields of the trace's instruction that version 1.8 has
// added, all others unset. Null for an instruction that needs none of them. Threads record a number for each operand
// that is not constant, in the order of `operand`.
std::shared_ptr<const trace::v1::Instruction> DescribeCollective(std::string_view mnemonic,
                                                                 std::span<const WrittenOperand> operands);

// DescribeCollective of an instruction of a syntax tree.
std::shared_ptr<const trace::v1::Instruction> CollectiveOf(const ptx::Function& function,
                                                           const ptx::Instruction& instruction);

// False, at little cost, for nearly all instructions of which DescribeCollective says nothing.
bool MayBeCollective(std::string_view mnemonic);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_COLLECTIVE_H_
