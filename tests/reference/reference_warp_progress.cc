#include "tests/reference/reference_warp_progress.h"

#include <algorithm>
#include <numeric>

namespace heddle::replay {
namespace {

// In per cent.
constexpr uint64_t kThresholds[] = {50, 25, 10, 5};

double MeanPerCent(const std::vector<double>& shares, size_t count) {
  return 100.0 * std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(count);
}

uint64_t Most(const std::vector<uint64_t>& values) { return *std::max_element(values.begin(), values.end()); }
uint64_t Least(const std::vector<uint64_t>& values) { return *std::min_element(values.begin(), values.end()); }

// The part of `values.size()` warps for Most(values) cycles in which a warp was not busy, in warp-cycles.
uint64_t Idle(const std::vector<uint64_t>& values) {
  return values.size() * Most(values) - std::accumulate(values.begin(), values.end(), uint64_t{0});
}

}  // namespace

void ReferenceWarpProgress::Admitted(Place place, const std::vector<ThreadId>& threads, Cycle first, uint64_t stalls) {
  History& history = histories_[place] = History{};
  history.first = first;
  history.stalls = stalls;
  for (const ThreadId thread : threads) history.hw_warps[thread / warp_size_].push_back(thread);
}

void ReferenceWarpProgress::Happened(Place place, Event event, ThreadId thread, Cycle at, uint64_t stalls) {
  histories_.at(place).moments.push_back({.event = event, .thread = thread, .at = at, .stalls = stalls});
}

void ReferenceWarpProgress::AddPhase(const std::vector<Cycle>& times) {
  if (times.empty()) return;
  const uint64_t capacity = times.size() * Most(times);
  phase_shares_.push_back(capacity == 0 ? 0 : static_cast<double>(Idle(times)) / static_cast<double>(capacity));
  phase_idle_ += Idle(times);
  phase_capacity_ += capacity;
}

std::map<uint32_t, ReferenceWarpProgress::HwWarp> ReferenceWarpProgress::Walk(const History& history) {
  struct Thread {
    bool busy = true;
    Cycle since = 0;  // it stopped being busy
  };
  std::map<ThreadId, Thread> threads;
  std::map<uint32_t, Cycle> phase_start;  // of hardware warps that are in the present phase
  for (const auto& [hw_warp, members] : history.hw_warps) {
    for (const ThreadId thread : members) threads[thread] = Thread{};
    phase_start[hw_warp] = history.first;
  }
  const auto all_wait = [&](uint32_t hw_warp) {
    return std::none_of(history.hw_warps.at(hw_warp).begin(), history.hw_warps.at(hw_warp).end(),
                        [&](ThreadId thread) { return threads.at(thread).busy; });
  };
  const auto since = [&](uint32_t hw_warp) {
    Cycle last = 0;
    for (const ThreadId thread : history.hw_warps.at(hw_warp)) last = std::max(last, threads.at(thread).since);
    return last;
  };
  const auto end_phase = [&] {
    std::vector<Cycle> times;
    for (const auto& [hw_warp, members] : history.hw_warps) {
      if (!phase_start.contains(hw_warp) || !all_wait(hw_warp)) continue;
      times.push_back(since(hw_warp) - phase_start.at(hw_warp));
      phase_start.erase(hw_warp);
    }
    AddPhase(times);
  };

  std::map<uint32_t, HwWarp> hw_warps;
  for (const Moment& moment : history.moments) {
    if (moment.release) {
      end_phase();
      continue;
    }
    const uint32_t hw_warp = moment.thread / warp_size_;
    Thread& thread = threads.at(moment.thread);
    if (moment.event == Event::kResumed) {
      if (all_wait(hw_warp)) hw_warps[hw_warp].waited += moment.at - since(hw_warp);
      thread.busy = true;
      phase_start.try_emplace(hw_warp, moment.at);
      continue;
    }
    thread.busy = false;
    thread.since = moment.at;
    if (moment.event == Event::kExited) hw_warps[hw_warp].exit = moment.at;  // the last one stays
  }
  end_phase();
  return hw_warps;
}

void ReferenceWarpProgress::Retired(Place place, Cycle end, uint64_t stalls) {
  const History history = histories_.at(place);
  histories_.erase(place);
  const std::map<uint32_t, HwWarp> hw_warps = Walk(history);

  std::vector<uint64_t> cycles;
  std::vector<uint64_t> instructions;
  for (const auto& [hw_warp, times] : hw_warps) {
    cycles.push_back(times.exit - history.first);
    const auto count = history.instructions.find(hw_warp);
    instructions.push_back(count == history.instructions.end() ? 0 : count->second);
    if (end > history.first) {
      barrier_shares_.push_back(static_cast<double>(times.waited + (end - times.exit)) /
                                static_cast<double>(end - history.first));
    }
  }
  for (const uint64_t threshold : kThresholds) {
    cycle_blocks_[threshold] += (Most(cycles) - Least(cycles)) * 100 > threshold * Least(cycles);
    instruction_blocks_[threshold] +=
        (Most(instructions) - Least(instructions)) * 100 > threshold * Least(instructions);
  }
  const double longest = static_cast<double>(Most(cycles));
  block_shares_.push_back(
      longest == 0 ? 0 : static_cast<double>(Idle(cycles)) / (longest * static_cast<double>(cycles.size())));
  if (retired_ + resident_ < blocks_ && longest != 0) {
    tails_.push_back(1 - static_cast<double>(Least(cycles)) / longest);
  }
  ++retired_;

  if (stalls == history.stalls) return;
  // The stalls between the exits of the first and the last hardware warp.
  std::vector<uint64_t> stalls_at_exit;
  for (const auto& [hw_warp, times] : hw_warps) {
    for (const Moment& moment : history.moments) {
      if (moment.event == Event::kExited && moment.thread / warp_size_ == hw_warp && moment.at == times.exit) {
        stalls_at_exit.push_back(moment.stalls);
        break;
      }
    }
  }
  tail_stalls_.push_back(static_cast<double>(Most(stalls_at_exit) - Least(stalls_at_exit)) /
                         static_cast<double>(stalls - history.stalls));
}

void ReferenceWarpProgress::Fill(result::v1::WarpProgress& out) const {
  out.set_phases(phase_shares_.size());
  out.set_phase_idle_cycles(phase_idle_);
  out.set_phase_cycles(phase_capacity_);
  if (!phase_shares_.empty()) out.set_rtru(MeanPerCent(phase_shares_, phase_shares_.size()));
  if (phase_capacity_ != 0) {
    out.set_rtru_weighted(100.0 * static_cast<double>(phase_idle_) / static_cast<double>(phase_capacity_));
  }
  if (retired_ != 0) out.set_rtru_whole_block(MeanPerCent(block_shares_, block_shares_.size()));
  if (!barrier_shares_.empty()) out.set_barrier_share(MeanPerCent(barrier_shares_, barrier_shares_.size()));
  for (const uint64_t threshold : kThresholds) {
    result::v1::WarpProgress::Divergence& divergence = *out.add_divergence();
    divergence.set_above_per_cent(threshold);
    const auto blocks = [&](const std::map<uint64_t, uint64_t>& counts) {
      return counts.contains(threshold) ? counts.at(threshold) : 0;
    };
    if (static_warps_ && retired_ != 0) divergence.set_instruction_blocks(blocks(instruction_blocks_));
    divergence.set_cycle_blocks(blocks(cycle_blocks_));
  }
  if (!tails_.empty()) out.set_dwr(MeanPerCent(tails_, tails_.size()));
  if (!tail_stalls_.empty()) out.set_dws(MeanPerCent(tail_stalls_, tail_stalls_.size()));
}

}  // namespace heddle::replay
