// Puts trace files together from records, right or wrong, without the writer.
#ifndef HEDDLE_TESTS_TRACES_FORGE_H_
#define HEDDLE_TESTS_TRACES_FORGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"

namespace heddle::trace::testing {

// The frames of a file, decompressed (each holds one element of TraceFile.record); without those of more than
// `most_bytes`.
std::vector<std::string> SplitFrames(const std::string& file, uint64_t most_bytes = 1u << 26);
v1::Record ParseRecord(const std::string& raw);
std::string SerializeRecord(const v1::Record& record);

// One Zstandard frame with content size and checksum.
std::string CompressFrame(const std::string& raw, bool checksum = true);

// A file of these frames with a right seek table.
std::string AssembleFile(const std::vector<std::string>& raw_frames);

// Gives records their ordinals and appends an index that agrees with them as far as they allow: frames, blocks, totals,
// digest. LaunchEnd totals are recomputed too, so that only the inner layers can be wrong.
std::vector<std::string> WithIndex(std::vector<v1::Record> records);

// All records of a file but its index, to be changed and passed to WithIndex.
std::vector<v1::Record> RecordsOf(const std::string& file);

// The first error of a reader that decodes every chunk of a file and verifies its digest.
absl::Status ReadEverything(const std::string& bytes);

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_TRACES_FORGE_H_
