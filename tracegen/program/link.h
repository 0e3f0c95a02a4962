// The map between the canonical IR of a function and its PTX.
#ifndef HEDDLE_TRACEGEN_PROGRAM_LINK_H_
#define HEDDLE_TRACEGEN_PROGRAM_LINK_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/program/flow.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

// The pointer that an IR memory instruction accesses, and how many bytes; null for all other instructions, and for
// inline PTX (InlineAccessesOf tells its accesses).
struct MemoryOperand {
  const llvm::Value* pointer = nullptr;
  uint64_t bytes = 0;
  bool is_vector = false;
  bool is_image = false;  // `pointer` is a handle; address and bytes depend on what it stands for
};
// Intrinsics that read or write a texel: fetches of textures, loads and stores of surfaces.
bool IsImageAccess(llvm::StringRef intrinsic);

MemoryOperand MemoryOperandOf(const llvm::Instruction& instruction);

// The IR access that a PTX access with the number of `named` makes: `named` itself, or the load of its block that LLVM
// merged into this extension, truncation, mask or bit cast and gave its line.
const llvm::Instruction* AccessNamedBy(const llvm::Instruction* named);

// Place of a PTX instruction in a FlowFunction.
struct FlowAccess {
  int node = kNoNode;
  uint32_t instruction = 0;
  uint32_t position = 0;  // among the addresses of its node
  uint32_t offset = 0;
};

struct FunctionLinks {
  llvm::DenseMap<const llvm::BasicBlock*, int> nodes;
  llvm::DenseMap<const llvm::BasicBlock*, BlockLink> blocks;
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<EdgeLink, 2>> edges;
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<FlowAccess, 2>> accesses;
};

// IR instructions by their number (index 0 is not used).
std::vector<const llvm::Instruction*> InstructionsByNumber(const llvm::Module& module);

// How many numbers threads record each time they run the PTX instruction: the address of a memory instruction that is
// neither a parameter access nor part of the copy of a by-value argument; or the operands that a collective instruction
// has in registers.
uint32_t CountColumns(const FlowInstruction& instruction, const std::vector<const llvm::Instruction*>& by_number);

// Links one function. IR accesses whose PTX does not stand where or access what the IR does are put into `moved` and
// leave the links incomplete; the caller makes them volatile and generates PTX again. Errors: control flow that does
// not correspond.
absl::Status LinkFunction(const CanonicalModule& module, const llvm::Function& function, const FlowFunction& flow,
                          const std::vector<const llvm::Instruction*>& by_number, FunctionLinks* links,
                          std::set<uint32_t>* moved);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_LINK_H_
