#include "replay/analysis/alignment.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace heddle::replay {
namespace {

enum Choice : uint8_t { kMatch, kFirst, kSecond };

// Columns at either end that are equal: an optimal merge matches them.
struct Ends {
  size_t front = 0;
  size_t back = 0;
};
Ends CommonEnds(std::span<const AlignedColumn> a, std::span<const AlignedColumn> b) {
  const size_t shorter = std::min(a.size(), b.size());
  Ends ends;
  while (ends.front < shorter && a[ends.front].piece == b[ends.front].piece) ++ends.front;
  while (ends.front + ends.back < shorter && a[a.size() - 1 - ends.back].piece == b[b.size() - 1 - ends.back].piece) {
    ++ends.back;
  }
  return ends;
}

std::vector<uint32_t> SortedPieces(const Alignment& columns) {
  std::vector<uint32_t> pieces;
  for (const AlignedColumn& column : columns) pieces.push_back(column.piece);
  std::ranges::sort(pieces);
  return pieces;
}

}  // namespace

std::optional<Alignment> Aligner::Merge(std::span<const AlignedColumn> a, std::span<const AlignedColumn> b) {
  const Ends ends = CommonEnds(a, b);
  const std::span<const AlignedColumn> x = a.subspan(ends.front, a.size() - ends.front - ends.back);
  const std::span<const AlignedColumn> y = b.subspan(ends.front, b.size() - ends.front - ends.back);
  const size_t width = y.size() + 1;
  if (!x.empty() && width > max_cells_ / x.size()) return std::nullopt;
  // row_[j]: the largest saving of the rest of x from i on and the rest of y from j on; filled from the end.
  row_.assign(width, 0);
  choices_.resize(x.size() * width);
  for (size_t i = x.size(); i-- > 0;) {
    uint64_t diagonal = row_[y.size()];  // of (i + 1, j + 1)
    choices_[i * width + y.size()] = kFirst;
    for (size_t j = y.size(); j-- > 0;) {
      const uint64_t skip_first = row_[j];
      const uint64_t skip_second = row_[j + 1];
      uint64_t best = skip_first;
      uint8_t choice = kFirst;
      if (skip_second > best) {
        best = skip_second;
        choice = kSecond;
      }
      if (x[i].piece == y[j].piece && diagonal + weights_[x[i].piece] >= best) {
        best = diagonal + weights_[x[i].piece];
        choice = kMatch;
      }
      diagonal = skip_first;
      row_[j] = best;
      choices_[i * width + j] = choice;
    }
  }
  Alignment merged;
  merged.reserve(a.size() + b.size());
  const auto both = [&](const AlignedColumn& one, const AlignedColumn& other) {
    merged.push_back({one.piece, one.lanes | other.lanes});
  };
  for (size_t k = 0; k < ends.front; ++k) both(a[k], b[k]);
  size_t i = 0;
  size_t j = 0;
  while (i < x.size()) {
    switch (choices_[i * width + j]) {
      case kMatch:
        both(x[i++], y[j++]);
        break;
      case kFirst:
        merged.push_back(x[i++]);
        break;
      default:
        merged.push_back(y[j++]);
    }
  }
  merged.insert(merged.end(), y.begin() + static_cast<ptrdiff_t>(j), y.end());
  for (size_t k = ends.back; k-- > 0;) both(a[a.size() - 1 - k], b[b.size() - 1 - k]);
  return merged;
}

std::optional<uint64_t> Aligner::Saving(std::span<const AlignedColumn> a, std::span<const AlignedColumn> b) {
  const Ends ends = CommonEnds(a, b);
  const std::span<const AlignedColumn> x = a.subspan(ends.front, a.size() - ends.front - ends.back);
  const std::span<const AlignedColumn> y = b.subspan(ends.front, b.size() - ends.front - ends.back);
  if (!x.empty() && y.size() + 1 > max_cells_ / x.size()) return std::nullopt;
  row_.assign(y.size() + 1, 0);
  for (size_t i = x.size(); i-- > 0;) {
    uint64_t diagonal = row_[y.size()];
    for (size_t j = y.size(); j-- > 0;) {
      const uint64_t below = row_[j];
      uint64_t best = std::max(below, row_[j + 1]);
      if (x[i].piece == y[j].piece) best = std::max(best, diagonal + weights_[x[i].piece]);
      diagonal = below;
      row_[j] = best;
    }
  }
  return row_[0] + Issues(a.first(ends.front)) + Issues(a.last(ends.back));
}

uint64_t Aligner::Issues(std::span<const AlignedColumn> columns) const {
  uint64_t sum = 0;
  for (const AlignedColumn& column : columns) sum += weights_[column.piece];
  return sum;
}

std::optional<Alignment> Aligner::BestOfAllTrees(const std::vector<Alignment>& sequences) {
  // What every tree over a subset of the sequences makes of it; subsets are bit masks.
  std::array<std::vector<Alignment>, 16> made;
  const uint32_t all = (1u << sequences.size()) - 1;
  for (uint32_t set = 1; set <= all; ++set) {
    if ((set & (set - 1)) == 0) {
      made[set].push_back(sequences[static_cast<size_t>(std::countr_zero(set))]);
      continue;
    }
    const uint32_t lowest = set & (~set + 1);
    for (uint32_t part = (set - 1) & set; part != 0; part = (part - 1) & set) {
      if ((part & lowest) == 0) continue;  // each pair of parts once
      for (const Alignment& one : made[part]) {
        for (const Alignment& other : made[set ^ part]) {
          std::optional<Alignment> merged = Merge(one, other);
          if (!merged.has_value()) return std::nullopt;
          if (set == all && !made[set].empty()) {  // of the whole only the best is wanted
            if (Issues(*merged) < Issues(made[set][0])) made[set][0] = *std::move(merged);
          } else {
            made[set].push_back(*std::move(merged));
          }
        }
      }
    }
  }
  return made[all][0];
}

// An upper bound of what merging saves: the weight of the pieces that both have, whatever their order.
uint64_t Aligner::Overlap(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) const {
  uint64_t sum = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      sum += weights_[a[i]];
      ++i;
      ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

std::optional<Alignment> Aligner::Greedy(std::vector<Alignment> sequences) {
  struct Pair {
    uint64_t saving = 0;
    bool exact = false;  // otherwise an upper bound
  };
  const size_t n = sequences.size();
  std::vector<std::vector<uint32_t>> pieces;
  for (const Alignment& sequence : sequences) pieces.push_back(SortedPieces(sequence));
  std::vector<Pair> pairs(n * n);
  std::vector<bool> gone(n, false);
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = a + 1; b < n; ++b) pairs[a * n + b].saving = Overlap(pieces[a], pieces[b]);
  }
  size_t last = 0;
  for (size_t left = n; left > 1; --left) {
    size_t a = 0;
    size_t b = 0;
    while (true) {
      const Pair* best = nullptr;
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = i + 1; j < n && !gone[i]; ++j) {
          if (gone[j] || (best != nullptr && pairs[i * n + j].saving <= best->saving)) continue;
          best = &pairs[i * n + j];
          a = i;
          b = j;
        }
      }
      Pair& found = pairs[a * n + b];
      if (found.exact) break;
      const std::optional<uint64_t> saving = Saving(sequences[a], sequences[b]);
      if (!saving.has_value()) return std::nullopt;
      found = {*saving, true};
    }
    std::optional<Alignment> merged = Merge(sequences[a], sequences[b]);
    if (!merged.has_value()) return std::nullopt;
    sequences[a] = *std::move(merged);
    pieces[a] = SortedPieces(sequences[a]);
    gone[b] = true;
    last = a;
    for (size_t other = 0; other < n; ++other) {
      if (gone[other] || other == a) continue;
      pairs[std::min(a, other) * n + std::max(a, other)] = {Overlap(pieces[a], pieces[other]), false};
    }
  }
  return std::move(sequences[last]);
}

}  // namespace heddle::replay
