// Chains: columns of one array, predicted from the latest access of any of them (proto/trace.proto, Chain).
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_CHAIN_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_CHAIN_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/columns/column_model.h"

namespace heddle::trace {

// One access of a chain's column in a sample.
struct ChainSample {
  uint64_t value = 0;
  uint64_t latest = 0;  // of the chain, threads in front included
  uint32_t state = 0;   // 0 = first access of the thread, m = the latest was of member m - 1
  bool known = false;   // `latest` is right although the access is the first of its thread
};

// What a writer decided for a chain.
struct ChainChoice {
  std::vector<uint32_t> members;  // columns, ascending
  uint64_t lowest = 0;            // address of its columns
  bool carry = false;
};

// Smallest and largest address of a column.
struct AddressRange {
  uint32_t column = 0;
  uint64_t lowest = 0;
  uint64_t highest = 0;
};

// Groups columns whose ranges overlap, at most kMostChainMembers each; a group of one is a chain too.
inline constexpr size_t kMostChainMembers = 32;
std::vector<ChainChoice> GroupByRange(std::vector<AddressRange> ranges);

// Finds out whether CHAIN is cheaper than what was chosen so far for the columns of a chain, and whether threads go on
// from one another. `samples`, `values` (accesses), `costs` (bits of the model chosen so far) and `choices` have one
// element per member. Changes the choices of the columns that gain; returns the bits gained, 0 if no column does.
double ChooseChain(std::span<const std::vector<ChainSample>> samples, std::span<const uint64_t> values,
                   std::span<const double> costs, ChainChoice& chain, std::span<ModelChoice> choices);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_CHAIN_MODEL_H_
