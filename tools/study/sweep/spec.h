// The text that a sweep is planned from.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_SPEC_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_SPEC_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/sweep.pb.h"
#include "tools/study/sweep/design.h"

namespace heddle::tools::sweep {

// One setting of a parameter.
struct ParameterLevel {
  std::string name;              // the value, or the level's name
  std::vector<std::string> set;  // PATH=VALUE; the path may be divergence.KEY and the like
};

struct SweepParameter {
  std::string name;
  std::vector<ParameterLevel> levels;
};

// A checked specification.
struct Spec {
  heddle::sweep::v1::Sweep sweep;  // as written, lists that were left out filled with what `heddle replay` takes
  std::string folder;              // that files are relative to
  std::vector<SweepParameter> parameters;
  DesignRows rows;  // of the parameters: which level each takes
};

// Reads and checks NAME.textproto. Traces and machines are not opened, and policies not looked up, yet. Refuses, with
// the line where there is one: what is no such text, lists with an entry twice, parameters without or with several
// kinds of values, empty or endless ranges, lists that do not fit the design, more than kMostPoints settings.
absl::StatusOr<Spec> ReadSpec(const std::string& path);

// A sweep with more points is refused: it is a slip of the pen, not a study.
inline constexpr uint64_t kMostPoints = 10'000'000;

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_SPEC_H_
