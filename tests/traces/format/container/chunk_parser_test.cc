// Our parser of chunks against the generated one: the same messages from the same bytes, and the same refusals.
#include "traces/format/container/chunk_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "traces/format/container/parse_limit.h"

namespace heddle::trace {
namespace {

constexpr uint64_t kLimit = 64u << 20;

// Merges `bytes` twice, so that fields are there already. Bytes that EstimateParsedBytes refuses come to no parser.
void ExpectSame(const std::string& bytes) {
  if (!EstimateParsedBytes(*v1::BlockChunk::descriptor(), bytes, kLimit).ok()) return;
  v1::BlockChunk ours;
  v1::BlockChunk theirs;
  for (int pass = 0; pass < 2; ++pass) {
    const bool accepted = theirs.MergeFromString(bytes);
    ASSERT_EQ(MergeChunk(bytes, ours), accepted);
    if (!accepted) return;
    ASSERT_EQ(ours.SerializeAsString(), theirs.SerializeAsString());
  }
}

// As a writer stores it, of up to ten bytes; `more` bytes that say nothing are appended.
std::string Varint(uint64_t value, int more = 0) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value | (more > 0 ? 0x80 : 0)));
  for (; more > 0; --more) bytes.push_back(static_cast<char>(more > 1 ? 0x80 : 0));
  return bytes;
}
std::string Sized(int field, const std::string& body) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(body.size()) + body;
}
std::string Number(int field, uint64_t value) { return Varint(static_cast<uint64_t>(field) << 3) + Varint(value); }

uint64_t Random(std::mt19937_64& random) { return random() >> (random() % 64); }

std::string Packed(std::mt19937_64& random) {
  std::string body;
  const int bits = static_cast<int>(random() % 65);
  for (uint64_t left = random() % 40; left > 0; --left) {
    const uint64_t value = bits == 0 ? 0 : random() >> (64 - bits);
    const uint64_t rare = random() % 50;
    body += Varint(rare == 0 ? random() : value, rare == 1 ? static_cast<int>(random() % 4) : 0);
    // Often one number many times.
    for (uint64_t again = random() % 10 == 0 ? 8 + random() % 17 : 0; again > 0; --again) body += Varint(value);
  }
  return body;
}

TEST(ChunkParser, ReadsNumbersOfEveryLength) {
  for (int bits = 0; bits < 64; ++bits) {
    v1::BlockChunk chunk;
    for (int i = 0; i < 40; ++i) {
      const uint64_t value = (uint64_t{1} << bits) - static_cast<uint64_t>(i % 3);
      chunk.add_path_number(static_cast<uint32_t>(value));
      chunk.mutable_paths()->add_decision_count(static_cast<uint32_t>(value));
      chunk.add_column()->add_base_dd(static_cast<int64_t>(value));
      chunk.mutable_column(0)->add_base_dd(static_cast<int64_t>(-value));
      chunk.mutable_column(0)->add_step_dd(i % 5 == 0 ? static_cast<int64_t>(value) : i);
    }
    v1::BlockChunk read;
    ASSERT_TRUE(MergeChunk(chunk.SerializeAsString(), read));
    ASSERT_EQ(read.SerializeAsString(), chunk.SerializeAsString()) << bits << " bits";
  }
}

// Fields in any order, packed and not, several times, in pieces, unknown, or of another wire type.
TEST(ChunkParser, ReadsWhatTheGeneratedParserReads) {
  std::mt19937_64 random(1);
  const auto some_column = [&] {
    std::string column;
    for (uint64_t left = random() % 6; left > 0; --left) {
      const int field = static_cast<int>(1 + random() % 25);
      column += random() % 3 == 0 ? Number(field, Random(random)) : Sized(random() % 2 == 0 ? 6 : 7, Packed(random));
      if (random() % 8 == 0) column += Sized(13, Packed(random));
    }
    return column;
  };
  for (int i = 0; i < 20000; ++i) {
    std::string chunk;
    for (uint64_t left = random() % 6; left > 0; --left) {
      switch (random() % 5) {
        case 0:
          chunk += Number(static_cast<int>(1 + random() % 16), Random(random));
          break;
        case 1:
          chunk += Sized(13, Packed(random));
          break;
        case 2:
          chunk += Sized(7, (random() % 2 == 0 ? Number(1, Random(random)) : std::string()) + Sized(1, Packed(random)));
          break;
        default:
          chunk += Sized(9, some_column());
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(chunk)) << "chunk " << i;
    if (chunk.empty()) continue;
    for (int change = 0; change < 3; ++change)
      chunk[random() % chunk.size()] ^= static_cast<char>(1u << (random() % 8));
    ASSERT_NO_FATAL_FAILURE(ExpectSame(chunk)) << "changed chunk " << i;
    chunk.resize(random() % chunk.size());
    ASSERT_NO_FATAL_FAILURE(ExpectSame(chunk)) << "chunk " << i << ", cut off";
  }
}

TEST(ChunkParser, RefusesNumbersThatDoNotEnd) {
  v1::BlockChunk chunk;
  EXPECT_FALSE(MergeChunk(Sized(13, std::string(20, '\x80')), chunk));
  EXPECT_FALSE(MergeChunk(Sized(13, std::string(10, '\x80') + std::string(20, '\1')), chunk));
  EXPECT_FALSE(MergeChunk(Sized(13, std::string(30, '\1') + '\x80'), chunk));
  EXPECT_FALSE(MergeChunk(Sized(9, Sized(6, std::string(1, '\xff'))), chunk));
}

}  // namespace
}  // namespace heddle::trace
