// Turns the blocks that a writer has taken into one BlockChunk record.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_ENCODER_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_ENCODER_H_

#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/format/column_model.h"
#include "traces/format/pending_chunk.h"

namespace heddle::trace {

// What is known from earlier chunks of the same program.
struct EncoderMemory {
  std::vector<ModelChoice> choices;  // by column
  uint64_t chunks = 0;
};

class ChunkEncoder {
 public:
  // Fills paths, path_ref, columns and totals of `out`; launch, blocks and part are the caller's. `cut`: the chunk is a
  // part of a block, so that extents, start blocks and call stacks are written. Deterministic.
  void Encode(const PendingChunk& chunk, bool cut, EncoderMemory& memory, v1::BlockChunk& out);

 private:
  struct Column {
    uint64_t first_value = 0;
    uint64_t values = 0;
    uint64_t first_start = 0;
    uint64_t threads = 0;
    int64_t longest = -1;  // SEPARABLE if >= 0
    bool sampled = false;
    bool crosses = false;  // RELATIVE to a column of another block
    ModelChoice choice;
    ColumnSample sample;
    std::vector<int64_t> residuals;  // of columns that cross blocks
  };

  void EncodePaths(const PendingChunk& chunk, bool cut, v1::BlockChunk& out);
  void Scatter(const PendingChunk& chunk);
  ColumnView View(uint32_t column) const;
  // Records accesses of the columns in `wanted`, with the latest addresses of their possible references.
  void Sample(const PendingChunk& chunk);
  void SampleThread(const PendingChunk& chunk, uint64_t first_address, const PendingPath& path);
  void CrossResiduals(const PendingChunk& chunk);
  void EncodeColumn(const PendingChunk& chunk, uint32_t index, bool trial, EncoderMemory& memory, v1::BlockChunk& out);

  std::vector<Column> columns_;
  std::vector<uint32_t> used_;  // columns with values, ascending
  std::vector<uint32_t> number_of_path_;
  std::vector<uint64_t> values_;
  std::vector<uint32_t> starts_;
  std::vector<uint64_t*> next_value_;
  std::vector<uint64_t> latest_;
  std::vector<int64_t> residuals_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_ENCODER_H_
