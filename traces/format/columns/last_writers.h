// The optional column that says whose write a read saw (docs/reference/format.md, section 4).
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_LAST_WRITERS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_LAST_WRITERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// ExtraColumn.kind of the column.
inline constexpr char kLastWriterKind[] = "last_writer";
// An access of a launch that wrote: a store or an atomic operation.
struct WriteOf {
  uint64_t block = 0;   // linear index in the grid
  uint32_t thread = 0;  // linear index in the block
  uint64_t access = 0;  // of the thread's accesses in the whole launch, from 0
  Pc instruction = 0;
  bool operator==(const WriteOf&) const = default;
};

// A read in a chunk, and the write that it saw.
struct WrittenRead {
  uint64_t position = 0;  // among the chunk's accesses: thread after thread, each one's in program order
  Pc instruction = 0;     // that reads
  WriteOf write;
  bool operator==(const WrittenRead&) const = default;
};

// Adds one column per reading instruction to `chunk`, or an empty one if there are no reads. `reads` ascend by
// position.
void EncodeLastWriters(std::span<const WrittenRead> reads, v1::BlockChunk& chunk);

// Whether writers were recorded for the chunk; without a read it has an empty column.
bool HasLastWriters(const v1::BlockChunk& chunk);

// All reads that the columns of a chunk list, ascending by position; none if it has no such column. Errors
// (InvalidArgument): columns that are malformed, or name accesses, instructions, blocks or threads that do not exist in
// a launch of `program` with so many blocks, of so many threads each.
absl::Status DecodeLastWriters(const v1::BlockChunk& chunk, const Program& program, uint64_t grid_blocks,
                               uint64_t block_threads, std::vector<WrittenRead>& reads);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_LAST_WRITERS_H_
