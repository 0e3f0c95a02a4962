// Files that are compressed by gzip.
#ifndef HEDDLE_TOOLS_INPUTS_PACKED_FILE_H_
#define HEDDLE_TOOLS_INPUTS_PACKED_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace heddle::tools {

// The contents of a file that gzip made, given the bytes of that file. InvalidArgument: it is not one, it is cut short
// or damaged, or has more than `most_bytes` when it is unpacked. No more than that is ever held.
absl::StatusOr<std::string> Unpack(const std::string& packed, uint64_t most_bytes);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_PACKED_FILE_H_
