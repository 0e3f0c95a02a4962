// Suites: read, found by name, and held to their rules.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_SUITE_FILE_H_
#define HEDDLE_TOOLS_STUDY_SUITE_SUITE_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/suite.pb.h"

namespace heddle::tools::suite {

// Where the suites are that come with Heddle: beside the installed program, else in the source tree.
std::string SuitesFolder();

// Paths of the suites in a folder, ascending; none if it is no folder.
std::vector<std::string> SuitesIn(const std::string& folder);

// Everything that is wrong with a suite, each with its place: names that are given twice or do not fit, licences and
// digests that are missing, unknown generators, data, placeholders and options, paths that leave their folders, regular
// expressions that are malformed, programs without a size. Empty = good.
std::vector<std::string> BrokenRules(const ::heddle::suite::v1::Suite& suite);

// Reads NAME of the suites' folder, or a file if it ends in .textproto. InvalidArgument, with file and line, for what
// is no such text or breaks a rule (the first ones are told); NotFound for what cannot be read.
absl::StatusOr<::heddle::suite::v1::Suite> ReadSuite(const std::string& name);

// The same without the rules, for who tells them all.
absl::StatusOr<::heddle::suite::v1::Suite> ParseSuite(const std::string& name);

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_SUITE_FILE_H_
