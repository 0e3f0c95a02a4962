// Parses chunks. Most of a chunk's numbers stand in a few packed fields, for which a reader of our own takes a fifth of
// the generated parser's instructions.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_CHUNK_PARSER_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_CHUNK_PARSER_H_

#include "absl/strings/string_view.h"
#include "proto/trace.pb.h"

namespace heddle::trace {

// Merges the message in `bytes` into `out`, exactly as BlockChunk::MergeFromString would; false if they are malformed.
// Whoever calls has limited what the message takes in memory (parse_limit.h).
bool MergeChunk(absl::string_view bytes, v1::BlockChunk& out);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_CHUNK_PARSER_H_
