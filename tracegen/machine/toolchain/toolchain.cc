#include "tracegen/machine/toolchain/toolchain.h"

#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "tracegen/scratch/temporary_directory.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

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

absl::Status Execute(const ProgramRun& run, const ToolchainLimits& limits) {
  HEDDLE_ASSIGN_OR_RETURN(const int status, RunProgram(run, limits));
  if (status == 0) return absl::OkStatus();
  const absl::StatusOr<std::string> messages = ReadOutput(run.messages);
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
  const std::vector<std::string> ptxas = ProgramsNamed("ptxas");
  if (ptxas.empty()) {
    return absl::FailedPreconditionError(
        "ptxas was not found, which the machine level needs: install a CUDA toolkit and put its bin folder on the "
        "PATH");
  }
  const std::vector<std::string> nvdisasm = ProgramsNamed("nvdisasm");
  if (nvdisasm.empty()) {
    return absl::FailedPreconditionError(
        "nvdisasm was not found, which the machine level needs: install it (tools/install-nvdisasm, or pip install "
        "nvidia-cuda-nvdisasm) and put its folder on the PATH");
  }
  return Toolchain(ptxas.front(), nvdisasm.front(), limits);
}

Toolchain::Toolchain(std::string ptxas, std::string nvdisasm, const ToolchainLimits& limits)
    : ptxas_(std::move(ptxas)), nvdisasm_(std::move(nvdisasm)), limits_(limits) {}

absl::StatusOr<std::string> Toolchain::Assemble(std::string_view ptx, Architecture architecture) const {
  const TemporaryDirectory folder;
  if (!folder.ok()) return absl::ResourceExhaustedError("cannot make a folder for temporary files");
  HEDDLE_RETURN_IF_ERROR(WriteInput(folder.File("in.ptx"), ptx));
  const std::string cubin = folder.File("out.cubin");
  HEDDLE_RETURN_IF_ERROR(Execute({.name = "ptxas",
                                  .program = ptxas_,
                                  .arguments = {absl::StrCat("-arch=", ArchitectureName(architecture)), "-lineinfo",
                                                folder.File("in.ptx"), "-o", cubin},
                                  .output = {},
                                  .messages = folder.File("messages")},
                                 limits_));
  absl::StatusOr<std::string> bytes = ReadOutput(cubin);
  if (!bytes.ok()) return absl::InternalError(absl::StrCat("ptxas: ", bytes.status().message()));
  return bytes;
}

namespace {

absl::StatusOr<std::string> RunDisassembler(const std::string& program, const char* option, std::string_view cubin,
                                            const ToolchainLimits& limits) {
  const TemporaryDirectory folder;
  if (!folder.ok()) return absl::ResourceExhaustedError("cannot make a folder for temporary files");
  HEDDLE_RETURN_IF_ERROR(WriteInput(folder.File("in.cubin"), cubin));
  const std::string output = folder.File("out");
  HEDDLE_RETURN_IF_ERROR(Execute({.name = "nvdisasm",
                                  .program = program,
                                  .arguments = {option, folder.File("in.cubin")},
                                  .output = output,
                                  .messages = folder.File("messages")},
                                 limits));
  absl::StatusOr<std::string> text = ReadOutput(output);
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

absl::StatusOr<std::string> Toolchain::FindLibdevice() const {
  constexpr char kPlace[] = "nvvm/libdevice/libdevice.10.bc";
  std::vector<std::string> folders;
  // The program may be a link to the toolkit's.
  llvm::SmallString<256> real;
  if (!llvm::sys::fs::real_path(ptxas_, real)) {
    folders.push_back(llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)).str());
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* folder = std::getenv(variable)) folders.push_back(folder);
  }
  folders.push_back("/usr/local/cuda");
  for (const std::string& folder : folders) {
    const std::string path = absl::StrCat(folder, "/", kPlace);
    if (llvm::sys::fs::is_regular_file(path)) return path;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the toolkit of ", ptxas_, " has no ", kPlace,
                   ", which has the code of mathematical functions: install the toolkit's part with nvvm, or set "
                   "CUDA_PATH to a toolkit that has it"));
}

}  // namespace heddle::tracegen::machine
