// Addresses that nothing predicts but their neighbours: the bases of threads, and the steps of a separable column. Both
// are stored as second differences.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_BASES_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_BASES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/trace.pb.h"
#include "traces/format/columns/models/decoder_columns.h"
#include "traces/format/columns/models/encoder_columns.h"

namespace heddle::trace {

// Calls `see` with the second differences of `base(t)` over the threads.
template <typename Base, typename See>
void ForSecondDifferences(size_t threads, const Base& base, const See& see) {
  uint64_t previous = 0;
  uint64_t delta = 0;
  for (size_t t = 0; t < threads; ++t) {
    const uint64_t value = base(t);
    see(static_cast<int64_t>(value - previous - delta));
    delta = value - previous;
    previous = value;
  }
}

// Stores the bases of all threads of a column.
void StoreBases(const ColumnView& column, v1::AddressColumn& record);
void StoreBases(std::span<const uint64_t> bases, v1::AddressColumn& record);

// Stores the steps of a separable column; `longest` are the addresses of its longest thread.
void StoreSteps(std::span<const uint64_t> longest, v1::AddressColumn& record);

// Restores the bases, and sets what they reach.
void ReadBases(const v1::AddressColumn& record, ColumnStorage& storage);

// The column counts from its thread's base.
void SetBaseSource(DecoderColumns& columns, uint32_t index);

// Restores bases and steps, from which the addends of a column are counted that has a base per thread.
void ReadBasesAndSteps(const v1::AddressColumn& record, DecoderColumns& columns, uint32_t index);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_BASES_H_
