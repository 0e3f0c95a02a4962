// Whether what a program gave is right.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_COMPARE_H_
#define HEDDLE_TOOLS_STUDY_SUITE_COMPARE_H_

#include <string>

#include "absl/status/status.h"
#include "proto/suite.pb.h"

namespace heddle::tools::suite {

// OK if the lines of `text` are as `check` has them; FailedPrecondition, in one line, if not.
absl::Status CheckLines(const ::heddle::suite::v1::Check& check, const std::string& text);

// OK if the contents are the same by the rules of `compare`; FailedPrecondition with the first difference and how many
// there are. Two empty sides, and numbers that are not finite, are a difference: they prove nothing.
absl::Status CompareContents(const ::heddle::suite::v1::Compare& compare, const std::string& given,
                             const std::string& right);

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_COMPARE_H_
