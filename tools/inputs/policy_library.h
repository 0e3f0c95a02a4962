// Policies from shared libraries.
#ifndef HEDDLE_TOOLS_INPUTS_POLICY_LIBRARY_H_
#define HEDDLE_TOOLS_INPUTS_POLICY_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace CLI {
class App;
}

namespace heddle::tools {

// Adds --policy-library, which may be repeated, to a command.
void AddPolicyLibraryOption(CLI::App& command, std::vector<std::string>& paths);

// Loads the libraries for the rest of the program; their policies register themselves. They must have been compiled
// with the headers and the compiler of this program. Errors: InvalidArgument if a file cannot be loaded, was compiled
// with other headers, or brings no policy.
absl::Status LoadPolicyLibraries(const std::vector<std::string>& paths);

// A library that a sweep was planned with.
struct NamedLibrary {
  std::string path;
  std::string digest;
};
struct FoundLibrary {
  std::string path;
  bool loaded = false;  // with --policy-library, from `path`
};
// Where `libraries` are, in their order: the file that is loaded, else the one that is named. Only reads them: a sweep
// that comes from elsewhere names code which nobody here has asked for. InvalidArgument, with `who` at its beginning:
// one is not there, or is another file than then; or another library is loaded.
absl::StatusOr<std::vector<FoundLibrary>> FindLibraries(const std::string& who,
                                                        const std::vector<NamedLibrary>& libraries);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_POLICY_LIBRARY_H_
