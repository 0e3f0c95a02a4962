#include "tools/study/correlate/card.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/study/statistics/intervals.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::correlate {
namespace {

constexpr char kProfiledTime[] = "gpu__time_duration.sum";  // in nanoseconds
constexpr double kNanosecondsPerMicrosecond = 1000;

absl::StatusOr<double> Value(const CardCounters& counters, const std::string& name) {
  const auto found = counters.find(name);
  if (found != counters.end()) return found->second;
  return absl::NotFoundError(absl::StrCat(name, " was not measured"));
}

absl::StatusOr<double> Sum(const CardCounters& counters, const std::vector<std::string>& names) {
  double sum = 0;
  for (const std::string& name : names) {
    HEDDLE_ASSIGN_OR_RETURN(const double value, Value(counters, name));
    sum += value;
  }
  return sum;
}

absl::StatusOr<double> Extreme(const CardFormula& formula, const CardCounters& counters) {
  std::vector<double> values;
  for (const std::string& name : formula.metrics) {
    HEDDLE_ASSIGN_OR_RETURN(const double value, Value(counters, name));
    values.push_back(value);
  }
  return formula.kind == CardFormula::Kind::kSmallest ? *std::ranges::min_element(values)
                                                      : *std::ranges::max_element(values);
}

}  // namespace

CardCounters CountersOf(const hardware::v1::Launch& launch) {
  CardCounters counters;
  for (const hardware::v1::Counter& counter : launch.counter()) {
    const std::optional<double> median = Median({counter.value().begin(), counter.value().end()});
    if (median.has_value()) counters.emplace(counter.name(), *median);
  }
  return counters;
}

absl::StatusOr<Term> CardTerm(const CardFormula& formula, const CardCounters& counters) {
  if (formula.kind != CardFormula::Kind::kQuotient) {
    HEDDLE_ASSIGN_OR_RETURN(const double extreme, Extreme(formula, counters));
    return Term{extreme, std::nullopt};
  }
  Term term;
  HEDDLE_ASSIGN_OR_RETURN(term.over, Sum(counters, formula.metrics));
  term.over *= formula.scale;
  if (!formula.weight.empty()) {
    HEDDLE_ASSIGN_OR_RETURN(const double weight, Value(counters, formula.weight));
    term.over *= weight;
    term.by = weight;
  } else if (!formula.over.empty()) {
    HEDDLE_ASSIGN_OR_RETURN(term.by, Sum(counters, formula.over));
  }
  return term;
}

std::optional<double> Microseconds(const hardware::v1::Launch& launch) {
  if (const auto timed = Median({launch.microseconds().begin(), launch.microseconds().end()})) return timed;
  const CardCounters counters = CountersOf(launch);
  const auto profiled = counters.find(kProfiledTime);
  if (profiled == counters.end()) return std::nullopt;
  return profiled->second / kNanosecondsPerMicrosecond;
}

}  // namespace heddle::tools::correlate
