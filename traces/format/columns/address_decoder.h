// Restores the addresses of a chunk from the records of its columns.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_DECODER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_DECODER_H_

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/chunk/walked_paths.h"
#include "traces/format/columns/address_walk.h"
#include "traces/format/columns/column_reader.h"
#include "traces/format/columns/models/decoder_columns.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Reads the columns, then walks over all accesses. Buffers are reused from chunk to chunk.
class AddressDecoder {
 public:
  // Adds the addresses to `out`, which has the paths of the chunk. Refuses (DataLoss) what the format forbids.
  absl::Status Decode(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                      DecodedChunk& out);
  // Gives memory back after an unusually large chunk.
  void Trim();

 private:
  DecoderColumns columns_;
  ColumnReader reader_;
  AddressWalk walk_{columns_};
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_DECODER_H_
