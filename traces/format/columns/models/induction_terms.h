// What models INDUCTION and COUNTED have in common: addresses to which counters of loops add up.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_TERMS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_TERMS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/columns/models/decoder_columns.h"
#include "traces/format/columns/models/encoder_columns.h"
#include "traces/format/columns/models/induction_counts.h"
#include "traces/format/columns/models/induction_equations.h"

namespace heddle::trace {

// Whether steps of a thread are wanted.
enum class TakeSteps : uint8_t { kYes, kNot, kNoMore };

// Calls step(turns, distance) for the accesses of the column, but for the first of each thread: what the counters did
// since the access before, and how the address changed. `take` is asked in front of each thread with several accesses.
void ForEachStep(const EncoderColumns& columns, uint32_t index, std::span<const InductionCounter> counters,
                 absl::FunctionRef<TakeSteps(uint32_t path, size_t accesses)> take,
                 absl::FunctionRef<void(std::span<const int64_t> turns, int64_t distance)> step);

// The counters whose strides are not 0; none if a stride is no whole number, or there are too many.
std::vector<InductionTerm> TermsOf(const InductionEquations& equations, std::span<const InductionCounter> counters);

// Stores the terms of a column.
void StoreTerms(std::span<const InductionTerm> terms, v1::AddressColumn& record);

// Reads the terms of a column; with `counted` true there may be none, and a restart. Refuses (DataLoss) blocks that the
// program does not have, and more counters than a chunk may have.
absl::Status ReadTerms(const v1::AddressColumn& record, bool counted, DecoderColumns& columns, uint32_t index);

// Refuses what only records of these models have.
absl::Status RefuseForeignTerms(const v1::AddressColumn& record);

// Decode, once all columns have been read: walks the paths and finds the addends of the columns of model INDUCTION, and
// sums and restarts of those of model COUNTED. `paths` are those of the chunk.
void CountTerms(std::span<const PathView> paths, DecoderColumns& columns);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_TERMS_H_
