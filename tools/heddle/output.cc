#include "tools/heddle/output.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::tools {
namespace {

// Read by the signal handler: the temporary file to remove, or empty. Written while signals are blocked.
char temporary_to_remove[PATH_MAX] = "";

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

void RememberTemporary(const std::string& path) {
  const BlockSignals block;
  strncpy(temporary_to_remove, path.c_str(), sizeof(temporary_to_remove) - 1);
}

// Only calls that are allowed in a signal handler.
void EndBySignal(int signal) {
  const bool unfinished = temporary_to_remove[0] != '\0';
  if (unfinished) unlink(temporary_to_remove);
  const char* message = unfinished ? "\nheddle: interrupted; nothing was written\n" : "\nheddle: interrupted\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message, strlen(message));
  _exit(128 + signal);
}

// Returns 0, or the errno of the write that failed.
int WriteAll(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<size_t>(written);
  }
  return 0;
}

}  // namespace

absl::Status WriteStandardOutput(const std::string& text) {
  const int error = WriteAll(STDOUT_FILENO, text);
  if (error == EPIPE) standard_output_is_closed = true;
  if (error == 0 || error == EPIPE) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("cannot write to standard output: ", strerror(error)));
}

bool StandardOutputIsClosed() { return standard_output_is_closed; }

void RemoveWhenInterrupted(const std::string& temporary) { RememberTemporary(temporary); }

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  if (path == "-") return OutputFile(path, "", -1);
  struct stat info;
  std::string target = path;
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is a folder, not a file"));
    if (!S_ISREG(info.st_mode)) {
      const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": cannot write: ", strerror(errno)));
      return OutputFile(path, "", file);
    }
    // A symbolic link stays one: what it leads to is replaced.
    if (char real[PATH_MAX]; realpath(path.c_str(), real) != nullptr) target = real;
  }
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
  RememberTemporary("");
}

absl::Status OutputFile::Failed(const char* what) const {
  return absl::DataLossError(absl::StrCat(path_, ": ", what, ": ", strerror(errno), "; nothing was written"));
}

absl::Status OutputFile::Write(const std::string& text) {
  if (is_standard_output()) return WriteStandardOutput(text);
  if (const int error = WriteAll(file_, text); error != 0) {
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
  temporary_.clear();
  RememberTemporary("");
  return absl::OkStatus();
}

void HandleSignals() {
  struct sigaction action = {};
  action.sa_handler = EndBySignal;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and background jobs of a script ignore some of these: leave that as it is.
    struct sigaction before;
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit on file sizes fails with an error that says so
}

}  // namespace heddle::tools
