#include "tools/heddle/replay_checks.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "tools/show/run_labels.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

std::string Share(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return absl::StrCat(Decimal(100.0 * static_cast<double>(part) / static_cast<double>(whole), 2), " %");
}

std::string ConvergenceTable(const ConvergenceCheck& check, const std::vector<result::v1::Result>& results,
                             const std::vector<uint32_t>& numbers) {
  std::vector<Row> rows;
  for (size_t i = 0; i < results.size(); ++i) rows.push_back({.first = i});
  const Labels labels = LabelRuns(results, rows);
  std::vector<Table::Column> columns = labels.Columns();
  for (const char* title :
       {"shared", "broken", "parts of each", "warp operations broken", "issues beyond the rule", "of several warps"}) {
    columns.push_back({title});
  }
  columns.push_back({"most is broken at", Table::Align::kLeft});
  Table table(std::move(columns));
  for (size_t i = 0; i < results.size(); ++i) {
    const ConvergenceCounts all = check.Total(numbers[i]);
    const ConvergenceCounts warp_operations = check.TotalOfWarpOperations(numbers[i]);
    std::vector<std::string> cells = labels.Cells(i);
    cells.push_back(WithThousands(all.shared));
    cells.push_back(Share(all.broken, all.shared));
    cells.push_back(all.broken == 0 ? "-"
                                    : Decimal(static_cast<double>(all.parts) / static_cast<double>(all.broken), 2));
    cells.push_back(Share(warp_operations.broken, warp_operations.shared));
    cells.push_back(WithThousands(all.exceeding));
    cells.push_back(WithThousands(all.regrouped));
    cells.push_back(all.broken == 0 ? "-" : check.Worst(numbers[i]));
    table.AddRow(std::move(cells));
  }
  return table.Text(2);
}

}  // namespace

replay::IssueObserver* ReplayChecks::Watch(const trace::TraceReader& trace) {
  if (order_) return orders_.emplace_back(std::make_unique<OrderCheck>(trace)).get();
  const replay::ConvergenceRule rule = *ParseConvergenceRule(convergence_);
  return convergences_.emplace_back(std::make_unique<ConvergenceCheck>(trace, rule, warp_size_)).get();
}

absl::Status ReplayChecks::EndWatch() {
  if (order_) return orders_.back()->status();
  convergences_.back()->Finish();
  return convergences_.back()->status();
}

absl::StatusOr<replay::RunOutcomes> ReplayChecks::Replay(const std::vector<const trace::TraceReader*>& traces,
                                                         const std::vector<replay::CheckedConfiguration>& runs,
                                                         replay::ReplayOptions options) {
  replay::RunOutcomes outcomes;
  // Which of two issues on different SMs is the earlier one shows only if all SMs keep the same time.
  if (order_) options.force_tick = true;
  bool stopped = false;  // on request, for all traces
  options.progress = [&stopped, progress = std::move(options.progress)](uint64_t done, uint64_t total) {
    stopped = stopped || (progress && !progress(done, total));
    return !stopped;
  };
  for (const trace::TraceReader* trace : traces) {
    if (stopped) {
      outcomes.emplace_back(runs.size(), absl::CancelledError("stopped on request"));
      continue;
    }
    options.observer = Watch(*trace);
    const trace::TraceReader* const one[] = {trace};
    HEDDLE_ASSIGN_OR_RETURN(replay::RunOutcomes of_trace, replay::ReplayEach(one, runs, options));
    HEDDLE_RETURN_IF_ERROR(EndWatch());
    for (uint32_t run = 0; run < runs.size(); ++run) {
      absl::StatusOr<result::v1::Result>& outcome = of_trace.front()[run];
      if (!outcome.ok()) {
        if (traces.size() == 1 || absl::IsCancelled(outcome.status())) continue;
        outcome = absl::Status(outcome.status().code(), absl::StrCat(trace->name(), ": ", outcome.status().message()));
        continue;
      }
      if (!order_) continue;
      for (const result::v1::LaunchResult& launch : outcome->launch()) {
        std::string note = orders_.back()->Note(run, launch.launch());
        if (!note.empty()) outcome->add_note(std::move(note));
      }
    }
    outcomes.push_back(std::move(of_trace.front()));
  }
  return outcomes;
}

void ReplayChecks::AddTo(size_t trace, uint32_t configuration, nlohmann::ordered_json& result) const {
  if (order_) orders_[trace]->AddTo(configuration, result);
  if (!convergence_.empty()) convergences_[trace]->AddTo(configuration, result);
}

std::string ReplayChecks::Report(const std::vector<const trace::TraceReader*>& traces,
                                 const std::vector<std::vector<result::v1::Result>>& results,
                                 const std::vector<std::vector<uint32_t>>& numbers) const {
  std::string text;
  for (size_t t = 0; t < convergences_.size(); ++t) {
    if (results[t].empty()) continue;
    absl::StrAppend(&text, "\nConvergence by the rule \"", convergence_, "\"",
                    traces.size() == 1 ? "" : absl::StrCat(" of ", traces[t]->name()),
                    ": dynamic instances that two or more threads of a warp share\n",
                    ConvergenceTable(*convergences_[t], results[t], numbers[t]));
  }
  return text;
}

}  // namespace heddle::tools
