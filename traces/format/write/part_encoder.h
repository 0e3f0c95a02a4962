// Encodes a block that is too long for a chunk: time slice after time slice.
#ifndef HEDDLE_TRACES_FORMAT_WRITE_PART_ENCODER_H_
#define HEDDLE_TRACES_FORMAT_WRITE_PART_ENCODER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/columns/chunk_encoder.h"
#include "traces/format/write/writer.h"

namespace heddle::trace {

// Accesses of a block, or of a part of one, at most.
inline constexpr uint64_t kMaxBlockAccesses = 1u << 20;

// Up to where slices are joined to one part.
struct JoinLimits {
  uint64_t thread_instructions = 0;  // 0: not at all
  uint64_t accesses = 0;
  uint64_t bytes = 0;  // PendingChunk::encoded_bytes
};

class PartEncoder {
 public:
  using Sink = absl::FunctionRef<absl::Status(v1::BlockChunk& chunk)>;

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

  // Like Add, but keeps slices and joins them as far as `limits` let it. `sink` gets the parts that are complete, two
  // at most: with `last` all of them.
  absl::Status AddSlice(std::span<const ThreadRecord> threads, bool last, std::span<uint64_t> consumed_addresses,
                        const JoinLimits& limits, EncoderMemory& memory, Sink sink);

  // Gives `sink` the slices that are kept, if there are any.
  absl::Status FlushSlices(EncoderMemory& memory, Sink sink) { return EndJoined(false, memory, sink); }

 private:
  // What one thread did in the slices that are kept.
  struct JoinedThread {
    std::vector<uint8_t> decisions;
    std::vector<uint64_t> addresses;
    bool exited = false;
  };

  // Takes a slice into `chunk`, and moves `states` to where its threads stop.
  absl::Status Walk(std::span<const ThreadRecord> threads, bool last, std::vector<WalkState>& states,
                    PendingChunk& chunk, std::span<uint64_t> consumed_addresses);
  void Encode(const PendingChunk& pending, bool last, EncoderMemory& memory, v1::BlockChunk& chunk);
  // Makes a part of what is kept.
  absl::Status EndJoined(bool last, EncoderMemory& memory, Sink sink);

  const Program* program_ = nullptr;
  uint64_t block_ = 0;
  uint32_t part_ = 0;
  std::vector<WalkState> states_;
  PendingChunk pending_;
  ChunkEncoder encoder_;

  std::vector<JoinedThread> joined_;  // by thread
  uint64_t joined_slices_ = 0;
  JoinLimits joined_size_;
  std::vector<WalkState> joined_states_;  // in front of the first slice that is kept
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_WRITE_PART_ENCODER_H_
