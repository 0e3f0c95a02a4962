// What a TraceWriter knows between its calls.
#ifndef HEDDLE_TRACES_FORMAT_WRITE_WRITER_STATE_H_
#define HEDDLE_TRACES_FORMAT_WRITE_WRITER_STATE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "traces/base/worker_thread.h"
#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/chunk/segmented_block.h"
#include "traces/format/columns/chunk_encoder.h"
#include "traces/format/container/container_writer.h"
#include "traces/format/write/part_encoder.h"
#include "traces/format/write/writer.h"

namespace heddle::trace {

struct TraceWriter::State {
  State(std::unique_ptr<ContainerWriter> container, unsigned threads)
      : file(std::move(container)), encodes_aside(threads > 1), encoder(threads), parts(threads) {}

  absl::Status Fail(absl::Status status) {
    if (!status.ok() && error.ok()) error = status;
    return status;
  }
  absl::Status Append(v1::Record& record) {
    absl::Status status = file->Append(record);
    totals.bytes = file->bytes();
    return status;
  }

  absl::Status CheckBlock(uint64_t block, std::span<const ThreadRecord> threads);
  absl::Status AddBlock(uint64_t block, std::span<const ThreadRecord> threads, uint64_t expected);
  absl::Status AddBlock(uint64_t block, const SegmentedBlock& threads, uint64_t expected,
                        std::vector<AddressBounds>& ranges);
  // Of both: makes room for a block, and adds its threads.
  absl::Status MakeRoom(uint64_t block, std::span<const ThreadRecord> threads, uint64_t accesses);
  using AddThread = absl::FunctionRef<absl::StatusOr<uint32_t>(size_t thread, uint64_t budget)>;
  absl::Status AddThreads(uint64_t block, size_t count, AddThread add, uint64_t accesses, uint64_t expected);
  // Closes the chunk if it is full.
  absl::Status EndBlock();
  absl::Status AddBlockPart(uint64_t block, std::span<const ThreadRecord> threads, bool last,
                            std::span<uint64_t> consumed);
  absl::Status AddChunk(v1::BlockChunk chunk, uint64_t last_block);
  // Appends a part of the block that is being cut in time.
  absl::Status AddPart(v1::BlockChunk& chunk);
  // Ends the open chunk; it may be encoded while the next one is taken in.
  absl::Status CloseChunk();
  // Ends the open chunk, and appends it and the one before it.
  absl::Status Flush();
  // Waits for the chunk that is being encoded and appended aside, if there is one.
  absl::Status Settle();
  absl::Status AppendChunk(v1::Record& record, uint64_t last_block);
  // Names what readers have to know, once.
  void RequireFeature(const char* feature);
  // Notes the chunk that will be, or has become, that record of the file.
  void IndexChunk(const v1::BlockChunk& chunk, uint64_t record, uint64_t last_block);
  void CountBlocks(uint64_t blocks, uint64_t threads);

  std::unique_ptr<ContainerWriter> file;
  absl::Status error;
  bool finished = false;
  uint64_t chunk_thread_instructions = 0;
  uint64_t chunk_accesses = 0;
  JoinLimits join;

  std::deque<Program> programs;         // references stay valid
  std::vector<EncoderMemory> memories;  // per program
  v1::Index index;
  WriterTotals totals;
  uint64_t launches = 0;

  // The open launch.
  bool open = false;
  // To come back to when it is abandoned.
  ContainerWriter::Mark mark;
  WriterTotals totals_before;
  int chunks_before = 0;
  int features_before = 0;
  v1::Launch launch;
  v1::LaunchEnd end;
  uint64_t grid_blocks = 0;
  uint64_t block_threads = 0;
  uint64_t next_block = 0;  // lowest block that may follow

  // The open chunk.
  PendingChunk pending;
  std::vector<uint64_t> pending_blocks;

  // The chunk that is being encoded and appended, on another thread if there are several; `encoder`, `encoding`,
  // `encoded`, `appended`, `file` and the program's memory are that thread's until Settle.
  const bool encodes_aside;
  ChunkEncoder encoder;
  PendingChunk encoding;
  v1::Record encoded;
  absl::Status appended;
  uint64_t encoded_number = 0;  // of the record
  uint64_t encoded_last_block = 0;
  bool under_way = false;

  // The block that is being cut in time.
  bool in_parts = false;
  uint64_t part_block = 0;
  uint32_t part = 0;           // the next one
  bool encoded_parts = false;  // its parts come as encoded chunks
  PartEncoder parts;

  WorkerThread worker;  // goes first, for it uses the rest
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_WRITE_WRITER_STATE_H_
