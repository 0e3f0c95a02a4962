#include "traces/format/columns/column_sorter.h"

#include <algorithm>
#include <utility>

#include "traces/format/columns/models/column_model.h"
#include "traces/format/columns/models/costs.h"
#include "traces/format/columns/models/relative_model.h"
#include "traces/format/columns/models/separable_model.h"

namespace heddle::trace {

void ColumnSorter::Sort(const PendingChunk& chunk, std::span<const ModelChoice> known, bool expects,
                        EncoderColumns& columns) {
  chunk_ = &chunk;
  known_ = known;
  columns_ = &columns;
  CountAccesses();
  if (expects) Expect();
  SortOrCompare();
}

void ColumnSorter::CountAccesses() {
  const PendingChunk& chunk = *chunk_;
  std::vector<EncoderColumn>& all = columns_->all;
  for (const PendingPath& path : chunk.paths()) {
    for (const PathColumn& used : chunk.ColumnsOf(path)) {
      all[used.column].values += path.uses * used.count;
      all[used.column].threads += path.uses;
    }
  }
  for (uint32_t c = 0; c < all.size(); ++c) {
    if (all[c].values > 0) columns_->used.push_back(c);
  }
  order_.resize(chunk.sequence().size());
  first_by_column_.resize(chunk.sequence().size());
  has_order_.assign(chunk.paths().size(), false);
}

void ColumnSorter::Expect() {
  std::vector<EncoderColumn>& all = columns_->all;
  // It takes the order of accesses of every path, which pays if several threads take it.
  if (chunk_->addresses().accesses() < 2 * chunk_->sequence().size()) return;
  for (uint32_t c : columns_->used) {
    all[c].expected = FindModel(known_[c].model)->Expects(*columns_, c, known_[c]);
  }
  ExpectNothingOfReferences();
  FindModels();
}

void ColumnSorter::ExpectNothingOfReferences() {
  std::vector<EncoderColumn>& all = columns_->all;
  // References are lower columns.
  for (size_t u = columns_->used.size(); u-- > 0;) {
    const ModelChoice& known = known_[columns_->used[u]];
    if (known.model == v1::AddressColumn::RELATIVE && all[columns_->used[u]].expected == Expected::kNothing) {
      EncoderColumn& reference = all[known.reference];
      if (std::exchange(reference.expected, Expected::kNothing) != Expected::kNothing) reference.placed = false;
    }
  }
}

void ColumnSorter::FindModels() {
  std::vector<EncoderColumn>& all = columns_->all;
  const PendingChunk& chunk = *chunk_;
  // The thread that runs the instruction most often, the first of several, says how its addresses go on.
  struct Longest {
    uint64_t count = 0;
    uint32_t path = 0;
  };
  std::vector<Longest> longest(all.size());
  const std::span<const PendingPath> paths = chunk.paths();
  for (uint32_t p = 0; p < paths.size(); ++p) {
    if (paths[p].uses == 0) continue;
    for (const PathColumn& used : chunk.ColumnsOf(paths[p])) {
      Longest& known = longest[used.column];
      if (used.count < known.count) continue;
      if (used.count == known.count && chunk.addresses().IsEarlier(known.path, p)) continue;
      known = {used.count, p};
    }
  }
  for (uint32_t p = 0; p < paths.size(); ++p) {
    if (paths[p].uses == 0) continue;
    const uint64_t* first = first_by_column_.data() + paths[p].first_access;
    for (const PathColumn& used : chunk.ColumnsOf(paths[p])) {
      EncoderColumn& column = all[used.column];
      if (column.expected == Expected::kSeparable && longest[used.column].path == p) {
        OrderByColumn(p);
        column.model.assign(first, first + used.count);
      }
      first += used.count;
    }
  }
}

void ColumnSorter::OrderByColumn(uint32_t path_index) {
  const PendingChunk& chunk = *chunk_;
  std::vector<EncoderColumn>& all = columns_->all;
  if (has_order_[path_index]) return;
  has_order_[path_index] = true;
  const PendingPath& path = chunk.paths()[path_index];
  next_order_.resize(all.size());
  uint32_t* next = order_.data() + path.first_access;
  for (const PathColumn& used : chunk.ColumnsOf(path)) {
    next_order_[used.column] = next;
    next += used.count;
  }
  const uint16_t* sequence = chunk.sequence().data() + path.first_access;
  for (uint32_t i = 0; i < path.accesses; ++i) *next_order_[sequence[i]]++ = i;
  const uint64_t* const first = chunk.addresses().OfFirst(path_index);
  for (uint64_t i = path.first_access; i < path.first_access + path.accesses; ++i) {
    first_by_column_[i] = first[order_[i]];
  }
}

void ColumnSorter::PlaceColumns() {
  std::vector<EncoderColumn>& all = columns_->all;
  uint64_t values = 0;
  uint64_t starts = 0;
  for (uint32_t c : columns_->used) {
    EncoderColumn& column = all[c];
    if (column.expected != Expected::kNothing || column.placed) continue;
    column.first_value = values_in_use_ + values;
    column.first_start = starts_in_use_ + starts;
    values += column.values;
    starts += column.threads + 1;
  }
  values_in_use_ += values;
  starts_in_use_ += starts;
  columns_->values.resize(values_in_use_);
  columns_->starts.resize(starts_in_use_);
}

void ColumnSorter::SortOrCompare() {
  std::vector<EncoderColumn>& all = columns_->all;
  values_in_use_ = starts_in_use_ = 0;
  next_value_.resize(all.size());
  next_start_.resize(all.size());
  order_of_column_.resize(all.size());
  first_of_column_.resize(all.size());
  number_of_column_.resize(all.size());
  const auto is_expected = [&](uint32_t c) { return all[c].expected != Expected::kNothing; };
  const bool any_expected = std::any_of(columns_->used.begin(), columns_->used.end(), is_expected);
  SortPass(any_expected);
  if (!any_expected) return;
  bool any_failed = false;
  for (uint32_t c : columns_->used) {
    EncoderColumn& column = all[c];
    if (column.expected == Expected::kNothing) {
      column.placed = true;
      continue;
    }
    // With cheap bases a column may do better without a reference.
    if (column.wrong != 0 || (column.expected == Expected::kRelative && HasCheapBases(column.bases))) {
      column.expected = Expected::kNothing;
      any_failed = true;
    } else {
      column.placed = true;
    }
  }
  if (any_failed) {
    ExpectNothingOfReferences();
    SortPass(true);
  }
  for (uint32_t c : columns_->used) {
    if (all[c].expected == Expected::kSeparable) all[c].longest = 0;
  }
}

inline void ColumnSorter::NoteStart(uint32_t c) {
  const uint64_t* const first = columns_->values.data() + columns_->all[c].first_value;
  *next_start_[c]++ = static_cast<uint32_t>(next_value_[c] - first);
}

void ColumnSorter::SortPass(bool skips) {
  const PendingChunk& chunk = *chunk_;
  std::vector<EncoderColumn>& all = columns_->all;
  PlaceColumns();
  for (uint32_t c : columns_->used) {
    if (all[c].expected != Expected::kNothing || all[c].placed) continue;
    next_value_[c] = columns_->values.data() + all[c].first_value;
    next_start_[c] = columns_->starts.data() + all[c].first_start;
  }
  for (size_t t = 0; t < chunk.path_of_thread().size(); ++t) {
    const uint32_t path_index = chunk.path_of_thread()[t];
    const PendingPath& path = chunk.paths()[path_index];
    const std::span<const PathColumn> columns = chunk.ColumnsOf(path);
    if (std::span<const uint64_t> moves = chunk.addresses().moves(t); !moves.empty()) {
      // Most of its neighbours are like it, and their distances follow these.
      size_t count = 1;
      for (; t + 1 < chunk.path_of_thread().size() && chunk.path_of_thread()[t + 1] == path_index; ++t, ++count) {
        const std::span<const uint64_t> next = chunk.addresses().moves(t + 1);
        if (next.data() != moves.data() + count * moves.size()) break;
      }
      OrderByColumn(path_index);
      SortMoved(path, {moves.data(), count * moves.size()});
      continue;
    }
    const uint64_t* address = chunk.addresses().Of(t, room_);
    if (path.uses == 1 && !skips) {
      for (const PathColumn& used : columns) NoteStart(used.column);
      const uint16_t* sequence = chunk.sequence().data() + path.first_access;
      for (uint64_t i = 0; i < path.accesses; ++i) *next_value_[sequence[i]]++ = *address++;
      continue;
    }
    // Column by column, so that no address waits for the place of the one before it.
    OrderByColumn(path_index);
    const uint32_t* order = order_.data() + path.first_access;
    // The next thread's addresses are asked for in time: this one's are not read in the order in which they lie.
    constexpr uint64_t kLine = 64 / sizeof(uint64_t);  // of the cache
    for (uint64_t i = 0; i < path.accesses; i += kLine) __builtin_prefetch(address + path.accesses + i);
    for (const PathColumn& used : columns) {
      EncoderColumn& column = all[used.column];
      order_of_column_[used.column] = order;
      if (column.placed) {
        // Done by an earlier pass.
      } else if (column.expected != Expected::kNothing) {
        Compare(address, std::span(order, used.count), known_[used.column], column);
      } else {
        NoteStart(used.column);
        uint64_t* const values = next_value_[used.column];
        for (uint32_t k = 0; k < used.count; ++k) values[k] = address[order[k]];
        next_value_[used.column] += used.count;
      }
      order += used.count;
    }
  }
  for (uint32_t c : columns_->used) {
    if (all[c].expected == Expected::kNothing && !all[c].placed) *next_start_[c] = static_cast<uint32_t>(all[c].values);
  }
}

void ColumnSorter::Compare(const uint64_t* address, std::span<const uint32_t> order, const ModelChoice& known,
                           EncoderColumn& column) {
  column.wrong |= column.expected == Expected::kSeparable
                      ? SeparableModel::Difference(address, order, column.model.data())
                      : RelativeModel::Difference(address, order, order_of_column_[known.reference], known);
  column.bases.push_back(address[order[0]]);
}

void ColumnSorter::SortMoved(const PendingPath& path, std::span<const uint64_t> moves) {
  std::vector<EncoderColumn>& all = columns_->all;
  const std::span<const PathColumn> columns = chunk_->ColumnsOf(path);
  const uint64_t* first = first_by_column_.data() + path.first_access;
  for (size_t j = 0; j < columns.size(); ++j) {
    const uint32_t c = columns[j].column;
    const uint32_t count = columns[j].count;
    EncoderColumn& column = all[c];
    first_of_column_[c] = first;
    number_of_column_[c] = j;
    if (column.placed) {
      // Done by an earlier pass.
    } else if (column.expected == Expected::kNothing) {
      for (size_t m = j; m < moves.size(); m += columns.size()) {
        NoteStart(c);
        uint64_t* const values = next_value_[c];
        for (uint32_t k = 0; k < count; ++k) values[k] = first[k] + moves[m];
        next_value_[c] += count;
      }
    } else {
      // The first thread on the path has been compared with what is expected: if it is right, a column that is
      // SEPARABLE is right, and one that is at a fixed distance from its reference is if both have moved equally.
      if (column.expected == Expected::kRelative) {
        column.wrong |= RelativeOfMoved(first, count, j, columns.size(), moves, known_[c]);
      }
      for (size_t m = j; m < moves.size(); m += columns.size()) column.bases.push_back(first[0] + moves[m]);
    }
    first += count;
  }
}

uint64_t ColumnSorter::RelativeOfMoved(const uint64_t* first, uint32_t count, size_t number, size_t columns,
                                       std::span<const uint64_t> moves, const ModelChoice& known) const {
  const uint64_t* const reference = first_of_column_[known.reference];
  const size_t reference_number = number_of_column_[known.reference];
  uint64_t wrong = 0;
  for (size_t m = 0; m < moves.size(); m += columns) {
    const uint64_t move = moves[m + number];
    const uint64_t reference_move = moves[m + reference_number];
    if (known.shift == 0) {
      wrong |= move ^ reference_move;
      continue;
    }
    for (uint32_t k = 0; k < count; ++k) {
      wrong |=
          (first[k] + move - Shifted(reference[k] + reference_move, known.shift)) ^ static_cast<uint64_t>(known.bias);
    }
  }
  return wrong;
}

}  // namespace heddle::trace
