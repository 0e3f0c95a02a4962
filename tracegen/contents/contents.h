// Contents of buffers, made reproducibly: the same on every host and in every version. Needs the standard library
// alone, so that the machine beside a card makes the very bytes that a capture has worked on.
#ifndef HEDDLE_TRACEGEN_CONTENTS_CONTENTS_H_
#define HEDDLE_TRACEGEN_CONTENTS_CONTENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::contents {

// Types of elements, with the names that recipes use.
enum class Scalar { kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF32, kF64 };
uint64_t ElementBytes(Scalar type);
bool IsFloating(Scalar type);
const char* ScalarName(Scalar type);
std::optional<Scalar> ScalarNamed(std::string_view name);

// What a buffer holds; proto/recipe.proto says what the kinds and their values mean.
struct Zeros {};
struct Iota {
  double start = 0;
  double step = 1;
};
struct Constant {
  double value = 0;
};
struct Uniform {
  uint64_t seed = 0;
  double low = 0;
  double high = 0;
};
struct Normal {
  uint64_t seed = 0;
  double mean = 0;
  double deviation = 0;
};
struct Zipf {
  uint64_t seed = 0;
  double exponent = 0;
  uint64_t n = 0;
};
struct Permutation {
  uint64_t seed = 0;
};
struct Values {
  std::vector<double> value;
};
struct Csr {
  enum class Array { kRowPointers, kColumnIndices };
  uint64_t seed = 0;
  uint64_t rows = 0;
  uint64_t columns = 0;  // 0 = rows
  double mean_degree = 0;
  double skew = 0;
  uint64_t max_degree = 0;  // 0 = columns
  Array array = Array::kRowPointers;
  // Lengths of the rows before they are put into random order, as SkewedRowLengths gives them, for whoever has no
  // function to compute them; empty: they are computed.
  std::vector<uint64_t> lengths = {};
};
using Kind = std::variant<Zeros, Iota, Constant, Uniform, Normal, Zipf, Permutation, Values, Csr>;

// Functions that have to give the same result everywhere, which the standard library's do not promise. Null: there is
// none here, and kinds that need it are refused.
struct Functions {
  double (*log)(double) = nullptr;
  double (*cospi)(double) = nullptr;  // cosine of pi times its argument
  double (*pow)(double, double) = nullptr;
};
// Whether the kind can be made without any of them.
bool NeedsNoFunctions(const Kind& kind);

// Bytes, or what is wrong with the kind, its values or the type; `stopped`: `stop` said so, and nothing was made.
struct Made {
  std::string bytes = {};
  std::string error = {};
  bool stopped = false;
};

// The bytes of `count` elements. `stop`, if not null, is asked every now and then whether to give up.
Made Make(const Kind& kind, Scalar type, uint64_t count, const Functions& functions, bool (*stop)());

// Element `index` of `bytes` as a double (64-bit integers lose low bits).
double ReadElement(const void* bytes, Scalar type, uint64_t index);

}  // namespace heddle::contents

#endif  // HEDDLE_TRACEGEN_CONTENTS_CONTENTS_H_
