#include "tools/study/sweep/collect.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/study/sweep/counter_columns.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::sweep {
namespace {

using Type = ResultColumn::Type;

// The shortest text that reads back as the same number.
std::string Shortest(double number) { return nlohmann::json(number).dump(); }

// First in the table, in this order; the rest ascending.
constexpr absl::string_view kFirst[] = {"cycles", "warp_instructions", "thread_instructions"};

constexpr size_t kFirstCount = std::size(kFirst);

// Cells of a row. `place` says where each counter of the reader's stands: first those of kFirst, then the others.
std::vector<std::string> RowOf(const Point& point, const ResultRows& result, const CounterRow& numbers, bool per_launch,
                               const std::vector<size_t>& place, size_t counters) {
  std::vector<std::string> cells = {
      point.key,       point.trace,    point.kernels, point.machine, point.divergence,
      point.scheduler, point.dispatch, point.fetch,   point.memory,  absl::StrCat(point.seed)};
  for (const auto& [name, value] : point.parameters) cells.push_back(value);
  if (per_launch) {
    cells.push_back(absl::StrCat(numbers.launch));
    cells.push_back(numbers.kernel);
  }
  cells.push_back(absl::StrCat(per_launch ? 1 : result.launches));
  const size_t first = cells.size();
  constexpr size_t kRatios = 2;
  cells.resize(first + kRatios + counters);
  for (const auto& [number, value] : numbers.counters) {
    const size_t at = place[number];
    cells[first + at + (at < kFirstCount ? 0 : kRatios)] = absl::StrCat(value);
  }
  if (numbers.ipc.has_value()) cells[first + kFirstCount] = Shortest(*numbers.ipc);
  if (numbers.lane_activity.has_value()) cells[first + kFirstCount + 1] = Shortest(*numbers.lane_activity);
  // A folder of results may come from elsewhere.
  for (std::string& cell : cells) {
    if (!IsPrintable(cell)) cell = Printable(cell);
  }
  return cells;
}

std::vector<ResultColumn> ColumnsOf(const Plan& plan, bool per_launch, const std::vector<std::string>& counters) {
  std::vector<ResultColumn> columns;
  for (const char* name :
       {"key", "trace", "kernels", "machine", "divergence", "scheduler", "dispatch", "fetch", "memory"}) {
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
  for (const absl::string_view name : kFirst) columns.push_back({std::string(name), Type::kInteger});
  columns.push_back({"ipc", Type::kReal});
  columns.push_back({"lane_activity", Type::kReal});
  for (const std::string& name : counters) columns.push_back({Printable(name), Type::kInteger});
  return columns;
}

void AppendCell(std::string& text, absl::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == absl::string_view::npos) {
    text.append(cell.data(), cell.size());
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
  HEDDLE_ASSIGN_OR_RETURN(std::vector<NumberedPoint> all, folder.Points(NumberRanges()));
  HEDDLE_ASSIGN_OR_RETURN(const auto keys, folder.Results());
  HEDDLE_ASSIGN_OR_RETURN(const auto failures, folder.Failures());

  ResultTable table;
  table.points = all.size();
  std::vector<Point> points;
  for (NumberedPoint& numbered : all) {
    table.failures += !keys.contains(numbered.point.key) && failures.contains(numbered.point.key);
    if (keys.contains(numbered.point.key)) points.push_back(std::move(numbered.point));
  }
  all.clear();
  table.results = points.size();

  // By key, so that what lies in one folder is read together.
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&points](size_t i) -> const std::string& { return points[i].key; });
  std::vector<ResultRows> results(points.size());
  std::vector<uint32_t> reader_of(points.size());
  std::vector<ResultReader> readers(std::max(options.jobs, 1u));
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  size_t first_wrong = points.size();
  absl::Status status;
  const auto work = [&](uint32_t thread) {
    while (true) {
      const size_t place = next++;
      if (place >= points.size()) break;
      const size_t i = order[place];
      reader_of[i] = thread;
      const std::string file = folder.ResultFile(points[i].key);
      const absl::StatusOr<std::string> text = ReadWholeFile(file);
      absl::Status read = text.ok() ? readers[thread].Read(*text, options.per_launch, results[i]) : text.status();
      if (text.ok() && !read.ok()) read = absl::Status(read.code(), absl::StrCat(file, ": ", read.message()));
      if (read.ok() && results[i].key != points[i].key) {
        read = absl::DataLossError(absl::StrCat(file, ": is the result of another point, ", results[i].key));
      }
      if (absl::IsDataLoss(read)) {
        read = absl::DataLossError(absl::StrCat(read.message(), "; delete the file and run the sweep again"));
      }
      if (!read.ok()) {
        // All are read nevertheless, so that the error does not depend on the number of threads.
        const std::lock_guard lock(mutex);
        if (i < first_wrong) status = read;
        first_wrong = std::min(first_wrong, i);
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (uint32_t thread = 1; thread < readers.size(); ++thread) others.emplace_back(work, thread);
    work(0);
  }
  if (!status.ok()) return status;

  // Readers number counters as they see them; columns are sorted by name behind the first ones.
  std::set<std::string, std::less<>> names;
  for (const ResultReader& reader : readers) names.insert(reader.names().begin(), reader.names().end());
  for (const absl::string_view name : kFirst) {
    if (const auto it = names.find(name); it != names.end()) names.erase(it);
  }
  const std::vector<std::string> counters(names.begin(), names.end());
  std::vector<std::vector<size_t>> places;
  for (const ResultReader& reader : readers) {
    std::vector<size_t>& place = places.emplace_back();
    for (const std::string& name : reader.names()) {
      const auto first = std::find(std::begin(kFirst), std::end(kFirst), name);
      place.push_back(first != std::end(kFirst)
                          ? static_cast<size_t>(first - std::begin(kFirst))
                          : kFirstCount +
                                static_cast<size_t>(std::ranges::lower_bound(counters, name) - counters.begin()));
    }
  }
  table.columns = ColumnsOf(folder.plan(), options.per_launch, counters);
  table.rows.reserve(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const std::vector<size_t>& place = places[reader_of[i]];
    const auto add = [&](const CounterRow& numbers) {
      table.rows.push_back(
          RowOf(points[i], results[i], numbers, options.per_launch, place, kFirstCount + counters.size()));
    };
    if (!options.per_launch) {
      add(results[i].total);
    } else {
      std::ranges::for_each(results[i].launch, add);
    }
    results[i] = ResultRows();
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
