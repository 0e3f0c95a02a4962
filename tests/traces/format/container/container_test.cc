// A damaged or forged container is refused with the file, the frame and the rule; nothing crashes on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd_errors.h>

#include <functional>

#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"
#include "traces/format/container/frame_reader.h"
#include "traces/format/container/seek_table.h"
#include "traces/format/read/check.h"

namespace heddle::trace {
namespace {

using testing::AssembleFile;
using ::testing::HasSubstr;
using testing::RecordsOf;
using testing::SerializeRecord;
using testing::SplitFrames;
using testing::WithIndex;

// A small file: one program with calls, one launch of six blocks in several chunks, with annotations around.
const std::string& WrittenFile() {
  static const std::string bytes = [] {
    testing::TemporaryFile file("small");
    const absl::Status status =
        testing::WriteRandomTrace(file.path(), testing::RandomProgram(7, {.depth = 2, .calls = true, .wide = true}), 3,
                                  6, 8, {.most_instructions = 60}, {.chunk_thread_instructions = 600});
    EXPECT_TRUE(status.ok()) << status;
    return testing::ReadFile(file.path());
  }();
  return bytes;
}

// WrittenFile with a frame for every record, which tests can change one by one.
const std::string& SmallFile() {
  static const std::string bytes = AssembleFile(WithIndex(RecordsOf(WrittenFile())));
  return bytes;
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenBytes(std::string bytes) {
  return TraceReader::Open(FromMemory(std::move(bytes)), "test.htrace");
}

// Opens, and reads every chunk: the first error of all.
absl::Status ReadAll(std::string bytes) {
  auto reader = OpenBytes(std::move(bytes));
  if (!reader.ok()) return reader.status();
  DecodedChunk chunk;
  for (const LaunchView& launch : (*reader)->launches()) {
    for (const v1::ChunkReference& reference : launch.chunks) {
      if (absl::Status status = (*reader)->ReadChunk(reference, chunk); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

TEST(Container, IsASequenceOfFramesThatFormOneMessage) {
  std::string all;
  for (const std::string& raw : SplitFrames(SmallFile())) all += raw;
  v1::TraceFile file;
  ASSERT_TRUE(file.ParseFromString(all));
  EXPECT_EQ(file.record(0).kind_case(), v1::Record::kHeader);
  EXPECT_EQ(file.record(file.record_size() - 1).kind_case(), v1::Record::kIndex);
  for (int i = 0; i < file.record_size(); ++i) EXPECT_EQ(file.record(i).ordinal(), i);
}

TEST(Container, ForgedAnewIsTheSame) {
  EXPECT_EQ(ReadAll(AssembleFile(WithIndex(RecordsOf(SmallFile())))), absl::OkStatus());
  EXPECT_EQ(SplitFrames(SmallFile()), WithIndex(RecordsOf(SmallFile())));
  EXPECT_EQ((*OpenBytes(SmallFile()))->digest(), (*OpenBytes(WrittenFile()))->digest());
}

TEST(Truncation, AtEveryByteIsRefused) {
  const std::string& file = SmallFile();
  for (size_t size = 0; size < file.size(); ++size) {
    const absl::Status status = ReadAll(file.substr(0, size));
    ASSERT_TRUE(absl::IsDataLoss(status)) << size << " " << status;
    ASSERT_THAT(std::string(status.message()), HasSubstr("test.htrace"));
  }
}

TEST(Truncation, SaysThatTheFileWasCutOff) {
  EXPECT_THAT(std::string(ReadAll(SmallFile().substr(0, SmallFile().size() - 1)).message()), HasSubstr("cut off"));
}

TEST(BitFlips, AreAllFound) {
  const std::string& file = SmallFile();
  for (size_t byte = 0; byte < file.size(); ++byte) {
    std::string damaged = file;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << (byte * 5 % 8)));
    auto reader = OpenBytes(damaged);
    if (!reader.ok()) continue;
    auto report = CheckTrace(**reader);
    // Bits that carry nothing (Zstandard's unused header bit) may flip, but then the contents are those of the
    // original.
    if (report.ok() && report->ok()) {
      ASSERT_EQ(SplitFrames(damaged), SplitFrames(file)) << byte;
    }
  }
}

struct Forgery {
  const char* name;
  std::function<std::string()> make;
  const char* place;
  const char* rule;
};

class Forged : public ::testing::TestWithParam<Forgery> {};

TEST_P(Forged, IsRefusedWithPlaceAndRule) {
  const absl::Status status = ReadAll(GetParam().make());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().place));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().rule));
  EXPECT_THAT(std::string(status.message()), ::testing::Not(HasSubstr("\n")));
}

// The small file with one change to its raw frames.
std::function<std::string()> Frames(std::function<void(std::vector<std::string>&)> change) {
  return [=] {
    std::vector<std::string> frames = SplitFrames(SmallFile());
    change(frames);
    return AssembleFile(frames);
  };
}

// The small file with changed records and an index that fits them.
std::function<std::string()> Records(std::function<void(std::vector<v1::Record>&)> change) {
  return [=] {
    std::vector<v1::Record> records = RecordsOf(SmallFile());
    change(records);
    return AssembleFile(WithIndex(std::move(records)));
  };
}

std::function<std::string()> IndexChange(std::function<void(v1::Index&)> change) {
  return Frames([=](std::vector<std::string>& frames) {
    v1::Record record = testing::ParseRecord(frames.back());
    change(*record.mutable_index());
    frames.back() = SerializeRecord(record);
  });
}

// Frames of the small file: 0 header, 1 program, 2 launch, 3... chunks, LaunchEnd, index.
INSTANTIATE_TEST_SUITE_P(
    All, Forged,
    ::testing::Values(
        Forgery{"no_trace", [] { return std::string("hello, world, this is no trace"); }, "test.htrace", "not a trace"},
        Forgery{"lost_frame", Frames([](auto& f) { f.erase(f.begin() + 3); }), "Index", "lost, doubled or reordered"},
        Forgery{"doubled_frame", Frames([](auto& f) { f.insert(f.begin() + 3, f[3]); }), "Index",
                "lost, doubled or reordered"},
        Forgery{"swapped_frames", Frames([](auto& f) { std::swap(f[3], f[4]); }), "frame 3", "reordered"},
        Forgery{"replaced_frame", Frames([](auto& f) { f[4] = f[3]; }), "frame 4", "lost, doubled or reordered"},
        Forgery{"two_records_in_a_frame", Frames([](auto& f) { f[1] += f[1]; }), "frame 1", "exactly one record"},
        Forgery{"empty_frame", Frames([](auto& f) { f[1].clear(); }), "frame 1", ""},
        Forgery{"no_index", Frames([](auto& f) { f.pop_back(); }), "Index", "stands here instead"},
        Forgery{"major_version", Records([](auto& r) { r[0].mutable_header()->set_major(2); }), "FileHeader",
                "version 2"},
        Forgery{"feature", Records([](auto& r) { r[0].mutable_header()->add_required_feature("colour"); }),
                "FileHeader", "\"colour\""},
        Forgery{"window_wraps",
                Records([](auto& r) { r[0].mutable_header()->mutable_window(0)->set_base(~uint64_t{0}); }),
                "FileHeader", "window"},
        Forgery{"program_id", Records([](auto& r) { r[1].mutable_program()->set_id(4); }), "KernelProgram", "count up"},
        Forgery{"program_rule",
                Records([](auto& r) { r[1].mutable_program()->mutable_block(0)->set_instruction_count(0); }),
                "frame 1, KernelProgram", "block 0"},
        Forgery{"source_file",
                Records([](auto& r) { r[1].mutable_program()->mutable_instruction(0)->set_source_file(1); }),
                "KernelProgram", "source file"},
        Forgery{"launch_program", Records([](auto& r) { r[2].mutable_launch()->set_program(1); }), "frame 2, Launch",
                "program 1"},
        Forgery{"launch_dimension", Records([](auto& r) { r[2].mutable_launch()->mutable_grid()->set_y(0); }), "Launch",
                "grid"},
        Forgery{"launch_grid_overflow", Records([](auto& r) {
                  for (auto* dim : {r[2].mutable_launch()->mutable_grid()}) {
                    dim->set_x(~0u);
                    dim->set_y(~0u);
                    dim->set_z(~0u);
                  }
                }),
                "Launch", "grid"},
        Forgery{"launch_threads", Records([](auto& r) { r[2].mutable_launch()->mutable_block()->set_x(1025); }),
                "Launch", "1024 threads"},
        Forgery{"launch_order", Records([](auto& r) { r[2].mutable_launch()->add_depends_on(0); }), "Launch", "later"},
        Forgery{"chunk_outside_grid", Records([](auto& r) { r[2].mutable_launch()->mutable_grid()->set_x(3); }),
                "Index", "do not fit the grid"},
        Forgery{"no_launch_end", Records([](auto& r) { r.pop_back(); }), "Index", "no LaunchEnd"},
        Forgery{"annotation_in_launch", Records([](auto& r) {
                  v1::Record note;
                  note.mutable_annotation()->set_key("k");
                  r.insert(r.begin() + 3, note);
                }),
                "frame 3", "between a launch and its LaunchEnd"},
        Forgery{"record_without_kind", Records([](auto& r) { r.push_back(v1::Record()); }), "frame",
                "transfers, certificates and annotations"},
        Forgery{"certificate_without_launch", Records([](auto& r) {
                  v1::Record record;
                  record.mutable_certificate()->set_launch(9);
                  r.push_back(record);
                }),
                "Certificate", "not there"},
        Forgery{"index_feature", IndexChange([](auto& i) { i.add_required_feature("colour"); }), "Index", "\"colour\""},
        Forgery{"index_totals", IndexChange([](auto& i) { i.set_accesses(i.accesses() + 1); }), "Index", "sums"},
        Forgery{"index_digest_length", IndexChange([](auto& i) { i.set_content_sha256("short"); }), "Index",
                "32 bytes"},
        Forgery{"index_twice", IndexChange([](auto& i) { i.add_other_frame(1); }), "Index", "named twice"},
        Forgery{"index_missing", IndexChange([](auto& i) { i.clear_program_frame(); }), "Index", "missing"},
        Forgery{"index_frame_range", IndexChange([](auto& i) { i.mutable_chunk(0)->set_frame(999); }), "Index",
                "range"},
        Forgery{"index_kind", IndexChange([](auto& i) {
                  i.set_launch_frame(0, 1);
                  i.set_program_frame(0, 2);
                }),
                "frame 1", "stands here instead"},
        Forgery{"index_blocks", IndexChange([](auto& i) { i.mutable_chunk(1)->set_first_block(0); }), "Index", "chunk"},
        Forgery{"index_chunk_totals", IndexChange([](auto& i) {
                  i.mutable_chunk(0)->set_thread_instructions(i.chunk(0).thread_instructions() + 1);
                }),
                "LaunchEnd", "sums"}),
    [](const auto& info) { return info.param.name; });

TEST(SeekTable, MustAgreeWithTheFrames) {
  const std::vector<std::string> raw = SplitFrames(SmallFile());
  std::string frames;
  std::vector<FrameEntry> entries;
  for (const std::string& r : raw) {
    const std::string frame = testing::CompressFrame(r);
    entries.push_back({static_cast<uint32_t>(frame.size()), static_cast<uint32_t>(r.size())});
    frames += frame;
  }
  const auto with = [&](std::vector<FrameEntry> table) { return ReadAll(frames + EncodeSeekTable(table)); };
  EXPECT_EQ(with(entries), absl::OkStatus());
  std::vector<FrameEntry> wrong = entries;
  wrong[1].decompressed += 1;
  EXPECT_THAT(std::string(with(wrong).message()), HasSubstr("frame 1"));
  wrong = entries;
  wrong[0].compressed += 1;
  EXPECT_THAT(std::string(with(wrong).message()), HasSubstr("seek table"));
  wrong[1].compressed -= 1;
  EXPECT_THAT(std::string(with(wrong).message()), HasSubstr("frame 0"));
  wrong = entries;
  wrong.pop_back();
  EXPECT_THAT(std::string(with(wrong).message()), HasSubstr("seek table"));
  wrong = entries;
  wrong[2].decompressed = 65u << 20;
  EXPECT_THAT(std::string(with(wrong).message()), HasSubstr("limit"));
}

TEST(SeekTable, HasTheStandardLayout) {
  const std::string table = EncodeSeekTable(std::vector<FrameEntry>{{10, 20}, {30, 40}});
  const unsigned char expected[] = {0x5e, 0x2a, 0x4d, 0x18, 25, 0, 0, 0, 10, 0, 0, 0, 20,   0,    0,    0,   30,
                                    0,    0,    0,    40,   0,  0, 0, 2, 0,  0, 0, 0, 0xb1, 0xea, 0x92, 0x8f};
  EXPECT_EQ(table, std::string(reinterpret_cast<const char*>(expected), sizeof(expected)));
}

TEST(Frames, MustCarryAChecksum) {
  const std::vector<std::string> raw = SplitFrames(SmallFile());
  std::string file;
  std::vector<FrameEntry> entries;
  for (const std::string& r : raw) {
    const std::string frame = testing::CompressFrame(r, false);
    entries.push_back({static_cast<uint32_t>(frame.size()), static_cast<uint32_t>(r.size())});
    file += frame;
  }
  EXPECT_THAT(std::string(ReadAll(file + EncodeSeekTable(entries)).message()), HasSubstr("checksum"));
}

// An empty sub-message takes two bytes in the file and a hundred in memory: the limit is on the latter.
TEST(Limits, HoldForMemoryAndNotForBytes) {
  std::vector<std::string> frames = SplitFrames(SmallFile());
  for (const auto& [tag, what] : {std::pair<char, const char*>{0x1a, "KernelProgram"}, {0x22, "KernelProgram"}}) {
    std::string program;
    for (int i = 0; i < 8 << 20; ++i) {
      program.push_back(tag);
      program.push_back(0);
    }
    std::string record("\x08\x01\x1a", 3);  // ordinal 1, field 3
    const auto append_varint = [](std::string& out, uint64_t value) {
      for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
      out.push_back(static_cast<char>(value));
    };
    append_varint(record, program.size());
    record += program;
    std::string raw("\x0a", 1);
    append_varint(raw, record.size());
    frames[1] = raw + record;
    const absl::Status status = ReadAll(AssembleFile(frames));
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    EXPECT_THAT(std::string(status.message()), HasSubstr("in memory"));
  }
}

TEST(UnknownFields, OfANewerMinorVersionAreSkipped) {
  std::vector<v1::Record> records = RecordsOf(SmallFile());
  records[0].mutable_header()->set_minor(9);
  records[0].mutable_header()->GetReflection()->MutableUnknownFields(records[0].mutable_header())->AddVarint(900, 1);
  records[3]
      .mutable_chunk()
      ->GetReflection()
      ->MutableUnknownFields(records[3].mutable_chunk())
      ->AddLengthDelimited(901, "x");
  EXPECT_EQ(ReadAll(AssembleFile(WithIndex(records))), absl::OkStatus());
}

TEST(Open, NamesFilesThatAreMissingOrNoFiles) {
  EXPECT_TRUE(absl::IsNotFound(TraceReader::Open("/nonexistent/x.htrace").status()));
  EXPECT_THAT(std::string(TraceReader::Open("/tmp").status().message()), HasSubstr("regular file"));
}

TEST(UnpackingErrorTest, WantOfMemoryIsNoDamage) {
  const auto error = [](ZSTD_ErrorCode code) { return static_cast<size_t>(-static_cast<int>(code)); };
  const absl::Status memory = UnpackingError("f: frame 3", error(ZSTD_error_memory_allocation));
  EXPECT_EQ(memory.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(memory.message()), "f: frame 3: there is not enough memory to unpack it");
  const absl::Status damage = UnpackingError("f: frame 3", error(ZSTD_error_checksum_wrong));
  EXPECT_EQ(damage.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::string(damage.message()).find("f: frame 3: the bytes are damaged"), std::string::npos);
}

}  // namespace
}  // namespace heddle::trace
