// Rewrites of device IR around LLVM's code generator passes, until it is canonical.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PREPARE_H_
#define HEDDLE_TRACEGEN_PROGRAM_PREPARE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

// The kernels of a module, in its order (nvvm.annotations).
std::vector<llvm::Function*> KernelsOf(const llvm::Module& module);

// True for the `exit` that LLVM's back end puts in front of an `unreachable`: no thread comes there. An `exit` that the
// program itself has asked for is a thread's regular end; the back end's own follows it where the program cannot go on.
bool IsUnreachableMark(const llvm::Instruction& instruction);

// Only `kernel` stays one; the others become functions that nobody calls.
void KeepKernel(llvm::Module& module, const std::string& kernel);

// A flag of a module that is a part of a program: other parts may call its functions, and define those that it only
// declares.
inline constexpr char kPartFlag[] = "heddle.part";

// True for functions that end the run when called: assertion failure.
bool IsFailureCall(llvm::StringRef name);

// An error that names the source line of an instruction.
absl::Status RefuseAt(const llvm::Instruction& instruction, absl::string_view what);

// Before the code generator's passes: refuses what cannot be traced (named with its source line), keeps only kernels
// visible, and removes what no kernel reaches. Inline PTX is left to compiled/inline_ptx.h.
absl::Status PrepareModule(llvm::Module& module);

// Behind the code generator's passes: one access per instruction, no switches, two-way branches with distinct
// successors, a new block behind every call of a device function, multiplications and additions fused for good, blocks
// named b0, b1, ...
void NormalizeModule(llvm::Module& module, llvm::TargetMachine& machine);

// Moves source locations to the side table and numbers the instructions.
void NumberInstructions(CanonicalModule& canonical);

// Fills CanonicalModule::uniform.
void FindUniformBranches(CanonicalModule& canonical, llvm::TargetMachine& machine);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PREPARE_H_
