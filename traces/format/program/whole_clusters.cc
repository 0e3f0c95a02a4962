#include "traces/format/program/whole_clusters.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::trace {
namespace {

class Cover {
 public:
  explicit Cover(const Clusters& clusters) : grid_(clusters.grid()), extent_(clusters.extent()) {}

  void Add(uint64_t first, uint64_t last) { AddWithin(2, 0, first, last); }
  std::vector<std::pair<uint64_t, uint64_t>> Take() { return std::move(ranges_); }

 private:
  // Adds the clusters of blocks `first` to `last` of a row of the grid (dimension 0), of a plane of rows (1), or of all
  // its planes (2), which begins with block number `start`. Where the blocks cover only a part of a slice, as its first
  // or its last one, that part is taken in all slices of its clusters; slices that are covered are one range.
  void AddWithin(int dimension, uint64_t start, uint64_t first, uint64_t last) {
    const uint64_t slice = dimension == 0 ? 1 : dimension == 1 ? grid_[0] : uint64_t{grid_[0]} * grid_[1];
    uint64_t whole_first = first / slice, whole_end = last / slice + 1;
    const auto add_part = [&](uint64_t at, uint64_t from, uint64_t to) {
      const uint64_t group = at / extent_[dimension] * extent_[dimension];
      for (uint32_t i = 0; i < extent_[dimension]; ++i) {
        AddWithin(dimension - 1, start + (group + i) * slice, from % slice, to % slice);
      }
    };
    if (slice > 1 && whole_end - whole_first == 1) return add_part(whole_first, first, last);
    if (first % slice != 0) add_part(whole_first++, first, slice - 1);
    if (last % slice != slice - 1) add_part(--whole_end, 0, last);
    if (whole_first >= whole_end) return;
    const uint64_t begin = whole_first / extent_[dimension] * extent_[dimension];
    const uint64_t behind = ((whole_end - 1) / extent_[dimension] + 1) * extent_[dimension];
    ranges_.emplace_back(start + begin * slice, start + behind * slice - 1);
  }

  const Clusters::Extent grid_, extent_;
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

}  // namespace

NumberRanges WholeClusters(const NumberRanges& blocks, const Clusters& clusters) {
  if (blocks.everything() || !clusters.have_several_blocks()) return blocks;
  const uint64_t last_block = clusters.count() * clusters.blocks() - 1;
  Cover cover(clusters);
  for (const auto& [first, last] : blocks.ranges()) {
    if (first <= last_block) cover.Add(first, std::min(last, last_block));
  }
  return NumberRanges(cover.Take());
}

}  // namespace heddle::trace
