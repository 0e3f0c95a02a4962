// Everything of a trace file but its chunks: read at once, checked against the index, kept in memory.
#ifndef HEDDLE_TRACES_FORMAT_READ_CONTENTS_H_
#define HEDDLE_TRACES_FORMAT_READ_CONTENTS_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/container/frame_reader.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {

// What is called a frame in `index` and `chunks` is the number of a record (shared_frames.h).
struct Contents {
  v1::FileHeader header;
  v1::Index index;
  std::vector<v1::ChunkReference> chunks;  // in file order
  std::vector<Program> programs;
  std::vector<LaunchView> launches;
  std::vector<v1::Transfer> transfers;
  std::vector<v1::Certificate> certificates;  // by launch
  std::vector<v1::Annotation> annotations;
  // Of texts that were not printable, and have been made so: how many, the frame of the first, and what it says.
  uint64_t unprintable_texts = 0;
  uint64_t unprintable_frame = 0;
  std::string unprintable;
};

// Reads header, index and all records but chunks, makes their texts printable, and tells `file` which frames are
// shared. Refuses: another major version, unknown required features, an index that does not name every frame exactly
// once in an order that the format allows, totals that do not agree, chunks and texts above the limits, allocations and
// transfers that wrap around, launches and certificates that refer to what is not there.
absl::Status ReadContents(FrameReader& file, Contents& contents);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_CONTENTS_H_
