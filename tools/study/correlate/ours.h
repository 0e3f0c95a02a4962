// Our side of a comparison.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_OURS_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_OURS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "tools/study/correlate/term.h"
#include "traces/format/program/program.h"

namespace heddle::tools::correlate {

inline constexpr double kPerCent = 100;

// A launch that was replayed with ReplayOptions::metrics.per_instruction.
struct OurLaunch {
  const result::v1::LaunchResult& result;
  const trace::Program& program;
  const machine::v1::Machine& machine;
};

// What the launch adds to the number `name`, which is `ours` of a comparison. NotFound says what the replay or the
// machine lacks; InvalidArgument: there is no such name.
absl::StatusOr<Term> OurTerm(const std::string& name, const OurLaunch& launch);

// All names, ascending.
std::vector<std::string> OurNames();

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_OURS_H_
