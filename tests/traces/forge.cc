#include "tests/traces/forge.h"

#include <zstd.h>

#include <utility>

#include "traces/base/sha256.h"
#include "traces/format/container/container_writer.h"
#include "traces/format/container/seek_table.h"
#include "traces/format/read/reader.h"

namespace heddle::trace::testing {

std::vector<std::string> SplitFrames(const std::string& file, uint64_t most_bytes) {
  std::vector<std::string> frames;
  for (size_t at = 0; at < file.size();) {
    const size_t size = ZSTD_findFrameCompressedSize(file.data() + at, file.size() - at);
    if (ZSTD_isError(size)) break;
    const auto content = ZSTD_getFrameContentSize(file.data() + at, size);
    if (content != 0 && content <= most_bytes) {  // 0: the skippable frame of the seek table
      std::string raw(content, '\0');
      ZSTD_decompress(raw.data(), raw.size(), file.data() + at, size);
      frames.push_back(std::move(raw));
    }
    at += size;
  }
  return frames;
}

v1::Record ParseRecord(const std::string& raw) {
  v1::TraceFile file;
  file.ParseFromString(raw);
  return file.record_size() == 1 ? file.record(0) : v1::Record();
}

std::string SerializeRecord(const v1::Record& record) {
  v1::TraceFile file;
  *file.add_record() = record;
  return file.SerializeAsString();
}

std::string CompressFrame(const std::string& raw, bool checksum) {
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), raw.data(), raw.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::string AssembleFile(const std::vector<std::string>& raw_frames) {
  std::string file;
  std::vector<FrameEntry> entries;
  for (const std::string& raw : raw_frames) {
    const std::string frame = CompressFrame(raw);
    entries.push_back({static_cast<uint32_t>(frame.size()), static_cast<uint32_t>(raw.size())});
    file += frame;
  }
  return file + EncodeSeekTable(entries);
}

std::vector<std::string> WithIndex(std::vector<v1::Record> records) {
  v1::Index index;
  v1::LaunchEnd sums;
  uint64_t threads = 0;
  Sha256 sha;
  std::vector<std::string> frames;
  for (v1::Record& record : records) {
    const uint64_t frame = frames.size();
    record.set_ordinal(frame);
    switch (record.kind_case()) {
      case v1::Record::kProgram:
        index.add_program_frame(frame);
        break;
      case v1::Record::kLaunch: {
        index.add_launch_frame(frame);
        sums = v1::LaunchEnd();
        const v1::Dim3& block = record.launch().block();
        threads = uint64_t{block.x()} * block.y() * block.z();
        break;
      }
      case v1::Record::kChunk: {
        const v1::BlockChunk& chunk = record.chunk();
        v1::ChunkReference& reference = *index.add_chunk();
        reference.set_frame(frame);
        reference.set_launch(chunk.launch());
        reference.set_first_block(chunk.first_block());
        reference.set_block_count(chunk.block_count());
        uint64_t last = chunk.first_block();
        if (chunk.block_gap_size() == 0) last += chunk.block_count() - 1;
        for (uint64_t gap : chunk.block_gap()) last += gap + 1;
        reference.set_last_block(last);
        reference.set_part(chunk.part());
        reference.set_thread_instructions(chunk.thread_instructions());
        reference.set_accesses(chunk.accesses());
        if (chunk.part() == 0) {
          sums.set_blocks(sums.blocks() + chunk.block_count());
          sums.set_threads(sums.threads() + chunk.block_count() * threads);
        }
        sums.set_chunks(sums.chunks() + 1);
        sums.set_thread_instructions(sums.thread_instructions() + chunk.thread_instructions());
        sums.set_accesses(sums.accesses() + chunk.accesses());
        break;
      }
      case v1::Record::kLaunchEnd:
        index.add_launch_end_frame(frame);
        sums.set_launch(record.launch_end().launch());
        *record.mutable_launch_end() = sums;
        index.set_thread_instructions(index.thread_instructions() + sums.thread_instructions());
        index.set_accesses(index.accesses() + sums.accesses());
        break;
      case v1::Record::kHeader:
        if (frame == 0) break;
        [[fallthrough]];
      default:
        index.add_other_frame(frame);
        break;
    }
    frames.push_back(SerializeRecord(record));
    sha.Update(frames.back().data(), frames.back().size());
  }
  index.set_records(frames.size());
  index.set_content_sha256(sha.Finish());
  v1::Record last;
  last.set_ordinal(frames.size());
  *last.mutable_index() = std::move(index);
  frames.push_back(SerializeRecord(last));
  return frames;
}

std::vector<v1::Record> RecordsOf(const std::string& file) {
  std::vector<v1::Record> records;
  for (const std::string& raw : SplitFrames(file)) {
    v1::TraceFile frame;  // several chunks may share one
    frame.ParseFromString(raw);
    for (v1::Record& record : *frame.mutable_record()) {
      if (record.kind_case() != v1::Record::kIndex) records.push_back(std::move(record));
    }
  }
  return records;
}

absl::Status ReadEverything(const std::string& bytes) {
  auto reader = TraceReader::Open(FromMemory(bytes), "test");
  if (!reader.ok()) return reader.status();
  DecodedChunk chunk;
  for (const LaunchView& launch : (*reader)->launches()) {
    for (const v1::ChunkReference& reference : launch.chunks) {
      if (absl::Status status = (*reader)->ReadChunk(reference, chunk); !status.ok()) return status;
    }
  }
  return (*reader)->VerifyDigest();
}

}  // namespace heddle::trace::testing
