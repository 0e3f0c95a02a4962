// Restores all addresses of a chunk: goes through its accesses, thread after thread in program order.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_WALK_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_WALK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/columns/models/decoder_columns.h"
#include "traces/format/columns/path_plans.h"

namespace heddle::trace {

// Buffers are reused from chunk to chunk.
class AddressWalk {
 public:
  // The columns are those of the chunk at hand, whatever that is.
  explicit AddressWalk(DecoderColumns& columns) : columns_(columns), plans_(columns, progress_) {}
  AddressWalk(const AddressWalk&) = delete;
  AddressWalk& operator=(const AddressWalk&) = delete;

  // Writes the addresses of all accesses: as they are, or as 32-bit offsets from ColumnCursor::base, which it sets.
  // False if 32 bits do not hold all offsets. The columns have been read, and `out` has the paths.
  template <typename Output>
  bool Run(const DecodedChunk& out, Output* output);

  PathPlans& plans() { return plans_; }

 private:
  void Rewind();
  // Returns whether all columns have the base that 32-bit offsets count from.
  bool StartThread(std::span<const uint16_t> columns, std::span<const uint32_t> first_addends);
  // Where there are as few columns to be cleared, or chains, all are set at the start of each thread, otherwise those
  // that the thread before it, or this one, has to do with.
  static constexpr size_t kFew = 16;
  // kBased: all columns have bases. Returns the bits of all offsets that 32 bits cannot hold.
  template <typename Output, bool kShifts, bool kChains, bool kBased>
  uint64_t WalkThread(const uint16_t* sequence, uint64_t accesses, Output* output);
  template <typename Output, bool kShifts>
  bool WalkThreads(const DecodedChunk& out, Output* output);

  DecoderColumns& columns_;
  WalkProgress progress_;
  PathPlans plans_;
  std::vector<PathPlan> plan_of_path_;
  std::vector<uint16_t> cleared_;  // columns that a thread may look at before they have an address of its own
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_WALK_H_
