// Results as rows of numbers.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_COUNTER_COLUMNS_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_COUNTER_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace heddle::tools::sweep {

// Numbers of one launch, or of all launches of a result together.
struct CounterRow {
  std::string kernel;   // of one launch; empty for all together
  uint64_t launch = 0;  // its number
  // Each with the number of its name in ResultReader::names().
  std::vector<std::pair<uint32_t, uint64_t>> counters;
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

// Reads many results. Their text is gone through once, without a tree and without a look-up for counters that stand
// where they stood in the launch before: a thread reads some hundred megabytes per second.
class ResultReader {
 public:
  // Reads a result as `heddle sweep run` writes it. All launches together: counters are added, but of blocks per SM,
  // registers per thread and what policies declare so it is the largest; ratios are those of the result's own total.
  // Lists (histograms, series, profiles) are left out. DataLoss: is no such result; a schema that this program does not
  // know.
  absl::Status Read(absl::string_view text, bool per_launch, ResultRows& rows);

  // Counters that were seen, by the path of their field in proto/result.proto: "cycles", "stalls.data_memory",
  // "l2.cache.misses", "divergence_counter.joins".
  const std::vector<std::string>& names() const { return names_; }

 private:
  friend class ResultScanner;
  uint32_t NumberOf(const std::string& path);

  std::vector<std::string> names_;
  std::vector<bool> is_largest_;  // by name: launches do not add up
  // Of the result that is being read: counters of policies that do not add up.
  std::vector<std::string> declared_largest_;
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  // The counters of a launch in order; those of the next one mostly follow it.
  std::vector<uint32_t> order_;
  size_t position_ = 0;
  // Sums of the result that is being read, by name; those in `seen_` hold.
  std::vector<uint64_t> sums_;
  std::vector<bool> is_seen_;
  std::vector<uint32_t> seen_;
};

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_COUNTER_COLUMNS_H_
