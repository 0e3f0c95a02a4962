#include "traces/format/read/reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "traces/base/printable.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"
#include "traces/format/columns/decode_chunk.h"
#include "traces/format/container/byte_source.h"
#include "traces/format/container/container_writer.h"
#include "traces/format/container/frame_reader.h"
#include "traces/format/program/printable_records.h"
#include "traces/format/read/contents.h"

namespace heddle::trace {

struct TraceReader::State {
  std::unique_ptr<FrameReader> file;
  Contents contents;

  // Position of the reference among all chunks, by its frame.
  absl::StatusOr<size_t> Locate(const v1::ChunkReference& reference) const {
    const auto& chunks = contents.chunks;
    auto it = std::lower_bound(chunks.begin(), chunks.end(), reference.frame(),
                               [](const v1::ChunkReference& chunk, uint64_t frame) { return chunk.frame() < frame; });
    if (it == chunks.end() || it->frame() != reference.frame()) {
      return absl::InvalidArgumentError(absl::StrCat(file->name(), ": frame ", reference.frame(), " holds no chunk"));
    }
    return static_cast<size_t>(it - chunks.begin());
  }

  // True if the index continues the block of this chunk in another part.
  bool Continues(size_t chunk) const {
    return chunk + 1 < contents.chunks.size() &&
           contents.chunks[chunk + 1].launch() == contents.chunks[chunk].launch() &&
           contents.chunks[chunk + 1].part() == contents.chunks[chunk].part() + 1;
  }

  absl::Status Check(size_t index, const v1::BlockChunk& chunk) const;
};

absl::Status TraceReader::State::Check(size_t index, const v1::BlockChunk& chunk) const {
  const v1::ChunkReference& reference = contents.chunks[index];
  const auto refuse = [&](absl::string_view rule) { return file->Refuse(reference.frame(), "BlockChunk", rule); };
  if (chunk.launch() != reference.launch() || chunk.first_block() != reference.first_block() ||
      chunk.block_count() != reference.block_count() || chunk.part() != reference.part() ||
      chunk.thread_instructions() != reference.thread_instructions() || chunk.accesses() != reference.accesses()) {
    return refuse("launch, blocks, part or totals differ from the index");
  }
  uint64_t last = chunk.first_block();
  if (chunk.block_gap_size() == 0) {
    last += chunk.block_count() - 1;
  } else if (static_cast<uint64_t>(chunk.block_gap_size()) != chunk.block_count() - 1) {
    return refuse("block_gap must have an element for each block but the first");
  } else {
    for (uint64_t gap : chunk.block_gap()) {
      // The gap alone could make the sum wrap around.
      if (gap < reference.last_block()) last += gap + 1;
      if (gap >= reference.last_block() || last > reference.last_block()) {
        return refuse("the last block differs from the index");
      }
    }
  }
  if (last != reference.last_block()) return refuse("the last block differs from the index");
  if (chunk.last_part() == Continues(index)) {
    return refuse(chunk.last_part() ? "a further part follows the last one" : "the block's next part is missing");
  }
  return absl::OkStatus();
}

TraceReader::TraceReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceReader::~TraceReader() = default;

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path) {
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenFile(path));
  return Open(std::move(source), path);
}

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(std::unique_ptr<ByteSource> source,
                                                               const std::string& name) {
  absl::StatusOr<std::unique_ptr<FrameReader>> file = FrameReader::Open(std::move(source), Printable(name));
  if (!file.ok()) return file.status();
  auto state = std::make_unique<State>();
  state->file = *std::move(file);
  HEDDLE_RETURN_IF_ERROR(ReadContents(*state->file, state->contents));
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(state)));
}

const std::string& TraceReader::name() const { return state_->file->name(); }
const v1::FileHeader& TraceReader::header() const { return state_->contents.header; }
const v1::Index& TraceReader::index() const { return state_->contents.index; }
std::string TraceReader::digest() const { return absl::BytesToHexString(index().content_sha256()); }
std::span<const Program> TraceReader::programs() const { return state_->contents.programs; }
std::span<const LaunchView> TraceReader::launches() const { return state_->contents.launches; }
std::span<const v1::Transfer> TraceReader::transfers() const { return state_->contents.transfers; }
std::span<const v1::Certificate> TraceReader::certificates() const { return state_->contents.certificates; }

std::span<const v1::Certificate> TraceReader::CertificatesOf(uint32_t launch) const {
  return std::ranges::equal_range(certificates(), launch, {}, &v1::Certificate::launch);
}
std::span<const v1::Annotation> TraceReader::annotations() const { return state_->contents.annotations; }
uint64_t TraceReader::unprintable_texts() const { return state_->contents.unprintable_texts; }
std::string TraceReader::first_unprintable_text() const {
  const Contents& contents = state_->contents;
  return absl::StrCat("frame ", state_->file->FrameOf(contents.unprintable_frame), ", ", contents.unprintable);
}
uint64_t TraceReader::record_bytes(uint64_t record) const { return state_->file->RecordBytes(record); }
uint64_t TraceReader::file_bytes() const { return state_->file->file_bytes(); }
uint64_t TraceReader::record_count() const { return state_->file->record_count(); }
uint64_t TraceReader::frame_count() const { return state_->file->frame_count(); }

absl::Status TraceReader::ReadChunk(const v1::ChunkReference& reference, v1::BlockChunk& out) const {
  HEDDLE_ASSIGN_OR_RETURN(size_t index, state_->Locate(reference));
  ScopedBuffers buffers(*state_->file, reference.frame());
  HEDDLE_RETURN_IF_ERROR(state_->file->ReadRecord(reference.frame(), v1::Record::kChunk, *buffers));
  out.Swap(buffers->record.mutable_chunk());
  return state_->Check(index, out);
}

absl::Status TraceReader::ReadChunk(const v1::ChunkReference& reference, DecodedChunk& out) const {
  HEDDLE_ASSIGN_OR_RETURN(size_t index, state_->Locate(reference));
  ScopedBuffers buffers(*state_->file, reference.frame());
  HEDDLE_RETURN_IF_ERROR(state_->file->ReadRecord(reference.frame(), v1::Record::kChunk, *buffers));
  const v1::BlockChunk& chunk = buffers->record.chunk();
  HEDDLE_RETURN_IF_ERROR(state_->Check(index, chunk));
  const LaunchView& launch = state_->contents.launches[chunk.launch()];
  if (absl::Status status = DecodeChunk(chunk, *launch.program, launch.threads_per_block, out); !status.ok()) {
    return state_->file->Refuse(reference.frame(), "BlockChunk", status.message());
  }
  return absl::OkStatus();
}

absl::Status TraceReader::ReadRecord(uint64_t record, v1::Record& out) const {
  ScopedBuffers buffers(*state_->file, record);
  absl::Status status = state_->file->ReadRecord(record, v1::Record::KIND_NOT_SET, *buffers);
  if (!status.ok()) return status;
  out.Swap(&buffers->record);
  if (!out.has_chunk()) MakePrintable(out);
  return absl::OkStatus();
}

absl::Status TraceReader::ReadRaw(uint64_t frame, std::string& out) const {
  ScopedBuffers buffers(*state_->file);
  absl::Status status = state_->file->ReadRaw(frame, *buffers);
  if (status.ok()) {
    out.swap(buffers->raw);
    buffers->held_frame.reset();
  }
  return status;
}

absl::Status TraceReader::VerifyDigest() const {
  ScopedBuffers buffers(*state_->file);
  Sha256 sha;
  for (uint64_t frame = 0; frame + 1 < frame_count(); ++frame) {
    HEDDLE_RETURN_IF_ERROR(state_->file->ReadRaw(frame, *buffers));
    sha.Update(buffers->raw.data(), buffers->raw.size());
  }
  if (sha.Finish() != index().content_sha256()) {
    return state_->file->Refuse(record_count() - 1, "Index", "content_sha256 is not the digest of the frames");
  }
  return absl::OkStatus();
}

std::optional<uint32_t> TraceReader::FindChunk(const LaunchView& launch, uint64_t block) const {
  auto it = std::lower_bound(launch.chunks.begin(), launch.chunks.end(), block,
                             [](const v1::ChunkReference& chunk, uint64_t b) { return chunk.last_block() < b; });
  if (it == launch.chunks.end() || it->first_block() > block) return std::nullopt;
  if (it->block_count() - 1 != it->last_block() - it->first_block()) {
    // Blocks are missing in between; only the chunk knows which.
    v1::BlockChunk chunk;
    if (!ReadChunk(*it, chunk).ok()) return std::nullopt;
    uint64_t at = chunk.first_block();
    for (int i = 0; at < block && i < chunk.block_gap_size(); ++i) at += chunk.block_gap(i) + 1;
    if (at != block) return std::nullopt;
  }
  return static_cast<uint32_t>(it - launch.chunks.begin());
}

}  // namespace heddle::trace
