#include "tools/study/correlate/hardware_interval.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/configuration.h"
#include "tools/inputs/hardware_files.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::correlate {
namespace {

std::string Canonical(const result::v1::PolicyChoice& policy) {
  std::map<std::string, std::string> sorted(policy.parameter().begin(), policy.parameter().end());
  std::vector<std::string> parts;
  for (const auto& [key, value] : sorted) parts.push_back(absl::StrCat(key, "=", value));
  return parts.empty() ? policy.name() : absl::StrCat(policy.name(), ":", absl::StrJoin(parts, ","));
}

// Of what a number has to be multiplied with, if logarithms of ours by the card's lie in `errors`.
Interval Factors(const Interval& errors) { return {std::exp(-errors.high), std::exp(-errors.low)}; }

std::vector<double> Values(const std::vector<std::pair<std::string, double>>& programs) {
  std::vector<double> values;
  values.reserve(programs.size());
  for (const auto& [name, value] : programs) values.push_back(value);
  return values;
}

std::optional<FactorInterval> OfOne(const std::vector<double>& errors) {
  const std::optional<Interval> interval = PredictionInterval(errors, kIntervalConfidence);
  if (!interval.has_value()) return std::nullopt;
  return FactorInterval{Factors(*interval), LeaveOneOut(errors, kIntervalConfidence), errors.size()};
}

std::optional<FactorInterval> OfDifference(const std::vector<double>& errors) {
  const std::optional<Interval> interval = DifferenceInterval(errors, kIntervalConfidence);
  if (!interval.has_value()) return std::nullopt;
  return FactorInterval{Factors(*interval), LeavePairsOut(errors, kIntervalConfidence), errors.size()};
}

}  // namespace

RunPolicies PoliciesOf(const result::v1::Result& result) {
  return {Canonical(result.divergence()), Canonical(result.scheduler()), Canonical(result.dispatch()),
          result.has_fetch() ? Canonical(result.fetch()) : "",
          result.memory().name() == replay::Configuration().memory.name ? "" : Canonical(result.memory())};
}

HardwareIntervals::HardwareIntervals(hardware::v1::Errors errors) : errors_(std::move(errors)) {
  std::map<std::string, std::vector<double>> by_workload;
  for (const hardware::v1::ProgramError& program : errors_.program()) {
    by_workload[program.workload()].push_back(program.log_ratio());
  }
  for (const auto& [workload, values] : by_workload) {
    double sum = 0;
    for (const double value : values) sum += value;
    programs_.emplace_back(workload, sum / static_cast<double>(values.size()));
  }
}

HardwareIntervals::Programs HardwareIntervals::Without(const result::v1::Result& result) const {
  const std::string stem = std::filesystem::path(result.provenance().trace_name()).stem().string();
  std::set<std::string> own;
  for (const hardware::v1::ProgramError& program : errors_.program()) {
    const bool same_name = stem == program.workload() || stem.starts_with(program.workload() + "-");
    if (program.trace_digest() == result.provenance().trace_digest() || same_name) own.insert(program.workload());
  }
  Programs others;
  for (const auto& program : programs_) {
    if (!own.contains(program.first)) others.push_back(program);
  }
  return others;
}

std::optional<FactorInterval> HardwareIntervals::Cycles(const result::v1::Result& result) const {
  const RunPolicies measured{errors_.divergence(), errors_.scheduler(), errors_.dispatch(), errors_.fetch(),
                             errors_.memory()};
  if (PoliciesOf(result) != measured) return std::nullopt;
  return OfOne(Values(Without(result)));
}

std::optional<FactorInterval> HardwareIntervals::AnyCycles() const { return OfOne(Values(programs_)); }

std::optional<FactorInterval> HardwareIntervals::Ratio(const result::v1::Result& result) const {
  return OfDifference(Values(Without(result)));
}

std::optional<FactorInterval> HardwareIntervals::AnyRatio() const { return OfDifference(Values(programs_)); }

std::optional<FactorInterval> HardwareIntervals::RatioTo(const HardwareIntervals& other) const {
  std::vector<double> differences;
  for (const auto& [name, error] : programs_) {
    const auto found = std::ranges::find(other.programs_, name, &std::pair<std::string, double>::first);
    if (found != other.programs_.end()) differences.push_back(error - found->second);
  }
  return OfOne(differences);
}

absl::StatusOr<HardwareIntervals> IntervalsFor(const std::string& name, const machine::v1::Machine& machine) {
  const std::string file = MachineRecordFile(name);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return absl::NotFoundError(absl::StrCat("machine ", machine.name(), " was not measured beside a card"));
  }
  HEDDLE_ASSIGN_OR_RETURN(const hardware::v1::MachineRecord record, ReadMachineRecord(file));
  if (!record.has_errors()) {
    return absl::NotFoundError(absl::StrCat("machine ", machine.name(), " was not measured beside a card"));
  }
  if (record.machine_digest() != MachineDigest(machine)) {
    return absl::FailedPreconditionError(absl::StrCat("no interval that holds the hardware: machine ", machine.name(),
                                                      " was measured with another value of some field"));
  }
  return HardwareIntervals(record.errors());
}

}  // namespace heddle::tools::correlate
