// What addresses and residuals cost, in bits: estimates by which models are scored.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COSTS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COSTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/columns/models/encoder_columns.h"

namespace heddle::trace {

// Estimated bits of the bases of all threads, as second differences.
double BaseBits(const ColumnView& column);
double BaseBits(std::span<const uint64_t> bases);

// True if the bases follow a line so closely that no other model has anything to gain on a separable column.
bool HasCheapBases(const ColumnView& column);
bool HasCheapBases(std::span<const uint64_t> bases);

// True if the bases of a separable column take next to nothing per access. Other models could save little, and those
// that need the order of the program decode several times as slowly.
bool HasNearlyFreeBases(const ColumnView& column);

// Cost of residuals in bits per residual: by magnitude, or by the entropy of their values if few of them are distinct.
// `sorted` holds the residuals, sorted.
double CostOf(std::span<const int64_t> sorted);

// Cost per residual with the best of two biases: the commonest residual (regular strides) and the lowest (scattered
// over an array). Sorts the residuals.
double CostWithBias(std::vector<int64_t>& residuals, int64_t& bias);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COSTS_H_
