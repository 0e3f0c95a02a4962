#include "tools/console/digest.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "traces/base/sha256.h"

namespace heddle::tools {

absl::StatusOr<std::string> Sha256OfFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", strerror(errno)));
  Sha256 digest;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      close(file);
      return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", strerror(error)));
    }
    if (got == 0) break;
    digest.Update(buffer.data(), static_cast<size_t>(got));
  }
  close(file);
  return absl::BytesToHexString(digest.Finish());
}

bool IsSha256(std::string_view text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace heddle::tools
