// The PTX in fat binaries: which is taken, how it is unpacked, and containers that are damaged or made to do harm.
#include "tracegen/application/fat_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tracegen/runtime/protocol/fat_binary.h"

namespace heddle::tracegen {
namespace {

using device::FatBinaryEntry;
using device::FatBinaryHeader;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

// An entry of PTX with 16 more bytes of header, as nvcc writes them.
std::string EntryOf(FatBinaryEntry entry, std::string contents) {
  constexpr size_t kMore = 16;
  contents.resize((contents.size() + 7) / 8 * 8, '\0');
  if (entry.kind == 0) entry.kind = device::kFatBinaryPtx;
  entry.header_bytes = sizeof(entry) + kMore;
  if (entry.bytes == 0) entry.bytes = contents.size();
  return BytesOf(entry) + std::string(kMore, 'x') + contents;
}

std::string Plain(uint32_t architecture, const std::string& text) {
  FatBinaryEntry entry;
  entry.architecture = architecture;
  return EntryOf(entry, text);
}

std::string MachineCode(uint32_t architecture) {
  FatBinaryEntry entry;
  entry.kind = device::kFatBinaryMachineCode;
  entry.architecture = architecture;
  return EntryOf(entry,
                 "\x7f"
                 "ELF and so on");
}

std::string Packed(uint64_t flag, const std::string& packed, uint64_t bytes) {
  FatBinaryEntry entry;
  entry.architecture = 80;
  entry.flags = flag | 0x11;
  entry.compressed_bytes = static_cast<uint32_t>(packed.size());
  entry.uncompressed_bytes = bytes;
  return EntryOf(entry, packed);
}

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

std::string Lz4(const std::string& text) {
  std::string packed(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  packed.resize(static_cast<size_t>(LZ4_compress_default(text.data(), packed.data(), static_cast<int>(text.size()),
                                                         static_cast<int>(packed.size()))));
  return packed;
}

std::string Container(const std::string& entries) {
  FatBinaryHeader header;
  header.magic = device::kFatBinaryMagic;
  header.version = 1;
  header.header_bytes = sizeof(header);
  header.bytes = entries.size();
  return BytesOf(header) + entries;
}

std::string TextOf(const std::string& container, uint32_t most = 0) {
  const absl::StatusOr<std::string> text = PtxOfFatBinary(container, most);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

std::string Refusal(const std::string& container, uint32_t most = 0) {
  const absl::StatusOr<std::string> text = PtxOfFatBinary(container, most);
  EXPECT_FALSE(text.ok());
  return std::string(text.status().message());
}

TEST(FatBinaryTest, TheNewestPtxIsTaken) {
  const std::string container =
      Container(MachineCode(90) + Plain(75, "seventy-five") + Plain(90, "ninety") + Plain(80, "eighty"));
  EXPECT_EQ(TextOf(container), "ninety");
  EXPECT_EQ(TextOf(container, 90), "ninety");
  EXPECT_EQ(TextOf(container, 89), "eighty");
  EXPECT_THAT(Refusal(container, 70), AllOf(HasSubstr("compute_75, compute_80, compute_90"), HasSubstr("most 70")));
  EXPECT_EQ(TextOf(container + "bytes behind it"), "ninety");
}

TEST(FatBinaryTest, CompressedTextIsUnpacked) {
  std::string text = ".version 8.0\n";
  for (int i = 0; i < 20000; ++i) text += "add.u32 %r" + std::to_string(i % 100) + ", %r1, %r2;\n";
  EXPECT_EQ(TextOf(Container(Packed(device::kFatBinaryZstd, Zstd(text), text.size()))), text);
  EXPECT_EQ(TextOf(Container(Packed(device::kFatBinaryLz4, Lz4(text), text.size()))), text);
  // With the zero byte at its end, which is no part of the text.
  const std::string with_end = text + std::string(3, '\0');
  EXPECT_EQ(TextOf(Container(Packed(device::kFatBinaryLz4, Lz4(with_end), with_end.size()))), text);
}

TEST(FatBinaryTest, MachineCodeAloneIsRefusedWithWhatToDo) {
  EXPECT_THAT(Refusal(Container(MachineCode(80) + MachineCode(86))),
              AllOf(HasSubstr("sm_80, sm_86"), HasSubstr("-gencode arch=compute_86,code=compute_86")));
  EXPECT_THAT(Refusal(Container("")), HasSubstr("without device code"));
}

TEST(FatBinaryTest, DamagedContainersAreRefused) {
  const std::string right = Container(Plain(75, "a text of PTX") + Plain(80, "another"));
  for (size_t bytes = 0; bytes < right.size(); ++bytes) Refusal(right.substr(0, bytes));
  std::string wrong = right;
  wrong[0] ^= 1;
  EXPECT_THAT(Refusal(wrong), HasSubstr("its header"));
  FatBinaryEntry entry;
  entry.bytes = ~uint64_t{0};
  EXPECT_THAT(Refusal(Container(EntryOf(entry, "text"))), HasSubstr("cut off"));
  entry = {};
  entry.kind = device::kFatBinaryPtx;  // a header without its own size
  EXPECT_THAT(Refusal(Container(BytesOf(entry))), HasSubstr("cut off"));
}

TEST(FatBinaryTest, CompressedTextThatIsNotWhatItSays) {
  const std::string text(5000, 'a');
  const std::string zstd = Zstd(text), lz4 = Lz4(text);
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryZstd, zstd, 4000))), HasSubstr("more text"));
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryZstd, zstd, 6000))), HasSubstr("less text"));
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryZstd, zstd.substr(0, zstd.size() - 3), 5000))),
              HasSubstr("too early"));
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryZstd, "no data", 7))), HasSubstr("cannot be unpacked"));
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryLz4, lz4, 4000))), HasSubstr("cannot be unpacked"));
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryLz4, lz4, 6000))), HasSubstr("cannot be unpacked"));
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryLz4, "", 5))), HasSubstr("damaged"));
  FatBinaryEntry beyond;
  beyond.flags = device::kFatBinaryLz4;
  beyond.compressed_bytes = 1000;
  beyond.uncompressed_bytes = 1000;
  EXPECT_THAT(Refusal(Container(EntryOf(beyond, "short"))), HasSubstr("not all there"));
}

TEST(FatBinaryTest, FewBytesThatPromiseMuchTakeNoMemory) {
  EXPECT_EQ(PtxOfFatBinary(Container(Packed(device::kFatBinaryZstd, "x", uint64_t{1} << 40)), 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryLz4, "x", uint64_t{200} << 20))), HasSubstr("more text"));
  // 64 MB of zeros in a few kilobytes, of which the header admits to some only.
  const std::string bomb = Zstd(std::string(64 << 20, '\0'));
  ASSERT_LT(bomb.size(), 20000u);
  EXPECT_THAT(Refusal(Container(Packed(device::kFatBinaryZstd, bomb, 100000))), HasSubstr("more text"));
}

TEST(FatBinaryTest, AnyBytesAreSurvived) {
  const std::string text(3000, 'a');
  const std::string right = Container(Packed(device::kFatBinaryZstd, Zstd(text + "b"), 3001) +
                                      Packed(device::kFatBinaryLz4, Lz4(text + "c"), 3001) + Plain(75, text));
  std::mt19937 random(1);
  int unpacked = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string changed = right;
    for (unsigned changes = random() % 4 + 1; changes > 0; --changes) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    const absl::StatusOr<std::string> got = PtxOfFatBinary(changed, random() % 2 == 0 ? 0 : 79);
    unpacked += got.ok();
    EXPECT_TRUE(got.ok() || !got.status().message().empty());
  }
  EXPECT_GT(unpacked, 100);
}

}  // namespace
}  // namespace heddle::tracegen
