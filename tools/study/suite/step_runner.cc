#include "tools/study/suite/step_runner.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/inputs/capture_program.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;
using ::heddle::suite::v1::Command;
using ::heddle::suite::v1::Limits;

// The line of a log that most probably says what went wrong: the first with "error" in it, else the last one.
std::string TellingLine(const std::string& path) {
  std::ifstream log(path);
  std::string line;
  std::string last;
  for (int lines = 0; lines < 100'000 && std::getline(log, line); ++lines) {
    const std::string text(absl::StripAsciiWhitespace(line));
    if (text.empty()) continue;
    if (absl::StrContains(absl::AsciiStrToLower(text), "error") || absl::StrContains(text, "undefined reference"))
      return text;
    last = text;
  }
  return last;
}

// " (first telling line)", or nothing.
std::string Because(const Workplace& place, const std::string& step) {
  std::string line = TellingLine(place.errors(step));
  if (line.empty()) line = TellingLine(place.output(step));
  return line.empty() ? "" : absl::StrCat(": ", Printable(CutText(line, 160)));
}

}  // namespace

absl::StatusOr<Toolkit> FindToolkit() {
  HEDDLE_RETURN_IF_ERROR(CaptureProgram().status());
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error);
  const std::string nvcc = (here.parent_path() / "heddle-nvcc").string();
  std::string scratch = (fs::temp_directory_path(error) / "heddle-suite-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat(scratch, ": cannot create the folder"));
  }
  ProcessRequest request;
  request.words = {nvcc, "--toolkit"};
  request.folder = scratch;
  request.output = scratch + "/out";
  request.errors = scratch + "/err";
  const absl::StatusOr<ProcessResult> ran = RunLimited(request);
  std::ifstream answer(request.output);
  std::string folder;
  std::getline(answer, folder);
  fs::remove_all(scratch, error);
  if (!ran.ok()) return ran.status();
  if (!ran->ok() || !fs::is_directory(folder, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat(nvcc, " --toolkit names no folder: build or install heddle-nvcc"));
  }
  return Toolkit{here.string(), folder};
}

ProcessLimits LimitsOf(const Limits& suite, const Limits& program, bool builds) {
  Limits limits;
  limits.set_build_seconds(300);
  limits.set_run_seconds(600);
  limits.set_memory_megabytes(8'000);
  limits.set_disk_megabytes(4'000);
  limits.set_log_kilobytes(16'000);
  limits.MergeFrom(suite);  // zeros replace nothing
  limits.MergeFrom(program);
  return {.seconds = static_cast<double>(builds ? limits.build_seconds() : limits.run_seconds()),
          .memory_bytes = limits.memory_megabytes() * 1'000'000,
          .disk_bytes = limits.disk_megabytes() * 1'000'000,
          .log_bytes = limits.log_kilobytes() * 1'000};
}

std::vector<std::string> StepRunner::Environment(const Command& command) const {
  const std::string bin = fs::path(toolkit_.heddle).parent_path().string();
  const char* path = std::getenv("PATH");
  std::vector<std::string> environment = {
      absl::StrCat("PATH=", toolkit_.folder, "/bin:", bin, ":", path != nullptr ? path : "/usr/bin:/bin"),
      absl::StrCat("LD_LIBRARY_PATH=", toolkit_.folder, "/lib64"),
      absl::StrCat("CUDA_PATH=", toolkit_.folder),
      absl::StrCat("HOME=", place_.home()),
      absl::StrCat("TMPDIR=", place_.home()),
      "LC_ALL=C",
      "OMP_NUM_THREADS=2"};
  for (const auto& variable : command.environment()) {
    std::erase_if(environment, [&](const std::string& other) { return other.starts_with(variable.name() + "="); });
    environment.push_back(absl::StrCat(variable.name(), "=", variable.value()));
  }
  return environment;
}

absl::StatusOr<ProcessResult> StepRunner::Run(const std::string& name, const std::string& copy, const Command& command,
                                              const ProcessLimits& limits, const std::vector<std::string>& before,
                                              const std::vector<std::string>& more) {
  last_ = name;
  HEDDLE_ASSIGN_OR_RETURN(const Command expanded, values_.Expand(command));
  ProcessRequest request;
  request.words = before;
  request.words.insert(request.words.end(), expanded.argument().begin(), expanded.argument().end());
  for (const std::string& argument : more) {
    HEDDLE_ASSIGN_OR_RETURN(const std::string word, values_.Expand(argument));
    request.words.push_back(word);
  }
  request.environment = Environment(expanded);
  request.folder = command.folder().empty() ? copy : absl::StrCat(copy, "/", command.folder());
  if (!expanded.input().empty()) request.input = expanded.input();
  request.output = place_.output(name);
  request.errors = place_.errors(name);
  request.disk_folder = place_.folder();
  request.limits = limits;
  request.stop = stop_;
  HEDDLE_ASSIGN_OR_RETURN(const ProcessResult result, RunLimited(request));
  if (result.ok()) return result;
  if (result.end == ProcessResult::End::kStopped) return absl::CancelledError("was interrupted");
  const bool said = result.end == ProcessResult::End::kExit || result.end == ProcessResult::End::kSignal;
  return absl::FailedPreconditionError(absl::StrCat(result.Text(limits), said ? Because(place_, name) : std::string()));
}

absl::Status StepRunner::Build(const std::string& name, const std::string& copy,
                               const google::protobuf::RepeatedPtrField<Command>& commands,
                               const ProcessLimits& limits) {
  for (int i = 0; i < commands.size(); ++i) {
    const std::string step = commands.size() == 1 ? name : absl::StrCat(name, "-", i + 1);
    const absl::StatusOr<ProcessResult> ran = Run(step, copy, commands[i], limits);
    if (!ran.ok()) {
      return absl::Status(ran.status().code(),
                          absl::StrCat(commands[i].argument(0), " (", step, ".err): ", ran.status().message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools::suite
