#include "tools/show/counters/policy_counters_report.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"

namespace heddle::tools {
namespace {

using result::v1::LaunchResult;
using result::v1::PolicyChoice;
using result::v1::Result;
using Counters = google::protobuf::Map<std::string, uint64_t>;

// A counter's name and its seam; ordered by seam, in the order of a configuration, and then by name.
struct Column {
  size_t seam = 0;
  std::string name;
  friend auto operator<=>(const Column&, const Column&) = default;
};

struct Seam {
  const char* name;
  const PolicyChoice& (Result::*choice)() const;
  const Counters& (LaunchResult::*counters)() const;
};

constexpr Seam kSeams[] = {{"divergence", &Result::divergence, &LaunchResult::divergence_counter},
                           {"scheduler", &Result::scheduler, &LaunchResult::scheduler_counter},
                           {"dispatch", &Result::dispatch, &LaunchResult::dispatch_counter},
                           {"fetch", &Result::fetch, &LaunchResult::fetch_counter},
                           {"memory", &Result::memory, &LaunchResult::memory_counter}};

std::map<Column, uint64_t> ValuesOf(const Result& result) {
  std::map<Column, uint64_t> values;
  for (size_t seam = 0; seam < std::size(kSeams); ++seam) {
    const auto& largest = (result.*kSeams[seam].choice)().largest();
    for (const LaunchResult& launch : result.launch()) {
      for (const auto& [name, value] : (launch.*kSeams[seam].counters)()) {
        uint64_t& of_all = values[{seam, name}];
        const bool adds_up = std::find(largest.begin(), largest.end(), name) == largest.end();
        of_all = adds_up ? of_all + value : std::max(of_all, value);
      }
    }
  }
  return values;
}

}  // namespace

bool CounterChoice::Wants(const std::string& name) const {
  return all || std::find(names.begin(), names.end(), name) != names.end();
}

std::string PolicyCountersReport(const std::vector<Result>& results, std::vector<Table::Column> columns,
                                 const std::vector<std::vector<std::string>>& cells, const CounterChoice& choice) {
  if (choice.empty()) return "";
  std::vector<std::map<Column, uint64_t>> values;
  std::map<Column, bool> shown;  // whether it is to be shown although it may be 0 everywhere
  for (const Result& result : results) {
    values.push_back(ValuesOf(result));
    for (const auto& [column, value] : values.back()) {
      if (choice.Wants(column.name)) shown[column] |= value != 0 || !choice.all;
    }
  }
  std::erase_if(shown, [](const auto& one) { return !one.second; });
  if (shown.empty()) return choice.all ? "\nNo policy of these runs has counted anything of its own.\n" : "";
  // A name is enough as long as one seam has it.
  std::map<std::string, int> seams;
  for (const auto& [column, is_shown] : shown) ++seams[column.name];
  for (const auto& [column, is_shown] : shown) {
    columns.push_back(
        {seams[column.name] == 1 ? column.name : absl::StrCat(kSeams[column.seam].name, ".", column.name)});
  }
  Table table(columns);
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<std::string> row = cells[i];
    bool any = false;
    for (const auto& [column, is_shown] : shown) {
      const auto found = values[i].find(column);
      any |= found != values[i].end();
      row.push_back(found == values[i].end() ? "-" : WithThousands(found->second));
    }
    if (any || !choice.all) table.AddRow(std::move(row));
  }
  return absl::StrCat("\nWhat policies count themselves (`heddle policies NAME` says what it is)\n", table.Text(0));
}

}  // namespace heddle::tools
