// Reads a trace file: index first, then any launch and any thread block in any order.
#ifndef HEDDLE_TRACES_FORMAT_READ_READER_H_
#define HEDDLE_TRACES_FORMAT_READ_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/container/byte_source.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// One recorded or unrecorded launch of the run.
struct LaunchView {
  v1::Launch launch;
  const Program* program = nullptr;
  v1::LaunchEnd totals;  // zeros if not recorded
  uint32_t threads_per_block = 0;
  uint64_t grid_blocks = 0;       // of the whole grid, recorded or not
  uint64_t transfers_before = 0;  // so many of TraceReader::transfers() came before the launch
  // References into TraceReader::chunks(), in file order: by first block, then part.
  std::span<const v1::ChunkReference> chunks;
};

// A trace whose container, index, programs and launches have been checked; chunks are checked as they are decoded.
// Never crashes, hangs or exhausts memory whatever the bytes; a refusal names file, frame, record and rule.
// Reading chunks is const and may happen from several threads at once.
class TraceReader {
 public:
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path);
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(std::unique_ptr<ByteSource> source, const std::string& name);
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  const std::string& name() const;  // as shown in messages: printable
  const v1::FileHeader& header() const;
  const v1::Index& index() const;
  std::string digest() const;  // hexadecimal SHA-256 of the contents
  std::span<const Program> programs() const;
  std::span<const LaunchView> launches() const;  // all, in order of the run
  std::span<const v1::Transfer> transfers() const;
  std::span<const v1::Certificate> certificates() const;  // by launch, those of a launch in order of the file
  std::span<const v1::Certificate> CertificatesOf(uint32_t launch) const;
  std::span<const v1::Annotation> annotations() const;

  // The texts of all of these are printable (printable.h). Of those that were not before they were read: how many, and
  // about the first "frame 1, KernelProgram.name is ...".
  uint64_t unprintable_texts() const;
  std::string first_unprintable_text() const;

  // The encoded chunk of a reference, checked against it.
  absl::Status ReadChunk(const v1::ChunkReference& reference, v1::BlockChunk& out) const;
  // Reads and decodes. `out` is reused: its buffers grow to the largest chunk and stay.
  absl::Status ReadChunk(const v1::ChunkReference& reference, DecodedChunk& out) const;

  // A record of the file, whatever its kind, with printable texts; for tools that follow the order of the run. In
  // index(), the numbers of frames are numbers of records.
  absl::Status ReadRecord(uint64_t record, v1::Record& out) const;
  // The decompressed bytes of a frame.
  absl::Status ReadRaw(uint64_t frame, std::string& out) const;

  // Reads every frame and compares the contents with digest(); DataLoss if they differ or a frame is damaged.
  absl::Status VerifyDigest() const;

  // The reference of the chunk that holds `block` (its first part); nullopt if the block was not recorded.
  std::optional<uint32_t> FindChunk(const LaunchView& launch, uint64_t block) const;

  // Compressed size of a record in bytes, for statistics. Records that share a frame count as equally large.
  uint64_t record_bytes(uint64_t record) const;
  uint64_t record_count() const;
  uint64_t frame_count() const;
  uint64_t file_bytes() const;  // of the whole file

 private:
  struct State;
  explicit TraceReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_READER_H_
