// Where the records of thread blocks go.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_SINK_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_SINK_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_records.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// AddBlock and AddBlockPart of trace::TraceWriter, which see.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  virtual absl::Status AddBlock(uint64_t block, BlockRecords& threads, uint64_t expected_thread_instructions) = 0;
  virtual absl::Status AddBlockPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                                    std::span<uint64_t> consumed_addresses) = 0;
};

// Straight into the file: for blocks that run one after the other.
class WriterSink : public BlockSink {
 public:
  explicit WriterSink(trace::TraceWriter& writer) : writer_(writer) {}
  absl::Status AddBlock(uint64_t block, BlockRecords& threads, uint64_t expected_thread_instructions) override {
    if (!threads.is_segmented()) return writer_.AddBlock(block, threads.joined(), expected_thread_instructions);
    return writer_.AddBlock(block, threads.segmented(), expected_thread_instructions, threads.ranges());
  }
  absl::Status AddBlockPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                            std::span<uint64_t> consumed_addresses) override {
    return writer_.AddBlockPart(block, threads, last, consumed_addresses);
  }

 private:
  trace::TraceWriter& writer_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_SINK_H_
