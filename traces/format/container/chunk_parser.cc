#include "traces/format/container/chunk_parser.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/repeated_field.h"
#include "traces/base/varint.h"
#include "traces/format/container/wire_format.h"

namespace heddle::trace {
namespace {

using google::protobuf::RepeatedField;

constexpr ptrdiff_t kMostTagBytes = 5;  // likewise of a size

// Bits of each of eight bytes.
constexpr uint64_t kContinued = 0x8080808080808080;
constexpr uint64_t kHalves = 0x3f3f3f3f3f3f3f3f;
constexpr uint64_t kOnes = 0x0101010101010101;

// The number whose varint is in the lowest `size` bytes, from 1 to 8, of `word`.
uint64_t JoinSevens(uint64_t word, uint32_t size) {
  word &= ~kContinued & (~uint64_t{0} >> (64 - 8 * size));
  word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
  word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
  return (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
}

uint64_t Load(const char* p) {
  uint64_t word;
  memcpy(&word, p, sizeof(word));
  return word;
}

// Appends packed numbers.
template <typename Number>
bool ReadPacked(absl::string_view bytes, RepeatedField<Number>& out) {
  constexpr int kAtOnce = 8;
  const auto restore = [](uint64_t value) {
    if constexpr (std::is_signed_v<Number>) return static_cast<Number>(UnZigZag(value));
    return static_cast<Number>(value);
  };
  if (bytes.empty()) return true;
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  const int count = static_cast<int>(CountVarints(bytes));  // of which a chunk's record has below 2^31
  out.Reserve(out.size() + count + kAtOnce);
  Number* to = out.AddNAlreadyReserved(count);
  p = bytes.data();
  while (end - p >= 2 * kAtOnce) {
    const uint64_t word = Load(p);
    if (word == (word & 0x7f) * kOnes) {  // eight times the same number, as where addresses are in step
      std::fill_n(to, kAtOnce, restore(word & 0x7f));
      p += kAtOnce;
      to += kAtOnce;
      continue;
    }
    // Numbers of one byte up to the first longer one: eight are written, whatever their number.
    constexpr bool kSigned = std::is_signed_v<Number>;
    using Byte = std::conditional_t<kSigned, int8_t, uint8_t>;
    const uint64_t restored = kSigned ? ((word >> 1) & kHalves) ^ (word & kOnes) * 0xff : word;
#pragma GCC unroll 8
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is meant
    for (int i = 0; i < kAtOnce; ++i) to[i] = static_cast<Byte>(restored >> (8 * i));
    const uint64_t longer = word & kContinued;
    const int singles = std::countr_zero(longer) / 8;  // 8 if there is none
    p += singles;
    to += singles;
    if (longer == 0) continue;
    const uint64_t next = Load(p);
    const uint64_t last = ~next & kContinued;
    if (last != 0) {
      const uint32_t size = static_cast<uint32_t>(std::countr_zero(last)) / 8 + 1;
      *to++ = restore(JoinSevens(next, size));
      p += size;
    } else {
      uint64_t value;
      if (!ReadVarint(p, end, value)) return false;
      *to++ = restore(value);
    }
  }
  while (p != end) {
    uint64_t value;
    if (!ReadVarint(p, end, value)) return false;
    *to++ = restore(value);
  }
  return true;
}

template <typename Message>
bool Merge(const char* begin, const char* end, Message& out) {
  if (begin == end) return true;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(begin), static_cast<int>(end - begin));
  return out.MergePartialFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

// Goes through the fields of a message in their order. Those that `Own` says yes to, if they have a length, are given
// to `read`; the generated parser gets what lies between them.
template <typename Message, typename Own, typename Read>
bool MergeFields(absl::string_view bytes, Message& out, Own own, Read read) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  const char* others = p;
  while (p != end) {
    const char* const field = p;
    uint64_t tag;
    uint64_t value;
    if (!ReadVarint(p, end, tag) || p - field > kMostTagBytes) return false;
    switch (tag & 7) {
      case kVarint:
        if (!ReadVarint(p, end, value)) return false;
        break;
      case kFixed64:
      case kFixed32: {
        const ptrdiff_t size = (tag & 7) == kFixed64 ? 8 : 4;
        if (end - p < size) return false;
        p += size;
        break;
      }
      case kBytes: {
        const char* const size = p;
        if (!ReadVarint(p, end, value) || p - size > kMostTagBytes || value > static_cast<uint64_t>(end - p))
          return false;
        const absl::string_view body(p, value);
        p += value;
        if (!own(tag >> 3)) break;
        if (!Merge(others, field, out) || !read(tag >> 3, body)) return false;
        others = p;
        break;
      }
      default:  // groups are not part of the schema
        return false;
    }
  }
  return Merge(others, end, out);
}

bool MergeColumn(absl::string_view bytes, v1::AddressColumn& out) {
  using Column = v1::AddressColumn;
  return MergeFields(
      bytes, out,
      [](uint64_t field) { return field == Column::kBaseDdFieldNumber || field == Column::kStepDdFieldNumber; },
      [&](uint64_t field, absl::string_view body) {
        return ReadPacked(body, field == Column::kBaseDdFieldNumber ? *out.mutable_base_dd() : *out.mutable_step_dd());
      });
}

bool MergePaths(absl::string_view bytes, v1::PathTable& out) {
  return MergeFields(
      bytes, out, [](uint64_t field) { return field == v1::PathTable::kDecisionCountFieldNumber; },
      [&](uint64_t, absl::string_view body) { return ReadPacked(body, *out.mutable_decision_count()); });
}

}  // namespace

bool MergeChunk(absl::string_view bytes, v1::BlockChunk& out) {
  using Chunk = v1::BlockChunk;
  return MergeFields(
      bytes, out,
      [](uint64_t field) {
        return field == Chunk::kPathNumberFieldNumber || field == Chunk::kColumnFieldNumber ||
               field == Chunk::kPathsFieldNumber;
      },
      [&](uint64_t field, absl::string_view body) {
        switch (field) {
          case Chunk::kPathNumberFieldNumber:
            return ReadPacked(body, *out.mutable_path_number());
          case Chunk::kColumnFieldNumber:
            return MergeColumn(body, *out.add_column());
          default:
            return MergePaths(body, *out.mutable_paths());
        }
      });
}

}  // namespace heddle::trace
