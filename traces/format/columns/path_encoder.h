// The distinct paths of a chunk, and the path of each thread, as a record has them.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_PATH_ENCODER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_PATH_ENCODER_H_

#include "proto/trace.pb.h"
#include "traces/format/chunk/pending_chunk.h"

namespace heddle::trace {

// Fills paths and path_number of `out`. `cut`: the chunk is a part of a block, so that extents, start blocks and call
// stacks are written.
void EncodePaths(const PendingChunk& chunk, bool cut, v1::BlockChunk& out);

// Turns decisions to planes, by number instead of by path, if `planes` is true. With `trial` true it is found out
// whether that pays.
void TurnDecisions(bool trial, bool& planes, v1::PathTable& table);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_PATH_ENCODER_H_
