// Policies from shared libraries.
#ifndef HEDDLE_TOOLS_HEDDLE_POLICY_LIBRARY_H_
#define HEDDLE_TOOLS_HEDDLE_POLICY_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace heddle::tools {

// Loads the libraries for the rest of the program; their policies register themselves. They must have been compiled
// with the headers and the compiler of this program. Errors: InvalidArgument if a file cannot be loaded, or brings no
// policy.
absl::Status LoadPolicyLibraries(const std::vector<std::string>& paths);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_POLICY_LIBRARY_H_
