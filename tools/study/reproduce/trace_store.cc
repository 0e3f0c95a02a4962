#include "tools/study/reproduce/trace_store.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/terminal.h"
#include "tools/inputs/capture_program.h"
#include "traces/base/status_macros.h"

#ifndef HEDDLE_SOURCE_DIR
#define HEDDLE_SOURCE_DIR "."
#endif

namespace heddle::tools::reproduce {
namespace {

namespace fs = std::filesystem;

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Runs a program to its end, with the terminal that this one has.
absl::StatusOr<bool> Succeeds(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int failed = posix_spawn(&child, words[0].c_str(), nullptr, nullptr, arguments.data(), environ);
      failed != 0) {
    return absl::UnavailableError(absl::StrCat(words[0], ": cannot be started: ", std::strerror(failed)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string SourceRecipes() { return HEDDLE_SOURCE_DIR "/traces/kernels"; }
std::string SourceWorkedExamples() { return HEDDLE_SOURCE_DIR "/traces/worked"; }

absl::StatusOr<KernelTrace> TraceStore::Find(const claims::v1::Kernel& kernel) {
  const auto known = found_.find(kernel.name());
  if (known != found_.end()) return known->second;
  return found_.emplace(kernel.name(), Look(kernel)).first->second;
}

absl::StatusOr<KernelTrace> TraceStore::Look(const claims::v1::Kernel& kernel) const {
  if (const std::string original = Original(kernel); !original.empty()) {
    const claims::v1::Original& from = kernel.original();
    return KernelTrace{original, from.kernels(), true,
                       absl::StrCat(from.suite(), ".", fs::path(original).stem().string())};
  }
  if (!kernel.missing().empty()) return absl::NotFoundError(kernel.missing());
  HEDDLE_ASSIGN_OR_RETURN(const std::string path, Own(kernel));
  return KernelTrace{path, kernel.kernels(), false, fs::path(path).stem().string()};
}

std::string TraceStore::Original(const claims::v1::Kernel& kernel) const {
  if (folders_.originals.empty() || !kernel.has_original()) return "";
  const claims::v1::Original& original = kernel.original();
  const std::string size = size_ == InputSize::kTiny ? "tiny" : original.size().empty() ? "default" : original.size();
  const std::string path =
      absl::StrCat(folders_.originals, "/", original.suite(), "/traces/", original.program(), ".", size, ".htrace");
  return Exists(path) ? path : "";
}

absl::StatusOr<std::string> TraceStore::Own(const claims::v1::Kernel& kernel) const {
  if (kernel.worked()) {
    const std::string path = absl::StrCat(SourceWorkedExamples(), "/", kernel.trace(), ".htrace");
    if (Exists(path)) return path;
    return absl::NotFoundError(absl::StrCat(path, " is not there: worked examples need the source tree"));
  }
  std::vector<std::string> names = {kernel.trace()};
  if (size_ == InputSize::kTiny) names = {kernel.trace() + ".tiny"};
  if (size_ == InputSize::kPaper) names.insert(names.begin(), kernel.trace() + ".paper");
  const std::string& recipes = folders_.recipes;
  for (const std::string& name : names) {
    const std::string trace = absl::StrCat(folders_.traces, "/", name, ".htrace");
    if (Exists(trace)) return trace;
    const std::string recipe = absl::StrCat(recipes, "/", kernel.trace(), "/", name, ".textproto");
    if (!Exists(recipe)) continue;
    HEDDLE_RETURN_IF_ERROR(Record(recipe, trace));
    return trace;
  }
  return absl::NotFoundError(absl::StrCat("there is neither ", folders_.traces, "/", names.back(),
                                          ".htrace nor the recipe ", recipes, "/", kernel.trace(), "/", names.back(),
                                          ".textproto"));
}

absl::Status TraceStore::Record(const std::string& recipe, const std::string& trace) const {
  if (const absl::StatusOr<std::string> program = CaptureProgram(); !program.ok()) {
    static bool told = false;  // the same of every kernel
    if (!told) Note(std::string(program.status().message()));
    told = true;
    return absl::FailedPreconditionError(absl::StrCat(trace, " is not there, and this heddle cannot record it"));
  }
  std::error_code error;
  fs::create_directories(folders_.traces, error);
  if (error)
    return absl::UnavailableError(absl::StrCat(folders_.traces, ": cannot create the folder: ", error.message()));
  if (!folders_.quiet) Note(absl::StrCat("recording ", trace));
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  const std::vector<std::string> words = {self, "capture", "--quiet", "-o", trace, recipe};
  if (folders_.certify != 0) {
    std::vector<std::string> certified = words;
    certified.insert(certified.end(), {"--certify", std::to_string(folders_.certify)});
    HEDDLE_ASSIGN_OR_RETURN(const bool recorded, Succeeds(certified));
    if (recorded) return absl::OkStatus();
    Note(absl::StrCat(trace, " is recorded without a certificate"));
  }
  HEDDLE_ASSIGN_OR_RETURN(const bool recorded, Succeeds(words));
  if (recorded) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("heddle capture -o ", trace, " ", recipe, " failed"));
}

}  // namespace heddle::tools::reproduce
