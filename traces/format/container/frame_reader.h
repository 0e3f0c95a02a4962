// Reads single frames of a trace file: bytes, decompression, the record within, and every rule about these.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_READER_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_READER_H_

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/trace.pb.h"
#include "traces/format/container/byte_source.h"
#include "traces/format/container/seek_table.h"
#include "traces/format/limits.h"

namespace heddle::trace {

// Name of a record's kind as users see it, such as "BlockChunk".
absl::string_view KindName(v1::Record::KindCase kind);

// Why Zstandard could not unpack what is at `place`: DataLoss for damaged bytes, ResourceExhausted for want of memory,
// which says nothing about the file. `error` is one of ZSTD_isError.
absl::Status UnpackingError(absl::string_view place, size_t error);

// Frames and records have the same numbers unless ShareFrames has told otherwise.
class FrameReader {
 public:
  // Buffers for one frame, reused.
  struct Buffers {
    struct Free {
      void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> zstd;
    std::string compressed;
    std::string raw;
    std::optional<uint64_t> held_frame;  // a shared one whose contents are in `raw`, for the next of its records
    std::vector<absl::string_view> held_records;  // of that frame, in `raw`, once one was asked for
    v1::Record record;
    uint64_t parsed_bytes = 0;  // estimate of the record's size in memory
    uint64_t kept_bytes = 0;    // of the chunks that `record` has been used for since it was new
  };

  // Reads the seek table.
  static absl::StatusOr<std::unique_ptr<FrameReader>> Open(std::unique_ptr<ByteSource> source, std::string name);

  // Takes frames from where somebody found them in a file that has no usable seek table.
  static std::unique_ptr<FrameReader> WithFrames(std::unique_ptr<ByteSource> source, std::string name,
                                                 std::vector<FrameEntry> frames, std::vector<uint64_t> offsets);

  const std::string& name() const { return name_; }
  uint64_t frame_count() const { return frames_.size(); }
  uint64_t record_count() const { return first_record_.empty() ? frames_.size() : first_record_.back(); }
  uint64_t file_bytes() const { return source_->size(); }
  const FrameEntry& frame(uint64_t index) const { return frames_[index]; }

  // Says which frames hold several records: has the number of the first record of each frame, ascending, and the number
  // of all records at its end. Before anybody reads on several threads.
  void ShareFrames(std::vector<uint64_t> first_record) { first_record_ = std::move(first_record); }
  uint64_t FrameOf(uint64_t record) const { return PlaceOf(record).frame; }
  // Compressed bytes of a record: of a shared frame, an equal part.
  uint64_t RecordBytes(uint64_t record) const;

  // Puts the decompressed bytes of a frame into buffers.raw. Refuses: a frame that is not exactly one Zstandard frame
  // with content size and checksum, sizes that differ from the seek table, windows above 2^27, wrong checksums.
  absl::Status ReadRaw(uint64_t frame, Buffers& buffers) const;

  // As ReadRaw, then counts the records. Refuses contents that are not a sequence of them.
  absl::StatusOr<uint64_t> CountRecords(uint64_t frame, Buffers& buffers) const;

  // As ReadRaw with the record's frame, then parses the record into buffers.record and checks ordinal and kind
  // (KIND_NOT_SET = any). The record may take `most_parsed_bytes` in memory.
  absl::Status ReadRecord(uint64_t record, v1::Record::KindCase kind, Buffers& buffers,
                          uint64_t most_parsed_bytes = kMaxParsedBytes) const;

  // As ReadRecord, but ordinal and kind may be anything.
  absl::Status ReadAnyRecord(uint64_t record, absl::string_view what, Buffers& buffers,
                             uint64_t most_parsed_bytes = kMaxParsedBytes) const;

  // What ReadRecord checks of the record that is in `buffers`, which must have number `ordinal`.
  absl::Status CheckRecord(uint64_t record, uint64_t ordinal, v1::Record::KindCase kind, const Buffers& buffers) const;

  // An upper estimate of the memory that a record takes once it is parsed, which takes far longer than to estimate it.
  // Refuses more than `most_parsed_bytes`, and what ReadRaw refuses; `what` names the record.
  absl::StatusOr<uint64_t> EstimateRecord(uint64_t record, absl::string_view what, Buffers& buffers,
                                          uint64_t most_parsed_bytes = kMaxParsedBytes) const;

  // Error in the record: names file, frame, record and rule.
  absl::Status Refuse(uint64_t record, absl::string_view what, absl::string_view rule) const;

  // Buffers for a caller's own use, if possible those that hold the frame of `record`; safe to call from several
  // threads.
  std::unique_ptr<Buffers> Take(uint64_t record = 0) const;
  void GiveBack(std::unique_ptr<Buffers> buffers) const;

 private:
  struct Place {
    uint64_t frame = 0;
    uint64_t number = 0;   // in the frame
    uint64_t records = 1;  // of the frame
  };
  Place PlaceOf(uint64_t record) const;
  absl::Status RefuseFrame(uint64_t frame, absl::string_view what, absl::string_view rule) const;
  // As EstimateRecord; `body` is the record in buffers.raw.
  absl::StatusOr<uint64_t> EstimateBody(uint64_t record, absl::string_view what, Buffers& buffers,
                                        uint64_t most_parsed_bytes, absl::string_view& body) const;

  FrameReader(std::unique_ptr<ByteSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<FrameEntry> frames_;
  std::vector<uint64_t> offsets_;
  std::vector<uint64_t> first_record_;  // by frame, and the number of all; empty if no frame is shared
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Buffers>> spare_;
};

// Buffers for the length of a scope.
class ScopedBuffers {
 public:
  explicit ScopedBuffers(const FrameReader& reader, uint64_t record = 0)
      : reader_(reader), buffers_(reader.Take(record)) {}
  ~ScopedBuffers() { reader_.GiveBack(std::move(buffers_)); }
  ScopedBuffers(const ScopedBuffers&) = delete;
  ScopedBuffers& operator=(const ScopedBuffers&) = delete;
  FrameReader::Buffers& operator*() { return *buffers_; }
  FrameReader::Buffers* operator->() { return buffers_.get(); }

 private:
  const FrameReader& reader_;
  std::unique_ptr<FrameReader::Buffers> buffers_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_READER_H_
