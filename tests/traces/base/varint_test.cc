// Varints: every number comes back, and bytes that are no number are refused.
#include "traces/base/varint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace heddle {
namespace {

constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

std::string Bytes(uint64_t value) {
  std::string bytes;
  AppendVarint(bytes, value);
  return bytes;
}

// Reads one number, by which `bytes` must be used up if it is read.
template <VarintExcess kExcess = VarintExcess::kDropped, int kMostBytes = kMostVarintBytes>
bool Reads(const std::string& bytes, uint64_t& value) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  const bool read = ReadVarint<kExcess, kMostBytes>(p, end, value);
  EXPECT_LE(p, end);
  if (read) {
    EXPECT_EQ(p, end);
  }
  return read;
}

TEST(Varint, HasTheBytesOfProtocolBuffers) {
  EXPECT_EQ(Bytes(0), std::string(1, '\0'));
  EXPECT_EQ(Bytes(127), "\x7f");
  EXPECT_EQ(Bytes(128), "\x80\x01");
  EXPECT_EQ(Bytes(300), "\xac\x02");
  EXPECT_EQ(Bytes(kLargest), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Varint, EveryNumberComesBack) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t value : {uint64_t{1} << bit, (uint64_t{1} << bit) - 1, kLargest >> bit}) {
      uint64_t read = 0;
      EXPECT_TRUE(Reads(Bytes(value), read));
      EXPECT_EQ(read, value);
      EXPECT_TRUE(Reads<VarintExcess::kRefused>(Bytes(value), read));
      EXPECT_EQ(read, value);
    }
  }
}

TEST(Varint, ThatEndsEarlyIsRefused) {
  uint64_t value = 7;
  EXPECT_FALSE(Reads("", value));
  for (size_t size = 1; size < 10; ++size) EXPECT_FALSE(Reads(Bytes(kLargest).substr(0, size), value));
  EXPECT_EQ(value, 7);
}

TEST(Varint, OfMoreThanTenBytesIsRefused) {
  uint64_t value = 7;
  const std::string bytes = std::string(10, '\x80') + '\0';
  EXPECT_FALSE(Reads(bytes, value));
  EXPECT_FALSE(Reads<VarintExcess::kRefused>(bytes, value));
  EXPECT_EQ(value, 7);
}

TEST(Varint, BitsBeyond64AreDroppedOrRefused) {
  uint64_t value = 7;
  const std::string bytes = std::string(9, '\xff') + '\x03';
  EXPECT_FALSE(Reads<VarintExcess::kRefused>(bytes, value));
  EXPECT_EQ(value, 7);
  EXPECT_TRUE(Reads(bytes, value));
  EXPECT_EQ(value, kLargest);
}

TEST(Varint, MayBeBoundToFewerBytes) {
  uint64_t value = 0;
  EXPECT_TRUE((Reads<VarintExcess::kDropped, 2>(Bytes(300), value)));
  EXPECT_EQ(value, 300);
  EXPECT_FALSE((Reads<VarintExcess::kDropped, 2>(Bytes(1 << 14), value)));
}

TEST(Varint, ReaderTakesOneAfterTheOther) {
  const std::string bytes = Bytes(5) + Bytes(1000);
  VarintReader reader(bytes);
  uint64_t value = 0;
  EXPECT_EQ(reader.left(), 3);
  EXPECT_TRUE(reader.Read(value));
  EXPECT_EQ(value, 5);
  EXPECT_FALSE(reader.done());
  EXPECT_TRUE(reader.Read(value));
  EXPECT_EQ(value, 1000);
  EXPECT_TRUE(reader.done());
  EXPECT_FALSE(reader.Read(value));
}

TEST(Varint, AreCountedByTheirLastBytes) {
  std::string bytes;
  for (uint64_t count = 0; count < 100; ++count) {
    EXPECT_EQ(CountVarints(bytes), count);
    AppendVarint(bytes, count * count * count);
  }
}

TEST(Varint, ZigZagAlternatesBetweenSigns) {
  EXPECT_EQ(ZigZag(0), 0);
  EXPECT_EQ(ZigZag(-1), 1);
  EXPECT_EQ(ZigZag(1), 2);
  for (const int64_t value : {int64_t{0}, int64_t{-1}, int64_t{12345}, std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(UnZigZag(ZigZag(value)), value);
  }
}

}  // namespace
}  // namespace heddle
