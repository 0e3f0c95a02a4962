// Several chunks in one frame: what version 1.4 of the format added.
//
// Blocks of a launch often do what other blocks did. Zstandard finds that only within a frame, so that chunks of which
// this is true share one. A file has numbers of frames in its index; in memory all of these are numbers of records,
// which are the same as long as no frame is shared, and always name one record.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_SHARED_FRAMES_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_SHARED_FRAMES_H_

#include <cstdint>
#include <span>

#include "proto/trace.pb.h"

namespace heddle::trace {

// Named in Index.required_feature of files that have a frame of several chunks.
inline constexpr char kSharedFrameFeature[] = "frames-1.4";

// To get at a chunk, all of its frame has to be decompressed: a millisecond or two for the most that a writer puts into
// a shared frame. A reader accepts twice as much.
inline constexpr uint64_t kSharedFrameBytes = 2u << 20;  // decompressed
inline constexpr uint64_t kMaxSharedFrameBytes = 4u << 20;
inline constexpr uint64_t kMaxSharedRecords = 256;

// Turns the numbers of records in an index into numbers of frames. `shared` has, ascending, the records that stand in
// the frame of the record in front of them.
void RecordsToFrames(std::span<const uint64_t> shared, v1::Index& index);

// The other way. References that name the same frame one after the other are those of its chunks, in order.
void FramesToRecords(v1::Index& index);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_SHARED_FRAMES_H_
