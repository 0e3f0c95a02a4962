#include "tools/heddle/sweep/collect.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/heddle/sweep/counter_columns.h"

namespace heddle::tools::sweep {
namespace {

using Type = ResultColumn::Type;

// The shortest text that reads back as the same number.
std::string Shortest(double number) { return nlohmann::json(number).dump(); }

// First in the table, in this order; the rest ascending.
constexpr std::string_view kFirst[] = {"cycles", "warp_instructions", "thread_instructions"};

std::string CounterText(const CounterRow& row, std::string_view name) {
  const auto it = row.counters.find(name);
  return it == row.counters.end() ? "" : absl::StrCat(it->second);
}

std::vector<std::string> RowOf(const Point& point, const ResultRows& result, const CounterRow& numbers, bool per_launch,
                               const std::vector<std::string>& counters) {
  std::vector<std::string> cells = {point.key,      point.trace,      point.kernels,
                                    point.machine,  point.divergence, point.scheduler,
                                    point.dispatch, point.fetch,      absl::StrCat(point.seed)};
  for (const auto& [name, value] : point.parameters) cells.push_back(value);
  if (per_launch) {
    cells.push_back(absl::StrCat(numbers.launch));
    cells.push_back(numbers.kernel);
  }
  cells.push_back(absl::StrCat(per_launch ? 1 : result.launches));
  for (const std::string_view name : kFirst) cells.push_back(CounterText(numbers, name));
  cells.push_back(numbers.ipc.has_value() ? Shortest(*numbers.ipc) : "");
  cells.push_back(numbers.lane_activity.has_value() ? Shortest(*numbers.lane_activity) : "");
  for (const std::string& name : counters) cells.push_back(CounterText(numbers, name));
  return cells;
}

std::vector<ResultColumn> ColumnsOf(const Plan& plan, bool per_launch, const std::vector<std::string>& counters) {
  std::vector<ResultColumn> columns;
  for (const char* name : {"key", "trace", "kernels", "machine", "divergence", "scheduler", "dispatch", "fetch"}) {
    columns.push_back({name, Type::kText});
  }
  columns.push_back({"seed", Type::kInteger});
  for (const PlannedParameter& parameter : plan.parameters) {
    columns.push_back({absl::StrCat("set.", parameter.name), Type::kText});
  }
  if (per_launch) {
    columns.push_back({"launch", Type::kInteger});
    columns.push_back({"kernel", Type::kText});
  }
  columns.push_back({"launches", Type::kInteger});
  for (const std::string_view name : kFirst) columns.push_back({std::string(name), Type::kInteger});
  columns.push_back({"ipc", Type::kReal});
  columns.push_back({"lane_activity", Type::kReal});
  for (const std::string& name : counters) columns.push_back({name, Type::kInteger});
  return columns;
}

void AppendCell(std::string& text, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    text += cell;
    return;
  }
  text += '"';
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

}  // namespace

absl::StatusOr<ResultTable> Collect(const SweepFolder& folder, const CollectOptions& options) {
  absl::StatusOr<std::vector<NumberedPoint>> all = folder.Points(trace::NumberRanges());
  if (!all.ok()) return all.status();
  const auto keys = folder.Results();
  if (!keys.ok()) return keys.status();
  const auto failures = folder.Failures();
  if (!failures.ok()) return failures.status();

  ResultTable table;
  table.points = all->size();
  std::vector<Point> points;
  for (NumberedPoint& numbered : *all) {
    table.failures += !keys->contains(numbered.point.key) && failures->contains(numbered.point.key);
    if (keys->contains(numbered.point.key)) points.push_back(std::move(numbered.point));
  }
  all->clear();
  table.results = points.size();

  std::vector<ResultRows> results(points.size());
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  size_t first_wrong = points.size();
  absl::Status status;
  std::set<std::string, std::less<>> names;
  const auto work = [&] {
    std::set<std::string, std::less<>> seen;
    while (true) {
      const size_t i = next++;
      if (i >= points.size()) break;
      const std::string file = folder.ResultFile(points[i].key);
      const absl::StatusOr<std::string> text = ReadWholeFile(file);
      absl::Status read = text.ok() ? ReadResultRows(*text, options.per_launch, results[i]) : text.status();
      if (text.ok() && !read.ok()) read = absl::DataLossError(absl::StrCat(file, ": ", read.message()));
      if (read.ok() && results[i].key != points[i].key) {
        read = absl::DataLossError(absl::StrCat(file, ": is the result of another point, ", results[i].key));
      }
      if (!read.ok()) {
        const std::lock_guard lock(mutex);
        if (i < first_wrong) status = read;
        first_wrong = std::min(first_wrong, i);
        break;
      }
      for (const auto& [name, value] : results[i].total.counters) {
        if (!seen.contains(name)) seen.insert(name);
      }
    }
    const std::lock_guard lock(mutex);
    names.insert(seen.begin(), seen.end());
  };
  {
    std::vector<std::jthread> others;
    for (uint32_t thread = 1; thread < options.jobs; ++thread) others.emplace_back(work);
    work();
  }
  if (!status.ok()) return status;

  for (const std::string_view name : kFirst) {
    if (const auto it = names.find(name); it != names.end()) names.erase(it);
  }
  const std::vector<std::string> counters(names.begin(), names.end());
  table.columns = ColumnsOf(folder.plan(), options.per_launch, counters);
  for (size_t i = 0; i < points.size(); ++i) {
    if (!options.per_launch) {
      table.rows.push_back(RowOf(points[i], results[i], results[i].total, false, counters));
      continue;
    }
    for (const CounterRow& launch : results[i].launch) {
      table.rows.push_back(RowOf(points[i], results[i], launch, true, counters));
    }
  }
  return table;
}

std::string CsvText(const ResultTable& table) {
  std::string text;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (i != 0) text += ',';
    AppendCell(text, table.columns[i].name);
  }
  text += '\n';
  for (const std::vector<std::string>& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i != 0) text += ',';
      AppendCell(text, row[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace heddle::tools::sweep
