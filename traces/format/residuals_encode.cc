#include <zstd.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "traces/format/residuals.h"

namespace heddle::trace {
namespace {

void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

struct Bytes {
  std::string residual;
  std::string gap;
};

template <int kWidth>
void FillPlanes(std::span<const int64_t> values, uint32_t shift, char* out) {
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) {
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

Bytes Store(std::span<const int64_t> residuals, LayoutChoice choice, uint32_t shift, uint32_t width) {
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
  if (choice.layout == v1::AddressColumn::PLANES) {
    AppendPlanes(values, shift, width, bytes.residual);
  } else {
    bytes.residual.reserve(values.size() * 2);
    for (int64_t r : values) AppendVarint(bytes.residual, ZigZag(r >> shift));
  }
  return bytes;
}

class TrialCompressor {
 public:
  size_t Size(const Bytes& bytes) { return Compressed(bytes.residual) + Compressed(bytes.gap); }

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

}  // namespace

void EncodeResiduals(std::span<const int64_t> residuals, bool trial, LayoutChoice& choice, v1::AddressColumn& column) {
  uint64_t any = 0;
  uint64_t nonzero = 0;
  for (int64_t r : residuals) {
    any |= static_cast<uint64_t>(r);
    nonzero += r != 0;
  }
  column.set_residual_count(residuals.size());
  if (any == 0) {
    column.set_layout(v1::AddressColumn::ZERO);
    return;
  }
  const uint32_t shift = static_cast<uint32_t>(std::countr_zero(any));
  uint64_t zigzags = 0;
  for (int64_t r : residuals) zigzags |= ZigZag(r >> shift);
  const uint32_t width = static_cast<uint32_t>((std::bit_width(zigzags) + 7) / 8);

  if (trial) {
    constexpr size_t kSample = 8192;
    const size_t first = residuals.size() > kSample ? (residuals.size() - kSample) / 2 : 0;
    const std::span<const int64_t> sample = residuals.subspan(first, std::min(kSample, residuals.size()));
    TrialCompressor compressor;
    size_t best = ~size_t{0};
    for (bool sparse : {false, true}) {
      if (sparse && nonzero * 3 > residuals.size()) continue;
      for (auto layout : {v1::AddressColumn::PLANES, v1::AddressColumn::VARINT}) {
        const LayoutChoice candidate{layout, sparse};
        const size_t size = compressor.Size(Store(sample, candidate, shift, width));
        if (size < best) {
          best = size;
          choice = candidate;
        }
      }
    }
  }
  // With few zeros the gaps cost more than they save.
  LayoutChoice used = choice;
  if (used.sparse && nonzero * 2 > residuals.size()) used.sparse = false;
  Bytes bytes = Store(residuals, used, shift, width);
  column.set_layout(used.layout);
  column.set_shift(shift);
  if (used.layout == v1::AddressColumn::PLANES) column.set_width(width);
  column.set_residual(std::move(bytes.residual));
  if (used.sparse) column.set_sparse_gap(std::move(bytes.gap));
}

}  // namespace heddle::trace
