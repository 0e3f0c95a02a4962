// How much memory a serialized message will take once parsed.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_PARSE_LIMIT_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_PARSE_LIMIT_H_

#include <google/protobuf/descriptor.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::trace {

// An empty sub-message costs two bytes in the file and a hundred in memory, so a limit on the record's size alone would
// let a file of a few kilobytes take all memory. Scans the wire format and returns an upper estimate, in bytes. Refuses
// malformed bytes, nesting deeper than the schema has, and estimates above `limit` (as soon as they are reached).
absl::StatusOr<uint64_t> EstimateParsedBytes(const google::protobuf::Descriptor& type, absl::string_view bytes,
                                             uint64_t limit);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_PARSE_LIMIT_H_
