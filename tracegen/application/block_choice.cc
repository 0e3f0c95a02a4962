#include "tracegen/application/block_choice.h"

#include <algorithm>
#include <set>
#include <utility>

#include "traces/base/number_ranges.h"
#include "traces/base/random.h"
#include "traces/format/program/whole_clusters.h"

namespace heddle::tracegen {
namespace {

// Puts a block behind the others, which come in ascending order.
void Append(std::vector<BlockRange>& ranges, uint64_t block) {
  if (!ranges.empty() && ranges.back().end == block) {
    ++ranges.back().end;
  } else {
    ranges.push_back({block, block + 1});
  }
}

}  // namespace

std::vector<BlockRange> ChooseBlocks(trace::v1::BlockSelection::Rule rule, uint64_t count, uint64_t seed,
                                     uint64_t grid_blocks) {
  if (count == 0 || count >= grid_blocks) return {{0, grid_blocks}};
  if (rule == trace::v1::BlockSelection::FIRST) return {{0, count}};
  std::vector<BlockRange> ranges;
  if (rule == trace::v1::BlockSelection::EVENLY_SPACED) {
    for (uint64_t i = 0; i < count; ++i) {
      Append(ranges, static_cast<uint64_t>(static_cast<unsigned __int128>(i) * grid_blocks / count));
    }
    return ranges;
  }
  // Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", 1987): one draw per chosen block.
  Random random(seed);
  std::set<uint64_t> chosen;
  for (uint64_t last = grid_blocks - count; last < grid_blocks; ++last) {
    if (const uint64_t drawn = random.Below(last + 1); !chosen.insert(drawn).second) chosen.insert(last);
  }
  for (uint64_t block : chosen) Append(ranges, block);
  return ranges;
}

std::vector<BlockRange> WholeClusters(const std::vector<BlockRange>& chosen, const trace::Clusters& clusters) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const BlockRange& range : chosen) ranges.emplace_back(range.first, range.end - 1);
  const NumberRanges whole = trace::WholeClusters(NumberRanges(std::move(ranges)), clusters);
  std::vector<BlockRange> taken;
  for (const auto& [first, last] : whole.ranges()) taken.push_back({first, last + 1});
  return taken;
}

uint64_t WaveBlocks(uint32_t block_threads, uint32_t registers_per_thread, uint32_t shared_bytes) {
  constexpr uint64_t kMultiprocessors = 80;
  constexpr uint64_t kThreads = 2048;
  constexpr uint64_t kBlocks = 32;
  constexpr uint64_t kRegisters = 65'536;
  constexpr uint64_t kRegisterUnit = 256;  // of a warp
  constexpr uint64_t kSharedBytes = 96 << 10;
  constexpr uint64_t kWarp = 32;
  const uint64_t warps = (block_threads + kWarp - 1) / kWarp;
  const uint64_t registers = (registers_per_thread * kWarp + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit * warps;
  uint64_t blocks = std::min(kBlocks, kThreads / (warps * kWarp));
  if (registers != 0) blocks = std::min(blocks, kRegisters / registers);
  if (shared_bytes != 0) blocks = std::min(blocks, kSharedBytes / shared_bytes);
  return kMultiprocessors * std::max<uint64_t>(1, blocks);
}

std::vector<BlockRange> ChooseWaves(uint64_t count, uint64_t wave_blocks, uint64_t grid_blocks) {
  if (count == 0 || count >= grid_blocks) return {{0, grid_blocks}};
  const uint64_t waves = grid_blocks / wave_blocks;  // at least one, as count is below the grid and above a wave
  const uint64_t chosen = std::min(waves, count / wave_blocks);
  std::vector<BlockRange> ranges;
  for (uint64_t i = 0; i < chosen; ++i) {
    const uint64_t first = static_cast<uint64_t>(static_cast<unsigned __int128>(i) * waves / chosen) * wave_blocks;
    if (!ranges.empty() && ranges.back().end == first) {
      ranges.back().end += wave_blocks;
    } else {
      ranges.push_back({first, first + wave_blocks});
    }
  }
  return ranges;
}

}  // namespace heddle::tracegen
