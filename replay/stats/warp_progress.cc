#include "replay/stats/warp_progress.h"

#include <algorithm>
#include <bit>

namespace heddle::replay {
namespace {

struct Range {
  uint64_t least = 0;
  uint64_t most = 0;
};
Range RangeOf(std::span<const uint64_t> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

// Counts the thresholds that the spread of the values exceeds, as a percentage of the least.
void CountAbove(const Range& range, std::array<uint64_t, 4>& above) {
  for (size_t i = 0; i < above.size(); ++i) {
    above[i] += (range.most - range.least) * 100 > WarpProgressTotals::kThresholds[i] * range.least;
  }
}

// Sum of (longest - own).
uint64_t IdleOf(std::span<const Cycle> times, Cycle longest) {
  uint64_t idle = 0;
  for (const Cycle time : times) idle += longest - time;
  return idle;
}

}  // namespace

void WarpProgressTotals::AddPhase(std::span<const Cycle> times) {
  const Cycle longest = RangeOf(times).most;
  const uint64_t idle = IdleOf(times, longest);
  const uint64_t capacity = times.size() * longest;
  phase_idle_.Add(idle, capacity);
  phase_idle_cycles_ += idle;
  phase_cycles_ += capacity;
}

void WarpProgressTotals::AddBlock(const Block& block) {
  const Range cycles = RangeOf(block.cycles);
  CountAbove(cycles, cycles_above_);
  if (!block.instructions.empty()) {
    counts_instructions_ = true;
    CountAbove(RangeOf(block.instructions), instructions_above_);
  }
  block_idle_.Add(IdleOf(block.cycles, cycles.most), block.cycles.size() * cycles.most);
  tails_.Add(block.retired, block.sm, cycles.least, cycles.most);
  if (block.stalls != 0) tail_stalls_.Add(block.tail_stalls, block.stalls);
  for (const Cycle wait : block.barrier_wait) barrier_wait_.Add(wait, block.residence);
}

void WarpProgressTotals::Fill(result::v1::WarpProgress& out) const {
  out.set_phases(phase_idle_.count());
  out.set_phase_idle_cycles(phase_idle_cycles_);
  out.set_phase_cycles(phase_cycles_);
  if (phase_idle_.count() != 0) out.set_rtru(phase_idle_.percent());
  if (phase_cycles_ != 0) {
    out.set_rtru_weighted(100.0 * static_cast<double>(phase_idle_cycles_) / static_cast<double>(phase_cycles_));
  }
  if (block_idle_.count() != 0) out.set_rtru_whole_block(block_idle_.percent());
  if (barrier_wait_.count() != 0) out.set_barrier_share(barrier_wait_.percent());
  for (size_t i = 0; i < kThresholds.size(); ++i) {
    result::v1::WarpProgress::Divergence& divergence = *out.add_divergence();
    divergence.set_above_per_cent(kThresholds[i]);
    if (counts_instructions_) divergence.set_instruction_blocks(instructions_above_[i]);
    divergence.set_cycle_blocks(cycles_above_[i]);
  }
  if (tails_.early().count() != 0) out.set_dwr(tails_.early().percent());
  if (tail_stalls_.count() != 0) out.set_dws(tail_stalls_.percent());
}

WarpProgress::WarpProgress(uint32_t sm, int warp_size, int max_threads, int max_blocks, bool static_warps,
                           WarpProgressTotals& totals)
    : sm_(sm),
      warp_size_(static_cast<uint32_t>(warp_size)),
      shift_(std::has_single_bit(warp_size_) ? std::countr_zero(warp_size_) : 0),
      static_warps_(static_warps),
      hw_warps_((static_cast<size_t>(max_threads) + warp_size_ - 1) / warp_size_),
      instructions_(hw_warps_.size(), 0),
      blocks_(static_cast<size_t>(max_blocks)),
      totals_(totals) {
  times_.reserve(hw_warps_.size());
  waits_.reserve(hw_warps_.size());
  counts_.reserve(hw_warps_.size());
}

void WarpProgress::Admit(BlockId id, ThreadId first_thread, std::span<const LaneMask> hw_warps, Cycle now,
                         uint64_t stalls) {
  Block& block = blocks_[id];
  block = Block();
  block.first_hw_warp = first_thread / warp_size_;
  block.hw_warps = static_cast<uint32_t>(hw_warps.size());
  block.admitted = now;
  block.stalls_at_admission = stalls;
  for (uint32_t i = 0; i < block.hw_warps; ++i) {
    HwWarp& hw_warp = hw_warps_[block.first_hw_warp + i];
    hw_warp = HwWarp();
    instructions_[block.first_hw_warp + i] = 0;
    hw_warp.block = id;
    hw_warp.live = static_cast<uint16_t>(std::popcount(hw_warps[i]));
    hw_warp.open = true;
    hw_warp.start = now;
  }
}

void WarpProgress::Record(BlockId id, uint64_t linear_index, WarpTimelines& timelines) {
  timelines_ = &timelines;
  const Block& block = blocks_[id];
  for (uint32_t i = 0; i < block.hw_warps; ++i)
    hw_warps_[block.first_hw_warp + i].timeline = timelines.Begin(linear_index, i, sm_);
}

void WarpProgress::Arrived(const Lanes& lanes, Cycle now) {
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    HwWarp& hw_warp = hw_warps_[HwWarpOf(lanes, mask)];
    if (++hw_warp.waiting == hw_warp.live) hw_warp.arrival = now;
  }
}

void WarpProgress::Released(BlockId id) { EndPhase(blocks_[id]); }

void WarpProgress::Resumed(const Lanes& lanes, Cycle now) {
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    HwWarp& hw_warp = hw_warps_[HwWarpOf(lanes, mask)];
    // The whole warp goes on with its first thread.
    if (hw_warp.waiting == hw_warp.live) hw_warp.barrier_wait += now - hw_warp.arrival;
    --hw_warp.waiting;
    if (hw_warp.open) continue;
    if (hw_warp.timeline != WarpTimelines::kNone)
      timelines_->AddPhase(hw_warp.timeline, hw_warp.start, hw_warp.arrival, now);
    hw_warp.open = true;
    hw_warp.start = now;
  }
}

void WarpProgress::EndPhase(const Block& block) {
  times_.clear();
  for (uint32_t i = 0; i < block.hw_warps; ++i) {
    HwWarp& hw_warp = hw_warps_[block.first_hw_warp + i];
    if (!hw_warp.open || hw_warp.waiting != hw_warp.live) continue;
    times_.push_back((hw_warp.live == 0 ? hw_warp.exit : hw_warp.arrival) - hw_warp.start);
    hw_warp.open = false;
  }
  if (!times_.empty()) totals_.AddPhase(times_);
}

bool WarpProgress::ThreadsExited(uint32_t index, uint16_t threads, Cycle now, uint64_t stalls) {
  HwWarp& hw_warp = hw_warps_[index];
  hw_warp.live = static_cast<uint16_t>(hw_warp.live - threads);
  if (hw_warp.live != 0) {
    // The others may all be waiting already.
    if (hw_warp.waiting == hw_warp.live) hw_warp.arrival = now;
    return false;
  }
  hw_warp.exit = now;
  Block& block = blocks_[hw_warp.block];
  if (block.exited++ == 0) block.stalls_at_first_exit = stalls;
  block.stalls_at_last_exit = stalls;
  return true;
}

void WarpProgress::Retired(BlockId id, Cycle now, uint64_t stalls) {
  const Block& block = blocks_[id];
  EndPhase(block);
  times_.clear();
  waits_.clear();
  counts_.clear();
  for (uint32_t i = 0; i < block.hw_warps; ++i) {
    const HwWarp& hw_warp = hw_warps_[block.first_hw_warp + i];
    times_.push_back(hw_warp.exit - block.admitted);
    if (hw_warp.timeline != WarpTimelines::kNone)
      timelines_->AddPhase(hw_warp.timeline, hw_warp.start, hw_warp.exit, now);
    waits_.push_back(hw_warp.barrier_wait + (now - hw_warp.exit));
    if (static_warps_) counts_.push_back(instructions_[block.first_hw_warp + i]);
  }
  WarpProgressTotals::Block totals;
  totals.cycles = times_;
  totals.instructions = counts_;
  totals.barrier_wait = waits_;
  totals.residence = now - block.admitted;
  totals.stalls = stalls - block.stalls_at_admission;
  totals.tail_stalls = block.stalls_at_last_exit - block.stalls_at_first_exit;
  totals.retired = now;
  totals.sm = sm_;
  totals_.AddBlock(totals);
}

}  // namespace heddle::replay
