#include "tracegen/machine/toolchain/nvcc.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "llvm/Support/FileSystem.h"
#include "tracegen/scratch/temporary_directory.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

bool IsVendors(const std::string& program) {
  const TemporaryDirectory folder;
  if (!folder.ok()) return false;
  constexpr ToolchainLimits kShort = {.seconds = 60};
  const ProgramRun run = {.name = "nvcc",
                          .program = program,
                          .arguments = {"--version"},
                          .output = folder.File("version"),
                          .messages = folder.File("messages")};
  const absl::StatusOr<int> status = RunProgram(run, kShort);
  const absl::StatusOr<std::string> version = ReadOutput(run.output);
  return status.ok() && *status == 0 && version.ok() && absl::StrContains(*version, "Cuda compilation tools") &&
         !absl::StrContains(*version, "Heddle");
}

// Of "x.cu(3): error: what" "x.cu:3: what"; else the first line that tells of an error, or the first line of all.
std::string FirstError(const std::string& messages) {
  for (const absl::string_view line : absl::StrSplit(messages, '\n')) {
    for (const absl::string_view mark : {"): error: ", "): catastrophic error: "}) {
      const size_t at = line.find(mark);
      const size_t open = at == absl::string_view::npos ? at : line.rfind('(', at);
      if (open == absl::string_view::npos) continue;
      return absl::StrCat(line.substr(0, open), ":", line.substr(open + 1, at - open - 1), ": ",
                          line.substr(at + mark.size()));
    }
  }
  for (const absl::string_view line : absl::StrSplit(messages, '\n')) {
    if (absl::StrContains(line, "error") || absl::StrContains(line, "fatal")) return std::string(line);
  }
  for (const absl::string_view line : absl::StrSplit(messages, '\n', absl::SkipWhitespace())) return std::string(line);
  return "it gave no message";
}

}  // namespace

absl::StatusOr<Nvcc> Nvcc::Find(const std::string& wanted, const ToolchainLimits& limits) {
  if (wanted == "nvcc") {
    for (const std::string& program : ProgramsNamed("nvcc")) {
      if (IsVendors(program)) return Nvcc(program, limits);
    }
    return absl::FailedPreconditionError(
        "no nvcc of a CUDA toolkit was found in PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda: install the toolkit, "
        "give its path (--ptx-from /path/to/nvcc), or let clang make the PTX (--ptx-from clang)");
  }
  const std::string program = llvm::sys::fs::is_directory(wanted) ? absl::StrCat(wanted, "/bin/nvcc") : wanted;
  if (IsVendors(program)) return Nvcc(program, limits);
  return absl::FailedPreconditionError(absl::StrCat("--ptx-from ", CutText(Printable(wanted), 200),
                                                    ": this is no nvcc of a CUDA toolkit; name the program or the "
                                                    "toolkit's folder, or take nvcc or clang"));
}

absl::StatusOr<std::string> Nvcc::Compile(const std::string& source, const NvccOptions& options) const {
  const TemporaryDirectory folder;
  if (!folder.ok()) return absl::ResourceExhaustedError("cannot make a folder for temporary files");
  const std::string ptx = folder.File("out.ptx");
  ProgramRun run = {.name = "nvcc", .program = program_, .messages = folder.File("messages")};
  run.arguments = {absl::StrCat("-arch=", ArchitectureName(options.architecture)),
                   "-std=c++17",
                   "-ptx",
                   "-lineinfo",
                   "--expt-relaxed-constexpr",
                   "--extended-lambda",
                   "-o",
                   ptx};
  for (const std::string& define : options.defines) run.arguments.push_back(absl::StrCat("-D", define));
  for (const std::string& dir : options.include_dirs) run.arguments.push_back(absl::StrCat("-I", dir));
  run.arguments.push_back(source);
  HEDDLE_ASSIGN_OR_RETURN(const int status, RunProgram(run, limits_));
  if (status != 0) {
    const absl::StatusOr<std::string> messages = ReadOutput(run.messages);
    return absl::InvalidArgumentError(
        absl::StrCat("nvcc (exit status ", status, "): ", CutText(Printable(FirstError(messages.value_or(""))), 300)));
  }
  absl::StatusOr<std::string> text = ReadOutput(ptx);
  if (!text.ok()) return absl::InternalError(absl::StrCat("nvcc: ", text.status().message()));
  return text;
}

}  // namespace heddle::tracegen::machine
