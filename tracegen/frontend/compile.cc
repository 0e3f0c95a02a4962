#include "tracegen/frontend/compile.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/Support/MemoryBuffer.h"
#include "tracegen/frontend/bitcode.h"
#include "tracegen/frontend/device_headers.h"
#include "tracegen/frontend/opencl_parts.h"
#include "tracegen/frontend/run_clang.h"
#include "tracegen/program/compiled/selections.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::vector<std::string>> CompilerArguments(const std::string& path, Language language,
                                                           const CompileOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(std::string headers, FindDeviceHeaders(language == Language::kCuda ? "cuda" : "opencl"));
  std::vector<std::string> arguments = DeviceArguments(language, options.target);
  arguments.insert(arguments.end(),
                   {language == Language::kCuda ? "-std=c++17" : "-cl-std=CL1.2", "-fno-caret-diagnostics", "-w"});
  arguments.push_back(options.optimization);
  if (options.no_unroll) arguments.push_back("-fno-unroll-loops");
  if (options.keep_branches) {
    for (std::string& argument : KeepBranchesArguments()) arguments.push_back(std::move(argument));
  }
  for (std::string& argument : DeviceHeaderArguments(language, headers)) arguments.push_back(std::move(argument));
  if (language == Language::kOpenCl) {
    const std::string text = absl::StrCat(ReadText(path), " ", absl::StrJoin(options.defines, " "));
    for (std::string& argument : UnusedOpenClParts(text)) arguments.push_back(std::move(argument));
  }
  for (const std::string& define : options.defines) arguments.push_back(absl::StrCat("-D", define));
  for (const std::string& dir : options.include_dirs) arguments.push_back(absl::StrCat("-I", dir));
  // Assertions carry __FILE__ into the code: keep the machine's paths out of it.
  const std::string parent = fs::path(path).parent_path().string();
  if (!parent.empty()) arguments.push_back(absl::StrCat("-fmacro-prefix-map=", parent, "/="));
  return arguments;
}

absl::StatusOr<std::string> MakeBitcode(const std::string& path, Language language, const CompileOptions& options,
                                        const TemporaryDirectory& directory) {
  HEDDLE_ASSIGN_OR_RETURN(std::vector<std::string> arguments, CompilerArguments(path, language, options));
  const std::string output = directory.File("device.bc");
  arguments.insert(arguments.end(), {path, "-o", output});
  HEDDLE_ASSIGN_OR_RETURN(ClangResult result, RunClang(arguments, directory));
  if (!result.ok) return absl::InvalidArgumentError(FirstCompilerError(result.messages));
  return output;
}

}  // namespace

absl::StatusOr<DeviceModule> Compile(const std::string& path, const CompileOptions& options) {
  DeviceModule result;
  if (absl::EndsWith(path, ".cu")) {
    result.language = Language::kCuda;
  } else if (absl::EndsWith(path, ".cl")) {
    result.language = Language::kOpenCl;
  } else if (absl::EndsWith(path, ".bc")) {
    result.language = Language::kBitcode;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": what language is this? The name must end in .cu, .cl or .bc"));
  }
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  }
  TemporaryDirectory directory;
  if (!directory.ok()) return absl::UnavailableError("cannot make a temporary directory; check TMPDIR");
  std::string bitcode = path;
  if (result.language != Language::kBitcode) {
    HEDDLE_ASSIGN_OR_RETURN(std::string output, MakeBitcode(path, result.language, options, directory));
    bitcode = output;
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getFile(bitcode);
  if (!buffer) return absl::NotFoundError(absl::StrCat(path, ": ", buffer.getError().message()));
  result.context = std::make_unique<llvm::LLVMContext>();
  const llvm::StringRef bytes = (*buffer)->getBuffer();
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                          ReadBitcode(std::string_view(bytes.data(), bytes.size()), path, *result.context));
  result.module = std::move(module);
  if (options.keep_branches) LowerSelections(*result.module);
  return result;
}

}  // namespace heddle::tracegen
