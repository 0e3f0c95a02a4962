// Prediction of addresses (proto/trace.proto, AddressColumn.Model), and the choice among models for one column.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_MODEL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/format/columns/induction.h"
#include "traces/format/columns/residuals.h"

namespace heddle::trace {

// Address shifted left (positive) or arithmetically right (negative); |shift| is at most 63.
inline uint64_t Shifted(uint64_t address, int32_t shift) {
  return shift >= 0 ? address << shift : static_cast<uint64_t>(static_cast<int64_t>(address) >> -shift);
}

// What a writer decided for a column; kept from chunk to chunk so that most chunks need no trial.
struct ModelChoice {
  v1::AddressColumn::Model model = v1::AddressColumn::TIME;
  uint32_t reference = 0;  // RELATIVE: column, not instruction
  int32_t shift = 0;       // RELATIVE
  int64_t bias = 0;
  uint32_t chain = 0;                       // 1 + number of the chain that the column belongs to; 0 = none
  std::vector<int64_t> chain_bias;          // CHAIN: by state, for all columns of the chain
  std::vector<InductionTerm> terms;         // INDUCTION, COUNTED
  std::optional<InductionCounter> restart;  // COUNTED
  LayoutChoice layout;
  bool exact = false;  // there were no residuals but 0
  bool tried = false;  // a trial has chosen it
};

// Addresses of one column, thread by thread.
struct ColumnView {
  std::span<const uint64_t> values;
  std::span<const uint32_t> starts;  // first value of each thread that runs the instruction, plus the end
  size_t threads() const { return starts.size() - 1; }
  std::span<const uint64_t> of(size_t thread) const {
    return values.subspan(starts[thread], starts[thread + 1] - starts[thread]);
  }
};

// Some accesses of a column, each with the latest addresses of columns that it could be relative to.
struct ColumnSample {
  std::vector<uint64_t> values;
  std::vector<uint32_t> references;  // candidate columns
  std::vector<uint64_t> latest;      // values.size() x references.size(), 0 where the reference had not run
};

// If the column has the form base(t) + step(k): the longest thread, whose steps are the column's. Otherwise -1.
int64_t FindSeparable(const ColumnView& column);

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

// Finds the cheapest of TIME and RELATIVE for a column, and SEPARABLE if `separable`; layouts are left as they are.
// Returns the estimated bits of the whole column.
double ChooseModel(const ColumnView& column, bool separable, const ColumnSample& sample, ModelChoice& choice);

// Residuals of TIME.
void TimeResiduals(const ColumnView& column, int64_t bias, std::vector<int64_t>& out);

// Writes the bases of all threads of a column, and the steps of a separable one.
void StoreBases(const ColumnView& column, v1::AddressColumn& out);
void StoreBases(std::span<const uint64_t> bases, v1::AddressColumn& out);
void StoreSteps(std::span<const uint64_t> longest, v1::AddressColumn& out);

// Writes the terms of models INDUCTION and COUNTED.
void StoreTerms(std::span<const InductionTerm> terms, v1::AddressColumn& out);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_MODEL_H_
