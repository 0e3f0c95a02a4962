#include "traces/format/container/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::trace {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(int fd, uint64_t size) : fd_(fd), size_(size) {}
  ~FileSource() override { close(fd_); }
  uint64_t size() const override { return size_; }
  absl::Status Read(uint64_t offset, std::span<char> out) const override {
    size_t done = 0;
    while (done < out.size()) {
      ssize_t n = pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return absl::UnavailableError(absl::StrCat("cannot read: ", strerror(errno)));
      if (n == 0) return absl::DataLossError("the file became shorter while it was read");
      done += static_cast<size_t>(n);
    }
    return absl::OkStatus();
  }

 private:
  int fd_;
  uint64_t size_;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  absl::Status Read(uint64_t offset, std::span<char> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      return absl::DataLossError("read behind the end of the bytes");
    }
    if (!out.empty()) memcpy(out.data(), bytes_.data() + offset, out.size());
    return absl::OkStatus();
  }

 private:
  std::string bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe by mistake must not wait for a writer.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    std::string message = absl::StrCat("cannot open ", path, ": ", strerror(errno));
    return errno == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
  }
  struct stat info{};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat("cannot open ", path, ": a trace must be a regular file"));
  }
  return std::make_unique<FileSource>(fd, static_cast<uint64_t>(info.st_size));
}

std::unique_ptr<ByteSource> FromMemory(std::string bytes) { return std::make_unique<MemorySource>(std::move(bytes)); }

}  // namespace heddle::trace
