// What a card would take, as far as the errors of a measured machine tell: intervals on cycles and on ratios of cycles.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_HARDWARE_INTERVAL_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_HARDWARE_INTERVAL_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hardware.pb.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "tools/study/statistics/intervals.h"

namespace heddle::tools::correlate {

// Of all intervals.
inline constexpr double kIntervalConfidence = 0.9;

// The policies of a run with the value of every parameter, NAME or NAME:key=value,...
struct RunPolicies {
  std::string divergence, scheduler, dispatch, fetch;
  std::string memory;  // empty: the default, or no data cache
  bool operator==(const RunPolicies&) const = default;
};
RunPolicies PoliciesOf(const result::v1::Result& result);

// By what a number of ours has to be multiplied to be the card's, and how often such an interval held.
struct FactorInterval {
  Interval factor;
  Coverage coverage;    // of programs, or of pairs of programs, that were left out
  size_t programs = 0;  // whose errors it is made of
};

// The errors of one measured machine. A program is a workload; if several of its sizes were measured, its error is the
// mean of their logarithms.
class HardwareIntervals {
 public:
  // `errors` are of exactly the machine that runs have.
  explicit HardwareIntervals(hardware::v1::Errors errors);

  // For the cycles of a run with the policies of the measurement; the errors of the run's own program are left out. The
  // logarithm of the factor lies within Student's prediction interval of the others' errors. Nothing for other
  // policies, which no card runs, and for fewer than three programs.
  std::optional<FactorInterval> Cycles(const result::v1::Result& result) const;
  // The same for a program that was not measured.
  std::optional<FactorInterval> AnyCycles() const;
  // For a ratio of two runs of one program on this machine. The errors of both are taken as independent draws: nothing
  // that can be measured says how much of them two policies share, and if they share some, the interval is too wide.
  std::optional<FactorInterval> Ratio(const result::v1::Result& result) const;
  std::optional<FactorInterval> AnyRatio() const;
  // For a ratio of cycles on this machine by cycles on the other one, measured on another card: the differences of the
  // errors of programs that both have.
  std::optional<FactorInterval> RatioTo(const HardwareIntervals& other) const;

  const hardware::v1::Errors& errors() const { return errors_; }

 private:
  // By workload.
  using Programs = std::vector<std::pair<std::string, double>>;
  Programs Without(const result::v1::Result& result) const;

  hardware::v1::Errors errors_;
  Programs programs_;
};

// The intervals for runs on `machine`, which is called `name` on the command line (a name or a file). NotFound: it was
// not measured. FailedPrecondition: it was, but with another value of some field. Other errors: its file is damaged.
absl::StatusOr<HardwareIntervals> IntervalsFor(const std::string& name, const machine::v1::Machine& machine);

// What `heddle replay` tells below the table of one trace: the card, and for every run what is known. Empty if no
// interval can be told.
std::string IntervalText(const HardwareIntervals& intervals, const std::vector<result::v1::Result>& results);

// Adds `hardware_interval` to a run's JSON, if there is one.
void AddInterval(const HardwareIntervals& intervals, const result::v1::Result& result, nlohmann::ordered_json& json);

// "x 0.81 to 1.24; held for 28 of 31 programs that were left out (77 to 97 % at 90 % confidence)".
std::string FactorText(const FactorInterval& interval, const char* what);

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_HARDWARE_INTERVAL_H_
