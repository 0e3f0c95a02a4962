// What a new trace may take the place of.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_REPLACEABLE_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_REPLACEABLE_H_

#include <string>

#include "absl/status/status.h"

namespace heddle::trace {

// Whether a trace may be written to `path`: nothing is there, or an empty file, or a trace, which may be damaged or of
// another version. InvalidArgument otherwise, with what to do: a slip of the pen (-o app -- ./app) must not cost a file
// that has nothing to do with us. Reads the start of the file only.
absl::Status CheckReplaceable(const std::string& path);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_REPLACEABLE_H_
