#include "tracegen/frontend/compile_program.h"

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/Support/Program.h"
#include "tracegen/frontend/bitcode.h"
#include "tracegen/frontend/run_clang.h"
#include "tracegen/runtime/cuda/device_code.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;

// The bitcode in what heddle-nvcc -cubin has written; empty if it is something else.
std::string_view BitcodeOf(std::string_view code) {
  cuda::DeviceCodeHeader header;
  if (code.size() < sizeof(header)) return {};
  std::memcpy(&header, code.data(), sizeof(header));
  if (std::memcmp(header.magic, cuda::kDeviceCodeMagic, sizeof(header.magic)) != 0) return {};
  code.remove_prefix(sizeof(header));
  const bool fits = header.text_bytes <= code.size() && header.bitcode_bytes <= code.size() - header.text_bytes;
  return fits ? code.substr(header.text_bytes, header.bitcode_bytes) : std::string_view();
}

}  // namespace

absl::StatusOr<DeviceModule> CompileProgramSource(const std::string& path, const std::vector<std::string>& options) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  const std::string compiler = (fs::read_symlink("/proc/self/exe", ignored).parent_path() / "heddle-nvcc").string();
  if (!fs::exists(compiler, ignored)) {
    return absl::FailedPreconditionError(absl::StrCat(compiler, ": not there; install Heddle again"));
  }
  const TemporaryDirectory directory;
  if (!directory.ok()) return absl::UnavailableError("cannot make a temporary directory; check TMPDIR");
  const std::string output = directory.File("device.cubin");
  const std::string messages = directory.File("messages");
  std::vector<llvm::StringRef> command = {compiler, "-cubin", "-o", output};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back(path);
  std::string failure;
  const int status = llvm::sys::ExecuteAndWait(
      compiler, command, std::nullopt, {llvm::StringRef(), llvm::StringRef(messages), llvm::StringRef(messages)}, 0, 0,
      &failure);
  if (status < 0) return absl::InternalError(absl::StrCat("cannot run ", compiler, ": ", failure));
  if (status > 0) return absl::InvalidArgumentError(FirstCompilerError(ReadText(messages)));
  const std::string code = ReadText(output);
  DeviceModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module, ReadBitcode(BitcodeOf(code), path, *result.context));
  result.module = std::move(module);
  return result;
}

}  // namespace heddle::tracegen
