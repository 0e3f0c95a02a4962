#include "tracegen/recipe/fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sleef.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/recipe/sparse_matrix.h"
#include "traces/base/random.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using recipe::v1::Fill;
using recipe::v1::ScalarType;

// Whether a loop that is in step `step` is to end because of a signal.
bool Stop(uint64_t step) { return step % 65536 == 0 && InterruptRequested(); }

// Writes elements one after the other, and remembers the first value that the type cannot hold.
class Output {
 public:
  Output(ScalarType type, uint64_t count) : type_(type), bytes_(count * ScalarBytes(type), '\0') {}

  void Number(uint64_t index, double value) {
    switch (type_) {
      case recipe::v1::I8:
        return Integer<int8_t>(index, value);
      case recipe::v1::U8:
        return Integer<uint8_t>(index, value);
      case recipe::v1::I16:
        return Integer<int16_t>(index, value);
      case recipe::v1::U16:
        return Integer<uint16_t>(index, value);
      case recipe::v1::I32:
        return Integer<int32_t>(index, value);
      case recipe::v1::U32:
        return Integer<uint32_t>(index, value);
      case recipe::v1::I64:
        return Integer<int64_t>(index, value);
      case recipe::v1::U64:
        return Integer<uint64_t>(index, value);
      case recipe::v1::F32:
        return Store(index, static_cast<float>(value));
      default:
        return Store(index, value);
    }
  }

  // Exact also where a double is not.
  void Natural(uint64_t index, uint64_t value) {
    if (type_ == recipe::v1::U64) return Store(index, value);
    if (type_ == recipe::v1::I64 && value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Store(index, static_cast<int64_t>(value));
    }
    Number(index, static_cast<double>(value));
  }
  void Signed(uint64_t index, int64_t value) {
    if (type_ == recipe::v1::I64) return Store(index, value);
    Number(index, static_cast<double>(value));
  }

  absl::StatusOr<std::string> Take() {
    if (bad_) {
      return absl::InvalidArgumentError(absl::StrCat("the value ", bad_value_, " does not fit the element type ",
                                                     recipe::v1::ScalarType_Name(type_)));
    }
    return std::move(bytes_);
  }

 private:
  template <typename T>
  void Integer(uint64_t index, double value) {
    double whole = std::trunc(value);
    double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(whole >= static_cast<double>(std::numeric_limits<T>::min()) && whole < above)) {
      if (!bad_) bad_value_ = value;
      bad_ = true;
      return;
    }
    Store(index, static_cast<T>(whole));
  }
  template <typename T>
  void Store(uint64_t index, T value) {
    std::memcpy(bytes_.data() + index * sizeof(T), &value, sizeof(T));
  }

  ScalarType type_;
  std::string bytes_;
  bool bad_ = false;
  double bad_value_ = 0;
};

absl::Status FillUniform(const Fill::Uniform& fill, ScalarType type, uint64_t count, Output& out) {
  Random random(fill.seed());
  double low = fill.low();
  double high = fill.high();
  if (!std::isfinite(low) || !std::isfinite(high) || high < low) {
    return absl::InvalidArgumentError(absl::StrCat("uniform: low ", low, " and high ", high, " span no range"));
  }
  if (IsFloating(type)) {
    if (high == low) return absl::InvalidArgumentError("uniform: high must be above low");
    for (uint64_t i = 0; i < count && !Stop(i); ++i) {
      double value = low + (high - low) * random.Unit();
      // Rounding to the element type must not reach the end of the range.
      if (type == recipe::v1::F32 && static_cast<float>(value) >= high)
        value = std::nextafterf(static_cast<float>(high), static_cast<float>(low));
      out.Number(i, value);
    }
    return absl::OkStatus();
  }
  double span = std::floor(high) - std::ceil(low);
  if (span < 0 || span >= 0x1p63) return absl::InvalidArgumentError("uniform: no integer lies between low and high");
  auto first = static_cast<int64_t>(std::ceil(low));
  auto choices = static_cast<uint64_t>(span) + 1;
  for (uint64_t i = 0; i < count && !Stop(i); ++i) out.Signed(i, first + static_cast<int64_t>(random.Below(choices)));
  return absl::OkStatus();
}

void FillNormal(const Fill::Normal& fill, uint64_t count, Output& out) {
  Random random(fill.seed());
  for (uint64_t i = 0; i < count && !Stop(i); ++i) {
    // Box and Muller, 1958, with functions whose results are the same everywhere.
    double u = 1.0 - random.Unit();
    double v = random.Unit();
    double radius = std::sqrt(-2.0 * Sleef_cinz_logd1_u10purec(u));
    out.Number(i, fill.mean() + fill.deviation() * radius * Sleef_cinz_cospid1_u05purec(2.0 * v));
  }
}

absl::Status FillZipf(const Fill::Zipf& fill, uint64_t count, Output& out) {
  if (fill.n() == 0 || fill.n() > 100'000'000) {
    return absl::InvalidArgumentError("zipf: n must be between 1 and 100000000");
  }
  std::vector<double> sums(fill.n());
  double sum = 0;
  for (uint64_t k = 0; k < fill.n(); ++k) {
    sum += Sleef_cinz_powd1_u10purec(static_cast<double>(k + 1), -fill.exponent());
    sums[k] = sum;
  }
  Random random(fill.seed());
  for (uint64_t i = 0; i < count && !Stop(i); ++i) {
    auto found = std::upper_bound(sums.begin(), sums.end(), random.Unit() * sum);
    uint64_t k = std::min<uint64_t>(static_cast<uint64_t>(found - sums.begin()), fill.n() - 1);
    out.Natural(i, k + 1);
  }
  return absl::OkStatus();
}

absl::Status FillCsr(const Fill::Csr& fill, uint64_t count, Output& out) {
  if (fill.array() == Fill::Csr::ARRAY_UNSPECIFIED) {
    return absl::InvalidArgumentError("csr: say which array, ROW_POINTERS or COLUMN_INDICES");
  }
  HEDDLE_ASSIGN_OR_RETURN(SparseMatrix matrix, MakeSparseMatrix(fill));
  const std::vector<uint64_t>& values =
      fill.array() == Fill::Csr::ROW_POINTERS ? matrix.row_pointers : matrix.column_indices;
  if (values.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("csr: the array has ", values.size(), " elements, but the buffer has ", count));
  }
  for (uint64_t i = 0; i < count && !Stop(i); ++i) out.Natural(i, values[i]);
  return absl::OkStatus();
}

}  // namespace

uint64_t ScalarBytes(ScalarType type) {
  switch (type) {
    case recipe::v1::I8:
    case recipe::v1::U8:
      return 1;
    case recipe::v1::I16:
    case recipe::v1::U16:
      return 2;
    case recipe::v1::I32:
    case recipe::v1::U32:
    case recipe::v1::F32:
      return 4;
    case recipe::v1::I64:
    case recipe::v1::U64:
    case recipe::v1::F64:
      return 8;
    default:
      return 0;
  }
}

bool IsFloating(ScalarType type) { return type == recipe::v1::F32 || type == recipe::v1::F64; }

absl::StatusOr<std::string> MakeContents(const Fill& fill, ScalarType type, uint64_t count, const RecipeFile& recipe) {
  Output out(type, count);
  switch (fill.kind_case()) {
    case Fill::KIND_NOT_SET:
    case Fill::kZeros:
      break;
    case Fill::kIota: {
      double step = fill.iota().step() == 0 ? 1 : fill.iota().step();
      for (uint64_t i = 0; i < count && !Stop(i); ++i)
        out.Number(i, fill.iota().start() + static_cast<double>(i) * step);
      break;
    }
    case Fill::kConstant:
      for (uint64_t i = 0; i < count && !Stop(i); ++i) out.Number(i, fill.constant().value());
      break;
    case Fill::kUniform:
      HEDDLE_RETURN_IF_ERROR(FillUniform(fill.uniform(), type, count, out));
      break;
    case Fill::kNormal:
      FillNormal(fill.normal(), count, out);
      break;
    case Fill::kZipf:
      HEDDLE_RETURN_IF_ERROR(FillZipf(fill.zipf(), count, out));
      break;
    case Fill::kPermutation: {
      std::vector<uint64_t> order(count);
      for (uint64_t i = 0; i < count && !Stop(i); ++i) order[i] = i;
      Random random(fill.permutation().seed());
      for (uint64_t i = count; i > 1 && !Stop(i); --i) std::swap(order[i - 1], order[random.Below(i)]);
      for (uint64_t i = 0; i < count && !Stop(i); ++i) out.Natural(i, order[i]);
      break;
    }
    case Fill::kValues: {
      int given = fill.values().value_size();
      if (given == 0) return absl::InvalidArgumentError("values: none given");
      for (uint64_t i = 0; i < count && !Stop(i); ++i) out.Number(i, fill.values().value(static_cast<int>(i % given)));
      break;
    }
    case Fill::kFile: {
      absl::StatusOr<std::string> bytes = ReadWholeFile(recipe.Resolve(fill.file().path()));
      if (!bytes.ok()) return bytes.status();
      if (bytes->size() != count * ScalarBytes(type)) {
        return absl::InvalidArgumentError(absl::StrCat(fill.file().path(), ": has ", bytes->size(), " bytes, but ",
                                                       count, " elements of type ", recipe::v1::ScalarType_Name(type),
                                                       " need ", count * ScalarBytes(type)));
      }
      return bytes;
    }
    case Fill::kCsr:
      HEDDLE_RETURN_IF_ERROR(FillCsr(fill.csr(), count, out));
      break;
  }
  if (InterruptRequested()) return absl::CancelledError("interrupted");
  return out.Take();
}

double ReadScalar(const void* bytes, ScalarType type, uint64_t index) {
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, static_cast<const char*>(bytes) + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  };
  switch (type) {
    case recipe::v1::I8:
      return read(int8_t{});
    case recipe::v1::U8:
      return read(uint8_t{});
    case recipe::v1::I16:
      return read(int16_t{});
    case recipe::v1::U16:
      return read(uint16_t{});
    case recipe::v1::I32:
      return read(int32_t{});
    case recipe::v1::U32:
      return read(uint32_t{});
    case recipe::v1::I64:
      return read(int64_t{});
    case recipe::v1::U64:
      return read(uint64_t{});
    case recipe::v1::F32:
      return read(float{});
    default:
      return read(double{});
  }
}

}  // namespace heddle::tracegen
