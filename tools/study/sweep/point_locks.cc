#include "tools/study/sweep/point_locks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::tools::sweep {
namespace {

// The byte of a key: its first 60 bits. Two keys that share one only wait for each other.
struct flock ByteOf(std::string_view key, short type) {
  uint64_t number = 0;
  std::from_chars(key.data(), key.data() + 15, number, 16);
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(number);
  lock.l_len = 1;
  return lock;
}

}  // namespace

absl::StatusOr<PointLocks> PointLocks::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": cannot create the file: ", strerror(errno)));
  return PointLocks(file);
}

PointLocks::PointLocks(PointLocks&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

PointLocks::~PointLocks() {
  if (file_ >= 0) close(file_);
}

PointLocks::Answer PointLocks::Take(std::string_view key) {
  struct flock lock = ByteOf(key, F_WRLCK);
  if (fcntl(file_, F_OFD_SETLK, &lock) == 0) return Answer::kTaken;
  return errno == EAGAIN || errno == EACCES ? Answer::kBusy : Answer::kUnsupported;
}

void PointLocks::Release(std::string_view key) {
  struct flock lock = ByteOf(key, F_UNLCK);
  fcntl(file_, F_OFD_SETLK, &lock);
}

bool PointLocks::IsBusy(std::string_view key) const {
  struct flock lock = ByteOf(key, F_WRLCK);
  return fcntl(file_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace heddle::tools::sweep
