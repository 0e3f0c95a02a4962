// What the kernels of a module are read from, found once for all of them.
#ifndef HEDDLE_TRACEGEN_PROGRAM_CODE_INDEX_H_
#define HEDDLE_TRACEGEN_PROGRAM_CODE_INDEX_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/ptx/ptx_parser.h"

namespace heddle::tracegen {

struct CodeIndex {
  std::vector<PtxFunction> functions;               // in the PTX's order
  std::map<std::string, size_t> position;           // in `functions`, by name
  std::set<std::string> defined;                    // names of `functions`
  std::vector<const llvm::Instruction*> by_number;  // instructions of the IR; index 0 is not used
  std::vector<const llvm::Function*> address_taken;
  IndirectCalls indirect;
  std::string ptx_sha256;  // of the PTX's text, 32 bytes

  // Null if the PTX has no such function.
  const PtxFunction* Find(const std::string& name) const {
    const auto found = position.find(name);
    return found == position.end() ? nullptr : &functions[found->second];
  }
};

// Errors: text that is not of the shape that LLVM prints, with its line.
absl::StatusOr<CodeIndex> IndexCode(const llvm::Module& module, const std::string& ptx);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_CODE_INDEX_H_
