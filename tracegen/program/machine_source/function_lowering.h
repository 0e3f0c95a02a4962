// One function of machine code as LLVM IR.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_FUNCTION_LOWERING_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_FUNCTION_LOWERING_H_

#include "absl/status/status.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "tracegen/program/link.h"
#include "tracegen/program/machine_source/context.h"
#include "tracegen/program/machine_source/machine_layout.h"

namespace heddle::tracegen {

// Fills the (empty) IR function of MachineProgram::functions[index], whose debug locations get the numbers of
// instructions, and `links` with what each block, branch and access of it stands for. Errors: what is not known of an
// instruction, with its place and text.
absl::Status LowerMachineFunction(const MachineContext& in, uint32_t index, const MachineLayout& layout,
                                  llvm::DISubprogram* scope, FunctionLinks* links);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_FUNCTION_LOWERING_H_
