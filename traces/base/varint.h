// Base-128 varints, as Protocol Buffers write them: seven bits to a byte, the lowest first, and the top bit of every
// byte but the last one set. Signed numbers are zigzag-encoded first, so that small ones take few bytes whatever their
// sign.
#ifndef HEDDLE_TRACES_BASE_VARINT_H_
#define HEDDLE_TRACES_BASE_VARINT_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace heddle {

// Bytes of the longest varint of a number of 64 bits.
inline constexpr int kMostVarintBytes = 10;

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1))); }

inline void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// What becomes of a varint of kMostVarintBytes bytes whose last byte has bits that 64 bits do not hold.
enum class VarintExcess : uint8_t {
  kDropped,  // they are ignored, as parsers of Protocol Buffers do
  kRefused,
};

// Reads the varint at `p`, which moves behind it; nothing at or behind `end` is read. False, with `out` as it was and
// `p` anywhere up to `end`, if it does not end in front of `end` or within kMostBytes bytes, or has an excess that is
// refused.
template <VarintExcess kExcess = VarintExcess::kDropped, int kMostBytes = kMostVarintBytes>
bool ReadVarint(const char*& p, const char* end, uint64_t& out) {
  static_assert(kMostBytes <= kMostVarintBytes);
  constexpr int kLastShift = 7 * (kMostVarintBytes - 1);
  uint64_t value = 0;
  for (int shift = 0; p != end && shift < 7 * kMostBytes; shift += 7) {
    const auto byte = static_cast<uint8_t>(*p++);
    if (kExcess == VarintExcess::kRefused && shift == kLastShift && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      out = value;
      return true;
    }
  }
  return false;
}

// Reads varints one after the other from bytes that may be anything. A number above 64 bits is refused.
class VarintReader {
 public:
  explicit VarintReader(absl::string_view bytes) : next_(bytes.data()), end_(next_ + bytes.size()) {}
  bool done() const { return next_ == end_; }
  // Bytes that have not been read.
  uint64_t left() const { return static_cast<uint64_t>(end_ - next_); }
  // False if there is no number, or no whole one, or it is above 64 bits.
  bool Read(uint64_t& out) { return ReadVarint<VarintExcess::kRefused>(next_, end_, out); }

 private:
  const char* next_;
  const char* end_;
};

// How many varints there are in `bytes`, if the last one is whole: as many as bytes that end one.
inline uint64_t CountVarints(absl::string_view bytes) {
  constexpr uint64_t kContinued = 0x8080808080808080;
  uint64_t continued = 0;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, bytes.data() + i, sizeof(word));
    continued += static_cast<uint64_t>(std::popcount(word & kContinued));
  }
  for (; i < bytes.size(); ++i) continued += static_cast<uint8_t>(bytes[i]) >= 0x80;
  return bytes.size() - continued;
}

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_VARINT_H_
