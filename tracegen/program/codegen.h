// LLVM's NVPTX code generator, run in process in two halves around the canonical IR.
#ifndef HEDDLE_TRACEGEN_PROGRAM_CODEGEN_H_
#define HEDDLE_TRACEGEN_PROGRAM_CODEGEN_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace heddle::tracegen {

// PTX version that kernels are compiled to: has the synchronising warp operations of sm_70.
inline constexpr char kPtxFeature[] = "+ptx70";

// The NVPTX target machine for `target`, such as "sm_70". Errors: LLVM without NVPTX, an unknown target.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const std::string& target);

// Runs all IR passes of the NVPTX code generator, in place: everything before instruction selection.
absl::Status RunIrPasses(llvm::Module& module, llvm::TargetMachine& machine);

// Instruction selection and printing of a module that RunIrPasses has seen. The module is not changed (a copy is
// selected). Passes that would break the correspondence of blocks are off (decisions: branch folding, tail duplication,
// block placement, store merging).
absl::StatusOr<std::string> EmitPtx(const llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_CODEGEN_H_
