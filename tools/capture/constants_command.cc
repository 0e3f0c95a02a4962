#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "tools/capture/commands.h"
#include "tracegen/frontend/bitcode.h"
#include "tracegen/instrument/global_layout.h"

namespace heddle::tracegen {
namespace {

constexpr unsigned kConstantSpace = 4;

}  // namespace

int ConstantsCommand(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bitcode;
  bitcode << in.rdbuf();
  llvm::LLVMContext context;
  absl::StatusOr<std::unique_ptr<llvm::Module>> module = ReadBitcode(bitcode.str(), path, context);
  if (!module.ok()) {
    absl::FPrintF(stderr, "heddle-capture: %s\n", module.status().message());
    return kFailure;
  }
  const llvm::DataLayout& layout = (*module)->getDataLayout();
  for (const llvm::GlobalVariable& variable : (*module)->globals()) {
    if (variable.getAddressSpace() != kConstantSpace || variable.isDeclaration()) continue;
    const uint64_t bytes = layout.getTypeAllocSize(variable.getValueType());
    absl::PrintF("%u %s\n", bytes, SourceName(variable.getName()));
  }
  return 0;
}

}  // namespace heddle::tracegen
