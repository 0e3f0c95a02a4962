#include <zstd.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "traces/base/varint.h"
#include "traces/format/columns/residuals/residuals.h"

namespace heddle::trace {
namespace {

// How residuals become the unsigned numbers that are stored.
struct Transform {
  uint64_t origin = 0;  // subtracted; becomes part of the column's bias
  uint32_t shift = 0;
  bool nonnegative = false;

  uint64_t operator()(int64_t residual) const {
    const int64_t moved = static_cast<int64_t>(static_cast<uint64_t>(residual) - origin);
    return nonnegative ? static_cast<uint64_t>(moved) >> shift : ZigZag(moved >> shift);
  }
};

// What is to be known of all residuals of a column.
struct Summary {
  uint64_t nonzero = 0;
  uint32_t width = 0;     // bytes of the largest number
  Transform plain;        // signed
  Transform from_lowest;  // nonnegative, if that takes fewer bits; only for the layout of bits
};

// `for_bits`: whether from_lowest is needed, which only the layout of bits asks for.
Summary Summarize(std::span<const int64_t> residuals, bool for_bits) {
  Summary summary;
  uint64_t any = 0;
  uint64_t numbers = 0;
  for (int64_t r : residuals) {
    any |= static_cast<uint64_t>(r);
    numbers |= ZigZag(r);
    summary.nonzero += r != 0;
  }
  if (any == 0) return summary;
  summary.plain.shift = static_cast<uint32_t>(std::countr_zero(any));
  // Of multiples of 2^shift, shifted numbers are the numbers of what is shifted.
  summary.width = static_cast<uint32_t>((std::bit_width(numbers >> summary.plain.shift) + 7) / 8);
  if (!for_bits) return summary;
  const int64_t lowest = *std::min_element(residuals.begin(), residuals.end());
  uint64_t differences = 0;
  for (int64_t r : residuals) differences |= static_cast<uint64_t>(r) - static_cast<uint64_t>(lowest);
  summary.from_lowest.origin = static_cast<uint64_t>(lowest);
  summary.from_lowest.shift = differences == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(differences));
  summary.from_lowest.nonnegative = true;
  uint64_t bits = 0;
  uint64_t bits_from_lowest = 0;
  for (int64_t r : residuals) {
    bits += static_cast<uint64_t>(std::bit_width(summary.plain(r)));
    bits_from_lowest += static_cast<uint64_t>(std::bit_width(summary.from_lowest(r)));
  }
  if (bits_from_lowest >= bits) summary.from_lowest = summary.plain;
  return summary;
}

struct Bytes {
  std::string residual;
  std::string bits;
  std::string gap;
  std::string other;  // DICTIONARY
};

// Numbers are put aside before their bytes are, so that nothing that is read may lie where something is written, and
// the compiler can take several at a time.
template <int kWidth>
void FillPlanes(std::span<const int64_t> values, uint32_t shift, char* out) {
  constexpr size_t kGroup = 64;
  const size_t n = values.size();
  size_t first = 0;
  if constexpr (kWidth <= 4) {
    // The lower halves of what is shifted are enough, and there is an instruction for several of them.
    uint32_t numbers[kGroup];
    for (; shift < 32 && first + kGroup <= n; first += kGroup) {
      const int64_t* const group = values.data() + first;
      for (size_t i = 0; i < kGroup; ++i) {
        const auto low = static_cast<uint32_t>(static_cast<uint64_t>(group[i]) >> shift);
        numbers[i] = low << 1 ^ (0 - (low >> 31));
      }
      for (int b = 0; b < kWidth; ++b) {
        char* const plane = out + b * n + first;
        for (size_t i = 0; i < kGroup; ++i) plane[i] = static_cast<char>(numbers[i] >> (8 * b));
      }
    }
  }
  for (size_t i = first; i < n; ++i) {
    const uint64_t z = ZigZag(values[i] >> shift);
    for (int b = 0; b < kWidth; ++b) out[b * n + i] = static_cast<char>(z >> (8 * b));
  }
}

void AppendPlanes(std::span<const int64_t> values, uint32_t shift, uint32_t width, std::string& out) {
  out.resize(values.size() * width);
  using Fill = void (*)(std::span<const int64_t>, uint32_t, char*);
  constexpr Fill kFill[] = {nullptr,       FillPlanes<1>, FillPlanes<2>, FillPlanes<3>, FillPlanes<4>,
                            FillPlanes<5>, FillPlanes<6>, FillPlanes<7>, FillPlanes<8>};
  kFill[width](values, shift, out.data());
}

// Bit lengths as bytes, raised by `scales` if it is not empty, and the bits below the leading ones.
void AppendBits(std::span<const int64_t> values, Transform transform, std::span<const uint8_t> scales, Bytes& out) {
  out.residual.resize(values.size());
  out.bits.reserve(values.size() * 2);
  uint64_t word = 0;
  uint32_t filled = 0;  // bits of `word`, below 8 between values
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t value = transform(values[i]);
    uint32_t length = static_cast<uint32_t>(std::bit_width(value));
    out.residual[i] = static_cast<char>(length == 0 || scales.empty() ? length : length + scales[i]);
    if (length <= 1) continue;
    uint64_t rest = value ^ uint64_t { 1 } << --length;
    constexpr uint32_t kAtOnce = 56;
    if (length > kAtOnce) {  // leaves room for what is in the word
      word |= (rest & 0xff) << filled;
      out.bits.push_back(static_cast<char>(word));
      word >>= 8;
      rest >>= 8;
      length -= 8;
    }
    word |= rest << filled;
    filled += length;
    for (; filled >= 8; filled -= 8, word >>= 8) out.bits.push_back(static_cast<char>(word));
  }
  if (filled > 0) out.bits.push_back(static_cast<char>(word));
}

// Places in the dictionary, and what it does not have.
void AppendPlaces(std::span<const int64_t> values, const Transform& transform, std::span<const int64_t> dictionary,
                  Bytes& out) {
  absl::flat_hash_map<int64_t, uint8_t> place_of;
  for (size_t i = 0; i < dictionary.size(); ++i) place_of.emplace(dictionary[i], static_cast<uint8_t>(i));
  const bool small = dictionary.size() <= kMostSmallEntries;
  out.residual.assign(small ? (values.size() + 1) / 2 : values.size(), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const auto found = place_of.find(values[i]);
    const size_t place = found == place_of.end() ? dictionary.size() : found->second;
    if (found == place_of.end()) AppendVarint(out.other, transform(values[i]));
    char& byte = out.residual[small ? i / 2 : i];
    byte = static_cast<char>(static_cast<uint8_t>(byte) | place << (small ? i % 2 * 4 : 0));
  }
}

// The commonest residuals, so many at most.
std::vector<int64_t> CommonestOf(std::span<const int64_t> residuals, size_t most) {
  absl::flat_hash_map<int64_t, size_t> often;
  for (int64_t r : residuals) ++often[r];
  std::vector<std::pair<size_t, int64_t>> order;
  for (const auto& [residual, count] : often) {
    if (count > 1) order.push_back({count, residual});
  }
  std::sort(order.begin(), order.end(), std::greater<>());
  std::vector<int64_t> commonest;
  for (size_t i = 0; i < std::min(most, order.size()); ++i) commonest.push_back(order[i].second);
  return commonest;
}

Bytes Store(std::span<const int64_t> residuals, std::span<const uint8_t> scales, const LayoutChoice& choice,
            const Summary& summary) {
  Bytes bytes;
  std::vector<int64_t> kept;
  std::span<const int64_t> values = residuals;
  if (choice.sparse) {
    uint64_t gap = 0;
    for (int64_t r : residuals) {
      if (r == 0) {
        ++gap;
        continue;
      }
      AppendVarint(bytes.gap, gap);
      gap = 0;
      kept.push_back(r);
    }
    values = kept;
  }
  switch (choice.layout) {
    case v1::AddressColumn::PLANES:
      AppendPlanes(values, summary.plain.shift, summary.width, bytes.residual);
      break;
    case v1::AddressColumn::BITS:
      AppendBits(values, choice.sparse ? summary.plain : summary.from_lowest,
                 choice.scaled ? scales : std::span<const uint8_t>(), bytes);
      break;
    case v1::AddressColumn::DICTIONARY:
      AppendPlaces(values, summary.plain, choice.dictionary, bytes);
      break;
    default:
      bytes.residual.reserve(values.size() * 2);
      for (int64_t r : values) AppendVarint(bytes.residual, summary.plain(r));
      break;
  }
  return bytes;
}

class TrialCompressor {
 public:
  size_t Size(const Bytes& bytes) {
    return Compressed(bytes.residual) + Compressed(bytes.gap) + Compressed(bytes.other) +
           bytes.bits.size();  // bits do not compress
  }

 private:
  size_t Compressed(const std::string& bytes) {
    if (bytes.empty()) return 0;
    out_.resize(ZSTD_compressBound(bytes.size()));
    return ZSTD_compressCCtx(context_.get(), out_.data(), out_.size(), bytes.data(), bytes.size(), 1);
  }
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
  std::string out_;
};

LayoutChoice CheapestLayout(std::span<const int64_t> residuals, std::span<const uint8_t> scales,
                            const Summary& summary) {
  constexpr size_t kSample = 8192;
  const size_t first = residuals.size() > kSample ? (residuals.size() - kSample) / 2 : 0;
  const size_t count = std::min(kSample, residuals.size());
  const std::span<const int64_t> sample = residuals.subspan(first, count);
  if (!scales.empty()) scales = scales.subspan(first, count);
  using Column = v1::AddressColumn;
  TrialCompressor compressor;
  LayoutChoice best;
  size_t best_size = ~size_t{0};
  for (const LayoutChoice& candidate :
       {LayoutChoice{Column::PLANES, false, false}, LayoutChoice{Column::VARINT, false, false},
        LayoutChoice{Column::BITS, false, false}, LayoutChoice{Column::BITS, false, true},
        LayoutChoice{Column::PLANES, true, false}, LayoutChoice{Column::VARINT, true, false},
        LayoutChoice{Column::BITS, true, false}}) {
    if (candidate.sparse && summary.nonzero * 3 > residuals.size()) continue;
    if (candidate.scaled && scales.empty()) continue;
    const size_t size = compressor.Size(Store(sample, scales, candidate, summary));
    if (size < best_size) {
      best_size = size;
      best = candidate;
    }
  }
  // Readers of earlier versions do not know dictionaries, and a higher level finds more in what repeats itself than
  // this one does, so that these must gain something: a share, and bytes of all residuals.
  constexpr double kMostShare = 0.93;
  constexpr double kLeastGain = 1024;
  const double share = static_cast<double>(count) / static_cast<double>(residuals.size());
  const double most_size =
      std::min(kMostShare * static_cast<double>(best_size), static_cast<double>(best_size) - kLeastGain * share);
  if (most_size <= 0) return best;
  best_size = static_cast<size_t>(most_size);
  // Scattered addresses need not be counted.
  constexpr size_t kLook = 512;
  const auto look = sample.first(std::min(kLook, count));
  if (absl::flat_hash_set<int64_t>(look.begin(), look.end()).size() > kLook / 4) return best;
  const std::vector<int64_t> commonest = CommonestOf(residuals, kMostEntries);
  for (const size_t most : {kMostSmallEntries, kMostEntries}) {
    const size_t entries_used = std::min(most, commonest.size());
    LayoutChoice candidate{Column::DICTIONARY,
                           false,
                           false,
                           {commonest.begin(), commonest.begin() + static_cast<ptrdiff_t>(entries_used)}};
    const size_t entries = candidate.dictionary.size() * 3;  // bytes, of all residuals
    const size_t size = compressor.Size(Store(sample, {}, candidate, summary)) + entries * count / residuals.size();
    if (size < best_size) {
      best_size = size;
      best = std::move(candidate);
    }
  }
  return best;
}

}  // namespace

void EncodeZeros(uint64_t count, v1::AddressColumn& column) {
  column.set_residual_count(count);
  column.set_layout(v1::AddressColumn::ZERO);
}

void EncodeResiduals(std::span<const int64_t> residuals, std::span<const ThreadResiduals> threads, bool trial,
                     LayoutChoice& choice, v1::AddressColumn& column) {
  const Summary summary = Summarize(residuals, trial || choice.layout == v1::AddressColumn::BITS);
  if (summary.nonzero == 0) {
    EncodeZeros(residuals.size(), column);
    return;
  }
  column.set_residual_count(residuals.size());
  std::vector<uint8_t> scales;
  if (!threads.empty() && (trial || choice.scaled)) {
    scales.reserve(residuals.size());
    for (const ThreadResiduals& thread : threads) {
      scales.insert(scales.end(), thread.count, static_cast<uint8_t>(thread.scale));
    }
  }
  if (trial) choice = CheapestLayout(residuals, scales, summary);
  LayoutChoice used = choice;
  // With few zeros the gaps cost more than they save.
  if (used.sparse && summary.nonzero * 2 > residuals.size()) used.sparse = false;
  used.scaled &= !scales.empty();
  Bytes bytes = Store(residuals, scales, used, summary);
  column.set_layout(used.layout);
  column.set_shift(summary.plain.shift);
  if (used.layout == v1::AddressColumn::PLANES) column.set_width(summary.width);
  if (used.layout == v1::AddressColumn::BITS) {
    const Transform& transform = used.sparse ? summary.plain : summary.from_lowest;
    column.set_shift(transform.shift);
    column.set_nonnegative(transform.nonnegative);
    column.set_bias(static_cast<int64_t>(static_cast<uint64_t>(column.bias()) + transform.origin));
    column.set_scaled(used.scaled);
  }
  if (used.layout == v1::AddressColumn::DICTIONARY) {
    for (int64_t residual : used.dictionary) column.add_dictionary(summary.plain(residual));
    column.set_other_values(std::move(bytes.other));
  }
  column.set_residual(std::move(bytes.residual));
  column.set_residual_bits(std::move(bytes.bits));
  if (used.sparse) column.set_sparse_gap(std::move(bytes.gap));
}

}  // namespace heddle::trace
