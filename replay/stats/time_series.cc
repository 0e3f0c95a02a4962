#include "replay/stats/time_series.h"

#include <algorithm>
#include <utility>

namespace heddle::replay {

TimeSeries::TimeSeries(uint64_t bin_cycles, uint32_t warp_size, size_t most_bins, std::vector<PolicyColumn> policies)
    : warp_size_(warp_size),
      most_bins_(most_bins),
      width_(bin_cycles),
      end_(bin_cycles),
      policies_(std::move(policies)) {}

TimeSeries::Bin TimeSeries::ColumnsOf(const LaunchCounters& counters) {
  Bin columns{};
  columns[kWarpInstructions] = counters.sm.warp_instructions;
  columns[kThreadInstructions] = counters.sm.thread_instructions;
  columns[kDispatchedBlocks] = counters.dispatched_blocks;
  columns[kRetiredBlocks] = counters.retired_blocks;
  columns[kExitedThreads] = counters.exited_threads;
  columns[kResidentCycles] = counters.sm.resident_cycles;
  columns[kSchedulerCycles] = counters.sm.scheduler_cycles;
  columns[kIssued] = counters.sm.issued;
  columns[kStall] = counters.sm.stall;
  columns[kMemory] = counters.sm.memory;
  columns[kIdle] = counters.sm.idle;
  columns[kStructural] = counters.stalls.structural;
  columns[kDataMemory] = counters.stalls.data_memory;
  columns[kDataArithmetic] = counters.stalls.data_arithmetic;
  columns[kControl] = counters.stalls.control;
  columns[kFetch] = counters.stalls.fetch;
  columns[kPolicy] = counters.stalls.policy;
  columns[kBarrier] = counters.stalls.barrier;
  columns[kExit] = counters.stalls.exit;
  columns[kEmpty] = counters.stalls.empty;
  columns[kL1Accesses] = counters.memory.l1_accesses;
  columns[kL1Misses] = counters.memory.l1_misses;
  columns[kOutstandingMisses] = counters.memory.outstanding_misses;
  columns[kL2Accesses] = counters.memory.l2_accesses;
  columns[kL2Misses] = counters.memory.l2_misses;
  columns[kDramRequests] = counters.memory.dram_requests;
  columns[kDramBusBusy] = counters.memory.dram_bus_busy;
  for (uint32_t threads = 0; threads < kMaxLanes; ++threads) {
    columns[kSizes + threads / kSizeClass] += counters.sm.issues_by_size[threads];
  }
  return columns;
}

void TimeSeries::Add(const LaunchCounters& until) {
  has_stalls_ |= until.has_stalls;
  has_memory_ |= until.has_memory;
  const Bin now = ColumnsOf(until);
  Bin& bin = bins_.emplace_back();
  for (size_t column = 0; column < kColumns; ++column) bin[column] = now[column] - before_[column];
  before_ = now;
  policy_bins_.insert(policy_bins_.end(), until.policies.begin(), until.policies.end());
}

void TimeSeries::EndBin(const LaunchCounters& until) {
  Add(until);
  if (bins_.size() == most_bins_) {
    for (size_t i = 0; i < most_bins_ / 2; ++i) {
      for (size_t column = 0; column < kColumns; ++column) {
        bins_[i][column] = bins_[2 * i][column] + bins_[2 * i + 1][column];
      }
      std::ranges::copy(PoliciesOf(2 * i + 1), PoliciesOf(i).begin());
    }
    bins_.resize(most_bins_ / 2);
    policy_bins_.resize(bins_.size() * policies_.size());
    width_ *= 2;
  }
  begin_ = end_;
  end_ += width_;
}

void TimeSeries::Finish(Cycle cycles, const LaunchCounters& total) {
  if (cycles > begin_ || bins_.empty()) {
    Add(total);
    return;
  }
  // The last bin is full, but something may have been counted after its last cycle: what drains is part of it.
  const Bin now = ColumnsOf(total);
  for (size_t column = 0; column < kColumns; ++column) bins_.back()[column] += now[column] - before_[column];
  std::ranges::copy(total.policies, PoliciesOf(bins_.size() - 1).begin());
}

void TimeSeries::FillPolicy(size_t column, result::v1::TimeSeries::PolicySeries& out) const {
  const auto at_end_of = [&](size_t bin) { return policy_bins_[bin * policies_.size() + column]; };
  bool adds_up = policies_[column].adds_up;
  for (size_t bin = 1; bin < bins_.size(); ++bin) adds_up &= at_end_of(bin) >= at_end_of(bin - 1);
  out.set_seam(policies_[column].seam);
  out.set_name(policies_[column].name);
  out.set_unit(policies_[column].unit);
  out.set_adds_up(adds_up);
  out.mutable_value()->Reserve(static_cast<int>(bins_.size()));
  for (size_t bin = 0; bin < bins_.size(); ++bin) {
    out.add_value(at_end_of(bin) - (adds_up && bin > 0 ? at_end_of(bin - 1) : 0));
  }
}

void TimeSeries::Fill(result::v1::TimeSeries& out) const {
  out.set_bin_cycles(width_);
  using Values = google::protobuf::RepeatedField<uint64_t>;
  const auto fill = [&](int column, Values* values) {
    values->Reserve(static_cast<int>(bins_.size()));
    for (const Bin& bin : bins_) values->Add(bin[static_cast<size_t>(column)]);
  };
  fill(kWarpInstructions, out.mutable_warp_instructions());
  fill(kThreadInstructions, out.mutable_thread_instructions());
  fill(kDispatchedBlocks, out.mutable_dispatched_blocks());
  fill(kRetiredBlocks, out.mutable_retired_blocks());
  fill(kExitedThreads, out.mutable_exited_threads());
  fill(kResidentCycles, out.mutable_resident_cycles());
  fill(kSchedulerCycles, out.mutable_scheduler_cycles());
  fill(kIssued, out.mutable_issued());
  fill(kStall, out.mutable_stall());
  fill(kMemory, out.mutable_memory());
  fill(kIdle, out.mutable_idle());
  for (uint32_t first = 0; first < warp_size_; first += kSizeClass) {
    result::v1::TimeSeries::SizeClass& sizes = *out.add_issues_by_size();
    sizes.set_least_threads(first + 1);
    sizes.set_most_threads(std::min(first + kSizeClass, warp_size_));
    fill(kSizes + static_cast<int>(first / kSizeClass), sizes.mutable_issues());
  }
  for (size_t column = 0; column < policies_.size(); ++column) FillPolicy(column, *out.add_policy());
  if (has_stalls_) {
    result::v1::TimeSeries::StallSeries& stalls = *out.mutable_stalls();
    fill(kStructural, stalls.mutable_structural());
    fill(kDataMemory, stalls.mutable_data_memory());
    fill(kDataArithmetic, stalls.mutable_data_arithmetic());
    fill(kControl, stalls.mutable_control());
    fill(kFetch, stalls.mutable_fetch());
    fill(kPolicy, stalls.mutable_policy());
    fill(kBarrier, stalls.mutable_barrier());
    fill(kExit, stalls.mutable_exit());
    fill(kEmpty, stalls.mutable_empty());
  }
  if (!has_memory_) return;
  result::v1::TimeSeries::MemorySeries& memory = *out.mutable_memory_system();
  fill(kL1Accesses, memory.mutable_l1_accesses());
  fill(kL1Misses, memory.mutable_l1_misses());
  fill(kOutstandingMisses, memory.mutable_outstanding_misses());
  fill(kL2Accesses, memory.mutable_l2_accesses());
  fill(kL2Misses, memory.mutable_l2_misses());
  fill(kDramRequests, memory.mutable_dram_requests());
  fill(kDramBusBusy, memory.mutable_dram_bus_busy());
}

}  // namespace heddle::replay
