#include "tools/study/sweep/effects.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "replay/engine/configuration.h"
#include "tools/console/table.h"
#include "tools/study/sweep/collect.h"
#include "tools/study/sweep/design.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::tools::sweep {
namespace {

// What is the same in all runs of a group, as in the table's first columns.
using GroupKey = std::vector<std::string>;
constexpr size_t kLabels = 9;  // trace, kernels, machine, divergence, scheduler, dispatch, fetch, memory, seed
constexpr size_t kDivergenceLabel = 3;
constexpr size_t kFirstLabelColumn = 1;  // behind the key

size_t RowNumber(const DesignRows& rows, const std::vector<size_t>& row) {
  return static_cast<size_t>(std::find(rows.begin(), rows.end(), row) - rows.begin());
}

// By group: the metric of each run of the design; NaN where there is no result.
struct Responses {
  std::vector<GroupKey> order;
  std::map<GroupKey, std::vector<double>> values;
};

absl::StatusOr<Responses> ReadResponses(const Plan& plan, const ResultTable& table, const DesignRows& rows,
                                        const std::string& metric) {
  std::vector<std::string> known;
  size_t column = table.columns.size();
  for (size_t i = kFirstLabelColumn + kLabels + plan.parameters.size(); i < table.columns.size(); ++i) {
    if (table.columns[i].name == metric) column = i;
    known.push_back(table.columns[i].name);
  }
  if (column == table.columns.size()) {
    return absl::InvalidArgumentError(absl::StrCat("--metric: ", UnknownNameMessage("metric", metric, known)));
  }
  Responses responses;
  for (const std::vector<std::string>& cells : table.rows) {
    const auto label = cells.begin() + kFirstLabelColumn;
    GroupKey group(label, label + kLabels);
    std::vector<size_t> row;
    for (size_t p = 0; p < plan.parameters.size(); ++p) {
      const std::vector<std::string>& levels = plan.parameters[p].levels;
      row.push_back(
          static_cast<size_t>(std::find(levels.begin(), levels.end(), *(label + kLabels + p)) - levels.begin()));
    }
    const size_t run = RowNumber(rows, row);
    if (run == rows.size()) return absl::DataLossError(absl::StrCat("point ", cells[0], " is no run of the design"));
    auto [it, added] = responses.values.try_emplace(group, rows.size(), std::nan(""));
    if (added) responses.order.push_back(group);
    const std::string& cell = cells[column];
    if (!cell.empty()) it->second[run] = strtod(cell.c_str(), nullptr);
  }
  return responses;
}

bool Complete(const std::vector<double>& values) {
  return std::ranges::none_of(values, [](double value) { return std::isnan(value); });
}

void Rank(EffectGroup& group) {
  std::vector<size_t> order(group.effects.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t p) { return std::abs(group.effects[p]); });
  group.ranks.assign(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) group.ranks[order[i]] = i + 1;
}

// Four significant digits, without an exponent for numbers of common size.
std::string Number(double value) {
  char text[40];
  snprintf(text, sizeof(text), std::abs(value) >= 1e4 && std::abs(value) < 1e15 ? "%.0f" : "%.4g", value);
  return text;
}

}  // namespace

absl::StatusOr<EffectsReport> ComputeEffects(const SweepFolder& folder, const EffectsOptions& options) {
  const Plan& plan = folder.plan();
  if (!plan.design.starts_with("PLACKETT_BURMAN")) {
    return absl::InvalidArgumentError(absl::StrCat("effects are those of a Plackett-Burman design; this sweep is ",
                                                   plan.design, ": plan one with design: PLACKETT_BURMAN"));
  }
  DesignRows rows = PlackettBurman(plan.parameters.size());
  if (plan.design == "PLACKETT_BURMAN_FOLDOVER") rows = WithFoldover(std::move(rows));
  const absl::StatusOr<ResultTable> table = Collect(folder, {});
  if (!table.ok()) return table.status();
  if (table->rows.empty()) return absl::FailedPreconditionError(absl::StrCat(folder.path(), ": has no results yet"));
  HEDDLE_ASSIGN_OR_RETURN(auto responses, ReadResponses(plan, *table, rows, options.metric));

  EffectsReport report;
  report.response = options.metric;
  if (!options.baseline.empty()) {
    report.response = absl::StrCat(options.metric, " of ", options.baseline, " / ", options.metric);
  }
  for (const PlannedParameter& parameter : plan.parameters) report.parameters.push_back(parameter.name);
  report.rank_sums.assign(plan.parameters.size(), 0);
  bool baseline_seen = options.baseline.empty();
  for (const GroupKey& key : responses.order) {
    std::vector<double> values = responses.values.at(key);
    if (!options.baseline.empty()) {
      if (key[kDivergenceLabel] == options.baseline) {
        baseline_seen = true;
        continue;
      }
      GroupKey base = key;
      base[kDivergenceLabel] = options.baseline;
      const auto it = responses.values.find(base);
      for (size_t run = 0; run < values.size(); ++run) {
        const double of_base = it == responses.values.end() ? std::nan("") : it->second[run];
        values[run] = values[run] == 0 ? std::nan("") : of_base / values[run];
      }
    }
    if (!Complete(values)) {
      ++report.incomplete;
      continue;
    }
    EffectGroup& group = report.groups.emplace_back();
    group = {key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7], 0, values, 0, Effects(rows, values), {}};
    std::from_chars(key[8].data(), key[8].data() + key[8].size(), group.seed);
    group.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    Rank(group);
    for (size_t p = 0; p < group.ranks.size(); ++p) report.rank_sums[p] += group.ranks[p];
  }
  if (!baseline_seen) {
    return absl::InvalidArgumentError(
        absl::StrCat("--baseline ", options.baseline, ": the sweep has no results of that divergence policy"));
  }
  if (report.groups.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder.path(), ": no design has all its ", rows.size(),
                     " results yet, or the metric is not defined for them; see `heddle sweep status`"));
  }
  return report;
}

std::string EffectsText(const EffectsReport& report) {
  std::string text =
      absl::StrCat("Effects on ", report.response, ": mean at the high value less mean at the low value\n");
  for (const EffectGroup& group : report.groups) {
    absl::StrAppend(&text, "\n", group.trace, group.kernels.empty() ? "" : absl::StrCat(" (", group.kernels, ")"), ", ",
                    group.machine, ", ", group.divergence, ", ", group.scheduler, ", ", group.dispatch, ", ",
                    group.fetch, group.memory == replay::Configuration().memory.name ? "" : ", " + group.memory,
                    group.seed == 0 ? "" : absl::StrCat(", seed ", group.seed), ": mean ", Number(group.mean), "\n");
    Table table({{"parameter", Table::Align::kLeft}, {"effect"}, {"of the mean"}, {"rank"}});
    for (size_t p = 0; p < report.parameters.size(); ++p) {
      const std::string share = group.mean == 0 ? "-" : Decimal(100 * group.effects[p] / group.mean, 2) + " %";
      table.AddRow({report.parameters[p], Number(group.effects[p]), share, absl::StrCat(group.ranks[p])});
    }
    text += table.Text(2);
  }
  if (report.groups.size() > 1) {
    absl::StrAppend(&text, "\nAll ", report.groups.size(), " together, by the sum of ranks:\n");
    std::vector<size_t> order(report.parameters.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t p) { return report.rank_sums[p]; });
    Table table({{"parameter", Table::Align::kLeft}, {"sum of ranks"}});
    for (const size_t p : order) table.AddRow({report.parameters[p], absl::StrCat(report.rank_sums[p])});
    text += table.Text(2);
  }
  if (report.incomplete != 0) {
    absl::StrAppend(&text, "\nLeft out: ", report.incomplete, " designs that lack a result.\n");
  }
  return text;
}

nlohmann::ordered_json EffectsJson(const EffectsReport& report) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const EffectGroup& group : report.groups) {
    nlohmann::ordered_json effects = nlohmann::ordered_json::array();
    for (size_t p = 0; p < report.parameters.size(); ++p) {
      effects.push_back({{"parameter", report.parameters[p]}, {"effect", group.effects[p]}, {"rank", group.ranks[p]}});
    }
    groups.push_back({{"trace", group.trace},
                      {"kernels", group.kernels},
                      {"machine", group.machine},
                      {"divergence", group.divergence},
                      {"scheduler", group.scheduler},
                      {"dispatch", group.dispatch},
                      {"fetch", group.fetch},
                      {"memory", group.memory},
                      {"seed", group.seed},
                      {"responses", group.responses},
                      {"mean", group.mean},
                      {"effects", effects}});
  }
  nlohmann::ordered_json sums = nlohmann::ordered_json::object();
  for (size_t p = 0; p < report.parameters.size(); ++p) sums[report.parameters[p]] = report.rank_sums[p];
  return {{"schema", 1},
          {"response", report.response},
          {"designs", groups},
          {"incomplete", report.incomplete},
          {"rank_sums", sums}};
}

}  // namespace heddle::tools::sweep
