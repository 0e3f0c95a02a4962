// The columns of a chunk while it is decoded. Every model is brought to one form, so that walking over the accesses in
// program order needs no decision per access: address = shifted(latest address of some slot) + bias of the slot's state
// + the column's next addend.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_DECODER_COLUMNS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_DECODER_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/format/chunk/walked_paths.h"
#include "traces/format/columns/models/induction_counts.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Holds the latest address of a column or of a chain, or the base of the running thread in a column of bases.
struct AddressSlot {
  uint64_t address = 0;
  uint64_t state = 0;  // chain: 0 = no access in this thread yet, m = the latest was of its m-th column
};

// One column while threads are walked; one cache line.
struct alignas(64) ColumnCursor {
  const uint64_t* next = nullptr;     // addend of the next access
  const AddressSlot* from = nullptr;  // slot `source`
  const uint64_t* biases = nullptr;   // by state of the source; only of columns that are chained
  uint64_t base = 0;                  // of the instruction; subtracted from every address
  uint64_t stride = 0;                // bytes from one addend to the next; 0 = the same addend for all
  uint32_t source = 0;                // slot
  uint32_t target = 0;                // slot that is set beside the column's own
  uint32_t state = 0;                 // of the target, afterwards
  uint8_t left = 0;                   // shift of the source
  uint8_t right = 0;
  bool shifts = false;
  bool chained = false;            // counts from a chain, or belongs to one
  bool constant_distance = false;  // from the latest address of its reference, without a shift
  bool used = false;
  bool separable = false;  // a base per thread, plus what the path tells
  bool based = false;
};
static_assert(sizeof(ColumnCursor) == 64);

// All numbers from `lowest` up to `highest`, with 2^64 taken as 0.
struct AddressReach {
  uint64_t lowest = 0;
  uint64_t highest = 0;
};

// What a column's cursor goes through.
struct ColumnStorage {
  std::vector<int64_t> residuals;  // plus the bias, but for CHAIN
  // TIME, COUNTED: residuals with the bases in between; SEPARABLE: steps; INDUCTION: by access, of one path after the
  // other
  std::vector<uint64_t> addends;
  std::vector<uint64_t> sums;      // COUNTED: by access, of one path after the other
  std::vector<uint64_t> restarts;  // likewise: a number that changes where the column begins anew
  std::vector<uint64_t> bases;     // SEPARABLE, INDUCTION: by thread that runs the instruction
  AddressReach bases_reach;        // of all of them
  std::vector<uint64_t> biases;
  const uint64_t* first = nullptr;  // addend of the first access
  bool zeroed = false;              // RELATIVE: counts from 0 instead of `reference_slot`
  uint32_t reference_slot = 0;      // of a column that is zeroed
};

// What is counted along the paths of a chunk for columns of models INDUCTION and COUNTED.
struct TermCounts {
  std::optional<InductionCounts> sums;
  std::optional<InductionCounts> restarts;
  // By the columns of paths: where, in what the column has of sums or restarts, the path's begin. Empty without any.
  std::vector<uint32_t> first_sum;
  std::vector<uint32_t> first_restart;

  // Whether the column has sums, or restarts.
  bool HasSums(uint32_t column) const { return sums.has_value() && sums->Counts(column); }
  bool HasRestarts(uint32_t column) const { return restarts.has_value() && restarts->Counts(column); }
};

// All columns of the chunk. Buffers are reused from chunk to chunk.
struct DecoderColumns {
  const Program* program = nullptr;
  const WalkedPaths* walked = nullptr;
  uint32_t count = 0;  // Program::accesses(), by whose positions columns are numbered
  std::vector<ColumnCursor> cursors;
  std::vector<ColumnStorage> storage;  // may be longer
  std::vector<v1::Chain> chains;
  std::vector<uint32_t> chain_members;  // columns of each chain
  std::vector<uint8_t> needs_clearing;  // by column: a thread may look at its latest address before it has one
  TermCounts terms;
  bool any_shift = false;
  bool any_zeroed = false;

  // Slots: latest addresses by column, bases of the running thread by column, chains, and 0.
  uint32_t BaseSlot(uint32_t column) const { return count + column; }
  uint32_t ChainSlot(size_t chain) const { return 2 * count + static_cast<uint32_t>(chain); }
  uint32_t ZeroSlot() const { return ChainSlot(chains.size()); }
  bool IsChainSlot(uint32_t slot) const { return slot >= 2 * count; }
  size_t slot_count() const { return size_t{ZeroSlot()} + 1; }
};

// The addend of columns that have none.
inline constexpr uint64_t kNoAddend = 0;

// The addends of the column are its residuals, one for every access. Read as unsigned numbers, which keeps their bits.
inline void SetResidualAddends(DecoderColumns& columns, uint32_t index) {
  columns.cursors[index].stride = sizeof(uint64_t);
  columns.storage[index].first = reinterpret_cast<const uint64_t*>(columns.storage[index].residuals.data());
}

// The base of an instruction whose first address lies in the middle of the 4 GiB that 32-bit offsets reach.
constexpr uint64_t MiddleBase(uint64_t first_address) { return first_address - (uint64_t{1} << 31); }

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_DECODER_COLUMNS_H_
