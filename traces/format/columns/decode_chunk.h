// From the record of a chunk to its paths and addresses.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_DECODE_CHUNK_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_DECODE_CHUNK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Decodes and checks one chunk against its program; refuses anything the format forbids before allocating for it.
// `threads_per_block` comes from the launch. `chunk` may be reused by the caller; `out` owns all it points to.
absl::Status DecodeChunk(const v1::BlockChunk& chunk, const Program& program, uint32_t threads_per_block,
                         DecodedChunk& out);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_DECODE_CHUNK_H_
