// A card's side of a comparison.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_CARD_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_CARD_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/hardware.pb.h"
#include "tools/study/correlate/ladder.h"
#include "tools/study/correlate/term.h"

namespace heddle::tools::correlate {

// The counters of a launch by name: of each the median of its repetitions. Counters without a value are left out.
using CardCounters = std::map<std::string, double, std::less<>>;
CardCounters CountersOf(const hardware::v1::Launch& launch);

// What the launch adds; for the smallest and the largest of several counters, that one. NotFound names the first
// counter that was not measured.
absl::StatusOr<Term> CardTerm(const CardFormula& formula, const CardCounters& counters);

// The time of the launch in microseconds: the median of the timed repetitions without a profiler, else the profiler's.
// Nothing if neither was measured.
std::optional<double> Microseconds(const hardware::v1::Launch& launch);

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_CARD_H_
