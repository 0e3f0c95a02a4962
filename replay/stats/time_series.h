// Counters of a launch in bins of time.
#ifndef HEDDLE_REPLAY_STATS_TIME_SERIES_H_
#define HEDDLE_REPLAY_STATS_TIME_SERIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/result.pb.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/types.h"
#include "replay/stats/sm_counters.h"
#include "replay/stats/stall_counters.h"

namespace heddle::replay {

// A counter or gauge of a policy's own.
struct PolicyColumn {
  std::string seam;
  std::string name;
  std::string unit;
  // Else a bin has the value at its end. So it is of a count that becomes less, too.
  bool adds_up = true;
};

// What a launch has counted so far, over all SMs: everything in the cycles before some cycle.
struct LaunchCounters {
  SmCounters sm;
  bool has_stalls = false;  // front end with instruction buffers
  StallCounters stalls;
  bool has_memory = false;  // a memory hierarchy
  MemorySample memory;
  uint64_t dispatched_blocks = 0;
  uint64_t retired_blocks = 0;
  uint64_t exited_threads = 0;
  std::vector<uint64_t> policies;  // by PolicyColumn
};

// Bins are differences of these counters at their ends, so they add up to the launch's counters whatever is counted,
// and nothing has to be counted twice. Once there are as many bins as may be, neighbours are put together and all later
// bins are twice as wide: the memory is bounded however long the launch is.
class TimeSeries {
 public:
  // `bin_cycles`: the first width, at least 1. `most_bins`: even. `policies`: what LaunchCounters::policies holds.
  TimeSeries(uint64_t bin_cycles, uint32_t warp_size, size_t most_bins = 4096, std::vector<PolicyColumn> policies = {});

  // The cycle in which the present bin ends: the first that is not in it.
  Cycle end() const { return end_; }
  // The present bin ends, with what has been counted in the cycles before end(); the next one begins.
  void EndBin(const LaunchCounters& until);
  // The launch has taken `cycles`, and counted `total`: what is left makes the last bin.
  void Finish(Cycle cycles, const LaunchCounters& total);

  void Fill(result::v1::TimeSeries& out) const;

 private:
  static constexpr uint32_t kSizeClass = 4;  // threads
  enum Column : uint8_t {
    kWarpInstructions,
    kThreadInstructions,
    kDispatchedBlocks,
    kRetiredBlocks,
    kExitedThreads,
    kResidentCycles,
    kSchedulerCycles,
    kIssued,
    kStall,
    kMemory,
    kIdle,
    kStructural,
    kDataMemory,
    kDataArithmetic,
    kControl,
    kFetch,
    kPolicy,
    kBarrier,
    kExit,
    kEmpty,
    kL1Accesses,
    kL1Misses,
    kOutstandingMisses,
    kL2Accesses,
    kL2Misses,
    kDramRequests,
    kDramBusBusy,
    kSizes,
    kColumns = kSizes + kMaxLanes / kSizeClass
  };
  using Bin = std::array<uint64_t, kColumns>;

  static Bin ColumnsOf(const LaunchCounters& counters);
  void Add(const LaunchCounters& until);
  // What the policies' own counters are as bin number `bin` ends.
  std::span<uint64_t> PoliciesOf(size_t bin) {
    return std::span(policy_bins_).subspan(bin * policies_.size(), policies_.size());
  }
  void FillPolicy(size_t column, result::v1::TimeSeries::PolicySeries& out) const;

  const uint32_t warp_size_;
  const size_t most_bins_;
  uint64_t width_;
  Cycle begin_ = 0;  // of the present bin
  Cycle end_;
  bool has_stalls_ = false;
  bool has_memory_ = false;
  Bin before_{};  // what was counted before the present bin
  std::vector<Bin> bins_;
  const std::vector<PolicyColumn> policies_;
  std::vector<uint64_t> policy_bins_;  // by bin, then column: as the bin ends
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_TIME_SERIES_H_
