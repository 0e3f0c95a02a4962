#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "traces/format/residuals.h"

namespace heddle::trace {
namespace {

absl::Status Malformed(absl::string_view rule) { return absl::DataLossError(rule); }

// Reads base-128 varints from bytes that may be anything.
class VarintReader {
 public:
  explicit VarintReader(absl::string_view bytes)
      : next_(reinterpret_cast<const uint8_t*>(bytes.data())), end_(next_ + bytes.size()) {}
  bool done() const { return next_ == end_; }
  bool Read(uint64_t& out) {
    uint64_t value = 0;
    for (int shift = 0; next_ != end_ && shift < 64; shift += 7) {
      const uint8_t byte = *next_++;
      if (shift == 63 && byte > 1) return false;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        out = value;
        return true;
      }
    }
    return false;
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_;
};

constexpr uint32_t kShortBits = 57;  // can be had of 64 bits, whatever the position within the first byte

// Reads numbers of known bit lengths, least significant bit first. Behind the end there are zeros; whether that
// happened is asked once at the end.
class BitReader {
 public:
  explicit BitReader(absl::string_view bytes)
      : data_(reinterpret_cast<const uint8_t*>(bytes.data())),
        size_(bytes.size()),
        words_end_(size_ < 8 ? 0 : (size_ - 7) * 8) {}

  // A number of at most 63 bits.
  uint64_t Read(uint32_t bits) {
    if (bits <= kShortBits) [[likely]] {
      return ReadAtOnce(bits);
    }
    const uint64_t low = ReadAtOnce(32);
    return low | ReadAtOnce(bits - 32) << 32;
  }
  // True if ReadShort may be asked.
  bool HasWord() const { return position_ < words_end_; }
  // A number of at most kShortBits.
  uint64_t ReadShort(uint32_t bits) {
    uint64_t word;
    memcpy(&word, data_ + (position_ >> 3), 8);
    word >>= position_ & 7;
    position_ += bits;
    return word & ((uint64_t{1} << bits) - 1);
  }
  // True if exactly the given bytes were read, but for less than one byte.
  bool exhausted() const { return (position_ + 7) / 8 == size_; }

 private:
  uint64_t ReadAtOnce(uint32_t bits) {
    const uint64_t byte = position_ >> 3;
    uint64_t word = 0;
    if (byte + 8 <= size_) [[likely]] {
      memcpy(&word, data_ + byte, 8);
    } else if (byte < size_) {
      memcpy(&word, data_ + byte, size_ - byte);
    }
    word >>= position_ & 7;
    position_ += bits;
    return word & ((uint64_t{1} << bits) - 1);
  }

  const uint8_t* data_;
  uint64_t size_;
  uint64_t words_end_;     // of the positions in bytes with seven more behind them
  uint64_t position_ = 0;  // at most 2^24 residuals of 63 bits
};

inline int64_t Restore(uint64_t zigzag, uint32_t shift) {
  return static_cast<int64_t>(static_cast<uint64_t>(UnZigZag(zigzag)) << shift);
}

template <int kWidth>
void ReadPlanes(const uint8_t* planes, size_t n, uint32_t shift, int64_t* out) {
  for (size_t i = 0; i < n; ++i) {
    uint64_t z = 0;
    for (int b = 0; b < kWidth; ++b) z |= static_cast<uint64_t>(planes[b * n + i]) << (8 * b);
    out[i] = Restore(z, shift);
  }
}

using PlaneReader = void (*)(const uint8_t*, size_t, uint32_t, int64_t*);
constexpr PlaneReader kPlaneReaders[] = {nullptr,       ReadPlanes<1>, ReadPlanes<2>, ReadPlanes<3>, ReadPlanes<4>,
                                         ReadPlanes<5>, ReadPlanes<6>, ReadPlanes<7>, ReadPlanes<8>};

// Reads `count` values whose bit lengths are raised by `scale`. False if a length is not one. Inlined, so that the
// position within `bits`, a copy of the caller's, stays in a register whatever is stored to `out`.
template <bool kNonnegative>
[[gnu::always_inline]] inline bool ReadRun(const uint8_t* lengths, size_t count, uint32_t scale, uint32_t shift,
                                           BitReader& bits, int64_t* out) {
  constexpr uint32_t kMost = 64;
  size_t i = 0;
  // As far as the values are short and bytes are left, without asking whether one is 0.
  for (; i < count && bits.HasWord(); ++i) {
    const uint32_t nonzero = lengths[i] != 0;
    const uint32_t length = lengths[i] - (scale & -nonzero);
    if (length > kShortBits || length < nonzero) break;
    const uint64_t value = bits.ReadShort(length - nonzero) | uint64_t{nonzero} << ((length - nonzero) & 63);
    out[i] = kNonnegative ? static_cast<int64_t>(value << shift) : Restore(value, shift);
  }
  for (; i < count; ++i) {
    uint64_t value = 0;
    if (lengths[i] != 0) {
      const uint32_t length = lengths[i] - scale;  // wraps to a number above kMost if it is too small
      if (length - 1 >= kMost) return false;
      value = bits.Read(length - 1) | uint64_t{1} << (length - 1);
    }
    out[i] = kNonnegative ? static_cast<int64_t>(value << shift) : Restore(value, shift);
  }
  return true;
}

// Reads one value for each of `lengths`, thread after thread if the lengths are raised by the threads' scales.
template <bool kNonnegative>
bool ReadBits(std::span<const uint8_t> lengths, bool scaled, std::span<const ThreadResiduals> threads, uint32_t shift,
              BitReader& reader, int64_t* out) {
  BitReader bits = reader;
  bool fine = true;
  if (!scaled) {
    fine = ReadRun<kNonnegative>(lengths.data(), lengths.size(), 0, shift, bits, out);
  } else {
    const uint8_t* next = lengths.data();
    for (const ThreadResiduals& thread : threads) {
      fine &= ReadRun<kNonnegative>(next, thread.count, thread.scale, shift, bits, out);
      next += thread.count;
      out += thread.count;
    }
  }
  reader = bits;
  return fine;
}

absl::Status DecodeBits(const v1::AddressColumn& column, uint64_t count, std::span<const ThreadResiduals> threads,
                        int64_t* out) {
  const std::span lengths(reinterpret_cast<const uint8_t*>(column.residual().data()), count);
  BitReader bits(column.residual_bits());
  const auto read = column.nonnegative() ? ReadBits<true> : ReadBits<false>;
  if (!read(lengths, column.scaled(), threads, column.shift(), bits, out)) {
    return Malformed("a bit length is not between 1 and 64");
  }
  if (!bits.exhausted()) return Malformed("residual_bits does not have the bits that the lengths ask for");
  return absl::OkStatus();
}

// Reads `count` values of layout DICTIONARY, of which the bytes hold so many.
absl::Status DecodePlaces(const v1::AddressColumn& column, uint64_t count, int64_t* out) {
  const size_t entries = static_cast<size_t>(column.dictionary_size());
  const bool small = entries <= kMostSmallEntries;
  std::array<int64_t, kMostEntries> values;
  for (size_t i = 0; i < entries; ++i) values[i] = Restore(column.dictionary(static_cast<int>(i)), column.shift());
  const auto* const places = reinterpret_cast<const uint8_t*>(column.residual().data());
  VarintReader other(column.other_values());
  for (uint64_t i = 0; i < count; ++i) {
    const size_t place = small ? places[i / 2] >> (i % 2 * 4) & 15u : places[i];
    if (place < entries) {
      out[i] = values[place];
      continue;
    }
    uint64_t z;
    if (place > entries) return Malformed("a place lies behind the dictionary");
    if (!other.Read(z)) return Malformed("other_values end early or are too long");
    out[i] = Restore(z, column.shift());
  }
  return other.done() ? absl::OkStatus() : Malformed("other_values are left over");
}

// Reads the `count` stored values of a column.
absl::Status DecodeStored(const v1::AddressColumn& column, uint64_t count, std::span<const ThreadResiduals> threads,
                          int64_t* out) {
  const std::string& data = column.residual();
  switch (column.layout()) {
    case v1::AddressColumn::PLANES:
      kPlaneReaders[column.width()](reinterpret_cast<const uint8_t*>(data.data()), count, column.shift(), out);
      return absl::OkStatus();
    case v1::AddressColumn::DICTIONARY:
      return DecodePlaces(column, count, out);
    case v1::AddressColumn::BITS:
      return DecodeBits(column, count, threads, out);
    default:
      break;
  }
  VarintReader values(data);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t z;
    if (!values.Read(z)) return Malformed("residual varints end early or are too long");
    out[i] = Restore(z, column.shift());
  }
  return values.done() ? absl::OkStatus() : Malformed("residual bytes are left over");
}

// Number of varints in `bytes`, if they are whole.
uint64_t CountVarints(absl::string_view bytes) {
  return static_cast<uint64_t>(
      std::count_if(bytes.begin(), bytes.end(), [](char byte) { return static_cast<uint8_t>(byte) < 0x80; }));
}

}  // namespace

absl::Status DecodeResiduals(const v1::AddressColumn& column, uint64_t count, std::span<const ThreadResiduals> threads,
                             std::vector<int64_t>& out) {
  if (column.residual_count() != count) {
    return Malformed(
        absl::StrCat("residual_count is ", column.residual_count(), ", the paths ask for ", count, " residuals"));
  }
  const std::string& data = column.residual();
  const std::string& gaps = column.sparse_gap();
  if (column.shift() > 63) return Malformed("shift is above 63");
  if (column.order() != v1::AddressColumn::THREAD_MAJOR) return Malformed("unknown order of residuals");
  const bool bits = column.layout() == v1::AddressColumn::BITS;
  if (!bits && (!column.residual_bits().empty() || column.nonnegative() || column.scaled())) {
    return Malformed("residual_bits, nonnegative and scaled belong to layout BITS");
  }
  const bool dictionary = column.layout() == v1::AddressColumn::DICTIONARY;
  if (!dictionary && (column.dictionary_size() != 0 || !column.other_values().empty())) {
    return Malformed("dictionary and other_values belong to layout DICTIONARY");
  }
  if (column.scaled() && !gaps.empty()) return Malformed("sparse residuals cannot be scaled");
  // How many values the bytes hold; a varint takes a byte at least.
  uint64_t stored = data.size();
  switch (column.layout()) {
    case v1::AddressColumn::ZERO:
      if (!data.empty() || !gaps.empty()) return Malformed("layout ZERO has no residual bytes");
      out.clear();
      return absl::OkStatus();
    case v1::AddressColumn::PLANES:
      if (column.width() < 1 || column.width() > 8) return Malformed("width is not between 1 and 8");
      if (data.size() % column.width() != 0) return Malformed("residual planes have unequal lengths");
      stored = data.size() / column.width();
      break;
    case v1::AddressColumn::VARINT:
      stored = CountVarints(data);
      break;
    case v1::AddressColumn::BITS:
      break;
    case v1::AddressColumn::DICTIONARY:
      if (static_cast<size_t>(column.dictionary_size()) > kMostEntries)
        return Malformed("dictionary has above 255 values");
      if (!gaps.empty()) return Malformed("sparse residuals have no dictionary");
      // A byte holds two small places; of the last one half may be left over.
      if (static_cast<size_t>(column.dictionary_size()) <= kMostSmallEntries) {
        stored = data.size() == (count + 1) / 2 ? count : 2 * data.size();
      }
      break;
    default:
      return Malformed("unknown residual layout");
  }
  if (gaps.empty()) {
    if (stored != count) {
      return Malformed(absl::StrCat("residual bytes hold ", stored, " residuals instead of ", count));
    }
    out.resize(count);
    return DecodeStored(column, count, threads, out.data());
  }
  if (stored > count) return Malformed("more sparse residuals than accesses");
  std::vector<int64_t> values(stored);
  if (absl::Status status = DecodeStored(column, stored, {}, values.data()); !status.ok()) return status;
  out.assign(count, 0);
  VarintReader positions(gaps);
  uint64_t position = 0;
  for (uint64_t index = 0; index < stored; ++index) {
    if (positions.done()) return Malformed("more residuals than sparse positions");
    uint64_t gap;
    if (!positions.Read(gap)) return Malformed("sparse positions end early or are too long");
    if (gap >= count - position) return Malformed("a sparse position lies behind the last access");
    position += gap;
    out[position++] = values[index];
  }
  return positions.done() ? absl::OkStatus() : Malformed("more sparse positions than residuals");
}

}  // namespace heddle::trace
