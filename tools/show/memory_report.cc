#include "tools/show/memory_report.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"

namespace heddle::tools {
namespace {

using result::v1::LaunchResult;

// Sums over the launches of a run; ratios are of sums, never means of ratios.
struct Sums {
  uint64_t l1_accesses = 0, l1_misses = 0, l1_pending = 0;
  uint64_t l2_accesses = 0, l2_misses = 0;
  uint64_t dram_requests = 0, row_hits = 0, bus_busy = 0, bus_cycles = 0;
  uint64_t loads = 0, load_cycles = 0;
};

// Of a launch, or of launches that ran side by side: what the SMs share.
template <typename Counters>
void AddShared(const Counters& counters, Sums& sums) {
  sums.l2_accesses += counters.l2().cache().accesses();
  sums.l2_misses += counters.l2().cache().misses();
  sums.dram_requests += counters.dram().read_requests() + counters.dram().write_requests();
  sums.row_hits += counters.dram().row_hits();
  sums.bus_busy += counters.dram().bus_busy();
  sums.bus_cycles += counters.dram().cycles() * counters.dram().controllers();
}

Sums Add(const result::v1::Result& result) {
  Sums sums;
  for (const LaunchResult& launch : result.launch()) {
    sums.l1_accesses += launch.l1_data().accesses();
    sums.l1_misses += launch.l1_data().misses();
    sums.l1_pending += launch.l1_data().pending_hits();
    AddShared(launch, sums);
    for (const result::v1::LatencyCount& bin : launch.memory_instructions().load_to_use()) sums.loads += bin.count();
    sums.load_cycles += launch.memory_instructions().load_to_use_sum();
  }
  for (const result::v1::Stretch& stretch : result.side_by_side().stretch()) AddShared(stretch, sums);
  return sums;
}

std::string Percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return absl::StrCat(Decimal(100 * static_cast<double>(part) / static_cast<double>(whole), 1), " %");
}

}  // namespace

std::string MemoryReport(const std::vector<result::v1::Result>& results, std::vector<Table::Column> columns,
                         const std::vector<std::vector<std::string>>& cells) {
  bool any = false;
  for (const result::v1::Result& result : results) {
    for (const LaunchResult& launch : result.launch()) any |= launch.has_memory_instructions();
  }
  if (!any) return "";
  for (const char* title :
       {"L1 misses", "with pending", "L2 misses", "DRAM lines", "row hits", "DRAM busy", "load to use, cycles"}) {
    columns.push_back({title});
  }
  Table table(std::move(columns));
  for (size_t i = 0; i < results.size(); ++i) {
    const Sums sums = Add(results[i]);
    std::vector<std::string> row = cells[i];
    row.push_back(Percent(sums.l1_misses, sums.l1_accesses));
    row.push_back(Percent(sums.l1_misses + sums.l1_pending, sums.l1_accesses));
    row.push_back(Percent(sums.l2_misses, sums.l2_accesses));
    row.push_back(WithThousands(sums.dram_requests));
    row.push_back(Percent(sums.row_hits, sums.dram_requests));
    row.push_back(Percent(sums.bus_busy, sums.bus_cycles));
    row.push_back(
        sums.loads == 0 ? "-" : Decimal(static_cast<double>(sums.load_cycles) / static_cast<double>(sums.loads), 1));
    table.AddRow(std::move(row));
  }
  return table.Text();
}

}  // namespace heddle::tools
