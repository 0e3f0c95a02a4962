// The part of the encoder that sorts the addresses of a chunk into columns.
#include <algorithm>
#include <utility>

#include "traces/format/columns/chunk_encoder.h"

namespace heddle::trace {

ColumnView ChunkEncoder::View(uint32_t index) const {
  const Column& column = columns_[index];
  return {std::span(values_).subspan(column.first_value, column.values),
          std::span(starts_).subspan(column.first_start, column.threads + 1)};
}

void ChunkEncoder::CountAccesses(const PendingChunk& chunk) {
  for (const PendingPath& path : chunk.paths()) {
    for (const PathColumn& used : chunk.ColumnsOf(path)) {
      columns_[used.column].values += path.uses * used.count;
      columns_[used.column].threads += path.uses;
    }
  }
  for (uint32_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].values > 0) used_.push_back(c);
  }
  order_.resize(chunk.sequence().size());
  first_by_column_.resize(chunk.sequence().size());
  has_order_.assign(chunk.paths().size(), false);
}

void ChunkEncoder::Expect(const PendingChunk& chunk, const EncoderMemory& memory) {
  // It takes the order of accesses of every path, which pays if several threads take it.
  if (chunk.addresses().accesses() < 2 * chunk.sequence().size()) return;
  const Program& program = chunk.program();
  const std::span<const Pc> accesses = program.accesses();
  for (uint32_t c : used_) {
    const ModelChoice& known = memory.choices[c];
    if (known.model == v1::AddressColumn::SEPARABLE) {
      columns_[c].expected = Expected::kSeparable;
    } else if (known.model == v1::AddressColumn::RELATIVE && known.exact &&
               program.block_of(accesses[c]) == program.block_of(accesses[known.reference])) {
      columns_[c].expected = Expected::kRelative;
    }
  }
  ExpectNothingOfReferences(memory);
  FindModels(chunk);
}

void ChunkEncoder::ExpectNothingOfReferences(const EncoderMemory& memory) {
  // References are lower columns.
  for (size_t u = used_.size(); u-- > 0;) {
    const ModelChoice& known = memory.choices[used_[u]];
    if (known.model == v1::AddressColumn::RELATIVE && columns_[used_[u]].expected == Expected::kNothing) {
      Column& reference = columns_[known.reference];
      if (std::exchange(reference.expected, Expected::kNothing) != Expected::kNothing) reference.placed = false;
    }
  }
}

void ChunkEncoder::FindModels(const PendingChunk& chunk) {
  // The thread that runs the instruction most often, the first of several, says how its addresses go on.
  struct Longest {
    uint64_t count = 0;
    uint32_t path = 0;
  };
  std::vector<Longest> longest(columns_.size());
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
      Column& column = columns_[used.column];
      if (column.expected == Expected::kSeparable && longest[used.column].path == p) {
        OrderByColumn(chunk, p);
        column.model.assign(first, first + used.count);
      }
      first += used.count;
    }
  }
}

void ChunkEncoder::OrderByColumn(const PendingChunk& chunk, uint32_t path_index) {
  if (has_order_[path_index]) return;
  has_order_[path_index] = true;
  const PendingPath& path = chunk.paths()[path_index];
  next_order_.resize(columns_.size());
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

void ChunkEncoder::PlaceColumns() {
  uint64_t values = 0;
  uint64_t starts = 0;
  for (uint32_t c : used_) {
    Column& column = columns_[c];
    if (column.expected != Expected::kNothing || column.placed) continue;
    column.first_value = values_in_use_ + values;
    column.first_start = starts_in_use_ + starts;
    values += column.values;
    starts += column.threads + 1;
  }
  values_in_use_ += values;
  starts_in_use_ += starts;
  values_.resize(values_in_use_);
  starts_.resize(starts_in_use_);
}

void ChunkEncoder::Scatter(const PendingChunk& chunk, const EncoderMemory& memory) {
  values_in_use_ = starts_in_use_ = 0;
  next_value_.resize(columns_.size());
  next_start_.resize(columns_.size());
  order_of_column_.resize(columns_.size());
  first_of_column_.resize(columns_.size());
  number_of_column_.resize(columns_.size());
  const auto is_expected = [this](uint32_t c) { return columns_[c].expected != Expected::kNothing; };
  const bool any_expected = std::any_of(used_.begin(), used_.end(), is_expected);
  ScatterPass(chunk, memory, any_expected);
  if (!any_expected) return;
  bool any_failed = false;
  for (uint32_t c : used_) {
    Column& column = columns_[c];
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
    ExpectNothingOfReferences(memory);
    ScatterPass(chunk, memory, true);
  }
  for (uint32_t c : used_) {
    if (columns_[c].expected == Expected::kSeparable) columns_[c].longest = 0;
  }
}

void ChunkEncoder::ScatterPass(const PendingChunk& chunk, const EncoderMemory& memory, bool skips) {
  PlaceColumns();
  for (uint32_t c : used_) {
    if (columns_[c].expected != Expected::kNothing || columns_[c].placed) continue;
    next_value_[c] = values_.data() + columns_[c].first_value;
    next_start_[c] = starts_.data() + columns_[c].first_start;
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
      OrderByColumn(chunk, path_index);
      ScatterMoved(chunk, path, {moves.data(), count * moves.size()}, memory);
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
    OrderByColumn(chunk, path_index);
    const uint32_t* order = order_.data() + path.first_access;
    // The next thread's addresses are asked for in time: this one's are not read in the order in which they lie.
    constexpr uint64_t kLine = 64 / sizeof(uint64_t);  // of the cache
    for (uint64_t i = 0; i < path.accesses; i += kLine) __builtin_prefetch(address + path.accesses + i);
    for (const PathColumn& used : columns) {
      Column& column = columns_[used.column];
      order_of_column_[used.column] = order;
      if (column.placed) {
        // Done by an earlier pass.
      } else if (column.expected != Expected::kNothing) {
        Compare(address, std::span(order, used.count), memory.choices[used.column], column);
      } else {
        NoteStart(used.column);
        uint64_t* const values = next_value_[used.column];
        for (uint32_t k = 0; k < used.count; ++k) values[k] = address[order[k]];
        next_value_[used.column] += used.count;
      }
      order += used.count;
    }
  }
  for (uint32_t c : used_) {
    if (columns_[c].expected == Expected::kNothing && !columns_[c].placed)
      *next_start_[c] = static_cast<uint32_t>(columns_[c].values);
  }
}

void ChunkEncoder::NoteStart(uint32_t c) {
  *next_start_[c]++ = static_cast<uint32_t>(next_value_[c] - (values_.data() + columns_[c].first_value));
}

void ChunkEncoder::Compare(const uint64_t* address, std::span<const uint32_t> order, const ModelChoice& known,
                           Column& column) {
  const uint64_t base = address[order[0]];
  uint64_t wrong = 0;
  if (column.expected == Expected::kSeparable) {
    const uint64_t* const model = column.model.data();
    const uint64_t difference = base - model[0];
    for (size_t k = 1; k < order.size(); ++k) wrong |= (address[order[k]] - model[k]) ^ difference;
  } else {
    // Both run in turns, this one behind the other.
    const uint32_t* const reference = order_of_column_[known.reference];
    const auto bias = static_cast<uint64_t>(known.bias);
    for (size_t k = 0; k < order.size(); ++k) {
      wrong |= (address[order[k]] - Shifted(address[reference[k]], known.shift)) ^ bias;
    }
  }
  column.wrong |= wrong;
  column.bases.push_back(base);
}

void ChunkEncoder::ScatterMoved(const PendingChunk& chunk, const PendingPath& path, std::span<const uint64_t> moves,
                                const EncoderMemory& memory) {
  const std::span<const PathColumn> columns = chunk.ColumnsOf(path);
  const uint64_t* first = first_by_column_.data() + path.first_access;
  for (size_t j = 0; j < columns.size(); ++j) {
    const uint32_t c = columns[j].column;
    const uint32_t count = columns[j].count;
    Column& column = columns_[c];
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
        column.wrong |= RelativeOfMoved(first, count, j, columns.size(), moves, memory.choices[c]);
      }
      for (size_t m = j; m < moves.size(); m += columns.size()) column.bases.push_back(first[0] + moves[m]);
    }
    first += count;
  }
}

uint64_t ChunkEncoder::RelativeOfMoved(const uint64_t* first, uint32_t count, size_t number, size_t columns,
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
