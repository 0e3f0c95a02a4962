#include "tracegen/machine/toolchain/toolchain.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "tracegen/scratch/temporary_directory.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

constexpr uint64_t kMostOutputBytes = uint64_t{1} << 31;

absl::StatusOr<std::string> ReadAll(const std::string& path) {
  uint64_t bytes = 0;
  if (llvm::sys::fs::file_size(path, bytes)) return absl::InternalError("it wrote no output");
  if (bytes > kMostOutputBytes) return absl::ResourceExhaustedError("its output has more than 2 GiB");
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

absl::Status WriteAll(const std::string& path, std::string_view contents) {
  std::ofstream out(path, std::ios::binary);
  out << contents;
  out.close();
  if (!out) return absl::ResourceExhaustedError(absl::StrCat("cannot write ", path, ": is the disk full?"));
  return absl::OkStatus();
}

// On the PATH, or where the toolkit's installer puts it.
std::optional<std::string> FindProgram(const char* name) {
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name)) return *found;
  std::vector<std::string> folders;
  if (const char* path = std::getenv("CUDA_PATH")) folders.push_back(absl::StrCat(path, "/bin"));
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders) {
    const llvm::StringRef places[] = {folder};
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name, places)) return *found;
  }
  return std::nullopt;
}

// The first line that tells of an error, without the tool's own mark; the first line of all if none does.
std::string FirstMessage(const std::string& messages) {
  for (const absl::string_view line : absl::StrSplit(messages, '\n')) {
    for (const absl::string_view mark : {"fatal", "error"}) {
      const size_t at = line.find(mark);
      if (at == absl::string_view::npos) continue;
      absl::string_view rest = line.substr(at + mark.size());
      while (absl::ConsumePrefix(&rest, " ") || absl::ConsumePrefix(&rest, ":")) continue;
      return CutText(Printable(std::string(rest)), 300);
    }
  }
  for (const absl::string_view line : absl::StrSplit(messages, '\n', absl::SkipWhitespace())) {
    return CutText(Printable(std::string(line)), 300);
  }
  return "it gave no message";
}

struct Run {
  std::string name;  // of the program, for messages
  const std::string& program;
  std::vector<std::string> arguments;
  std::string output;    // standard output goes to this file; empty: to nowhere
  std::string messages;  // and standard error to this one
};

absl::Status Execute(const Run& run, const ToolchainLimits& limits) {
  std::vector<llvm::StringRef> command = {run.program};
  command.insert(command.end(), run.arguments.begin(), run.arguments.end());
  std::string failure;
  bool not_run = false;
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(run.output),
                                                      llvm::StringRef(run.messages)};
  const int status = llvm::sys::ExecuteAndWait(run.program, command, std::nullopt, redirects, limits.seconds,
                                               limits.memory_megabytes, &failure, &not_run);
  if (status == 0) return absl::OkStatus();
  if (not_run || status == -1) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot run ", run.program, ": ", CutText(Printable(failure), 200)));
  }
  if (status == -2) {
    return absl::DeadlineExceededError(absl::StrCat(run.name, " crashed, or did not end within ", limits.seconds,
                                                    " seconds; try a smaller module, or another version of it"));
  }
  const absl::StatusOr<std::string> messages = ReadAll(run.messages);
  const std::string message = messages.ok() ? FirstMessage(*messages) : std::string("it gave no message");
  if (absl::StrContains(message, "Unresolved extern function")) {
    return absl::FailedPreconditionError(
        absl::StrCat(run.name, ": ", message,
                     "; at the machine level every function needs code: link the library that has it, such as "
                     "libdevice of the toolkit for names that begin with __nv_"));
  }
  return absl::InvalidArgumentError(absl::StrCat(run.name, " (exit status ", status, "): ", message));
}

}  // namespace

absl::StatusOr<Toolchain> Toolchain::Find(const ToolchainLimits& limits) {
  const std::optional<std::string> ptxas = FindProgram("ptxas");
  if (!ptxas) {
    return absl::FailedPreconditionError(
        "ptxas was not found, which the machine level needs: install a CUDA toolkit and put its bin folder on the "
        "PATH");
  }
  const std::optional<std::string> nvdisasm = FindProgram("nvdisasm");
  if (!nvdisasm) {
    return absl::FailedPreconditionError(
        "nvdisasm was not found, which the machine level needs: install it (pip install nvidia-cuda-nvdisasm) and put "
        "its folder on the PATH");
  }
  return Toolchain(*ptxas, *nvdisasm, limits);
}

Toolchain::Toolchain(std::string ptxas, std::string nvdisasm, const ToolchainLimits& limits)
    : ptxas_(std::move(ptxas)), nvdisasm_(std::move(nvdisasm)), limits_(limits) {}

absl::StatusOr<std::string> Toolchain::Assemble(std::string_view ptx, Architecture architecture) const {
  const TemporaryDirectory folder;
  if (!folder.ok()) return absl::ResourceExhaustedError("cannot make a folder for temporary files");
  HEDDLE_RETURN_IF_ERROR(WriteAll(folder.File("in.ptx"), ptx));
  const std::string cubin = folder.File("out.cubin");
  HEDDLE_RETURN_IF_ERROR(Execute({.name = "ptxas",
                                  .program = ptxas_,
                                  .arguments = {absl::StrCat("-arch=", ArchitectureName(architecture)), "-lineinfo",
                                                folder.File("in.ptx"), "-o", cubin},
                                  .output = {},
                                  .messages = folder.File("messages")},
                                 limits_));
  absl::StatusOr<std::string> bytes = ReadAll(cubin);
  if (!bytes.ok()) return absl::InternalError(absl::StrCat("ptxas: ", bytes.status().message()));
  return bytes;
}

namespace {

absl::StatusOr<std::string> RunDisassembler(const std::string& program, const char* option, std::string_view cubin,
                                            const ToolchainLimits& limits) {
  const TemporaryDirectory folder;
  if (!folder.ok()) return absl::ResourceExhaustedError("cannot make a folder for temporary files");
  HEDDLE_RETURN_IF_ERROR(WriteAll(folder.File("in.cubin"), cubin));
  const std::string output = folder.File("out");
  HEDDLE_RETURN_IF_ERROR(Execute({.name = "nvdisasm",
                                  .program = program,
                                  .arguments = {option, folder.File("in.cubin")},
                                  .output = output,
                                  .messages = folder.File("messages")},
                                 limits));
  absl::StatusOr<std::string> text = ReadAll(output);
  if (!text.ok()) return absl::InternalError(absl::StrCat("nvdisasm: ", text.status().message()));
  return text;
}

}  // namespace

absl::StatusOr<std::string> Toolchain::Disassemble(std::string_view cubin) const {
  return RunDisassembler(nvdisasm_, "-json", cubin, limits_);
}

absl::StatusOr<std::string> Toolchain::List(std::string_view cubin) const {
  return RunDisassembler(nvdisasm_, "-c", cubin, limits_);
}

}  // namespace heddle::tracegen::machine
