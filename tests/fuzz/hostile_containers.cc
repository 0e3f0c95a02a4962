// Files whose frames, seek table or index are hostile.
#include <zstd.h>

#include <utility>

#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/right_trace.h"
#include "tests/traces/forge.h"
#include "traces/format/container/seek_table.h"
#include "traces/format/container/shared_frames.h"
#include "traces/format/limits.h"

namespace heddle::trace::testing {
namespace {

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// A frame with a record of one field of these bytes.
std::string RawRecord(uint64_t ordinal, int field, const std::string& body) {
  std::string record("\x08", 1);
  AppendVarint(record, ordinal);
  record.push_back(static_cast<char>(field << 3 | 2));
  AppendVarint(record, body.size());
  record += body;
  std::string raw("\x0a", 1);
  AppendVarint(raw, record.size());
  return raw + record;
}

// The right trace with the frame of one record replaced.
std::string WithFrame(size_t frame, const std::string& raw) {
  std::vector<std::string> frames = WithIndex(Right());
  frames[frame] = raw;
  return AssembleFile(frames);
}

// `count` copies of a message of two bytes in one record.
std::string EmptyMessages(int record_field, char tag, size_t count) {
  std::string body;
  for (size_t i = 0; i < count; ++i) {
    body.push_back(tag);
    body.push_back(0);
  }
  return WithFrame(1, RawRecord(1, record_field, body));
}

// Frames of the right trace as they are, with `extra` tiny records in front of the end, none of them in the index.
std::string ManyFrames(uint64_t count, bool in_index) {
  std::vector<std::string> frames = WithIndex(Right());
  v1::Record index = ParseRecord(frames.back());
  frames.pop_back();
  std::string file;
  std::vector<FrameEntry> entries;
  const auto add = [&](const std::string& frame, size_t raw) {
    file += frame;
    entries.push_back({static_cast<uint32_t>(frame.size()), static_cast<uint32_t>(raw)});
  };
  for (const std::string& raw : frames) add(CompressFrame(raw), raw.size());
  v1::Record empty;
  empty.mutable_annotation();
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t ordinal = entries.size();
    // Every frame of its own would take seconds to make; only honest ones need their own number.
    static const std::string raw = SerializeRecord(empty);
    static const std::string frame = CompressFrame(raw);
    add(frame, raw.size());
    if (in_index) index.mutable_index()->add_other_frame(ordinal);
  }
  index.set_ordinal(entries.size());
  index.mutable_index()->set_records(entries.size());
  const std::string raw = SerializeRecord(index);
  add(CompressFrame(raw), raw.size());
  return file + EncodeSeekTable(entries);
}

// The right trace, whose two blocks the index divides among `chunks` chunks (2) or names again and again in one frame;
// `raw`, if not empty, is what that frame holds.
std::string SharedFrame(uint64_t chunks, const std::string& raw) {
  constexpr size_t kChunk = 3;
  std::vector<std::string> frames = WithIndex(Right());
  v1::Record end = ParseRecord(frames[kChunk + 1]);
  end.set_ordinal(kChunk + chunks);
  end.mutable_launch_end()->set_chunks(chunks);
  frames[kChunk + 1] = SerializeRecord(end);
  v1::Record record = ParseRecord(frames.back());
  record.set_ordinal(kChunk + chunks + 1);
  v1::Index& index = *record.mutable_index();
  index.set_records(record.ordinal());
  index.add_required_feature(kSharedFrameFeature);
  v1::ChunkReference& first = *index.mutable_chunk(0);
  first.set_block_count(1);
  first.set_last_block(0);
  for (uint64_t i = 1; i < chunks; ++i) {
    v1::ChunkReference& next = *index.add_chunk();
    next = first;
    next.set_first_block(1);
    next.set_last_block(1);
    next.set_thread_instructions(0);
    next.set_accesses(0);
  }
  frames.back() = SerializeRecord(record);
  if (!raw.empty()) frames[kChunk] = raw;
  return AssembleFile(frames);
}

std::string UnknownContentSize() {
  const std::vector<std::string> frames = WithIndex(Right());
  std::string file;
  std::vector<FrameEntry> entries;
  for (const std::string& raw : frames) {
    std::string out(ZSTD_compressBound(raw.size()), '\0');
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    out.resize(ZSTD_compress2(context, out.data(), out.size(), raw.data(), raw.size()));
    ZSTD_freeCCtx(context);
    file += out;
    entries.push_back({static_cast<uint32_t>(out.size()), static_cast<uint32_t>(raw.size())});
  }
  return file + EncodeSeekTable(entries);
}

std::string SeekTableBeyondTheFile() {
  std::string file = AssembleFile(WithIndex(Right()));
  // The number of frames, 9 bytes before the end.
  for (size_t i = 0; i < 3; ++i) file[file.size() - 9 + i] = '\xff';
  return file;
}

}  // namespace

std::vector<HostileFile> HostileContainers() {
  std::vector<HostileFile> files;
  files.push_back({"frame_bomb", [] { return WithFrame(1, std::string((kMaxRecordBytes) + 1, '\0')); }, "limit"});
  files.push_back({"zeros_within_the_limit", [] { return WithFrame(1, std::string(kMaxRecordBytes, '\0')); },
                   "exactly one record"});
  files.push_back({"empty_instructions", [] { return EmptyMessages(3, 0x1a, kMaxRecordBytes / 2 - 64); }, "in memory"});
  files.push_back({"empty_columns", [] { return EmptyMessages(5, 0x4a, kMaxRecordBytes / 2 - 64); }, "in memory"});
  files.push_back({"long_name",
                   [] {
                     std::string body("\x12", 1);
                     AppendVarint(body, kMaxRecordBytes - 64);
                     body += std::string(kMaxRecordBytes - 64, 'a');
                     return WithFrame(1, RawRecord(1, 3, body));
                   },
                   "KernelProgram.name is longer than the 65536 bytes of a name"});
  files.push_back({"many_features",
                   [] {
                     std::string body;
                     for (int i = 0; i < 1 << 20; ++i) body += std::string("\x1a\x00", 2);
                     return WithFrame(0, RawRecord(0, 2, body));
                   },
                   "in memory"});
  files.push_back({"programs_that_add_up",
                   [] {
                     std::vector<v1::Record> records = Right();
                     const v1::KernelProgram large = LargestProgram();
                     records.erase(records.begin() + 1, records.end());
                     for (uint32_t i = 0; i < 8; ++i) {
                       records.push_back(Wrap(large));
                       records.back().mutable_program()->set_id(i);
                     }
                     return Assemble(std::move(records));
                   },
                   "in memory"});
  files.push_back({"millions_of_empty_records", [] { return ManyFrames(kMaxFrames + 1, false); }, "frames"});
  files.push_back(
      {"a_million_records_beside_the_index", [] { return ManyFrames(kMaxFrames - 100, false); }, "missing"});
  files.push_back({"annotations_without_end", [] { return ManyFrames(kMaxOtherRecords + 1, true); }, "limit"});
  files.push_back({"shared_frame_of_zeros", [] { return SharedFrame(2, std::string(kMaxSharedFrameBytes, '\0')); },
                   "does not hold exactly the 2 records"});
  files.push_back({"shared_frame_of_empty_records",
                   [] {
                     std::string raw;
                     for (uint64_t i = 0; i < kMaxSharedFrameBytes / 2; ++i) raw += std::string("\x0a\0", 2);
                     return SharedFrame(2, raw);
                   },
                   "does not hold exactly the 2 records"});
  files.push_back({"shared_frame_beyond_the_limit",
                   [] { return SharedFrame(2, std::string(kMaxSharedFrameBytes + 1, '\0')); },
                   "is shared by more than"});
  files.push_back({"100000_chunks_in_a_frame", [] { return SharedFrame(100'000, ""); }, "is shared by more than"});
  files.push_back({"unknown_content_size", UnknownContentSize, "content size"});
  files.push_back({"seek_table_beyond_the_file", SeekTableBeyondTheFile, "seek table"});
  files.push_back({"wrong_digest",
                   [] {
                     std::vector<std::string> frames = WithIndex(Right());
                     v1::Record index = ParseRecord(frames.back());
                     (*index.mutable_index()->mutable_content_sha256())[7] ^= 1;
                     frames.back() = SerializeRecord(index);
                     return AssembleFile(frames);
                   },
                   "digest"});
  files.push_back({"window_of_two_gigabytes",
                   [] {
                     // Magic, descriptor (content size in 4 bytes, checksum, no single segment), window 2^31.
                     std::string frame("\x28\xb5\x2f\xfd\x84\xa8\x10\x00\x00\x00", 10);
                     frame.append("\x81\x00\x00", 3);
                     frame.append(16 + 4, '\0');  // contents and checksum
                     std::vector<std::string> frames = WithIndex(Right());
                     std::string file = frame;
                     std::vector<FrameEntry> entries{{static_cast<uint32_t>(frame.size()), 16}};
                     for (size_t i = 1; i < frames.size(); ++i) {
                       const std::string next = CompressFrame(frames[i]);
                       entries.push_back({static_cast<uint32_t>(next.size()), static_cast<uint32_t>(frames[i].size())});
                       file += next;
                     }
                     return file + EncodeSeekTable(entries);
                   },
                   "window"});
  return files;
}

}  // namespace heddle::trace::testing
