#include "tracegen/frontend/compile.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "tracegen/frontend/device_headers.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;

// A directory for the compiler's outputs, removed with everything in it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    if (llvm::sys::fs::createUniqueDirectory("heddle-compile", path_)) path_.clear();
  }
  ~TemporaryDirectory() {
    if (!path_.empty()) llvm::sys::fs::remove_directories(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  bool ok() const { return !path_.empty(); }
  std::string File(const char* name) const { return absl::StrCat(std::string(path_), "/", name); }

 private:
  llvm::SmallString<128> path_;
};

absl::StatusOr<std::string> FindClang() {
  for (const char* name : {"clang-19", "/usr/lib/llvm-19/bin/clang"}) {
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name)) return *found;
  }
  return absl::FailedPreconditionError(
      "clang 19 is not installed: install the package clang-19 (apt-get install clang-19)");
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The first "FILE:LINE:COLUMN: error: MESSAGE" of clang as "FILE:LINE: MESSAGE", or its first line.
std::string FirstError(const std::string& messages) {
  for (absl::string_view line : absl::StrSplit(messages, '\n')) {
    for (absl::string_view mark : {": fatal error: ", ": error: "}) {
      const size_t at = line.find(mark);
      if (at == absl::string_view::npos) continue;
      absl::string_view place = line.substr(0, at);
      if (const size_t column = place.rfind(':');
          column != absl::string_view::npos && column > 0 && place.rfind(':', column - 1) != absl::string_view::npos) {
        place = place.substr(0, column);
      }
      return absl::StrCat(place, ": ", line.substr(at + mark.size()));
    }
  }
  for (absl::string_view line : absl::StrSplit(messages, '\n')) {
    if (!line.empty()) return std::string(line);
  }
  return "clang failed without a message";
}

absl::StatusOr<std::vector<std::string>> CompilerArguments(const std::string& path, Language language,
                                                           const CompileOptions& options) {
  std::vector<std::string> arguments;
  const char* folder = language == Language::kCuda ? "cuda" : "opencl";
  absl::StatusOr<std::string> headers = FindDeviceHeaders(folder);
  if (!headers.ok()) return headers.status();
  if (language == Language::kCuda) {
    // No vendor toolkit: neither its headers nor its device library nor its path is looked for.
    arguments = {"-x",
                 "cuda",
                 "--cuda-device-only",
                 "-std=c++17",
                 absl::StrCat("--cuda-gpu-arch=", options.target),
                 "-nocudainc",
                 "-nocudalib",
                 "--cuda-path=/nonexistent",
                 "-Wno-unknown-cuda-version",
                 "-Xclang",
                 "-target-sdk-version=11.0",
                 "-fuse-cuid=none"};
  } else {
    arguments = {"-x",
                 "cl",
                 "-cl-std=CL1.2",
                 "-target",
                 "nvptx64-nvidia-cuda",
                 absl::StrCat("-march=", options.target),
                 "-fno-vectorize",
                 "-fno-slp-vectorize"};
  }
  for (const char* argument : {"-Xclang", "-target-feature", "-Xclang", "+ptx70", "-emit-llvm", "-c",
                               "-gline-tables-only", "-fno-color-diagnostics", "-fno-caret-diagnostics", "-w"}) {
    arguments.push_back(argument);
  }
  arguments.push_back(options.optimization);
  if (options.no_unroll) arguments.push_back("-fno-unroll-loops");
  arguments.push_back(absl::StrCat("-I", *headers));
  arguments.push_back("-include");
  arguments.push_back(absl::StrCat(*headers, "/heddle_", folder, ".h"));
  for (const std::string& define : options.defines) arguments.push_back(absl::StrCat("-D", define));
  for (const std::string& dir : options.include_dirs) arguments.push_back(absl::StrCat("-I", dir));
  // Assertions carry __FILE__ into the code: keep the machine's paths out of it.
  const std::string parent = fs::path(path).parent_path().string();
  if (!parent.empty()) arguments.push_back(absl::StrCat("-fmacro-prefix-map=", parent, "/="));
  return arguments;
}

absl::StatusOr<std::string> RunClang(const std::string& path, Language language, const CompileOptions& options,
                                     const TemporaryDirectory& directory) {
  absl::StatusOr<std::string> clang = FindClang();
  if (!clang.ok()) return clang.status();
  absl::StatusOr<std::vector<std::string>> arguments = CompilerArguments(path, language, options);
  if (!arguments.ok()) return arguments.status();
  const std::string output = directory.File("device.bc");
  const std::string messages = directory.File("messages");
  arguments->insert(arguments->begin(), "clang-19");
  arguments->insert(arguments->end(), {path, "-o", output});
  std::vector<llvm::StringRef> command(arguments->begin(), arguments->end());
  std::string failure;
  const int status = llvm::sys::ExecuteAndWait(
      *clang, command, std::nullopt, {llvm::StringRef(), llvm::StringRef(messages), llvm::StringRef(messages)}, 0, 0,
      &failure);
  if (status < 0) return absl::InternalError(absl::StrCat("cannot run ", *clang, ": ", failure));
  if (status != 0) return absl::InvalidArgumentError(FirstError(ReadText(messages)));
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
    absl::StatusOr<std::string> output = RunClang(path, result.language, options, directory);
    if (!output.ok()) return output.status();
    bitcode = *output;
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getFile(bitcode);
  if (!buffer) return absl::NotFoundError(absl::StrCat(path, ": ", buffer.getError().message()));
  result.context = std::make_unique<llvm::LLVMContext>();
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile((*buffer)->getMemBufferRef(), *result.context);
  if (!module) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not LLVM 19 bitcode: ", llvm::toString(module.takeError())));
  }
  result.module = std::move(*module);
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*result.module, &stream)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": broken bitcode: ", broken.substr(0, broken.find('\n'))));
  }
  const std::string& triple = result.module->getTargetTriple();
  if (!absl::StartsWith(triple, "nvptx64")) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": bitcode for '", triple, "'; compile it for nvptx64-nvidia-cuda"));
  }
  return result;
}

}  // namespace heddle::tracegen
