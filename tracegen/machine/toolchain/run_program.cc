#include "tracegen/machine/toolchain/run_program.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "traces/base/printable.h"

namespace heddle::tracegen::machine {
namespace {

constexpr uint64_t kMostOutputBytes = uint64_t{1} << 31;

}  // namespace

std::vector<std::string> ProgramsNamed(const std::string& name) {
  std::vector<std::string> folders;
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    folders.emplace_back(folder);
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* folder = std::getenv(variable)) folders.push_back(absl::StrCat(folder, "/bin"));
  }
  folders.emplace_back("/usr/local/cuda/bin");
  std::vector<std::string> programs;
  for (const std::string& folder : folders) {
    const llvm::StringRef places[] = {folder};
    if (folder.empty()) continue;
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name, places)) programs.push_back(*found);
  }
  return programs;
}

absl::StatusOr<int> RunProgram(const ProgramRun& run, const ToolchainLimits& limits) {
  std::vector<llvm::StringRef> command = {run.program};
  command.insert(command.end(), run.arguments.begin(), run.arguments.end());
  std::string failure;
  bool not_run = false;
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(run.output),
                                                      llvm::StringRef(run.messages)};
  const int status = llvm::sys::ExecuteAndWait(run.program, command, std::nullopt, redirects, limits.seconds,
                                               limits.memory_megabytes, &failure, &not_run);
  if (not_run || status == -1) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot run ", run.program, ": ", CutText(Printable(failure), 200)));
  }
  if (status == -2) {
    return absl::DeadlineExceededError(absl::StrCat(run.name, " crashed, or did not end within ", limits.seconds,
                                                    " seconds; try a smaller module, or another version of it"));
  }
  return status;
}

absl::StatusOr<std::string> ReadOutput(const std::string& path) {
  uint64_t bytes = 0;
  if (llvm::sys::fs::file_size(path, bytes)) return absl::InternalError("it wrote no output");
  if (bytes > kMostOutputBytes) return absl::ResourceExhaustedError("its output has more than 2 GiB");
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

absl::Status WriteInput(const std::string& path, std::string_view contents) {
  std::ofstream out(path, std::ios::binary);
  out << contents;
  out.close();
  if (!out) return absl::ResourceExhaustedError(absl::StrCat("cannot write ", path, ": is the disk full?"));
  return absl::OkStatus();
}

}  // namespace heddle::tracegen::machine
