// Writes records as Zstandard frames to a temporary file that becomes the trace when it is complete.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_CONTAINER_WRITER_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_CONTAINER_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/trace.pb.h"
#include "traces/base/sha256.h"
#include "traces/format/container/frame_compressor.h"
#include "traces/format/container/frame_joiner.h"
#include "traces/format/container/seek_table.h"

namespace heddle::trace {

// The file side of a TraceWriter. Nothing appears under the final name before Commit; without it the destructor removes
// the temporary file.
class ContainerWriter {
 public:
  // Errors: the directory does not exist or may not be written, or the final name is taken by something that a trace
  // may not replace (CheckReplaceable: a device, a pipe, a file that is no trace). A symbolic link stays one, and its
  // target is written. The file does not depend on `threads`, which compress.
  static absl::StatusOr<std::unique_ptr<ContainerWriter>> Create(const std::string& path, int zstd_level,
                                                                 unsigned threads = 1);
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  // Appends one record; sets its ordinal. Chunks may share a frame with chunks next to them (FrameJoiner), other
  // records have their own. Errors: the record is above kMaxRecordBytes, no space (for it or for an earlier one).
  absl::Status Append(v1::Record& record);

  // Turns the numbers of records in an index that is to be appended next into numbers of frames, and names the
  // required feature if there are shared frames, and only then. Errors: as Append.
  absl::Status NumberFrames(v1::Index& index);

  uint64_t record_count() const { return records_; }
  uint64_t bytes() const { return bytes_; }  // written so far; frames that are being compressed are not in it

  // Appends a frame with exactly these contents. For files that are copied frame by frame; Append cannot follow.
  // Errors: as Append.
  absl::Status AppendRaw(absl::string_view raw);

  // The end of what has been appended so far, to come back to.
  struct Mark {
    uint64_t records = 0;
    uint64_t frames = 0;
    Sha256 sha;
  };
  // Right behind a record that is no chunk.
  Mark End() const { return {records_, frame_count_, sha_}; }
  // Takes back what was appended behind `mark`. Errors: the file cannot be cut, or an earlier frame could not be
  // written.
  absl::Status CutBack(const Mark& mark);

  // The file that a rename will complete; to be removed if the program is interrupted.
  const std::string& temporary() const { return temporary_; }

  // SHA-256 of the decompressed frames so far; no Append but that of the index may follow.
  std::string ContentDigest();

  // Appends the seek table, flushes to disk, renames.
  absl::Status Commit();

 private:
  ContainerWriter(std::string path, std::string temporary, int fd, int zstd_level, unsigned threads);
  absl::Status WriteAll(const char* data, size_t size);
  absl::Status CheckCount() const;  // whether there may be one more record

  std::string path_;
  std::string temporary_;
  int fd_;
  Sha256 sha_;
  uint64_t records_ = 0;
  uint64_t frame_count_ = 0;        // handed to the compressor
  std::vector<uint64_t> shared_;    // records in the frame of the record in front of them
  std::vector<FrameEntry> frames_;  // that are written
  uint64_t bytes_ = 0;
  std::string raw_;
  FrameCompressor compressor_;
  FrameJoiner joiner_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_CONTAINER_WRITER_H_
