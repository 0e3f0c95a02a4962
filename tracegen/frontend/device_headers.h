// Where the project's own device headers are.
#ifndef HEDDLE_TRACEGEN_FRONTEND_DEVICE_HEADERS_H_
#define HEDDLE_TRACEGEN_FRONTEND_DEVICE_HEADERS_H_

#include <string>

#include "absl/status/statusor.h"

namespace heddle::tracegen {

// The folder that holds `language` ("cuda" or "opencl") headers. Looked for in this order: the environment variable
// HEDDLE_INCLUDE_DIR, the installation next to the running program (../share/heddle/include), the source tree that the
// program was built from. Errors: none of them has it.
absl::StatusOr<std::string> FindDeviceHeaders(const std::string& language);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_DEVICE_HEADERS_H_
