// Writes records as Zstandard frames to a temporary file that becomes the trace when it is complete.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_WRITER_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_WRITER_H_

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/trace.pb.h"
#include "traces/format/frame_compressor.h"
#include "traces/format/seek_table.h"

namespace heddle::trace {

// SHA-256 over a stream of bytes.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  void Update(const void* data, size_t bytes);
  std::string Finish();  // 32 bytes; call once

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

// The file side of a TraceWriter. Nothing appears under the final name before Commit; without it the destructor removes
// the temporary file.
class ContainerWriter {
 public:
  // Errors: the directory does not exist or may not be written, or the final name is taken by something that is not a
  // regular file (a rename would destroy a device or a pipe). The file does not depend on `threads`, which compress.
  static absl::StatusOr<std::unique_ptr<ContainerWriter>> Create(const std::string& path, int zstd_level,
                                                                 unsigned threads = 1);
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  // Appends one record as a frame of its own; sets its ordinal. Errors: the record is above kMaxRecordBytes, no space
  // (for it or, with several threads, for an earlier one).
  absl::Status Append(v1::Record& record);

  uint64_t frame_count() const { return records_; }
  uint64_t bytes() const { return bytes_; }  // written so far; frames that are being compressed are not in it

  // Appends a frame with exactly these contents, which a reader must find to be record number frame_count(). Errors: as
  // Append.
  absl::Status AppendRaw(absl::string_view raw);

  // The end of what has been appended so far, to come back to.
  struct Mark {
    uint64_t records = 0;
    Sha256 sha;
  };
  Mark End() const { return {records_, sha_}; }
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

  std::string path_;
  std::string temporary_;
  int fd_;
  Sha256 sha_;
  uint64_t records_ = 0;
  std::vector<FrameEntry> frames_;  // that are written
  uint64_t bytes_ = 0;
  std::string raw_;
  FrameCompressor compressor_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_WRITER_H_
