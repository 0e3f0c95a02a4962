#include "tools/console/output.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/policy_watch.h"
#include "traces/base/link_target.h"
#include "traces/base/printable.h"

namespace heddle::tools {
namespace {

// Read by the signal handler: the temporary files to remove, or empty. Written while signals are blocked. The first is
// that of RemoveWhenInterrupted; a command has at most three OutputFiles at a time.
constexpr int kTemporaries = 4;
char temporaries[kTemporaries][PATH_MAX] = {};

// Read by the signal handler, too: that something has its final name, or went into a pipe or a device.
volatile sig_atomic_t something_is_written = 0;

// Of NoteInterrupts: whether one lives, and the signal that came since.
volatile sig_atomic_t interrupts_are_noted = 0;
volatile sig_atomic_t noted_interrupt = 0;

bool standard_output_is_closed = false;

class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

void Set(int slot, const std::string& path) {
  const BlockSignals block;
  strncpy(temporaries[slot], path.c_str(), PATH_MAX - 1);
}

// The slot of a file, or with "" a free one, among those of OutputFiles; kTemporaries if there is none.
int SlotOf(const std::string& path) {
  int slot = 1;
  while (slot < kTemporaries && path != temporaries[slot]) ++slot;
  return slot;
}

void RememberTemporary(const std::string& path) {
  if (const int slot = SlotOf(""); slot < kTemporaries) Set(slot, path);
}

void ForgetTemporary(const std::string& path) {
  if (const int slot = SlotOf(path); slot < kTemporaries) Set(slot, "");
}

// Removes the temporary files; whether there was one. A writer's file may have got its final name just now: then there
// is nothing to remove, and something was written.
bool RemoveTemporaries() {
  bool unfinished = false;
  for (const char* temporary : temporaries) {
    if (temporary[0] != '\0' && unlink(temporary) == 0) unfinished = true;
  }
  return unfinished;
}

// Only calls that are allowed in a signal handler, here and in what follows.
void WriteError(const char* text, size_t size) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, size);
}

void EndBySignal(int signal) {
  if (interrupts_are_noted != 0 && noted_interrupt == 0) {
    noted_interrupt = signal;
    return;
  }
  const bool unfinished = RemoveTemporaries();
  const char* message = !unfinished            ? "\nheddle: interrupted\n"
                        : something_is_written ? "\nheddle: interrupted; what was complete before is there\n"
                                               : "\nheddle: interrupted; nothing was written\n";
  WriteError(message, strlen(message));
  _exit(128 + signal);
}

// The thread that crashed runs this. It ends as without, so that debuggers and core dumps see it.
void ReportCrash(int signal) {
  const bool unfinished = RemoveTemporaries();
  char text[1024];
  size_t used = 0;
  const auto add = [&](std::string_view more) { used += more.copy(text + used, sizeof(text) - used); };
  add("heddle: ");
  used += replay::DescribePresentRun(text + used, sizeof(text) - used);
  add("crashed");
  used += replay::DescribePresentCall(text + used, sizeof(text) - used);
  add(signal == SIGSEGV   ? " (segmentation fault: a wrong address)"
      : signal == SIGBUS  ? " (bus error: a wrong address)"
      : signal == SIGFPE  ? " (a division by zero, or an integer overflow of one)"
      : signal == SIGILL  ? " (an illegal instruction)"
      : signal == SIGABRT ? " (aborted)"
                          : "");
  if (unfinished) add(something_is_written ? "; what was complete before is there" : "; nothing was written");
  add("\n");
  WriteError(text, used);
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);
}

// Returns 0, or the errno of the write that failed.
int WriteAll(int file, std::string_view text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<size_t>(written);
  }
  return 0;
}

// One spelling for all names of a file, which need not exist.
std::filesystem::path OneSpelling(const std::string& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(LinkTarget(path), error);
  if (error) return path;
  std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : canonical;
}

// Whether two outputs go to one file, which need not exist yet; to devices and pipes several may write.
bool IsSameOutput(const std::string& one, const std::string& other) {
  if (one == "-" || other == "-") return one == other;
  std::error_code error;
  if (std::filesystem::exists(one, error) && !std::filesystem::is_regular_file(one, error)) return false;
  return std::filesystem::equivalent(one, other, error) || OneSpelling(one) == OneSpelling(other);
}

}  // namespace

namespace {

absl::Status WriteToStandardOutput(std::string_view bytes) {
  if (!bytes.empty()) something_is_written = 1;
  const int error = WriteAll(STDOUT_FILENO, bytes);
  if (error == EPIPE) standard_output_is_closed = true;
  if (error == 0 || error == EPIPE) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("cannot write to standard output: ", strerror(error)));
}

}  // namespace

absl::Status WriteStandardOutput(std::string_view text) {
  return IsPrintableText(text) ? WriteToStandardOutput(text) : WriteToStandardOutput(PrintableText(text));
}

bool StandardOutputIsClosed() { return standard_output_is_closed; }

void RemoveWhenInterrupted(const std::string& temporary) { Set(0, temporary); }

absl::Status CheckNotAnInput(const std::string& option, const std::string& output,
                             const std::vector<std::string>& inputs, const std::string& what) {
  std::error_code error;
  if (output == "-" || (std::filesystem::exists(output, error) && !std::filesystem::is_regular_file(output, error))) {
    return absl::OkStatus();
  }
  for (const std::string& input : inputs) {
    if (output == input || std::filesystem::equivalent(output, input, error)) {
      return absl::InvalidArgumentError(absl::StrCat(option, " ", output, ": is ", what));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDifferentOutputs(const std::vector<NamedOutput>& outputs) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    for (auto other = outputs.begin(); other != one; ++other) {
      if (one->path.empty() || other->path.empty() || !IsSameOutput(one->path, other->path)) continue;
      return absl::InvalidArgumentError(absl::StrCat(other->option, " and ", one->option, ": one of them goes to ",
                                                     one->path == "-" ? "standard output" : one->path));
    }
  }
  return absl::OkStatus();
}

bool IsInFolder(const std::string& path, const std::string& folder) {
  const std::filesystem::path relative = OneSpelling(path).lexically_relative(OneSpelling(folder));
  return !relative.empty() && *relative.begin() != "..";
}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  if (path == "-") return OutputFile(path, "", -1);
  if (path.empty()) return absl::InvalidArgumentError("the name of the output file is empty");
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is a folder, not a file"));
    if (!S_ISREG(info.st_mode)) {
      const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": cannot write: ", strerror(errno)));
      return OutputFile(path, "", file);
    }
  } else if (errno != ENOENT) {  // a circle of links, for one
    return absl::UnavailableError(absl::StrCat(path, ": cannot create the file: ", strerror(errno)));
  }
  // A symbolic link stays one: what it leads to is replaced, or made.
  const std::string target = LinkTarget(path);
  const std::string temporary = absl::StrCat(target, ".tmp.", getpid());
  if (temporary.size() >= PATH_MAX) return absl::InvalidArgumentError(absl::StrCat(path, ": the name is too long"));
  const BlockSignals block;
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": cannot create the file: ", strerror(errno)));
  RememberTemporary(temporary);
  return OutputFile(target, temporary, file);
}

OutputFile::OutputFile(std::string path, std::string temporary, int file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      file_(std::exchange(other.file_, -1)) {}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  ForgetTemporary(temporary_);
}

absl::Status OutputFile::Failed(const char* what) const {
  return absl::DataLossError(absl::StrCat(path_, ": ", what, ": ", strerror(errno), "; nothing was written"));
}

absl::Status OutputFile::Write(std::string_view text) {
  return is_standard_output() ? WriteStandardOutput(text) : WriteBytes(text);
}

absl::Status OutputFile::WriteBytes(std::string_view bytes) {
  if (is_standard_output()) return WriteToStandardOutput(bytes);
  if (temporary_.empty() && !bytes.empty()) something_is_written = 1;
  if (const int error = WriteAll(file_, bytes); error != 0) {
    errno = error;
    return Failed("cannot write");
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (is_standard_output()) return absl::OkStatus();
  // Pipes and devices cannot be synchronised, and need not be.
  if (!temporary_.empty() && fsync(file_) != 0) return Failed("cannot write");
  if (close(std::exchange(file_, -1)) != 0) return Failed("cannot write");
  if (temporary_.empty()) return absl::OkStatus();
  const BlockSignals block;
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return Failed("cannot rename the finished file");
  ForgetTemporary(temporary_);
  something_is_written = 1;
  temporary_.clear();
  return absl::OkStatus();
}

NoteInterrupts::NoteInterrupts() {
  noted_interrupt = 0;
  interrupts_are_noted = 1;
}

NoteInterrupts::~NoteInterrupts() { interrupts_are_noted = 0; }

int NoteInterrupts::status() const { return noted_interrupt == 0 ? 0 : 128 + noted_interrupt; }

void HandleSignals() {
  struct sigaction action = {};
  action.sa_handler = EndBySignal;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and background jobs of a script ignore some of these: leave that as it is.
    struct sigaction before;
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
#ifndef __SANITIZE_ADDRESS__  // which has handlers of its own
  // A policy that calls itself without end has used up the stack. (Of the first thread; others end without a word
  // then.)
  static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  struct sigaction crash = {};
  crash.sa_handler = ReportCrash;
  crash.sa_flags = SA_ONSTACK;
  if (sigaltstack(&alternative, nullptr) != 0) crash.sa_flags = 0;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &crash, nullptr);
#endif
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit on file sizes fails with an error that says so
}

}  // namespace heddle::tools
