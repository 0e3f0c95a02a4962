#include "tools/show/traces_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "tools/show/run_labels.h"

namespace heddle::tools {
namespace {

using result::v1::Result;

constexpr size_t kMostColumns = 6;  // of single traces: a terminal is not wider

// Of the mean cycles of the rows' runs; 0 if it is not defined.
double SpeedUp(const std::vector<Result>& results, const Row& base, const Row& row) {
  const auto cycles = [&results](const Row& of) {
    double sum = 0;
    for (size_t i = of.first; i < of.first + of.size; ++i) sum += static_cast<double>(results[i].total().cycles());
    return sum / static_cast<double>(of.size);
  };
  const double own = cycles(row);
  return own == 0 ? 0 : cycles(base) / own;
}

}  // namespace

std::string TracesReport(const std::vector<std::vector<Result>>& results, const std::vector<std::string>& names) {
  if (results.empty() || results[0].empty()) return "";
  const std::vector<Row> rows = GroupBySeeds(results[0]);
  const Labels labels = LabelRuns(results[0], rows);
  const size_t baseline = Baseline(results[0], rows);
  const bool single = results.size() <= kMostColumns;
  std::vector<Table::Column> columns = labels.Columns();
  if (single) {
    for (const std::string& name : names) columns.push_back({name});
  }
  for (const char* title : {"least", "mean", "most"}) columns.push_back({title});
  Table table(columns);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> cells = labels.Cells(i);
    std::vector<double> defined;
    double logarithms = 0;
    for (const std::vector<Result>& trace : results) {
      const double speed_up = SpeedUp(trace, rows[baseline], rows[i]);
      if (single) cells.push_back(speed_up == 0 ? "-" : Decimal(speed_up, 2));
      if (speed_up == 0) continue;
      defined.push_back(speed_up);
      logarithms += std::log(speed_up);
    }
    if (defined.empty()) {
      cells.insert(cells.end(), 3, "-");
    } else {
      const auto [least, most] = std::minmax_element(defined.begin(), defined.end());
      cells.push_back(Decimal(*least, 2));
      cells.push_back(Decimal(std::exp(logarithms / static_cast<double>(defined.size())), 2));
      cells.push_back(Decimal(*most, 2));
    }
    table.AddRow(std::move(cells));
  }
  return absl::StrCat("Speed-up over ", labels.divergence[baseline], " with ", labels.scheduler[baseline], ", ",
                      results.size(), " traces; the mean is the geometric one\n\n", table.Text(0));
}

}  // namespace heddle::tools
