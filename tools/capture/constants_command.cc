#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "tools/capture/commands.h"
#include "tracegen/frontend/bitcode.h"
#include "tracegen/instrument/global_layout.h"
#include "tracegen/ptx/syntax/parse.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr unsigned kConstantSpace = 4;

void PrintVariable(uint64_t bytes, const std::string& symbol) { absl::PrintF("%u %s\n", bytes, SourceName(symbol)); }

absl::Status ListBitcode(const std::string& code, const std::string& path) {
  llvm::LLVMContext context;
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::Module> module, ReadBitcode(code, path, context));
  const llvm::DataLayout& layout = module->getDataLayout();
  for (const llvm::GlobalVariable& variable : module->globals()) {
    if (variable.getAddressSpace() != kConstantSpace || variable.isDeclaration()) continue;
    PrintVariable(layout.getTypeAllocSize(variable.getValueType()), variable.getName().str());
  }
  return absl::OkStatus();
}

absl::Status ListPtx(const std::string& text) {
  HEDDLE_ASSIGN_OR_RETURN(const ptx::Module module, ptx::ParseModule(text));
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space != ptx::StateSpace::kConst || variable.linkage == ptx::Linkage::kExtern) continue;
    PrintVariable(variable.Bytes(), variable.name);
  }
  return absl::OkStatus();
}

}  // namespace

int ConstantsCommand(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream code;
  code << in.rdbuf();
  const absl::Status status =
      absl::StartsWith(code.str(), "BC\xC0\xDE") ? ListBitcode(code.str(), path) : ListPtx(code.str());
  if (status.ok()) return 0;
  absl::FPrintF(stderr, "heddle-capture: %s\n", status.message());
  return kFailure;
}

}  // namespace heddle::tracegen
