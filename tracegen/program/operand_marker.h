// Where code hands over the operands of an instruction that has several, for threads to record.
#ifndef HEDDLE_TRACEGEN_PROGRAM_OPERAND_MARKER_H_
#define HEDDLE_TRACEGEN_PROGRAM_OPERAND_MARKER_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace heddle::tracegen {

// void(...), which nobody defines: recording takes every call away.
inline constexpr char kOperandsFunction[] = "heddle.operands";

// Emits a call that hands over `values`: pointers, or integers of up to 64 bits (which count as unsigned), one for each
// operand that is not constant, in the order of the trace's Instruction.operand; or for the last of these, if something
// else hands over the first ones (the access of a memory instruction). Its links are those of the PTX instruction, one
// per value; what the instruction does is up to other code.
llvm::CallInst* MarkOperands(llvm::IRBuilderBase& builder, llvm::ArrayRef<llvm::Value*> values);

bool IsOperandMarker(const llvm::Instruction& instruction);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_OPERAND_MARKER_H_
