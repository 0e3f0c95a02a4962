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

}  // namespace

std::string SourceRecipes() { return HEDDLE_SOURCE_DIR "/traces/kernels"; }
std::string SourceWorkedExamples() { return HEDDLE_SOURCE_DIR "/traces/worked"; }

absl::StatusOr<std::string> TraceStore::Find(const claims::v1::Kernel& kernel) {
  const std::string id = absl::StrCat(kernel.worked() ? "worked " : "", kernel.trace());
  const auto known = found_.find(id);
  if (known != found_.end()) return known->second;
  return found_.emplace(id, Look(kernel)).first->second;
}

absl::StatusOr<std::string> TraceStore::Look(const claims::v1::Kernel& kernel) const {
  if (kernel.worked()) {
    const std::string path = absl::StrCat(SourceWorkedExamples(), "/", kernel.trace(), ".htrace");
    if (Exists(path)) return path;
    return absl::NotFoundError(absl::StrCat(path, " is not there: worked examples need the source tree"));
  }
  std::vector<std::string> names = {kernel.trace()};
  if (size_ == InputSize::kTiny) names = {kernel.trace() + ".tiny"};
  if (size_ == InputSize::kPaper) names.insert(names.begin(), kernel.trace() + ".paper");
  for (const std::string& name : names) {
    const std::string trace = absl::StrCat(folder_, "/", name, ".htrace");
    if (Exists(trace)) return trace;
    const std::string recipe = absl::StrCat(recipes_, "/", kernel.trace(), "/", name, ".textproto");
    if (!Exists(recipe)) continue;
    HEDDLE_RETURN_IF_ERROR(Record(recipe, trace));
    return trace;
  }
  return absl::NotFoundError(absl::StrCat("there is neither ", folder_, "/", names.back(), ".htrace nor the recipe ",
                                          recipes_, "/", kernel.trace(), "/", names.back(), ".textproto"));
}

absl::Status TraceStore::Record(const std::string& recipe, const std::string& trace) const {
  if (const absl::StatusOr<std::string> program = CaptureProgram(); !program.ok()) {
    static bool told = false;  // the same of every kernel
    if (!told) Note(std::string(program.status().message()));
    told = true;
    return absl::FailedPreconditionError(absl::StrCat(trace, " is not there, and this heddle cannot record it"));
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder_, ": cannot create the folder: ", error.message()));
  if (!quiet_) Note(absl::StrCat("recording ", trace));
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  std::vector<std::string> words = {self, "capture", "--quiet", "-o", trace, recipe};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int failed = posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments.data(), environ); failed != 0) {
    return absl::UnavailableError(absl::StrCat(self, ": cannot be started: ", std::strerror(failed)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("heddle capture -o ", trace, " ", recipe, " failed"));
}

}  // namespace heddle::tools::reproduce
