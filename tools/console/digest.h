// SHA-256 as text.
#ifndef HEDDLE_TOOLS_CONSOLE_DIGEST_H_
#define HEDDLE_TOOLS_CONSOLE_DIGEST_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace heddle::tools {

// Of a file's contents, read piece by piece. NotFound with the system's reason if it cannot be read.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);

// Whether `text` has the form of such a digest.
bool IsSha256(std::string_view text);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_DIGEST_H_
