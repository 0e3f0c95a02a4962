// Reads the records of a chunk's columns into the form in which addresses are restored.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_READER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_READER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/chunk/walked_paths.h"
#include "traces/format/columns/models/decoder_columns.h"
#include "traces/format/columns/residuals/residuals.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Checks what all models have in common, and lets each column's model read the rest. Buffers are reused from chunk to
// chunk.
class ColumnReader {
 public:
  // Fills `columns`, for as long as `program` and `walked` live; `out` has the paths of the chunk. Refuses (DataLoss)
  // what the format forbids.
  absl::Status Read(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                    const DecodedChunk& out, DecoderColumns& columns);

 private:
  struct CountedColumn {
    uint32_t column = 0;
    uint32_t count = 0;  // accesses of a thread
  };

  absl::Status ReadChains(const v1::BlockChunk& chunk, DecoderColumns& columns);
  // Counts the accesses by thread of the columns where that matters.
  void CountByThread(const v1::BlockChunk& chunk, const WalkedPaths& walked, const DecodedChunk& out,
                     const DecoderColumns& columns);
  absl::Status ReadColumn(const v1::AddressColumn& record, uint32_t index, DecoderColumns& columns);

  std::vector<uint32_t> chain_read_;    // columns of each chain so far
  std::vector<ThreadResiduals> runs_;   // accesses by thread, column after column
  std::vector<uint64_t> first_run_;     // by column
  std::vector<CountedColumn> counted_;  // of one path after the other: columns whose accesses by thread matter
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_COLUMN_READER_H_
