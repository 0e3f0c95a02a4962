// The body of one PTX function as LLVM IR.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_FUNCTION_LOWERING_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_FUNCTION_LOWERING_H_

#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "tracegen/program/link.h"
#include "tracegen/program/ptx_source/layout.h"
#include "tracegen/program/ptx_source/step_context.h"

namespace heddle::tracegen {

// Fills the (empty) IR function of Module::functions[index], whose debug locations get the numbers of instructions, and
// `links` with what each block, branch and access of it stands for. Errors: an instruction that is not known, with its
// line and text.
absl::Status LowerFunction(const ModuleContext& in, uint32_t index, const Layout& layout, llvm::DISubprogram* scope,
                           FunctionLinks* links);

// Parameters and parameter variables that have to lie in memory, because the text takes their addresses.
using SymbolSet = std::set<std::pair<ptx::SymbolKind, uint32_t>>;
SymbolSet SymbolsInMemory(const ptx::Function& function);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_FUNCTION_LOWERING_H_
