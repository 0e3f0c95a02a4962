#include "tools/exchange/corpus/build.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/console/digest.h"
#include "tools/exchange/corpus/bag.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/inputs/trace_file.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools::corpus {
namespace {

namespace fs = std::filesystem;

// Runs a program and waits for it. Its output goes to the file `log`, whose first line is part of an error.
absl::Status RunProgram(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return absl::NotFoundError(absl::StrCat(words[0], ": cannot be started: ", strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  std::string reason = WIFSIGNALED(status) ? absl::StrCat("killed by signal ", WTERMSIG(status)) : "failed";
  if (const absl::StatusOr<std::string> text = ReadSmallFile(log); text.ok()) {
    const std::vector<std::string> lines = absl::StrSplit(*text, '\n', absl::SkipWhitespace());
    if (!lines.empty()) absl::StrAppend(&reason, ": ", lines.front());
  }
  return absl::InternalError(reason);
}

// The lock of a build; freed with the object, and with the process.
class BuildLock {
 public:
  static absl::StatusOr<BuildLock> Take(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": cannot create the file: ", strerror(errno)));
    BuildLock lock(file);
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
    return absl::FailedPreconditionError(absl::StrCat(path, ": another build of this corpus is running"));
  }
  BuildLock(BuildLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  BuildLock& operator=(BuildLock&&) = delete;
  ~BuildLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  explicit BuildLock(int file) : file_(file) {}
  int file_;
};

// A kernel that has a recipe of the size.
struct Kernel {
  std::string name;
  std::string folder;
  std::string recipe;
  std::string recipe_digest;
  std::vector<std::pair<std::string, std::string>> files;  // path in the folder and digest
};

absl::StatusOr<std::string> Ending(const std::string& size) {
  if (size == "small") return ".textproto";
  if (size == "tiny" || size == "large" || size == "paper") return absl::StrCat(".", size, ".textproto");
  return absl::InvalidArgumentError(absl::StrCat("--size ", size, ": is none of tiny, small, large, paper"));
}

// Files beside the kernels' folders, which their sources may include, with digests.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> SharedFiles(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code other;
    if (!entry.is_regular_file(other)) continue;
    HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(entry.path().string()));
    files.emplace_back(entry.path().filename().string(), digest);
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": cannot be read: ", error.message()));
  std::ranges::sort(files);
  return files;
}

absl::StatusOr<std::vector<Kernel>> FindKernels(const BuildRequest& request) {
  HEDDLE_ASSIGN_OR_RETURN(const std::string ending, Ending(request.size));
  const absl::StatusOr<trace::KernelPattern> only = trace::KernelPattern::Parse(request.only);
  if (!only.ok()) return absl::InvalidArgumentError(absl::StrCat("--only ", only.status().message()));
  std::error_code error;
  std::vector<Kernel> kernels;
  for (const fs::directory_entry& entry : fs::directory_iterator(request.kernels, error)) {
    Kernel kernel;
    kernel.name = entry.path().filename().string();
    kernel.folder = entry.path().string();
    kernel.recipe = absl::StrCat(kernel.folder, "/", kernel.name, ending);
    std::error_code missing;
    if (!entry.is_directory(missing) || !fs::is_regular_file(kernel.recipe, missing)) continue;
    if (!only->Matches(kernel.name)) continue;
    HEDDLE_RETURN_IF_ERROR(CheckPortable(kernel.name));
    kernels.push_back(std::move(kernel));
  }
  if (error) return absl::NotFoundError(absl::StrCat(request.kernels, ": cannot be read: ", error.message()));
  if (kernels.empty()) {
    return absl::NotFoundError(absl::StrCat(request.kernels, ": has no kernel NAME with a recipe NAME/NAME", ending,
                                            request.only.empty() ? "" : absl::StrCat(" that matches ", request.only)));
  }
  std::ranges::sort(kernels, {}, &Kernel::name);
  for (Kernel& kernel : kernels) {
    HEDDLE_ASSIGN_OR_RETURN(const auto files, FilesBelow(kernel.folder));
    for (const std::string& file : files) {
      HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(absl::StrCat(kernel.folder, "/", file)));
      kernel.files.emplace_back(file, digest);
    }
    HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(kernel.recipe));
    kernel.recipe_digest = digest;
  }
  return kernels;
}

// Whether a trace was recorded from the recipe and a source of the kernel as they are now.
bool IsRecordingOf(const std::string& path, const Kernel& kernel, std::string* digest) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  const auto reader = OpenTrace(path);
  if (!reader.ok()) return false;
  const auto& provenance = (*reader)->header().provenance();
  const auto recipe = provenance.find("recipe_sha256");
  const auto source = provenance.find("source_sha256");
  if (recipe == provenance.end() || source == provenance.end() || recipe->second != kernel.recipe_digest) return false;
  const bool has_source = std::ranges::any_of(kernel.files, [&](const auto& f) { return f.second == source->second; });
  if (digest != nullptr) *digest = (*reader)->digest();
  return has_source;
}

// Whether trace and sources of a kernel are in the corpus as they are now.
bool IsUpToDate(const std::string& folder, const Crate& crate, const Kernel& kernel) {
  const std::string path = absl::StrCat("traces/", kernel.name, ".htrace");
  const std::vector<DescribedTrace> traces = crate.Traces();
  const auto described = std::ranges::find(traces, path, &DescribedTrace::path);
  std::string digest;
  if (described == traces.end() || !IsRecordingOf(absl::StrCat(folder, "/data/", path), kernel, &digest)) return false;
  if (digest != described->digest) return false;
  std::vector<std::string> sources;
  for (const auto& [file, sha256] : kernel.files) {
    sources.push_back(absl::StrCat("sources/", kernel.name, "/", file));
    const absl::StatusOr<std::string> there = Sha256OfFile(absl::StrCat(folder, "/data/", sources.back()));
    if (!there.ok() || *there != sha256 || crate.FileDigest(sources.back()) != sha256) return false;
  }
  return crate.FilesBelow(absl::StrCat("sources/", kernel.name)) == sources;
}

}  // namespace

absl::StatusOr<std::vector<BuiltTrace>> BuildCorpus(const BuildRequest& request) {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<Kernel> kernels, FindKernels(request));
  HEDDLE_ASSIGN_OR_RETURN(const auto shared, SharedFiles(request.kernels));
  std::error_code error;
  const std::string staging = request.folder + ".building";
  fs::create_directories(staging, error);
  if (error) return absl::UnavailableError(absl::StrCat(staging, ": cannot create the folder: ", error.message()));
  HEDDLE_ASSIGN_OR_RETURN(const BuildLock lock, BuildLock::Take(staging + "/lock"));
  if (!fs::exists(absl::StrCat(request.folder, "/data/", kMetadataFile), error)) {
    HEDDLE_RETURN_IF_ERROR(InitCorpus(request.folder, request.about));
  }
  HEDDLE_ASSIGN_OR_RETURN(const Crate crate, ReadCrate(request.folder));

  std::vector<BuiltTrace> built(kernels.size());
  std::vector<size_t> missing;
  for (size_t i = 0; i < kernels.size(); ++i) {
    built[i].path = absl::StrCat("traces/", kernels[i].name, ".htrace");
    built[i].has_recipe = true;
    if (!request.again && IsUpToDate(request.folder, crate, kernels[i])) {
      built[i].good = true;
      built[i].outcome = "up to date";
    } else {
      missing.push_back(i);
    }
  }
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  uint64_t done = 0;
  const auto work = [&] {
    while (true) {
      const size_t number = next++;
      if (number >= missing.size()) return;
      const Kernel& kernel = kernels[missing[number]];
      BuiltTrace& result = built[missing[number]];
      const std::string output = absl::StrCat(staging, "/", kernel.name, ".htrace");
      absl::Status status;
      if (request.again || !IsRecordingOf(output, kernel, nullptr)) {
        std::vector<std::string> words = request.capture;
        words.insert(words.end(), {"-o", output, kernel.recipe});
        status = RunProgram(words, absl::StrCat(staging, "/", kernel.name, ".log"));
        if (status.ok() && !IsRecordingOf(output, kernel, nullptr)) {
          status = absl::InternalError("its recipe or source changed while it was recorded; build again");
        }
      }
      result.good = status.ok();
      result.outcome = status.ok() ? "recorded" : std::string(status.message());
      const std::lock_guard guard(mutex);
      ++done;
      if (request.progress) request.progress(done, missing.size());
    }
  };
  {
    std::vector<std::jthread> others;
    for (uint32_t thread = 1; thread < request.jobs; ++thread) others.emplace_back(work);
    work();
  }

  std::vector<AddRequest> added;
  AddRequest changed;
  for (const auto& [file, digest] : shared) {
    if (crate.FileDigest("sources/" + file) != digest) {
      changed.files.push_back(absl::StrCat(request.kernels, "/", file));
    }
  }
  if (!changed.files.empty()) added.push_back(std::move(changed));
  for (const size_t i : missing) {
    if (!built[i].good) continue;
    const Kernel& kernel = kernels[i];
    AddRequest& add = added.emplace_back();
    add.files = {absl::StrCat(staging, "/", kernel.name, ".htrace")};
    add.sources = kernel.folder;
    add.recipe = kernel.recipe;
    add.replaces_sources = true;
  }
  if (!added.empty()) {
    HEDDLE_ASSIGN_OR_RETURN(const auto paths, AddToCorpus(request.folder, added));
  }
  fs::remove_all(staging, error);
  return built;
}

absl::StatusOr<std::vector<BuiltTrace>> RebuildCorpus(const std::string& folder,
                                                      const std::vector<std::string>& capture) {
  HEDDLE_ASSIGN_OR_RETURN(const Crate crate, ReadCrate(folder));
  const fs::path data = fs::path(folder) / "data";
  std::error_code error;
  std::string staging = (fs::temp_directory_path(error) / "heddle-corpus-XXXXXX").string();
  if (error || mkdtemp(staging.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat(staging, ": cannot create the folder"));
  }
  std::vector<BuiltTrace> built;
  for (const DescribedTrace& trace : crate.Traces()) {
    BuiltTrace& result = built.emplace_back();
    result.path = trace.path;
    result.has_recipe = !trace.recipe.empty();
    if (!result.has_recipe) {
      result.outcome = "has no recipe";
      continue;
    }
    if (absl::Status path = CheckPath(trace.recipe); !path.ok()) {
      result.outcome = std::string(path.message());
      continue;
    }
    const std::string output = staging + "/built.htrace";
    std::vector<std::string> words = capture;
    words.insert(words.end(), {"-o", output, (data / trace.recipe).string()});
    if (const absl::Status ran = RunProgram(words, staging + "/log"); !ran.ok()) {
      result.outcome = std::string(ran.message());
      continue;
    }
    const auto reader = OpenTrace(output);
    if (!reader.ok()) {
      result.outcome = std::string(reader.status().message());
    } else if ((*reader)->digest() == trace.digest) {
      result.good = true;
      result.outcome = "the same";
    } else {
      result.outcome = absl::StrCat("differs: digest ", (*reader)->digest().substr(0, 12), ", the corpus has ",
                                    trace.digest.substr(0, 12), " (`heddle trace diff` says where)");
    }
  }
  fs::remove_all(staging, error);
  return built;
}

}  // namespace heddle::tools::corpus
