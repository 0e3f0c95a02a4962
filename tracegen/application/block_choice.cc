#include "tracegen/application/block_choice.h"

#include <set>

#include "tracegen/execute/random.h"

namespace heddle::tracegen {

std::vector<BlockRange> ChooseBlocks(trace::v1::BlockSelection::Rule rule, uint64_t count, uint64_t seed,
                                     uint64_t grid_blocks) {
  if (count == 0 || count >= grid_blocks) return {{0, grid_blocks}};
  if (rule == trace::v1::BlockSelection::FIRST) return {{0, count}};
  std::vector<BlockRange> ranges;
  const auto add = [&ranges](uint64_t block) {
    if (!ranges.empty() && ranges.back().end == block) {
      ++ranges.back().end;
    } else {
      ranges.push_back({block, block + 1});
    }
  };
  if (rule == trace::v1::BlockSelection::EVENLY_SPACED) {
    for (uint64_t i = 0; i < count; ++i) {
      add(static_cast<uint64_t>(static_cast<unsigned __int128>(i) * grid_blocks / count));
    }
    return ranges;
  }
  // Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", 1987): one draw per chosen block.
  Random random(seed);
  std::set<uint64_t> chosen;
  for (uint64_t last = grid_blocks - count; last < grid_blocks; ++last) {
    if (const uint64_t drawn = random.Below(last + 1); !chosen.insert(drawn).second) chosen.insert(last);
  }
  for (uint64_t block : chosen) add(block);
  return ranges;
}

}  // namespace heddle::tracegen
