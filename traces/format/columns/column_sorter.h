// Sorts the addresses of a chunk, which come thread after thread in program order, into columns.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_SORTER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_SORTER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/columns/models/encoder_columns.h"

namespace heddle::trace {

// Columns that were SEPARABLE in earlier chunks, or RELATIVE without residuals, need not be sorted if they still are:
// threads are compared with what is expected of them, which is cheaper. Buffers are reused from chunk to chunk.
class ColumnSorter {
 public:
  // Finds the used columns of `chunk`, and sorts their addresses. With `expects` true, those that are what `known`, by
  // column, lets expect are compared instead, and keep EncoderColumn::expected.
  void Sort(const PendingChunk& chunk, std::span<const ModelChoice> known, bool expects, EncoderColumns& columns);

 private:
  void CountAccesses();
  // Chooses the columns of which something is expected, and what threads are compared with.
  void Expect();
  void FindModels();
  // A column that is to be sorted and counts from another one needs that one sorted.
  void ExpectNothingOfReferences();
  void SortOrCompare();
  // Of the columns of which nothing is expected and that are not placed; `skips`: there may be others.
  void SortPass(bool skips);
  void PlaceColumns();
  void NoteStart(uint32_t column);  // of a thread
  void Compare(const uint64_t* address, std::span<const uint32_t> order, const ModelChoice& known,
               EncoderColumn& column);
  // Sorts threads in a row, on one path, of which the chunk keeps `moves`.
  void SortMoved(const PendingPath& path, std::span<const uint64_t> moves);
  // Not 0 if threads with these moves are not at the distance from their reference that is expected; `first` are the
  // addresses of the first thread on the path, `number` the position of the column among its `columns`.
  uint64_t RelativeOfMoved(const uint64_t* first, uint32_t count, size_t number, size_t columns,
                           std::span<const uint64_t> moves, const ModelChoice& known) const;
  // Fills order_ and first_by_column_ for a path, if that has not been done.
  void OrderByColumn(uint32_t path_index);

  const PendingChunk* chunk_ = nullptr;
  std::span<const ModelChoice> known_;
  EncoderColumns* columns_ = nullptr;
  // Of the columns' values and starts, which stay as long as they have been.
  uint64_t values_in_use_ = 0;
  uint64_t starts_in_use_ = 0;
  std::vector<uint64_t*> next_value_;  // by column
  std::vector<uint32_t*> next_start_;
  std::vector<uint32_t> order_;            // of a path: its accesses by column
  std::vector<uint64_t> first_by_column_;  // likewise the addresses of the first thread that takes it
  std::vector<bool> has_order_;            // by path
  std::vector<uint32_t*> next_order_;
  // Of the thread that is being compared: where the column is in order_, or in first_by_column_ and among the moves.
  std::vector<const uint32_t*> order_of_column_;
  std::vector<const uint64_t*> first_of_column_;
  std::vector<size_t> number_of_column_;
  std::vector<uint64_t> room_;  // for addresses of a thread
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_SORTER_H_
