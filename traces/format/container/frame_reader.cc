#include "traces/format/container/frame_reader.h"

#include <zstd_errors.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/base/varint.h"
#include "traces/format/container/chunk_parser.h"
#include "traces/format/container/parse_limit.h"
#include "traces/format/container/wire_format.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

// Header bits of a Zstandard frame (RFC 8878, section 3.1.1.1.1).
constexpr size_t kDescriptorOffset = 4;
constexpr uint8_t kChecksumBit = 0x04;
constexpr uint8_t kUnusedBit = 0x10;
constexpr uint8_t kSingleSegmentBit = 0x20;
// Buffers that grew beyond this are not kept from frame to frame.
constexpr size_t kMostKept = 12u << 20;
// Encoded bytes that may stay beside the parsed record.
constexpr size_t kMostBeside = 8u << 20;

// Window size that the frame header asks for (RFC 8878, section 3.1.1.1.2); `content` is that of a single segment.
uint64_t WindowOf(const std::string& frame, uint64_t content) {
  const uint8_t descriptor = static_cast<uint8_t>(frame[kDescriptorOffset]);
  if (descriptor & kSingleSegmentBit) return content;
  const uint8_t window = static_cast<uint8_t>(frame[kDescriptorOffset + 1]);
  const uint64_t base = uint64_t{1} << (10 + (window >> 3));
  return base + base / 8 * (window & 7);
}

// Takes a field with `tag`, of wire type 2, off `raw`.
bool TakeBody(char tag, absl::string_view& raw, absl::string_view& body) {
  if (raw.empty() || raw[0] != tag) return false;
  constexpr int kMostSizeBytes = 5;
  const char* p = raw.data() + 1;
  const char* const end = raw.data() + raw.size();
  uint64_t size = 0;
  if (!ReadVarint<VarintExcess::kDropped, kMostSizeBytes>(p, end, size) || size > static_cast<uint64_t>(end - p)) {
    return false;
  }
  const size_t at = static_cast<size_t>(p - raw.data());
  body = raw.substr(at, size);
  raw.remove_prefix(at + size);
  return true;
}

// Takes the first record off `raw`.
bool TakeRecord(absl::string_view& raw, absl::string_view& body) { return TakeBody(kRecordTag, raw, body); }

// Finds the bodies of the `records` that `raw` must hold.
bool SplitRecords(absl::string_view raw, uint64_t records, std::vector<absl::string_view>& bodies) {
  bodies.clear();
  for (uint64_t i = 0; i < records; ++i) {
    if (!TakeRecord(raw, bodies.emplace_back())) return false;
  }
  return raw.empty();
}

// Splits a record that is as writers make those of chunks: an ordinal other than 0, the chunk, and nothing else. False
// if it is not.
bool SplitChunk(absl::string_view record, absl::string_view& ordinal, absl::string_view& chunk) {
  size_t at = 0;
  if (record.empty() || record[at++] != kOrdinalTag) return false;
  while (at < record.size() && static_cast<uint8_t>(record[at]) >= 0x80) ++at;
  if (++at >= record.size()) return false;
  ordinal = record.substr(0, at);
  record.remove_prefix(at);
  return TakeBody(kChunkTag, record, chunk) && record.empty();
}

// Parses a record. A chunk goes into the message of the chunk before it, so that its fields need not grow from nothing.
bool Parse(absl::string_view body, FrameReader::Buffers& buffers) {
  // What the message holds on to can become the sum of what the chunks needed.
  constexpr uint64_t kMostKeptBytes = 32u << 20;
  buffers.kept_bytes += buffers.parsed_bytes;
  std::unique_ptr<v1::BlockChunk> chunk;
  if (buffers.record.has_chunk() && buffers.kept_bytes <= kMostKeptBytes) chunk.reset(buffers.record.release_chunk());
  absl::string_view others = body;
  absl::string_view chunk_bytes;
  const bool chunk_only = SplitChunk(body, others, chunk_bytes);
  if (!chunk_only) others = body;
  if (chunk == nullptr || !chunk_only) {
    buffers.kept_bytes = buffers.parsed_bytes;
    chunk = std::make_unique<v1::BlockChunk>();
  }
  if (!buffers.record.ParseFromArray(others.data(), static_cast<int>(others.size()))) return false;
  if (!chunk_only) return true;
  chunk->Clear();
  if (!MergeChunk(chunk_bytes, *chunk)) return false;
  buffers.record.set_allocated_chunk(chunk.release());
  return true;
}

}  // namespace

absl::string_view KindName(v1::Record::KindCase kind) {
  if (kind == v1::Record::KIND_NOT_SET) return "record";
  return v1::Record::descriptor()->FindFieldByNumber(kind)->message_type()->name();
}

absl::Status UnpackingError(absl::string_view place, size_t error) {
  if (ZSTD_getErrorCode(error) == ZSTD_error_memory_allocation) {
    return absl::ResourceExhaustedError(absl::StrCat(place, ": there is not enough memory to unpack it"));
  }
  // What the library calls it tells a person little.
  return absl::DataLossError(
      absl::StrCat(place, ": the bytes are damaged (Zstandard: ", ZSTD_getErrorName(error),
                   "); copy the file again, or keep what is whole with `heddle trace repack --recover`"));
}

absl::StatusOr<std::unique_ptr<FrameReader>> FrameReader::Open(std::unique_ptr<ByteSource> source, std::string name) {
  std::unique_ptr<FrameReader> reader(new FrameReader(std::move(source), std::move(name)));
  if (absl::Status status = ReadSeekTable(*reader->source_, reader->frames_); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(reader->name_, ": ", status.message()));
  }
  uint64_t offset = 0;
  reader->offsets_.reserve(reader->frames_.size());
  for (const FrameEntry& frame : reader->frames_) {
    reader->offsets_.push_back(offset);
    offset += frame.compressed;
  }
  return reader;
}

std::unique_ptr<FrameReader> FrameReader::WithFrames(std::unique_ptr<ByteSource> source, std::string name,
                                                     std::vector<FrameEntry> frames, std::vector<uint64_t> offsets) {
  std::unique_ptr<FrameReader> reader(new FrameReader(std::move(source), std::move(name)));
  reader->frames_ = std::move(frames);
  reader->offsets_ = std::move(offsets);
  return reader;
}

FrameReader::Place FrameReader::PlaceOf(uint64_t record) const {
  if (record >= record_count() || first_record_.empty()) return {record, 0, 1};
  const auto next = std::upper_bound(first_record_.begin(), first_record_.end(), record);
  const uint64_t first = *(next - 1);
  return {static_cast<uint64_t>(next - 1 - first_record_.begin()), record - first, *next - first};
}

uint64_t FrameReader::RecordBytes(uint64_t record) const {
  const Place place = PlaceOf(record);
  const uint64_t bytes = frames_[place.frame].compressed;
  return bytes * (place.number + 1) / place.records - bytes * place.number / place.records;
}

absl::Status FrameReader::RefuseFrame(uint64_t frame, absl::string_view what, absl::string_view rule) const {
  return absl::DataLossError(absl::StrCat(name_, ": frame ", frame, what.empty() ? "" : ", ", what, ": ", rule));
}

absl::Status FrameReader::Refuse(uint64_t record, absl::string_view what, absl::string_view rule) const {
  const Place place = PlaceOf(record);
  if (place.records == 1) return RefuseFrame(place.frame, what, rule);
  return RefuseFrame(place.frame, absl::StrCat("record ", record, what.empty() ? "" : ", ", what), rule);
}

std::unique_ptr<FrameReader::Buffers> FrameReader::Take(uint64_t record) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (spare_.empty()) {
    auto buffers = std::make_unique<Buffers>();
    buffers->zstd.reset(ZSTD_createDCtx());
    if (buffers->zstd != nullptr) {
      ZSTD_DCtx_setParameter(buffers->zstd.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
    }
    return buffers;
  }
  if (!first_record_.empty()) {
    const uint64_t frame = FrameOf(record);
    const auto holds = [frame](const auto& buffers) { return buffers->held_frame == frame; };
    if (const auto found = std::find_if(spare_.begin(), spare_.end(), holds); found != spare_.end()) {
      std::swap(*found, spare_.back());
    }
  }
  std::unique_ptr<Buffers> buffers = std::move(spare_.back());
  spare_.pop_back();
  return buffers;
}

void FrameReader::GiveBack(std::unique_ptr<Buffers> buffers) const {
  if (buffers->raw.capacity() > kMostKept) {
    std::string().swap(buffers->raw);
    buffers->held_frame.reset();
    v1::Record().Swap(&buffers->record);
  }
  if (buffers->compressed.capacity() > kMostKept) std::string().swap(buffers->compressed);
  std::lock_guard<std::mutex> lock(mutex_);
  spare_.push_back(std::move(buffers));
}

absl::Status FrameReader::ReadRaw(uint64_t frame, Buffers& buffers) const {
  if (frame >= frames_.size()) return RefuseFrame(frame, "", absl::StrCat("the file has ", frames_.size(), " frames"));
  if (buffers.held_frame == frame) return absl::OkStatus();
  buffers.held_frame.reset();
  buffers.held_records.clear();
  const FrameEntry& entry = frames_[frame];
  constexpr size_t kLeastFrame = 9;
  if (entry.compressed < kLeastFrame) return RefuseFrame(frame, "", "too short for a Zstandard frame");
  buffers.compressed.resize(entry.compressed);
  if (absl::Status status = source_->Read(offsets_[frame], buffers.compressed); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(name_, ": frame ", frame, ": ", status.message()));
  }
  const std::string& in = buffers.compressed;
  const unsigned long long content = ZSTD_getFrameContentSize(in.data(), in.size());
  if (content == ZSTD_CONTENTSIZE_ERROR) return RefuseFrame(frame, "", "not a Zstandard frame");
  if (content == ZSTD_CONTENTSIZE_UNKNOWN) return RefuseFrame(frame, "", "the frame does not declare its content size");
  if (content != entry.decompressed) {
    return RefuseFrame(frame, "",
                       absl::StrCat("content size ", content, " differs from the seek table's ", entry.decompressed));
  }
  if (!(static_cast<uint8_t>(in[kDescriptorOffset]) & kChecksumBit))
    return RefuseFrame(frame, "", "the frame has no checksum");
  // Zstandard ignores this bit; a flipped one must not pass unnoticed.
  if (static_cast<uint8_t>(in[kDescriptorOffset]) & kUnusedBit) {
    return RefuseFrame(frame, "", "a bit of the frame header is set that must be 0");
  }
  if (WindowOf(in, content) > uint64_t{1} << kMaxWindowLog) {
    return RefuseFrame(frame, "", absl::StrCat("the window is above 2^", kMaxWindowLog, " bytes"));
  }
  const std::string place = absl::StrCat(name_, ": frame ", frame);
  const size_t length = ZSTD_findFrameCompressedSize(in.data(), in.size());
  if (ZSTD_isError(length)) return UnpackingError(place, length);
  if (length != in.size()) return RefuseFrame(frame, "", "more bytes in the seek table than in the frame");
  if (buffers.zstd == nullptr) {
    return UnpackingError(place, static_cast<size_t>(-static_cast<int>(ZSTD_error_memory_allocation)));
  }
  buffers.raw.resize(content);
  const size_t size = ZSTD_decompressDCtx(buffers.zstd.get(), buffers.raw.data(), content, in.data(), in.size());
  if (ZSTD_isError(size)) return UnpackingError(place, size);
  if (size != content) return RefuseFrame(frame, "", "the content is shorter than declared");
  if (!first_record_.empty() && first_record_[frame + 1] - first_record_[frame] > 1) buffers.held_frame = frame;
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> FrameReader::CountRecords(uint64_t frame, Buffers& buffers) const {
  HEDDLE_RETURN_IF_ERROR(ReadRaw(frame, buffers));
  absl::string_view raw = buffers.raw;
  absl::string_view body;
  uint64_t records = 0;
  for (; !raw.empty(); ++records) {
    if (!TakeRecord(raw, body)) return RefuseFrame(frame, "", "the frame does not hold whole records");
  }
  return records;
}

absl::StatusOr<uint64_t> FrameReader::EstimateBody(uint64_t record, absl::string_view what, Buffers& buffers,
                                                   uint64_t most_parsed_bytes, absl::string_view& body) const {
  const Place place = PlaceOf(record);
  HEDDLE_RETURN_IF_ERROR(ReadRaw(place.frame, buffers));
  // Once per frame: a shared one has up to 256 records, whose beginnings lie far apart in memory.
  if (buffers.held_records.empty() && !SplitRecords(buffers.raw, place.records, buffers.held_records)) {
    buffers.held_records.clear();
    return Refuse(record, what,
                  place.records == 1
                      ? "the frame does not hold exactly one record"
                      : absl::StrCat("the frame does not hold exactly the ", place.records, " records of the index"));
  }
  body = buffers.held_records[place.number];
  absl::StatusOr<uint64_t> estimate =
      EstimateParsedBytes(*v1::Record::descriptor(), body, std::min(most_parsed_bytes, kMaxParsedBytes));
  if (!estimate.ok()) return Refuse(record, what, estimate.status().message());
  return estimate;
}

absl::StatusOr<uint64_t> FrameReader::EstimateRecord(uint64_t record, absl::string_view what, Buffers& buffers,
                                                     uint64_t most_parsed_bytes) const {
  absl::string_view body;
  return EstimateBody(record, what, buffers, most_parsed_bytes, body);
}

absl::Status FrameReader::ReadAnyRecord(uint64_t record, absl::string_view what, Buffers& buffers,
                                        uint64_t most_parsed_bytes) const {
  absl::string_view body;
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t estimate, EstimateBody(record, what, buffers, most_parsed_bytes, body));
  buffers.parsed_bytes = estimate;
  if (!Parse(body, buffers)) {
    return Refuse(record, what, "the record is not a well-formed message");
  }
  // The message owns its bytes now; decoding a large chunk needs the room.
  if (buffers.raw.capacity() > kMostBeside) {
    std::string().swap(buffers.raw);
    buffers.held_frame.reset();
  }
  if (buffers.compressed.capacity() > kMostBeside) std::string().swap(buffers.compressed);
  return absl::OkStatus();
}

absl::Status FrameReader::ReadRecord(uint64_t record, v1::Record::KindCase kind, Buffers& buffers,
                                     uint64_t most_parsed_bytes) const {
  absl::Status status = ReadAnyRecord(record, KindName(kind), buffers, most_parsed_bytes);
  return status.ok() ? CheckRecord(record, record, kind, buffers) : status;
}

absl::Status FrameReader::CheckRecord(uint64_t record, uint64_t ordinal, v1::Record::KindCase kind,
                                      const Buffers& buffers) const {
  const absl::string_view what = KindName(kind);
  if (buffers.record.ordinal() != ordinal) {
    return Refuse(
        record, what,
        absl::StrCat("the record has ordinal ", buffers.record.ordinal(), ": frames were lost, doubled or reordered"));
  }
  if (kind != v1::Record::KIND_NOT_SET && buffers.record.kind_case() != kind) {
    return Refuse(record, what, absl::StrCat("a ", KindName(buffers.record.kind_case()), " stands here instead"));
  }
  return absl::OkStatus();
}

}  // namespace heddle::trace
