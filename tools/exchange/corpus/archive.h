// A corpus in one file.
#ifndef HEDDLE_TOOLS_EXCHANGE_CORPUS_ARCHIVE_H_
#define HEDDLE_TOOLS_EXCHANGE_CORPUS_ARCHIVE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace heddle::tools::corpus {

// Writes all files of `folder` below the name `top` as a tar (POSIX pax where ustar does not do), in the order of their
// paths, without times, owners, or rights of its own: the same files give the same bytes. The name appears when the
// file is complete.
absl::Status PackTar(const std::string& folder, const std::string& top, const std::string& archive);

// Bounds on what an archive may unpack to.
struct UnpackLimits {
  uint64_t bytes = uint64_t{1} << 40;
  uint64_t files = 1'000'000;
  // Bytes per byte of the archive, beyond the first MiB. Traces are compressed already: honest archives stay near 1.
  uint64_t ratio = 100;
};

// Unpacks a tar (also compressed by gzip, xz, bzip2 or Zstandard) whose entries all lie below one folder into `folder`,
// without that folder's name. Refuses, and leaves what was written so far to the caller: paths that leave the folder,
// links and special files, a path twice, more than the limits, damage.
absl::Status UnpackTar(const std::string& archive, const std::string& folder, const UnpackLimits& limits);

}  // namespace heddle::tools::corpus

#endif  // HEDDLE_TOOLS_EXCHANGE_CORPUS_ARCHIVE_H_
