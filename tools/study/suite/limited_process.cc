#include "tools/study/suite/limited_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/console/table.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Between two looks at the disk. A limit on the size of files would do without, but the memory of the device that
// programs are recorded on is a file, too, and larger than what is used of it.
constexpr auto kDiskPause = std::chrono::milliseconds(300);

// The first bytes of a file of /proc.
std::string ReadStart(const std::string& path) {
  char text[1024];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t bytes = read(file, text, sizeof text);
  close(file);
  return bytes > 0 ? std::string(text, static_cast<size_t>(bytes)) : "";
}

// The processes of a session that are not dead.
std::vector<pid_t> ProcessesOf(pid_t session) {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = readdir(proc)) {
    int process = 0;
    if (!absl::SimpleAtoi(entry->d_name, &process)) continue;
    // "PID (NAME) STATE PPID PGRP SESSION ..."; the name may have anything in it.
    const std::string stat = ReadStart(absl::StrCat("/proc/", process, "/stat"));
    const size_t name = stat.rfind(')');
    if (name == std::string::npos) continue;
    const std::vector<std::string> words = absl::StrSplit(stat.substr(name + 1), ' ');
    int its_session = 0;
    if (words.size() > 4 && words[1] != "Z" && absl::SimpleAtoi(words[4], &its_session) && its_session == session) {
      found.push_back(process);
    }
  }
  closedir(proc);
  return found;
}

// Resident bytes of processes together: what each has for itself, and the most that one of them shares.
uint64_t MemoryOf(const std::vector<pid_t>& processes) {
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t own = 0;
  uint64_t most_shared = 0;
  for (const pid_t process : processes) {
    const std::vector<std::string> words =
        absl::StrSplit(ReadStart(absl::StrCat("/proc/", process, "/statm")), ' ', absl::SkipEmpty());
    uint64_t resident = 0;
    uint64_t shared = 0;
    if (words.size() < 3 || !absl::SimpleAtoi(words[1], &resident) || !absl::SimpleAtoi(words[2], &shared)) continue;
    own += resident - std::min(shared, resident);
    most_shared = std::max(most_shared, shared);
  }
  return (own + most_shared) * page;
}

uint64_t BytesBelow(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    struct stat status{};
    if (lstat(it->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    }
  }
  return bytes;
}

uint64_t SizeOf(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
}

// What the child needs, made before the fork: after it only calls that are safe beside other threads are allowed.
struct Prepared {
  std::vector<char*> words;
  std::vector<char*> environment;
  std::vector<std::string> programs;  // where to look for it, in this order
};

Prepared Prepare(const ProcessRequest& request) {
  Prepared ready;
  for (const std::string& word : request.words) ready.words.push_back(const_cast<char*>(word.c_str()));
  ready.words.push_back(nullptr);
  for (const std::string& variable : request.environment) {
    ready.environment.push_back(const_cast<char*>(variable.c_str()));
    if (!variable.starts_with("PATH=") || request.words[0].find('/') != std::string::npos) continue;
    for (const absl::string_view folder : absl::StrSplit(variable.substr(5), ':')) {
      ready.programs.push_back(absl::StrCat(folder, "/", request.words[0]));
    }
  }
  ready.environment.push_back(nullptr);
  if (ready.programs.empty()) ready.programs.push_back(request.words[0]);
  return ready;
}

// In the child. Returns only if it fails, with errno.
void Become(const ProcessRequest& request, const Prepared& ready) {
  setsid();
  const int input = open(request.input.c_str(), O_RDONLY);
  const int output = open(request.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int errors = open(request.errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (input < 0 || output < 0 || errors < 0) return;
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (chdir(request.folder.c_str()) != 0) return;
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGINT, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const std::string& program : ready.programs) {
    execve(program.c_str(), ready.words.data(), ready.environment.data());
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return;
  }
}

void KillSession(pid_t session) {
  for (int round = 0; round < 100; ++round) {
    const std::vector<pid_t> left = ProcessesOf(session);
    if (left.empty()) return;
    for (const pid_t process : left) kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// Which limit a running program is over.
class Watch {
 public:
  Watch(const ProcessRequest& request, pid_t session) : request_(request), session_(session) {}

  std::optional<ProcessResult::End> Look(ProcessResult& result) {
    using End = ProcessResult::End;
    const ProcessLimits& limits = request_.limits;
    const Clock::time_point now = Clock::now();
    if (std::chrono::duration<double>(now - start_).count() > limits.seconds) return End::kTime;
    if (request_.stop()) return End::kStopped;
    result.most_memory = std::max(result.most_memory, MemoryOf(ProcessesOf(session_)));
    if (result.most_memory > limits.memory_bytes) return End::kMemory;
    if (SizeOf(request_.output) > limits.log_bytes || SizeOf(request_.errors) > limits.log_bytes) return End::kLog;
    if (!request_.disk_folder.empty() && now >= next_disk_) {
      if (BytesBelow(request_.disk_folder) > limits.disk_bytes) return End::kDisk;
      next_disk_ = Clock::now() + kDiskPause;
    }
    return std::nullopt;
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  const ProcessRequest& request_;
  pid_t session_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_disk_ = start_ + kDiskPause;
};

}  // namespace

std::string ProcessResult::Text(const ProcessLimits& limits) const {
  switch (end) {
    case End::kExit:
      return absl::StrCat("exit status ", status);
    case End::kSignal:
      return absl::StrCat("killed by signal ", status);
    case End::kTime:
      return absl::StrCat("did not end within ", limits.seconds, " s");
    case End::kMemory:
      return absl::StrCat("used more than ", WithUnit(limits.memory_bytes), " of memory");
    case End::kDisk:
      return absl::StrCat("used more than ", WithUnit(limits.disk_bytes), " of disk");
    case End::kLog:
      return absl::StrCat("printed more than ", WithUnit(limits.log_bytes));
    case End::kStopped:
      return "was interrupted";
  }
  return "";
}

absl::StatusOr<ProcessResult> RunLimited(const ProcessRequest& request) {
  const Prepared ready = Prepare(request);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) return absl::UnavailableError(absl::StrCat("pipe: ", std::strerror(errno)));
  const pid_t child = fork();
  if (child == 0) {
    Become(request, ready);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(failure[1], &error, sizeof error);
    _exit(127);
  }
  close(failure[1]);
  int error = child < 0 ? errno : 0;
  if (child > 0 && read(failure[0], &error, sizeof error) != sizeof error) error = 0;
  close(failure[0]);
  int status = 0;
  if (error != 0) {
    if (child > 0) waitpid(child, &status, 0);
    return absl::NotFoundError(absl::StrCat(request.words[0], ": cannot be started: ", std::strerror(error)));
  }
  ProcessResult result;
  Watch watch(request, child);
  auto pause = std::chrono::milliseconds(2);
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return absl::UnavailableError(absl::StrCat("waitpid: ", std::strerror(errno)));
    if (const auto over = watch.Look(result); over.has_value()) {
      KillSession(child);
      waitpid(child, &status, 0);
      result.end = *over;
      result.seconds = watch.seconds();
      return result;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(100));
  }
  result.seconds = watch.seconds();
  KillSession(child);
  result.end = WIFSIGNALED(status) ? ProcessResult::End::kSignal : ProcessResult::End::kExit;
  result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace heddle::tools::suite
