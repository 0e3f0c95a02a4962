// What device code may call although no source defines it.
#ifndef HEDDLE_TRACEGEN_PROGRAM_DEVICE_CALLS_H_
#define HEDDLE_TRACEGEN_PROGRAM_DEVICE_CALLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Functions of the device's system: vprintf, malloc, free, and what our own headers call of it. Each is one instruction
// of the trace, of the special function unit's class, because what a device executes for it is not known; the number is
// its cost in operations of that unit. Nothing if the name is none of them.
std::optional<uint32_t> SystemCallMicroOps(std::string_view function);

// Why a function that is declared and not defined cannot be called: names the construct of the language that it comes
// from where that is known.
std::string ExplainUndefined(llvm::StringRef function);

// Why the statement of inline PTX `text` cannot be compiled, in one line: the construct that it belongs to where that
// is known, else `why`.
std::string ExplainInlinePtx(absl::string_view text, absl::string_view why);

// The device headers call __heddle_A_B_C for LLVM's intrinsic llvm.nvvm.A.B.C on textures and surfaces, which C++
// cannot name: handles are 64-bit numbers or pointers, results vectors of the elements. Puts the intrinsic in place of
// such a call; false if the function is none.
bool TranslateImageCall(llvm::CallInst& call);

// --- calls through pointers

// Functions whose address the module takes, in the module's order. The value of a pointer to number i is
// kFunctionBase + (i + 1) * kFunctionStep (thread_context.h).
std::vector<const llvm::Function*> AddressTakenFunctions(const llvm::Module& module);

// Where a call through a pointer can lead: the functions of its type among those whose address is taken, by the number
// of the call's instruction. The position in the list is the decision that a thread records.
using IndirectCalls = std::map<uint32_t, std::vector<std::string>>;
IndirectCalls FindIndirectCalls(const llvm::Module& module);

// A call through a pointer (neither direct nor inline assembly).
bool IsIndirectCall(const llvm::Instruction& instruction);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_DEVICE_CALLS_H_
