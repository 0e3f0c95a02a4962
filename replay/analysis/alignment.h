// Optimal alignment of the paths of a warp's threads (Needleman and Wunsch), the core of the reconvergence limit study.
#ifndef HEDDLE_REPLAY_ANALYSIS_ALIGNMENT_H_
#define HEDDLE_REPLAY_ANALYSIS_ALIGNMENT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// One issue, or several in a row, of an aligned warp: the lanes that run a piece of code together.
struct AlignedColumn {
  uint32_t piece = 0;
  LaneMask lanes = 0;
  friend bool operator==(const AlignedColumn&, const AlignedColumn&) = default;
};
using Alignment = std::vector<AlignedColumn>;

// Merges alignments. Pieces are numbered, each with a weight: its instructions. Equal pieces may share a column, which
// saves the weight; the merge with the largest saving is found by dynamic programming. Among equally good ones a match
// is preferred, then a column of the first alignment alone.
class Aligner {
 public:
  // `weights` by piece must outlive the aligner. `max_cells` limits the table of one merge, in elements of one byte.
  Aligner(const std::vector<uint32_t>& weights, uint64_t max_cells) : weights_(weights), max_cells_(max_cells) {}

  // The columns of both; lanes of a and b are disjoint. nullopt if the table would be too large.
  std::optional<Alignment> Merge(std::span<const AlignedColumn> a, std::span<const AlignedColumn> b);
  // What Merge would save.
  std::optional<uint64_t> Saving(std::span<const AlignedColumn> a, std::span<const AlignedColumn> b);
  // Instructions issued: the sum of the columns' weights.
  uint64_t Issues(std::span<const AlignedColumn> columns) const;

  // Fewest columns over all binary merge trees of up to four sequences, an optimal merge at each node (Fung, section
  // 3.3: all possible pair-wise alignments).
  std::optional<Alignment> BestOfAllTrees(const std::vector<Alignment>& sequences);
  // For more: merges the pair with the largest saving, the earliest of those, until one is left. Not optimal.
  std::optional<Alignment> Greedy(std::vector<Alignment> sequences);

 private:
  uint64_t Overlap(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) const;

  const std::vector<uint32_t>& weights_;
  const uint64_t max_cells_;
  std::vector<uint8_t> choices_;
  std::vector<uint64_t> row_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ANALYSIS_ALIGNMENT_H_
