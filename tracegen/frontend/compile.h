// Source text to device bitcode.
#ifndef HEDDLE_TRACEGEN_FRONTEND_COMPILE_H_
#define HEDDLE_TRACEGEN_FRONTEND_COMPILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "tracegen/frontend/device_arguments.h"

namespace heddle::tracegen {

struct CompileOptions {
  std::vector<std::string> defines;  // NAME or NAME=VALUE
  std::vector<std::string> include_dirs;
  std::string optimization = "-O2";
  bool no_unroll = false;
  bool keep_branches = false;  // KeepBranchesArguments, and LowerSelections
  std::string target = "sm_70";
};

struct DeviceModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // nvptx64, optimised, math and warp built-ins still calls, line tables kept
  Language language = Language::kCuda;
};

// Compiles `path` (.cu, .cl, .bc by its ending) for nvptx64 with clang and the project's own device headers; no vendor
// toolkit is used. Errors carry the first of clang's messages, and where to read the rest.
absl::StatusOr<DeviceModule> Compile(const std::string& path, const CompileOptions& options);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_COMPILE_H_
