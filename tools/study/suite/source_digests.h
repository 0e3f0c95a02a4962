// Whether sources are those that a suite was written for.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_SOURCE_DIGESTS_H_
#define HEDDLE_TOOLS_STUDY_SUITE_SOURCE_DIGESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/suite.pb.h"

namespace heddle::tools::suite {

// A line for each program and reference whose sources are not there or have another digest, with the one they have, and
// for each input of the sources. NotFound if `source` is no folder.
absl::StatusOr<std::vector<std::string>> DifferingSources(const ::heddle::suite::v1::Suite& suite,
                                                          const std::string& source);

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_SOURCE_DIGESTS_H_
