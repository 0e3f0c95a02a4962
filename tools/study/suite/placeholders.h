// {NAME} in the commands of a suite.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_PLACEHOLDERS_H_
#define HEDDLE_TOOLS_STUDY_SUITE_PLACEHOLDERS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/suite.pb.h"

namespace heddle::tools::suite {

// The names in braces of a text, in their order. InvalidArgument for a brace without its partner and an empty name.
absl::StatusOr<std::vector<std::string>> PlaceholdersOf(std::string_view text);

// Values by name.
class Placeholders {
 public:
  // Names that mean the same in every suite.
  static bool IsKnown(std::string_view name);

  void Set(const std::string& name, const std::string& value) { values_[name] = value; }
  // InvalidArgument for a name without a value, and what PlaceholdersOf refuses.
  absl::StatusOr<std::string> Expand(std::string_view text) const;
  // All arguments, and all values of the environment.
  absl::StatusOr<::heddle::suite::v1::Command> Expand(const ::heddle::suite::v1::Command& command) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_PLACEHOLDERS_H_
