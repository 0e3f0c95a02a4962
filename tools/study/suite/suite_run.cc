#include "tools/study/suite/suite_run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/digest.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/inputs/capture_program.h"
#include "tools/study/suite/program_run.h"
#include "tools/study/suite/result_store.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;
namespace v1 = ::heddle::suite::v1;

// Held by a run as long as it writes to the folder; freed with the process, too.
class FolderLock {
 public:
  static absl::StatusOr<FolderLock> Take(const std::string& folder) {
    const std::string path = folder + "/lock";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": cannot create the file: ", strerror(errno)));
    FolderLock lock(file);
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
    return absl::FailedPreconditionError(absl::StrCat(folder, ": another run writes to this folder"));
  }
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

absl::StatusOr<std::vector<const v1::Program*>> Wanted(const SuiteRequest& request) {
  const absl::StatusOr<trace::KernelPattern> only = trace::KernelPattern::Parse(request.only);
  if (!only.ok()) return absl::InvalidArgumentError(absl::StrCat("--only ", only.status().message()));
  std::vector<const v1::Program*> wanted;
  for (const v1::Program& program : request.suite.program()) {
    if (only->Matches(program.name())) wanted.push_back(&program);
  }
  if (wanted.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only ", request.only, ": no program of ", request.suite.name(), " has such a name"));
  }
  return wanted;
}

void Count(const v1::ProgramResult& program, v1::SuiteResult& result) {
  switch (program.state()) {
    case v1::RIGHT:
      result.set_right(result.right() + 1);
      break;
    case v1::UNCHECKED:
      result.set_unchecked(result.unchecked() + 1);
      break;
    case v1::WRONG:
      result.set_wrong(result.wrong() + 1);
      break;
    case v1::FAILED:
      result.set_failed(result.failed() + 1);
      break;
    case v1::SKIPPED:
      result.set_skipped(result.skipped() + 1);
      break;
    default:
      break;
  }
  result.set_trace_bytes(result.trace_bytes() + program.trace_bytes());
}

// Of what compiles, what programs link and what records.
absl::StatusOr<std::string> DigestOfPrograms(const Toolkit& toolkit) {
  HEDDLE_ASSIGN_OR_RETURN(const std::string capture, CaptureProgram());
  std::string all;
  for (const std::string& file : {capture, toolkit.folder + "/bin/nvcc", toolkit.folder + "/lib64/libheddle_cuda.a"}) {
    HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(file));
    all += digest;
  }
  return all;
}

// Runs programs on several threads.
class Runner {
 public:
  Runner(const SuiteContext& context, const SuiteRequest& request, const std::vector<const v1::Program*>& wanted)
      : context_(context), request_(request), wanted_(wanted), store_(context.output), results_(wanted.size()) {}

  absl::StatusOr<std::vector<v1::ProgramResult>> Run() {
    {
      std::vector<std::jthread> others;
      for (uint32_t thread = 1; thread < request_.jobs; ++thread) others.emplace_back([this] { Work(); });
      Work();
    }
    HEDDLE_RETURN_IF_ERROR(kept_);
    return results_;
  }

 private:
  void Work() {
    while (true) {
      const size_t number = next_++;
      if (number >= wanted_.size()) return;
      results_[number] = One(*wanted_[number]);
      const std::lock_guard guard(mutex_);
      ++done_;
      if (request_.progress) request_.progress(done_, wanted_.size());
    }
  }

  v1::ProgramResult One(const v1::Program& program) {
    ProgramRun run(context_, program);
    v1::ProgramResult result;
    if (request_.stop()) {
      result.set_program(program.name());
      result.set_size(context_.size);
      return result;
    }
    result = run.Prepare();
    if (result.state() == v1::SKIPPED) return result;
    if (!request_.again) {
      if (std::optional<v1::ProgramResult> kept = store_.Find(result); kept.has_value()) return *kept;
    }
    result = run.Run();
    if (result.state() == v1::NOT_RUN) return result;
    const absl::Status kept = store_.Keep(result);
    const std::lock_guard guard(mutex_);
    kept_.Update(kept);
    return result;
  }

  const SuiteContext& context_;
  const SuiteRequest& request_;
  const std::vector<const v1::Program*>& wanted_;
  ResultStore store_;
  std::vector<v1::ProgramResult> results_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  uint64_t done_ = 0;
  absl::Status kept_;
};

// The result of a program that this call was not asked for, if an earlier one has recorded it from the same things.
std::optional<v1::ProgramResult> Earlier(const SuiteContext& context, const v1::Program& program) {
  const ResultStore store(context.output);
  if (!store.IsThere(program.name(), context.size)) return std::nullopt;
  const v1::ProgramResult prepared = ProgramRun(context, program).Prepare();
  if (prepared.state() == v1::SKIPPED) return std::nullopt;
  return store.Find(prepared);
}

// A new corpus of all traces whose programs were right, in the place of the one before.
absl::Status MakeCorpus(const SuiteContext& context, const SuiteRequest& request, v1::SuiteResult& result) {
  const std::string folder = absl::StrCat(context.output, "/corpus");
  std::error_code error;
  fs::remove_all(folder, error);
  std::vector<corpus::AddRequest> adds;
  for (const v1::Program& program : context.suite.program()) {
    const auto row = std::ranges::find(result.program(), program.name(), &v1::ProgramResult::program);
    const std::optional<v1::ProgramResult> recorded =
        row != result.program().end() ? std::optional(*row) : Earlier(context, program);
    if (!recorded.has_value() || recorded->state() != v1::RIGHT) continue;
    corpus::AddRequest& add = adds.emplace_back();
    add.files = {absl::StrCat(context.output, "/", recorded->trace())};
    add.license = program.trace_license();
  }
  if (adds.empty()) return absl::OkStatus();
  corpus::Crate::About about = request.about;
  about.name = absl::StrCat(context.suite.name(), ".", context.size);
  about.description =
      absl::StrCat("Traces of ", context.suite.title().empty() ? context.suite.name() : context.suite.title(),
                   ", size ", context.size, ", commit ", context.suite.source().commit());
  about.license = context.suite.source().license();
  HEDDLE_RETURN_IF_ERROR(corpus::InitCorpus(folder, about));
  HEDDLE_RETURN_IF_ERROR(corpus::AddToCorpus(folder, adds).status());
  result.set_corpus(folder);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::SuiteResult> RunSuite(const SuiteRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<const v1::Program*> wanted, Wanted(request));
  HEDDLE_ASSIGN_OR_RETURN(const SourceTree sources, SourceTree::Open(request.source));
  HEDDLE_ASSIGN_OR_RETURN(const Toolkit toolkit, FindToolkit());
  HEDDLE_ASSIGN_OR_RETURN(const std::string programs, DigestOfPrograms(toolkit));
  std::error_code error;
  fs::create_directories(request.output, error);
  const std::string output = error ? request.output : fs::canonical(request.output, error).string();
  if (error) {
    return absl::UnavailableError(absl::StrCat(request.output, ": cannot create the folder: ", error.message()));
  }
  HEDDLE_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(output));
  DataStore data(output + "/data", sources);
  const SuiteContext context{request.suite, request.size, output, sources, data, toolkit, programs, request.stop};
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<v1::ProgramResult> rows, Runner(context, request, wanted).Run());
  v1::SuiteResult result;
  result.set_suite(request.suite.name());
  result.set_commit(request.suite.source().commit());
  result.set_size(request.size);
  result.set_heddle(request.heddle);
  for (const v1::ProgramResult& row : rows) {
    *result.add_program() = row;
    Count(row, result);
  }
  if (!request.stop()) HEDDLE_RETURN_IF_ERROR(MakeCorpus(context, request, result));
  result.set_seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return result;
}

}  // namespace heddle::tools::suite
