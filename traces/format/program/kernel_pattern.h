// Which kernels a person means: a regular expression on their names.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_KERNEL_PATTERN_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_KERNEL_PATTERN_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace re2 {
class RE2;
}

namespace heddle::trace {

// A POSIX extended regular expression that a name has to contain a match of. Names are long (template arguments) and
// expressions come from anywhere, so matching takes time and memory linear in the name's length, whatever the
// expression; there are therefore no back references, nor are there classes of equivalent characters ([[=a=]]).
class KernelPattern {
 public:
  // Matches every name.
  KernelPattern() = default;
  // The empty expression matches every name. InvalidArgument, with the expression and what is wrong with it, for one
  // that is malformed or would need more than a few megabytes.
  static absl::StatusOr<KernelPattern> Parse(const std::string& expression);

  bool Matches(std::string_view name) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;  // none matches everything
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_KERNEL_PATTERN_H_
