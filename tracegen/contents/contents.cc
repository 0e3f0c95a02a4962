#include "tracegen/contents/contents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "tracegen/contents/sparse_matrix.h"
#include "traces/base/random.h"

namespace heddle::contents {
namespace {

struct ScalarRow {
  const char* name;
  uint64_t bytes;
};
constexpr std::array<ScalarRow, 10> kScalars = {{{"I8", 1},
                                                 {"U8", 1},
                                                 {"I16", 2},
                                                 {"U16", 2},
                                                 {"I32", 4},
                                                 {"U32", 4},
                                                 {"I64", 8},
                                                 {"U64", 8},
                                                 {"F32", 4},
                                                 {"F64", 8}}};

// Six significant digits, as messages show numbers.
std::string Short(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

// Writes elements one after the other, and remembers the first value that the type cannot hold.
class Elements {
 public:
  Elements(Scalar type, uint64_t count) : type_(type), bytes_(count * ElementBytes(type), '\0') {}

  void Number(uint64_t index, double value) {
    switch (type_) {
      case Scalar::kI8:
        return Integer<int8_t>(index, value);
      case Scalar::kU8:
        return Integer<uint8_t>(index, value);
      case Scalar::kI16:
        return Integer<int16_t>(index, value);
      case Scalar::kU16:
        return Integer<uint16_t>(index, value);
      case Scalar::kI32:
        return Integer<int32_t>(index, value);
      case Scalar::kU32:
        return Integer<uint32_t>(index, value);
      case Scalar::kI64:
        return Integer<int64_t>(index, value);
      case Scalar::kU64:
        return Integer<uint64_t>(index, value);
      case Scalar::kF32:
        return Store(index, static_cast<float>(value));
      case Scalar::kF64:
        return Store(index, value);
    }
  }

  // Exact also where a double is not.
  void Natural(uint64_t index, uint64_t value) {
    if (type_ == Scalar::kU64) return Store(index, value);
    if (type_ == Scalar::kI64 && value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Store(index, static_cast<int64_t>(value));
    }
    Number(index, static_cast<double>(value));
  }
  void Signed(uint64_t index, int64_t value) {
    if (type_ == Scalar::kI64) return Store(index, value);
    Number(index, static_cast<double>(value));
  }

  Made Take() {
    if (bad_) {
      return {.error = "the value " + Short(bad_value_) + " does not fit the element type " + ScalarName(type_)};
    }
    return {.bytes = std::move(bytes_)};
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

  Scalar type_;
  std::string bytes_;
  bool bad_ = false;
  double bad_value_ = 0;
};

// Fills elements; one function per kind. Each returns what is wrong with the kind, or nothing.
class Filler {
 public:
  Filler(Scalar type, uint64_t count, const Functions& functions, bool (*stop)())
      : type_(type), count_(count), functions_(functions), stop_(stop), out_(type, count) {}

  std::string operator()(const Zeros&) { return ""; }

  std::string operator()(const Iota& fill) {
    const double step = fill.step == 0 ? 1 : fill.step;
    for (uint64_t i = 0; Goes(i); ++i) out_.Number(i, fill.start + static_cast<double>(i) * step);
    return "";
  }

  std::string operator()(const Constant& fill) {
    for (uint64_t i = 0; Goes(i); ++i) out_.Number(i, fill.value);
    return "";
  }

  std::string operator()(const Uniform& fill) {
    Random random(fill.seed);
    const double low = fill.low;
    const double high = fill.high;
    if (!std::isfinite(low) || !std::isfinite(high) || high < low) {
      return "uniform: low " + Short(low) + " and high " + Short(high) + " span no range";
    }
    if (IsFloating(type_)) {
      if (high == low) return "uniform: high must be above low";
      for (uint64_t i = 0; Goes(i); ++i) {
        double value = low + (high - low) * random.Unit();
        // Rounding to the element type must not reach the end of the range.
        if (type_ == Scalar::kF32 && static_cast<float>(value) >= high)
          value = std::nextafterf(static_cast<float>(high), static_cast<float>(low));
        out_.Number(i, value);
      }
      return "";
    }
    const double span = std::floor(high) - std::ceil(low);
    if (span < 0 || span >= 0x1p63) return "uniform: no integer lies between low and high";
    const auto first = static_cast<int64_t>(std::ceil(low));
    const auto choices = static_cast<uint64_t>(span) + 1;
    for (uint64_t i = 0; Goes(i); ++i) out_.Signed(i, first + static_cast<int64_t>(random.Below(choices)));
    return "";
  }

  std::string operator()(const Normal& fill) {
    if (functions_.log == nullptr || functions_.cospi == nullptr) return "normal: cannot be made here";
    Random random(fill.seed);
    for (uint64_t i = 0; Goes(i); ++i) {
      // Box and Muller, 1958, with functions whose results are the same everywhere.
      const double u = 1.0 - random.Unit();
      const double v = random.Unit();
      const double radius = std::sqrt(-2.0 * functions_.log(u));
      out_.Number(i, fill.mean + fill.deviation * radius * functions_.cospi(2.0 * v));
    }
    return "";
  }

  std::string operator()(const Zipf& fill) {
    if (functions_.pow == nullptr) return "zipf: cannot be made here";
    if (fill.n == 0 || fill.n > 100'000'000) return "zipf: n must be between 1 and 100000000";
    std::vector<double> sums(fill.n);
    double sum = 0;
    for (uint64_t k = 0; k < fill.n; ++k) {
      sum += functions_.pow(static_cast<double>(k + 1), -fill.exponent);
      sums[k] = sum;
    }
    Random random(fill.seed);
    for (uint64_t i = 0; Goes(i); ++i) {
      const auto found = std::upper_bound(sums.begin(), sums.end(), random.Unit() * sum);
      out_.Natural(i, std::min<uint64_t>(static_cast<uint64_t>(found - sums.begin()), fill.n - 1) + 1);
    }
    return "";
  }

  std::string operator()(const Permutation& fill) {
    std::vector<uint64_t> order(count_);
    for (uint64_t i = 0; Goes(i); ++i) order[i] = i;
    Random random(fill.seed);
    for (uint64_t i = count_; i > 1 && !Stops(i); --i) std::swap(order[i - 1], order[random.Below(i)]);
    for (uint64_t i = 0; Goes(i); ++i) out_.Natural(i, order[i]);
    return "";
  }

  std::string operator()(const Values& fill) {
    const size_t given = fill.value.size();
    if (given == 0) return "values: none given";
    for (uint64_t i = 0; Goes(i); ++i) out_.Number(i, fill.value[i % given]);
    return "";
  }

  std::string operator()(const Csr& fill) {
    SparseMatrix matrix;
    if (std::string error = MakeSparseMatrix(fill, functions_, &matrix); !error.empty()) return error;
    const std::vector<uint64_t>& values =
        fill.array == Csr::Array::kRowPointers ? matrix.row_pointers : matrix.column_indices;
    if (values.size() != count_) {
      return "csr: the array has " + std::to_string(values.size()) + " elements, but the buffer has " +
             std::to_string(count_);
    }
    for (uint64_t i = 0; Goes(i); ++i) out_.Natural(i, values[i]);
    return "";
  }

  bool StopsNow() const { return stop_ != nullptr && stop_(); }
  Made Take() { return out_.Take(); }

 private:
  // Whether a loop that is in step `step` is to end because somebody says so.
  bool Stops(uint64_t step) const { return step % 65536 == 0 && StopsNow(); }
  bool Goes(uint64_t i) const { return i < count_ && !Stops(i); }

  Scalar type_;
  uint64_t count_;
  const Functions& functions_;
  bool (*stop_)();
  Elements out_;
};

}  // namespace

uint64_t ElementBytes(Scalar type) { return kScalars[static_cast<size_t>(type)].bytes; }

bool IsFloating(Scalar type) { return type == Scalar::kF32 || type == Scalar::kF64; }

const char* ScalarName(Scalar type) { return kScalars[static_cast<size_t>(type)].name; }

std::optional<Scalar> ScalarNamed(std::string_view name) {
  for (size_t i = 0; i < kScalars.size(); ++i) {
    if (name == kScalars[i].name) return static_cast<Scalar>(i);
  }
  return std::nullopt;
}

bool NeedsNoFunctions(const Kind& kind) {
  if (const auto* csr = std::get_if<Csr>(&kind)) return !(csr->skew > 0) || !csr->lengths.empty();
  return !std::holds_alternative<Normal>(kind) && !std::holds_alternative<Zipf>(kind);
}

Made Make(const Kind& kind, Scalar type, uint64_t count, const Functions& functions, bool (*stop)()) {
  Filler filler(type, count, functions, stop);
  std::string error = std::visit(filler, kind);
  if (!error.empty()) return {.error = std::move(error)};
  if (filler.StopsNow()) return {.stopped = true};
  return filler.Take();
}

double ReadElement(const void* bytes, Scalar type, uint64_t index) {
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, static_cast<const char*>(bytes) + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  };
  switch (type) {
    case Scalar::kI8:
      return read(int8_t{});
    case Scalar::kU8:
      return read(uint8_t{});
    case Scalar::kI16:
      return read(int16_t{});
    case Scalar::kU16:
      return read(uint16_t{});
    case Scalar::kI32:
      return read(int32_t{});
    case Scalar::kU32:
      return read(uint32_t{});
    case Scalar::kI64:
      return read(int64_t{});
    case Scalar::kU64:
      return read(uint64_t{});
    case Scalar::kF32:
      return read(float{});
    case Scalar::kF64:
      break;
  }
  return read(double{});
}

}  // namespace heddle::contents
