#include "tools/show/series_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using result::v1::LaunchResult;
using result::v1::TimeSeries;

constexpr size_t kWidth = 60;
constexpr size_t kMostLaunches = 4;
constexpr std::string_view kLevels = " .:-=+*#%@";

using Values = std::vector<double>;

// Bins put together so that at most kWidth are left.
class Columns {
 public:
  explicit Columns(const LaunchResult& launch)
      : bins_(static_cast<size_t>(launch.time_series().warp_instructions_size())),
        count_(std::min(bins_, kWidth)),
        bin_cycles_(launch.time_series().bin_cycles()),
        cycles_(launch.cycles()) {}

  size_t First(size_t column) const { return column * bins_ / count_; }
  Values Sum(const google::protobuf::RepeatedField<uint64_t>& bins) const {
    Values sums(count_, 0);
    for (size_t column = 0; column < count_; ++column) {
      for (size_t bin = First(column); bin < First(column + 1); ++bin) {
        sums[column] += static_cast<double>(bins.Get(static_cast<int>(bin)));
      }
    }
    return sums;
  }
  // Of what does not add up, the value at the end of each column.
  Values Last(const google::protobuf::RepeatedField<uint64_t>& bins) const {
    Values values;
    for (size_t column = 0; column < count_; ++column) {
      values.push_back(static_cast<double>(bins.Get(static_cast<int>(First(column + 1)) - 1)));
    }
    return values;
  }
  // The cycles of each column.
  Values Cycles() const {
    Values cycles;
    for (size_t column = 0; column < count_; ++column) {
      const uint64_t end = std::min(First(column + 1) * bin_cycles_, cycles_);
      cycles.push_back(static_cast<double>(end - std::min(end, First(column) * bin_cycles_)));
    }
    return cycles;
  }

 private:
  size_t bins_;
  size_t count_;
  uint64_t bin_cycles_;
  uint64_t cycles_;
};

Values Ratio(Values numerators, const Values& denominators, double factor) {
  for (size_t i = 0; i < numerators.size(); ++i) {
    numerators[i] = denominators[i] == 0 ? 0 : factor * numerators[i] / denominators[i];
  }
  return numerators;
}

// What has come and not gone by the end of each column.
Values Inside(const Values& come, const Values& gone) {
  Values inside;
  double now = 0;
  for (size_t i = 0; i < come.size(); ++i) inside.push_back(now += come[i] - gone[i]);
  return inside;
}

std::string Line(const Values& values, double most) {
  std::string text;
  for (const double value : values) {
    size_t level = 0;
    if (value > 0) level = 1 + static_cast<size_t>(std::lround(value / most * static_cast<double>(kLevels.size() - 2)));
    text += kLevels[std::min(level, kLevels.size() - 1)];
  }
  return text;
}

// `add` takes the name of a row, its values, their unit and how many decimal places they are shown with.
template <typename Add>
void AddMemory(const LaunchResult& launch, const Columns& columns, const Add& add) {
  const TimeSeries::MemorySeries& memory = launch.time_series().memory_system();
  add("outstanding misses", Ratio(columns.Sum(memory.outstanding_misses()), columns.Cycles(), 1), "", 1);
  if (launch.dram().cycles() != 0 && launch.cycles() != 0) {
    const double per_cycle = static_cast<double>(launch.dram().cycles() * launch.dram().controllers()) /
                             static_cast<double>(launch.cycles());
    add("DRAM busy", Ratio(columns.Sum(memory.dram_bus_busy()), columns.Cycles(), 100 / per_cycle), " %", 1);
  }
}

std::string LaunchSeries(const LaunchResult& launch, uint32_t warp_size, const CounterChoice& counters) {
  const TimeSeries& series = launch.time_series();
  const Columns columns(launch);
  const Values cycles = columns.Cycles();
  const Values threads = columns.Sum(series.thread_instructions());
  const Values ports = columns.Sum(series.scheduler_cycles());
  const bool stalls = series.has_stalls();
  Table table({{"", Table::Align::kLeft}, {"largest"}, {"over time", Table::Align::kLeft}});
  const auto add = [&](const std::string& name, const Values& values, const std::string& unit, int decimals) {
    const double most = *std::max_element(values.begin(), values.end());
    table.AddRow({name, absl::StrCat(Decimal(most, decimals), unit), absl::StrCat("|", Line(values, most), "|")});
  };
  add("IPC", Ratio(threads, cycles, 1), "", 2);
  add("active lanes", Ratio(threads, columns.Sum(series.warp_instructions()), 100.0 / warp_size), " %", 1);
  add("ports that issue", Ratio(columns.Sum(series.issued()), ports, 100), " %", 1);
  add("ports that wait for memory",
      Ratio(columns.Sum(stalls ? series.stalls().data_memory() : series.memory()), ports, 100), " %", 1);
  if (stalls) add("ports that wait at barriers", Ratio(columns.Sum(series.stalls().barrier()), ports, 100), " %", 1);
  add("resident blocks", Inside(columns.Sum(series.dispatched_blocks()), columns.Sum(series.retired_blocks())), "", 0);
  if (series.has_memory_system()) {
    AddMemory(launch, columns, add);
  }
  for (const TimeSeries::PolicySeries& policy : series.policy()) {
    if (!counters.Wants(policy.name())) continue;
    if (std::all_of(policy.value().begin(), policy.value().end(), [](uint64_t value) { return value == 0; })) continue;
    if (policy.adds_up()) {
      add(absl::StrCat(policy.name(), " per 1,000 cycles"), Ratio(columns.Sum(policy.value()), cycles, 1000), "", 1);
    } else {
      add(policy.name(), columns.Last(policy.value()), "", 0);
    }
  }
  return table.Text();
}

}  // namespace

std::string SeriesReport(const result::v1::Result& result, const std::string& run, const CounterChoice& counters) {
  std::vector<const LaunchResult*> launches;
  for (const LaunchResult& launch : result.launch()) {
    if (launch.time_series().warp_instructions_size() != 0) launches.push_back(&launch);
  }
  const size_t all = launches.size();
  std::stable_sort(launches.begin(), launches.end(),
                   [](const LaunchResult* a, const LaunchResult* b) { return a->cycles() > b->cycles(); });
  launches.resize(std::min(all, kMostLaunches));
  std::sort(launches.begin(), launches.end(),
            [](const LaunchResult* a, const LaunchResult* b) { return a->launch() < b->launch(); });
  std::string text;
  for (const LaunchResult* launch : launches) {
    absl::StrAppend(&text, "\nLaunch ", launch->launch(), ", ", trace::ShortKernelName(launch->kernel()), ", under ",
                    run, ": ", WithThousands(launch->cycles()), " cycles in ",
                    WithThousands(static_cast<uint64_t>(launch->time_series().warp_instructions_size())), " bins of ",
                    WithThousands(launch->time_series().bin_cycles()), "\n",
                    LaunchSeries(*launch, result.provenance().machine().core().warp_size(), counters));
  }
  if (launches.size() < all) absl::StrAppend(&text, "The other ", all - launches.size(), " launches: see the JSON.\n");
  return text;
}

}  // namespace heddle::tools
