// Damage to files as they are shared: no flipped bit, cut or lie of the index passes unnoticed.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "tests/traces/forge.h"
#include "tests/traces/format/columns/trace_runs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/container/frame_reader.h"
#include "traces/format/read/check.h"

namespace heddle::trace {
namespace {

using testing::ReadEverything;
using testing::ReadFile;

// Every trace of the repository: samples, and those that earlier versions wrote.
std::vector<std::string> Samples() {
  std::vector<std::string> paths;
  for (const char* folder : {HEDDLE_SAMPLES, HEDDLE_EARLIER_SAMPLES}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".htrace") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Reads a damaged file as far as the damage reaches. A frame is read by itself, so damage within one concerns only that
// one; everything but chunks is read on opening.
class DamagedFile {
 public:
  explicit DamagedFile(std::string whole) : whole_(std::move(whole)), frames_(testing::SplitFrames(whole_)) {
    auto file = FrameReader::Open(FromMemory(whole_), "whole");
    EXPECT_TRUE(file.ok()) << file.status();
    for (uint64_t i = 0; i < (*file)->frame_count(); ++i) {
      entries_.push_back((*file)->frame(i));
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + entries_.back().compressed);
    }
  }

  enum class Outcome { kRefused, kSameContents, kUnnoticed };

  // Flips one bit and reads.
  Outcome Flip(size_t byte, int bit) {
    std::string damaged = whole_;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
    auto file = FrameReader::Open(FromMemory(std::move(damaged)), "damaged");
    if (!file.ok()) return Outcome::kRefused;
    const size_t frame = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), byte) - ends_.begin());
    // In the seek table: an entry that still adds up must be told by its frame.
    const size_t first = frame < ends_.size() ? frame : 0;
    const size_t end = frame < ends_.size() ? frame + 1 : ends_.size();
    if (frame == ends_.size() && (*file)->frame_count() != ends_.size()) return Outcome::kRefused;
    bool same = true;
    for (size_t i = first; i < end; ++i) {
      ScopedBuffers buffers(**file);
      if (!(*file)->ReadRaw(i, *buffers).ok()) return Outcome::kRefused;
      same &= buffers->raw == frames_[i];
    }
    return same ? Outcome::kSameContents : Outcome::kUnnoticed;
  }

  size_t size() const { return whole_.size(); }

 private:
  const std::string whole_;
  const std::vector<std::string> frames_;
  std::vector<FrameEntry> entries_;
  std::vector<uint64_t> ends_;
};

TEST(BitFlips, TenThousandPerSampleAreAllNoticed) {
  const std::vector<std::string> samples = Samples();
  ASSERT_GE(samples.size(), 10);
  for (const std::string& path : samples) {
    DamagedFile file(ReadFile(path));
    std::mt19937_64 random(1);
    // Small files have fewer bits than that: then each of them.
    const size_t bits = file.size() * 8;
    const bool all = bits <= 10'000;
    int same = 0;
    for (size_t flip = 0; flip < (all ? bits : 10'000); ++flip) {
      const size_t bit = all ? flip : random() % bits;
      const DamagedFile::Outcome outcome = file.Flip(bit / 8, static_cast<int>(bit % 8));
      ASSERT_NE(outcome, DamagedFile::Outcome::kUnnoticed) << path << ", byte " << bit / 8 << ", bit " << bit % 8;
      same += outcome == DamagedFile::Outcome::kSameContents;
    }
    // Zstandard has some bits that mean nothing, such as the size of a window that is large enough either way; the
    // small frames of small files have more of them.
    EXPECT_LE(same, 100) << path;
    printf("%s: %d flips left the contents as they were\n", path.c_str(), same);
  }
}

std::string RunBytes() {
  testing::TemporaryFile file("damage");
  EXPECT_EQ(testing::WriteRun(file.path()), absl::OkStatus());
  return ReadFile(file.path());
}

TEST(Truncation, OfARunWithEverythingIsRefusedAtEveryByte) {
  const std::string file = RunBytes();
  for (size_t size = 0; size < file.size(); ++size) {
    ASSERT_TRUE(absl::IsDataLoss(ReadEverything(file.substr(0, size)))) << size;
  }
  EXPECT_EQ(ReadEverything(file), absl::OkStatus());
}

// Every number of the index, one more, one less, and far away.
TEST(Index, CannotDisagreeWithTheFramesUnnoticed) {
  const std::vector<std::string> frames = testing::SplitFrames(RunBytes());
  const v1::Record index = testing::ParseRecord(frames.back());
  int changed = 0;
  const auto expect_refused = [&](const v1::Record& lie, const std::string& what) {
    std::vector<std::string> forged = frames;
    forged.back() = testing::SerializeRecord(lie);
    ++changed;
    EXPECT_FALSE(ReadEverything(testing::AssembleFile(forged)).ok()) << what;
  };
  const auto lies = [](uint64_t value) {
    return std::vector<uint64_t>{value + 1, value - 1, value + (uint64_t{1} << 32), ~value};
  };
  const auto& reflection = *index.index().GetReflection();
  const auto& descriptor = *v1::Index::descriptor();
  for (int f = 0; f < descriptor.field_count(); ++f) {
    const auto& field = *descriptor.field(f);
    if (field.cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_UINT64) continue;
    const int size = field.is_repeated() ? reflection.FieldSize(index.index(), &field) : 1;
    for (int i = 0; i < size; ++i) {
      const uint64_t value = field.is_repeated() ? reflection.GetRepeatedUInt64(index.index(), &field, i)
                                                 : reflection.GetUInt64(index.index(), &field);
      for (uint64_t lie : lies(value)) {
        v1::Record forged = index;
        v1::Index* target = forged.mutable_index();
        field.is_repeated() ? reflection.SetRepeatedUInt64(target, &field, i, lie)
                            : reflection.SetUInt64(target, &field, lie);
        expect_refused(forged, field.name());
      }
    }
  }
  const auto& chunk_descriptor = *v1::ChunkReference::descriptor();
  for (int c = 0; c < index.index().chunk_size(); ++c) {
    for (int f = 0; f < chunk_descriptor.field_count(); ++f) {
      const auto& field = *chunk_descriptor.field(f);
      v1::Record forged = index;
      v1::ChunkReference* chunk = forged.mutable_index()->mutable_chunk(c);
      const auto& r = *chunk->GetReflection();
      if (field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_UINT64) {
        for (uint64_t lie : lies(r.GetUInt64(*chunk, &field))) {
          r.SetUInt64(chunk, &field, lie);
          expect_refused(forged, field.name());
        }
      } else {
        for (uint64_t lie : lies(r.GetUInt32(*chunk, &field))) {
          if (static_cast<uint32_t>(lie) == r.GetUInt32(index.index().chunk(c), &field)) continue;
          r.SetUInt32(chunk, &field, static_cast<uint32_t>(lie));
          expect_refused(forged, field.name());
        }
      }
    }
  }
  EXPECT_GT(changed, 300);
}

TEST(SeekTable, CannotDisagreeWithTheFramesUnnoticed) {
  const std::vector<std::string> raw = testing::SplitFrames(RunBytes());
  std::string file;
  std::vector<FrameEntry> entries;
  for (const std::string& one : raw) {
    const std::string frame = testing::CompressFrame(one);
    entries.push_back({static_cast<uint32_t>(frame.size()), static_cast<uint32_t>(one.size())});
    file += frame;
  }
  ASSERT_EQ(ReadEverything(file + EncodeSeekTable(entries)), absl::OkStatus());
  const auto expect_refused = [&](const std::vector<FrameEntry>& table) {
    EXPECT_FALSE(ReadEverything(file + EncodeSeekTable(table)).ok());
  };
  for (size_t i = 0; i < entries.size(); ++i) {
    for (const int64_t by : {-1, 1, 1000}) {
      std::vector<FrameEntry> lie = entries;
      lie[i].decompressed += static_cast<uint32_t>(by);
      expect_refused(lie);
      // The sum stays right.
      lie = entries;
      lie[i].compressed += static_cast<uint32_t>(by);
      lie[(i + 1) % lie.size()].compressed -= static_cast<uint32_t>(by);
      expect_refused(lie);
    }
    std::vector<FrameEntry> joined = entries;
    if (i + 1 < entries.size()) {
      joined[i].compressed += joined[i + 1].compressed;
      joined[i].decompressed += joined[i + 1].decompressed;
      joined.erase(joined.begin() + static_cast<ptrdiff_t>(i) + 1);
      expect_refused(joined);
    }
    std::vector<FrameEntry> split = entries;
    split[i].compressed -= 9;
    split.insert(split.begin() + static_cast<ptrdiff_t>(i), {9, 0});
    expect_refused(split);
  }
}

}  // namespace
}  // namespace heddle::trace
