// Encodes a block that is too long for a chunk: time slice after time slice.
#ifndef HEDDLE_TRACES_FORMAT_PART_ENCODER_H_
#define HEDDLE_TRACES_FORMAT_PART_ENCODER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk_encoder.h"
#include "traces/format/pending_chunk.h"
#include "traces/format/writer.h"

namespace heddle::trace {

// Accesses of a block, or of a part of one, at most.
inline constexpr uint64_t kMaxBlockAccesses = 1u << 20;

class PartEncoder {
 public:
  // `threads`: that encode columns.
  explicit PartEncoder(unsigned threads = 1) : encoder_(threads) {}

  // The parts that follow are those of `block`, with so many threads.
  void Begin(const Program* program, uint64_t block, size_t threads);

  uint64_t block() const { return block_; }
  uint32_t part() const { return part_; }  // number of the next one

  // The next part, as TraceWriter::AddBlockPart describes it. `chunk` lacks only its launch. Errors: records that do
  // not follow the program; a part above the limits.
  absl::Status Add(std::span<const ThreadRecord> threads, bool last, std::span<uint64_t> consumed_addresses,
                   EncoderMemory& memory, v1::BlockChunk& chunk);

 private:
  const Program* program_ = nullptr;
  uint64_t block_ = 0;
  uint32_t part_ = 0;
  std::vector<WalkState> states_;
  PendingChunk pending_;
  ChunkEncoder encoder_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PART_ENCODER_H_
