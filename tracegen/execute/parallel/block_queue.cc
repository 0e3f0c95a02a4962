#include "tracegen/execute/parallel/block_queue.h"

#include <algorithm>
#include <functional>

namespace heddle::tracegen {

bool BlockQueue::IsRecorded(uint64_t block) const {
  return std::ranges::upper_bound(ranges_, block, std::less<>(), &GridRange::end)->record;
}

std::vector<uint64_t> BlockQueue::BeginningRecords() const {
  std::vector<uint64_t> blocks;
  const uint64_t span = clusters_.span();
  if (next_ % span != 0) return blocks;
  const uint64_t count = span * clusters_.blocks();
  const uint64_t first = next_ / span * count;
  for (uint64_t block = first; block < first + count; ++block) {
    if (IsRecorded(block)) blocks.push_back(block);
  }
  return blocks;
}

}  // namespace heddle::tracegen
