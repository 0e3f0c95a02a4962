// Inline PTX of the program (asm statements): what it says, and the same as IR.
#ifndef HEDDLE_TRACEGEN_PTX_INLINE_PTX_H_
#define HEDDLE_TRACEGEN_PTX_INLINE_PTX_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace heddle::tracegen {

// Where generic addresses of shared memory begin (kSharedBase of instrument/thread_context.h).
inline constexpr uint64_t kSharedWindow = 0x2100'0000'0000;

// One operand of an instruction of inline PTX.
struct InlineOperand {
  enum class Kind { kArgument, kRegister, kNumber, kSpecial, kAddress, kVector, kPair };
  Kind kind = Kind::kNumber;
  unsigned argument = 0;                // kArgument: $N of the asm statement
  std::string name;                     // kRegister: declared in the text; kSpecial: "tid.x", "laneid", ...
  bool negated = false;                 // "!p"
  uint64_t number = 0;                  // kNumber: value or bits; kAddress: offset
  unsigned float_bits = 0;              // kNumber: 32 or 64 if written as 0f... or 0d..., 0 for integers
  std::vector<InlineOperand> elements;  // kAddress: the base; kVector: {a, b}; kPair: p|q
};

struct InlineInstruction {
  std::string text;                    // as written
  std::optional<InlineOperand> guard;  // the predicate that it is executed under
  std::vector<std::string> parts;      // of the opcode, cut at points
  std::vector<InlineOperand> operands;

  const std::string& base() const { return parts.front(); }
  bool Has(std::string_view modifier) const;
  bool IsMemory() const;  // ld, ldu, st, atom, red
  // Hands the processor to other threads: shuffles, votes, matches, barriers.
  bool Synchronizes() const;
};

// Takes the text of an asm statement apart. Errors: labels, predicated instructions that do more than compute a value,
// and anything else that is no list of plain instructions with declarations of registers.
absl::StatusOr<std::vector<InlineInstruction>> ParseInlinePtx(std::string_view text);

// The memory instruction of an asm statement, its address (a pointer or a number of 32 or 64 bits) and offset.
struct InlineAccess {
  llvm::Value* address = nullptr;  // null: the statement accesses no memory
  int64_t offset = 0;
  uint64_t bytes = 0;
  bool shared = false;  // of the address the lower 32 bits count, from the start of shared memory
};
InlineAccess InlineAccessOf(const llvm::CallInst& call);

// Whether the statement has to become IR before code generation (it synchronizes with other threads, has predicated
// instructions, or only moves values); otherwise its text stays in the PTX, and only its execution on the host needs
// IR.
bool BecomesIr(const std::vector<InlineInstruction>& instructions);

// Puts IR of the same meaning before the call, with intrinsics of NVPTX where PTX has no equal in IR, and returns what
// the call returns (null for void). `pointer_to` makes a pointer of the address of a memory instruction.
// Errors: an instruction that is not known, with its text.
absl::StatusOr<llvm::Value*> EmitInlinePtx(
    llvm::CallInst& call, const std::vector<InlineInstruction>& instructions,
    llvm::function_ref<llvm::Value*(llvm::IRBuilder<>&, const InlineAccess&)> pointer_to);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_INLINE_PTX_H_
