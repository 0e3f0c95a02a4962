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
      rows_((static_cast<size_t>(max_threads) + warp_size_ - 1) / warp_size_),
      instructions_(rows_.size(), 0),
      blocks_(static_cast<size_t>(max_blocks)),
      totals_(totals) {
  times_.reserve(rows_.size());
  waits_.reserve(rows_.size());
  counts_.reserve(rows_.size());
}

void WarpProgress::Admit(BlockId id, ThreadId first_thread, std::span<const LaneMask> rows, Cycle now,
                         uint64_t stalls) {
  Block& block = blocks_[id];
  block = Block();
  block.first_row = first_thread / warp_size_;
  block.rows = static_cast<uint32_t>(rows.size());
  block.admitted = now;
  block.stalls_at_admission = stalls;
  for (uint32_t i = 0; i < block.rows; ++i) {
    Row& row = rows_[block.first_row + i];
    row = Row();
    instructions_[block.first_row + i] = 0;
    row.block = id;
    row.live = static_cast<uint16_t>(std::popcount(rows[i]));
    row.open = true;
    row.start = now;
  }
}

void WarpProgress::Record(BlockId id, uint64_t linear_index, WarpTimelines& timelines) {
  timelines_ = &timelines;
  const Block& block = blocks_[id];
  for (uint32_t i = 0; i < block.rows; ++i) rows_[block.first_row + i].timeline = timelines.Begin(linear_index, i, sm_);
}

void WarpProgress::Arrived(const Lanes& lanes, Cycle now) {
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    Row& row = rows_[RowOf(lanes, mask)];
    if (++row.waiting == row.live) row.arrival = now;
  }
}

void WarpProgress::Released(BlockId id) { EndPhase(blocks_[id]); }

void WarpProgress::Resumed(const Lanes& lanes, Cycle now) {
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    Row& row = rows_[RowOf(lanes, mask)];
    // The whole warp goes on with its first thread.
    if (row.waiting == row.live) row.barrier_wait += now - row.arrival;
    --row.waiting;
    if (row.open) continue;
    if (row.timeline != WarpTimelines::kNone) timelines_->AddPhase(row.timeline, row.start, row.arrival, now);
    row.open = true;
    row.start = now;
  }
}

void WarpProgress::EndPhase(const Block& block) {
  times_.clear();
  for (uint32_t i = 0; i < block.rows; ++i) {
    Row& row = rows_[block.first_row + i];
    if (!row.open || row.waiting != row.live) continue;
    times_.push_back((row.live == 0 ? row.exit : row.arrival) - row.start);
    row.open = false;
  }
  if (!times_.empty()) totals_.AddPhase(times_);
}

bool WarpProgress::ThreadsExited(uint32_t index, uint16_t threads, Cycle now, uint64_t stalls) {
  Row& row = rows_[index];
  row.live = static_cast<uint16_t>(row.live - threads);
  if (row.live != 0) {
    // The others may all be waiting already.
    if (row.waiting == row.live) row.arrival = now;
    return false;
  }
  row.exit = now;
  Block& block = blocks_[row.block];
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
  for (uint32_t i = 0; i < block.rows; ++i) {
    const Row& row = rows_[block.first_row + i];
    times_.push_back(row.exit - block.admitted);
    if (row.timeline != WarpTimelines::kNone) timelines_->AddPhase(row.timeline, row.start, row.exit, now);
    waits_.push_back(row.barrier_wait + (now - row.exit));
    if (static_warps_) counts_.push_back(instructions_[block.first_row + i]);
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
