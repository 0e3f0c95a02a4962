// Intervals for people, and in results.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/engine/model_version.h"
#include "tools/console/table.h"
#include "tools/console/with_thousands.h"
#include "tools/show/run_labels.h"
#include "tools/study/correlate/hardware_interval.h"

namespace heddle::tools::correlate {
namespace {

std::string WholePerCent(double share) { return Decimal(100 * share, 0); }

uint64_t Cycles(uint64_t ours, double factor) {
  constexpr double kMost = 1e18;
  return static_cast<uint64_t>(std::llround(std::min(kMost, static_cast<double>(ours) * factor)));
}

std::string Head(const HardwareIntervals& intervals) {
  const hardware::v1::Errors& errors = intervals.errors();
  std::string text;
  if (!errors.made_up().empty()) {
    absl::StrAppend(&text, "THE NUMBERS OF THE CARD ARE MADE UP: ", errors.made_up(), "\n");
  }
  absl::StrAppend(&text, "On ", errors.card(), " (visit of ", errors.date(), "), with ",
                  WholePerCent(kIntervalConfidence), " % confidence, by the errors of other programs");
  if (errors.model_version() != replay::ModelVersion()) {
    absl::StrAppend(&text, " (measured with another version of the model, ", errors.model_version(), ")");
  }
  return absl::StrCat(text, ":\n");
}

nlohmann::ordered_json FactorJson(const FactorInterval& interval) {
  return {{"low", interval.factor.low},
          {"high", interval.factor.high},
          {"width", interval.factor.high - interval.factor.low},
          {"programs", interval.programs},
          {"held", interval.coverage.covered},
          {"left_out", interval.coverage.trials},
          {"coverage", {interval.coverage.probability.low, interval.coverage.probability.high}}};
}

}  // namespace

std::string FactorText(const FactorInterval& interval, const char* what) {
  const Coverage& coverage = interval.coverage;
  std::string text = absl::StrFormat("x %.3g to %.3g", interval.factor.low, interval.factor.high);
  if (coverage.trials == 0) return absl::StrCat(text, "; too few ", what, " to leave some out");
  return absl::StrCat(text, "; held for ", coverage.covered, " of ", coverage.trials, " ", what,
                      " that were left out (", WholePerCent(coverage.probability.low), " to ",
                      WholePerCent(coverage.probability.high), " % at ", WholePerCent(kIntervalConfidence),
                      " % confidence)");
}

std::string IntervalText(const HardwareIntervals& intervals, const std::vector<result::v1::Result>& results) {
  if (results.empty()) return "";
  const std::vector<Row> rows = GroupBySeeds(results);
  const Labels labels = LabelRuns(results, rows);
  const size_t baseline = Baseline(results, rows);
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    const result::v1::Result& run = results[rows[i].first];
    const std::optional<FactorInterval> cycles = intervals.Cycles(run);
    if (!cycles.has_value()) continue;
    absl::StrAppend(&text, "  cycles of ", labels.divergence[i], " with ", labels.scheduler[i], ": ",
                    WithThousands(Cycles(run.total().cycles(), cycles->factor.low)), " to ",
                    WithThousands(Cycles(run.total().cycles(), cycles->factor.high)), " (",
                    FactorText(*cycles, "programs"), ")\n");
  }
  const std::optional<FactorInterval> ratio = intervals.Ratio(results[rows[baseline].first]);
  if (ratio.has_value() && rows.size() > 1) {
    absl::StrAppend(&text, "  speed-ups: ", FactorText(*ratio, "pairs of programs"),
                    ",\n  as if the model erred for each policy by itself\n");
  }
  return text.empty() ? "" : absl::StrCat(Head(intervals), text);
}

void AddInterval(const HardwareIntervals& intervals, const result::v1::Result& result, nlohmann::ordered_json& json) {
  const std::optional<FactorInterval> cycles = intervals.Cycles(result);
  const std::optional<FactorInterval> ratio = intervals.Ratio(result);
  if (!cycles.has_value() && !ratio.has_value()) return;
  nlohmann::ordered_json interval = {{"card", intervals.errors().card()},
                                     {"date", intervals.errors().date()},
                                     {"confidence", kIntervalConfidence},
                                     {"errors_of_model", intervals.errors().model_version()}};
  if (!intervals.errors().made_up().empty()) interval["made_up"] = intervals.errors().made_up();
  if (cycles.has_value()) {
    interval["cycles"] = {Cycles(result.total().cycles(), cycles->factor.low),
                          Cycles(result.total().cycles(), cycles->factor.high)};
    interval["cycles_factor"] = FactorJson(*cycles);
  }
  if (ratio.has_value()) interval["ratio_factor"] = FactorJson(*ratio);
  json["hardware_interval"] = std::move(interval);
}

}  // namespace heddle::tools::correlate
