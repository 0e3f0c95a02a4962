// Single instructions of inline PTX, for the code generator.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STATEMENT_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STATEMENT_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include "tracegen/program/ptx_source/step_context.h"

namespace heddle::tracegen {

// Whether an instruction of a statement that is cut becomes a statement of its own. Not so: control flow, meetings of
// threads that LLVM has intrinsics of, moves of what LLVM can read, carry chains (nothing between two statements keeps
// CC.CF), and what names a variable of the statement.
bool BecomesStatement(const ptx::Instruction& instruction);

// Makes that statement: the instruction's text, with its registers as arguments. False if a register has a type that
// arguments cannot have.
bool LowerAsStatement(StepContext& step);

// Emits an asm statement that stays where it is: `text`, with a constraint for each result, then for each argument, and
// what it clobbers.
llvm::CallInst* EmitStatement(llvm::IRBuilder<>& builder, const std::string& text,
                              const std::vector<std::string>& constraints, llvm::Type* result,
                              llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STATEMENT_H_
