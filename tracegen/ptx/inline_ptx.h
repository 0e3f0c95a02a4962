// Inline PTX: what asm statements of a program say.
//
// Which text the trace has. A statement that control runs through from top to bottom stays as it is written. The code
// generator prints it where it stands, and the text that is printed is the static program. So its instructions, cache
// operators and registers are the program's, and each of its accesses is recorded.
//
// A statement with control flow of its own cannot stay: to the code generator it is one instruction, and no branch
// within it would be a decision of the trace. So can no statement whose threads meet: the code generator has to know
// of it. Such a statement is cut before code is generated:
// * labels, branches, `exit` and `trap` become blocks and branches of IR. A guard (@p) of what accesses memory, meets
// or
//   ends becomes a branch around it. A guard of what only computes becomes a choice of the result (`selp`);
// * moves, meetings of threads and carry chains become IR of the same meaning, which the code generator prints anew;
// * every other instruction becomes a statement of its own, which stays as it is written.
// So the trace has the branches as decisions, one address per access, and the instructions of the statement. What it
// does not have is the statement's own order of blocks and names of labels: those are the code generator's.
#ifndef HEDDLE_TRACEGEN_PTX_INLINE_PTX_H_
#define HEDDLE_TRACEGEN_PTX_INLINE_PTX_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// Reads an asm statement. The module's only function is the statement: its arguments are registers, outputs come back
// in `returns` and inputs are `parameters`, both in the state space .reg and in the order of the call's. Constants for
// "n" and "i" stand in the operands. Variables of the program that the text names are in `variables`, without an item.
// Errors: text that is no PTX, with its line within the statement; constraints that
// PTX does not have; registers that are too narrow or too wide for an instruction.
// `fold`: barriers get the constants that the program hands over in registers. Only the one who writes the statement
// anew may ask for it: in the text that stays, they are registers.
absl::StatusOr<ptx::Module> ReadInlinePtx(const llvm::CallInst& call, bool fold = false);

// Whether the text stays as it is written (see above).
bool StaysAsWritten(const ptx::Function& statement);

// Whether the instruction makes threads of a warp or block meet.
bool IsMeeting(const ptx::Instruction& instruction);

// Whether it is a barrier of a kind that LLVM has no intrinsic of: one at which threads only arrive, one of a cluster,
// a reduction at another barrier than number 0 of the whole block, one whose number or count is in a register.
bool IsTextOnlyBarrier(const ptx::Instruction& instruction);

// Whether the instruction has the address of a variable or function by name.
bool NamesVariable(const ptx::Instruction& instruction);

// Whether LLVM has no intrinsic that reads this special register (without its percent sign), so that only text can.
bool IsUnknownToLlvm(std::string_view special_register);
// Whether the instruction reads one of those.
bool ReadsUnknownRegister(const ptx::Instruction& instruction);

// An access to memory that a statement makes, whose address threads record.
struct InlineAccess {
  uint64_t bytes = 0;
  bool is_image = false;  // bytes depend on the image
};
// In the order of the text, one for each operand that a collective instruction records; none for calls that are no asm
// statements, and for text that cannot be read.
std::vector<InlineAccess> InlineAccessesOf(const llvm::Instruction& instruction);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_INLINE_PTX_H_
