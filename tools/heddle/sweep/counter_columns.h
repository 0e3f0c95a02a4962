// Results as rows of numbers.
#ifndef HEDDLE_TOOLS_HEDDLE_SWEEP_COUNTER_COLUMNS_H_
#define HEDDLE_TOOLS_HEDDLE_SWEEP_COUNTER_COLUMNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace heddle::tools::sweep {

// Numbers of one launch, or of all launches of a result together, by the path of their field in proto/result.proto:
// "cycles", "stalls.data_memory", "l2.cache.misses", "divergence_counter.joins".
struct CounterRow {
  std::string kernel;   // of one launch; empty for all together
  uint64_t launch = 0;  // its number
  std::map<std::string, uint64_t, std::less<>> counters;
  std::optional<double> ipc;            // thread-instructions per cycle
  std::optional<double> lane_activity;  // per cent
};

struct ResultRows {
  std::string key;
  std::string trace_digest;
  uint64_t launches = 0;
  CounterRow total;
  std::vector<CounterRow> launch;  // only if asked for
};

// Reads a result as `heddle sweep run` writes it. All launches together: counters are added, but of blocks per SM and
// registers per thread it is the largest; ratios are those of the result's own total. Lists (histograms, series,
// profiles) are left out. DataLoss: is no such result; a schema that this program does not know.
absl::Status ReadResultRows(std::string_view text, bool per_launch, ResultRows& rows);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_HEDDLE_SWEEP_COUNTER_COLUMNS_H_
