#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "traces/base/status_macros.h"
#include "traces/base/varint.h"
#include "traces/format/columns/residuals/residuals.h"

namespace heddle::trace {
namespace {

absl::Status Malformed(absl::string_view rule) { return absl::DataLossError(rule); }

constexpr uint32_t kMostLength = 64;
// Bits that can be had of 64, whatever the position within the first byte.
constexpr uint32_t kBitsAtOnce = 57;

// By bit length: how many bits are stored of a number, which of a word these are, and the leading one, which is not
// stored. A number of length 0 is 0.
struct LengthTable {
  static constexpr uint32_t kLengths = kBitsAtOnce + 2;  // the leading bit of a number of 58 bits is not stored
  uint8_t stored[kLengths] = {};
  uint64_t below[kLengths] = {};
  uint64_t leading[kLengths] = {};
};
constexpr LengthTable kByLength = [] {
  LengthTable table;
  for (uint32_t length = 1; length < LengthTable::kLengths; ++length) {
    table.stored[length] = static_cast<uint8_t>(length - 1);
    table.leading[length] = uint64_t{1} << (length - 1);
    table.below[length] = table.leading[length] - 1;
  }
  return table;
}();

// Reads numbers of known bit lengths, least significant bit first. Behind the end there are zeros; whether that
// happened is asked once at the end.
class BitReader {
 public:
  explicit BitReader(absl::string_view bytes)
      : data_(reinterpret_cast<const uint8_t*>(bytes.data())),
        size_(bytes.size()),
        quads_end_(size_ < kQuadBytes ? 0 : (size_ - kQuadBytes + 1) * 8) {}

  // A number of at most 63 bits.
  uint64_t Read(uint32_t bits) {
    if (bits <= kBitsAtOnce) [[likely]] {
      return ReadAtOnce(bits);
    }
    const uint64_t low = ReadAtOnce(32);
    return low | ReadAtOnce(bits - 32) << 32;
  }
  // True if Word may be asked four times, with at most kBitsAtOnce bits taken each time.
  bool HasQuad() const { return position_ < quads_end_; }
  // At least the next kBitsAtOnce bits.
  uint64_t Word() const {
    uint64_t word;
    memcpy(&word, data_ + (position_ >> 3), 8);
    return word >> (position_ & 7);
  }
  void Take(uint64_t bits) { position_ += bits; }
  // True if exactly the given bytes were read, but for less than one byte.
  bool exhausted() const { return (position_ + 7) / 8 == size_; }

 private:
  static constexpr uint64_t kQuadBytes = 4 * 8;

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
  uint64_t quads_end_;     // of the positions in bytes with three words more behind their own
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

// The bit lengths of scaled residuals without what their threads' scales add, at `out`, which has room for
// kPadding more. False if a length is too small for that.
constexpr size_t kPadding = 16;
bool Unscale(std::span<const uint8_t> lengths, std::span<const ThreadResiduals> threads, uint8_t* out) {
  uint8_t* next = out;
  for (const ThreadResiduals& thread : threads) {
    // Most threads have few: kPadding are written whatever their number, so that no branch depends on it.
    memset(next, static_cast<int>(thread.scale), kPadding);
    if (thread.count > kPadding) memset(next + kPadding, static_cast<int>(thread.scale), thread.count - kPadding);
    next += thread.count;
  }
  uint8_t wrong[kPadding] = {};
  for (size_t i = 0; i < lengths.size(); i += kPadding) {
    uint8_t raised[kPadding] = {};
    uint8_t scales[kPadding];
    if (const size_t left = lengths.size() - i; left >= kPadding) [[likely]] {
      memcpy(raised, lengths.data() + i, kPadding);
    } else {
      memcpy(raised, lengths.data() + i, left);
    }
    memcpy(scales, out + i, kPadding);
    for (size_t k = 0; k < kPadding; ++k) {
      const uint8_t length = raised[k] > scales[k] ? static_cast<uint8_t>(raised[k] - scales[k]) : uint8_t{0};
      wrong[k] |= length == 0 ? raised[k] : uint8_t{0};
      scales[k] = length;
    }
    memcpy(out + i, scales, kPadding);
  }
  return std::all_of(std::begin(wrong), std::end(wrong), [](uint8_t byte) { return byte == 0; });
}

// Reads one value for each of `lengths`. False if a length is not one.
template <bool kNonnegative>
bool ReadBits(std::span<const uint8_t> lengths, uint32_t shift, BitReader& reader, int64_t* out) {
  BitReader bits = reader;  // stays in registers whatever is stored to `out`
  const auto restore = [shift](uint64_t value) {
    return kNonnegative ? static_cast<int64_t>(value << shift) : Restore(value, shift);
  };
  const auto take = [restore](uint64_t word, uint32_t length) {
    return restore((word & kByLength.below[length]) | kByLength.leading[length]);
  };
  const uint8_t* next = lengths.data();
  const uint8_t* const end = next + lengths.size();
  while (next != end) {
    constexpr uint32_t kOnes = 0x01010101;
    constexpr uint32_t kTops = 0x80808080;
    uint32_t four = kTops;
    if (end - next >= 4) memcpy(&four, next, 4);
    // A length of more than `most`, which is below 128, sets its byte's top bit, or has set it already.
    const auto above = [four](uint32_t most) { return ((four + kOnes * (127 - most)) | four) & kTops; };
    constexpr uint32_t kHalf = kBitsAtOnce / 2 + 1;
    if (bits.HasQuad() && above(kHalf) == 0) [[likely]] {
      for (int pair = 0; pair < 2; ++pair, next += 2) {
        const uint64_t word = bits.Word();
        const uint32_t stored = kByLength.stored[next[0]];
        *out++ = take(word, next[0]);
        *out++ = take(word >> stored, next[1]);
        bits.Take(stored + kByLength.stored[next[1]]);
      }
    } else if (bits.HasQuad() && above(kBitsAtOnce + 1) == 0) {
      for (int i = 0; i < 4; ++i, ++next) {
        *out++ = take(bits.Word(), *next);
        bits.Take(kByLength.stored[*next]);
      }
    } else {
      const uint32_t length = *next++;
      if (length > kMostLength) return false;
      *out++ = restore(length == 0 ? 0 : bits.Read(length - 1) | uint64_t{1} << (length - 1));
    }
  }
  reader = bits;
  return true;
}

absl::Status DecodeBits(const v1::AddressColumn& column, uint64_t count, std::span<const ThreadResiduals> threads,
                        int64_t* out) {
  std::span lengths(reinterpret_cast<const uint8_t*>(column.residual().data()), count);
  std::unique_ptr<uint8_t[]> unscaled;
  bool fine = true;
  if (column.scaled()) {
    unscaled = std::make_unique_for_overwrite<uint8_t[]>(count + kPadding);
    fine = Unscale(lengths, threads, unscaled.get());
    lengths = std::span<const uint8_t>(unscaled.get(), count);
  }
  BitReader bits(column.residual_bits());
  const auto read = column.nonnegative() ? ReadBits<true> : ReadBits<false>;
  if (!fine || !read(lengths, column.shift(), bits, out)) return Malformed("a bit length is not between 1 and 64");
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
  HEDDLE_RETURN_IF_ERROR(DecodeStored(column, stored, {}, values.data()));
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
