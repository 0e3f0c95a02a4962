// Goes through the recorded blocks of a launch in the form that a writer takes them.
#ifndef HEDDLE_TRACES_FORMAT_EDIT_BLOCK_SLICES_H_
#define HEDDLE_TRACES_FORMAT_EDIT_BLOCK_SLICES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/program/program.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::trace {

// The distinct paths of a chunk, expanded: decisions one byte each, and where the base of each access is
// (Column::slot).
class ExpandedPaths {
 public:
  // Unimplemented if a wide decision is above 255, which a writer cannot take.
  absl::Status Expand(const Program& program, const DecodedChunk& chunk);

  std::span<const uint8_t> decisions(size_t path) const {
    return std::span(decisions_).subspan(first_decision_[path], first_decision_[path + 1] - first_decision_[path]);
  }
  std::span<const Pc> slots(size_t path) const {
    return std::span(slots_).subspan(first_access_[path], first_access_[path + 1] - first_access_[path]);
  }

 private:
  std::vector<uint8_t> decisions_;
  std::vector<Pc> slots_;
  std::vector<size_t> first_decision_;  // per path, plus the end
  std::vector<size_t> first_access_;
};

// One whole block after the other, or one part of it after the other if the file has it cut in time. Memory: a decoded
// chunk and the addresses of one block.
class BlockSlices {
 public:
  // Reads the chunks of `references`, which belong to `launch`.
  BlockSlices(const TraceReader& reader, const LaunchView& launch, std::span<const v1::ChunkReference> references)
      : reader_(reader), launch_(launch), references_(references) {}
  BlockSlices(const BlockSlices&) = delete;
  BlockSlices& operator=(const BlockSlices&) = delete;

  // Goes to the first or next slice; false behind the last one. Errors: those of TraceReader::ReadChunk.
  absl::StatusOr<bool> Next();

  uint64_t block() const { return chunk_.blocks[in_chunk_]; }
  uint32_t part() const { return chunk_.part; }
  bool last_part() const { return chunk_.last_part; }
  bool cut() const { return chunk_.part > 0 || !chunk_.last_part; }
  // What the threads of the block did, in linear order; valid until the next call of Next. `exited` says whether the
  // thread's record reaches its exit (in this part or in an earlier one).
  std::span<const ThreadRecord> threads() const { return threads_; }

 private:
  const TraceReader& reader_;
  const LaunchView& launch_;
  std::span<const v1::ChunkReference> references_;
  size_t next_reference_ = 0;
  size_t in_chunk_ = 0;
  DecodedChunk chunk_;
  ExpandedPaths paths_;
  std::vector<ThreadRecord> threads_;
  std::vector<uint64_t> addresses_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_EDIT_BLOCK_SLICES_H_
