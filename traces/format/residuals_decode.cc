#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "traces/format/residuals.h"

namespace heddle::trace {
namespace {

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

inline int64_t Restore(uint64_t zigzag, uint32_t shift) {
  return static_cast<int64_t>(static_cast<uint64_t>(UnZigZag(zigzag)) << shift);
}

template <int kWidth>
void ReadPlanes(const uint8_t* planes, size_t stride, size_t n, uint32_t shift, int64_t* out) {
  for (size_t i = 0; i < n; ++i) {
    uint64_t z = 0;
    for (int b = 0; b < kWidth; ++b) z |= static_cast<uint64_t>(planes[b * stride + i]) << (8 * b);
    out[i] = Restore(z, shift);
  }
}

using PlaneReader = void (*)(const uint8_t*, size_t, size_t, uint32_t, int64_t*);
constexpr PlaneReader kPlaneReaders[] = {nullptr,       ReadPlanes<1>, ReadPlanes<2>, ReadPlanes<3>, ReadPlanes<4>,
                                         ReadPlanes<5>, ReadPlanes<6>, ReadPlanes<7>, ReadPlanes<8>};

absl::Status Malformed(absl::string_view rule) { return absl::DataLossError(rule); }

}  // namespace

absl::Status DecodeResiduals(const v1::AddressColumn& column, uint64_t count, std::vector<int64_t>& out) {
  if (column.residual_count() != count) {
    return Malformed(
        absl::StrCat("residual_count is ", column.residual_count(), ", the paths ask for ", count, " residuals"));
  }
  const std::string& data = column.residual();
  const std::string& gaps = column.sparse_gap();
  if (column.shift() > 63) return Malformed("shift is above 63");
  if (column.order() != v1::AddressColumn::THREAD_MAJOR) return Malformed("unknown order of residuals");
  switch (column.layout()) {
    case v1::AddressColumn::ZERO:
      if (!data.empty() || !gaps.empty()) return Malformed("layout ZERO has no residual bytes");
      out.assign(count, 0);
      return absl::OkStatus();
    case v1::AddressColumn::PLANES:
    case v1::AddressColumn::VARINT:
      break;
    default:
      return Malformed("unknown residual layout");
  }
  const bool planes = column.layout() == v1::AddressColumn::PLANES;
  const uint32_t width = column.width();
  if (planes && (width < 1 || width > 8)) return Malformed("width is not between 1 and 8");
  if (planes && data.size() % width != 0) return Malformed("residual planes have unequal lengths");
  // A varint takes a byte at least, so this bounds what is stored in either layout.
  const uint64_t stored = planes ? data.size() / width : data.size();
  if (gaps.empty()) {
    if (planes ? stored != count : stored < count) {
      return Malformed(absl::StrCat("residual bytes do not hold ", count, " residuals"));
    }
  } else if (planes && stored > count) {
    return Malformed("more sparse residuals than accesses");
  }
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(data.data());
  if (gaps.empty() && planes) {
    out.resize(count);
    kPlaneReaders[width](bytes, count, count, column.shift(), out.data());
    return absl::OkStatus();
  }
  VarintReader values(data);
  if (gaps.empty()) {
    out.resize(count);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t z;
      if (!values.Read(z)) return Malformed("residual varints end early or are too long");
      out[i] = Restore(z, column.shift());
    }
    return values.done() ? absl::OkStatus() : Malformed("residual bytes are left over");
  }
  out.assign(count, 0);
  VarintReader positions(gaps);
  uint64_t position = 0;
  uint64_t index = 0;
  while (!positions.done()) {
    uint64_t gap;
    if (!positions.Read(gap)) return Malformed("sparse positions end early or are too long");
    if (gap >= count - position) return Malformed("a sparse position lies behind the last access");
    position += gap;
    if (planes) {
      if (index >= stored) return Malformed("more sparse positions than residuals");
      kPlaneReaders[width](bytes + index, stored, 1, column.shift(), &out[position]);
    } else {
      uint64_t z;
      if (!values.Read(z)) return Malformed("more sparse positions than residuals");
      out[position] = Restore(z, column.shift());
    }
    ++index;
    ++position;
  }
  if (planes ? index != stored : !values.done()) return Malformed("more residuals than sparse positions");
  return absl::OkStatus();
}

}  // namespace heddle::trace
