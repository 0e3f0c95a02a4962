// Suites and what came of them, for people.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_SUITE_TEXT_H_
#define HEDDLE_TOOLS_STUDY_SUITE_SUITE_TEXT_H_

#include <string>

#include "proto/suite.pb.h"

namespace heddle::tools::suite {

// A table of the programs, the logs of those that did not come out, and the counts.
std::string ResultText(const ::heddle::suite::v1::SuiteResult& result, const std::string& output);

// A table of a suite's programs: licence, sizes, check, faults.
std::string ProgramsText(const ::heddle::suite::v1::Suite& suite);

// A table of the generators of inputs and their parameters.
std::string GeneratorsText();

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_SUITE_TEXT_H_
