#include "replay/trace/access_windows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace heddle::replay {
namespace {

// Only the accesses of the windows, in vectors that are no larger than that.
template <typename T>
void Keep(const std::vector<AccessWindow>& windows, const std::vector<uint64_t>& begin, size_t total,
          std::vector<T>& accesses) {
  std::vector<T> kept;
  kept.reserve(total);
  for (const AccessWindow& window : windows) {
    const auto from = accesses.begin() + static_cast<std::ptrdiff_t>(begin[window.thread] + window.first);
    kept.insert(kept.end(), from, from + window.count);
  }
  accesses = std::move(kept);
}

}  // namespace

std::vector<AccessWindow> NarrowAccesses(std::vector<ChunkReader> readers, uint64_t accesses,
                                         trace::DecodedChunk& chunk) {
  std::sort(readers.begin(), readers.end(), [](const ChunkReader& a, const ChunkReader& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.accesses_made < b.accesses_made;
  });
  const std::vector<uint64_t> begin = std::move(chunk.first_address);
  chunk.first_address.clear();
  std::vector<AccessWindow> windows;
  windows.reserve(readers.size());
  uint32_t place = 0;
  for (const ChunkReader& reader : readers) {
    if (!windows.empty() && windows.back().thread == reader.thread) continue;
    const uint64_t all = begin[reader.thread + 1] - begin[reader.thread];
    const uint64_t made = std::min<uint64_t>(reader.accesses_made, all);
    const auto count = static_cast<uint32_t>(std::min(all - made, accesses));
    windows.push_back({reader.thread, static_cast<uint32_t>(made), place, count});
    place += count;
  }
  // Of the two lists one is empty. Which one holds the accesses tells how they are read, also where none are kept.
  if (chunk.addresses64.empty()) {
    Keep(windows, begin, std::max<size_t>(place, 1), chunk.offsets32);
    if (place == 0) chunk.offsets32.push_back(0);
  } else {
    Keep(windows, begin, place, chunk.addresses64);
  }
  return windows;
}

const AccessWindow* FindWindow(const std::vector<AccessWindow>& windows, uint32_t thread) {
  const auto found = std::lower_bound(windows.begin(), windows.end(), thread,
                                      [](const AccessWindow& window, uint32_t of) { return window.thread < of; });
  return found == windows.end() || found->thread != thread ? nullptr : &*found;
}

}  // namespace heddle::replay
