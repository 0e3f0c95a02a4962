// The distinct paths of a chunk, and the path of each thread, read from its record.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_PATH_DECODER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_PATH_DECODER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/chunk/walked_paths.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Reads blocks, paths and path references into `out` and walks every path. Derived totals are compared with the limits
// while they grow, and with what the chunk declares at the end. Refuses (DataLoss) what the format forbids.
absl::Status DecodePaths(const v1::BlockChunk& chunk, const Program& program, uint32_t threads_per_block,
                         WalkedPaths& walked, DecodedChunk& out);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_PATH_DECODER_H_
