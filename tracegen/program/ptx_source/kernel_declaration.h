// Kernels of a PTX module as the host sees them: a function with the parameters, and what the text asks of launches.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_KERNEL_DECLARATION_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_KERNEL_DECLARATION_H_

#include "absl/status/statusor.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// Adds the kernel to `module`, without a body, and annotates it as the code generator does (nvvm.annotations). Errors:
// parameters of a size that is not supported.
absl::StatusOr<llvm::Function*> DeclareKernel(const ptx::Function& source, llvm::Module& module);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_KERNEL_DECLARATION_H_
