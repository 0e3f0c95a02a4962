#include "tracegen/program/code_index.h"

#include <openssl/sha.h>

#include <utility>

#include "tracegen/program/link.h"
#include "tracegen/program/prepare.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

// An `exit` that stands for `unreachable` is assembly, but none of the program's.
void ClearUnreachableMarks(CodeIndex& index) {
  for (PtxFunction& function : index.functions) {
    for (PtxRawBlock& block : function.blocks) {
      for (PtxInstruction& instruction : block.instructions) {
        if (!instruction.inline_assembly || instruction.id >= index.by_number.size()) continue;
        const llvm::Instruction* written = index.by_number[instruction.id];
        if (written != nullptr && IsUnreachableMark(*written)) instruction.inline_assembly = false;
      }
    }
  }
}

}  // namespace

absl::StatusOr<CodeIndex> IndexCode(const llvm::Module& module, const std::string& ptx) {
  HEDDLE_ASSIGN_OR_RETURN(std::vector<PtxFunction> functions, ParsePtx(ptx));
  CodeIndex index;
  index.functions = std::move(functions);
  for (size_t i = 0; i < index.functions.size(); ++i) {
    index.position.emplace(index.functions[i].name, i);
    index.defined.insert(index.functions[i].name);
  }
  index.by_number = InstructionsByNumber(module);
  ClearUnreachableMarks(index);
  index.address_taken = AddressTakenFunctions(module);
  index.indirect = FindIndirectCalls(module);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(ptx.data()), ptx.size(), digest);
  index.ptx_sha256.assign(reinterpret_cast<const char*>(digest), sizeof(digest));
  return index;
}

}  // namespace heddle::tracegen
