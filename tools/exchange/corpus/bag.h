// A BagIt bag (RFC 8493) on disk: payload in data/, and lists of SHA-256 digests of everything.
#ifndef HEDDLE_TOOLS_EXCHANGE_CORPUS_BAG_H_
#define HEDDLE_TOOLS_EXCHANGE_CORPUS_BAG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::tools::corpus {

// Whether a path from a file that others wrote stays in the folder it is used in: relative, with '/' between names, no
// name empty, "." or "..", no control character or backslash, at most 1,000 bytes. The message says what is wrong.
absl::Status CheckPath(const std::string& path);

// Whether a name of files and corpora that we make is portable, and an identifier of an RO-Crate as it stands: letters,
// digits, '.', '_', '-', '+', and '/' between names.
absl::Status CheckPortable(const std::string& path);

// All regular files below a folder, as paths from it, ascending. Refuses links, devices and pipes: a bag that is handed
// on holds what it says, not what is elsewhere.
absl::StatusOr<std::vector<std::string>> FilesBelow(const std::string& folder);

// The whole of a text file of the bag, at most 64 MiB.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// By path: digest in hexadecimal.
using Manifest = std::map<std::string, std::string>;

// Reads "DIGEST  PATH" lines. Refuses other lines, paths that leave the folder, paths given twice.
absl::StatusOr<Manifest> ReadManifest(const std::string& path);

// Writes bagit.txt, bag-info.txt (with Payload-Oxum and the given further lines), manifest-sha256.txt and
// tagmanifest-sha256.txt for what is in data/. `sha256sum -c manifest-sha256.txt` checks it as well.
absl::Status SealBag(const std::string& folder, const std::vector<std::string>& info);

// Everything a bag promises: version, no file that is missing, changed, or unlisted, the payload's size. One line per
// problem; empty = good. Only what cannot be read at all is an error.
absl::StatusOr<std::vector<std::string>> CheckBag(const std::string& folder);

// Copies a file over one that may be there. The error names the file and the system's reason.
absl::Status CopyFile(const std::string& from, const std::string& to);

}  // namespace heddle::tools::corpus

#endif  // HEDDLE_TOOLS_EXCHANGE_CORPUS_BAG_H_
