#include "tracegen/recipe/fill.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "sleef.h"
#include "tracegen/execute/block/fault_handler.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using recipe::v1::Fill;
using recipe::v1::ScalarType;

// Functions of SLEEF whose results are the same everywhere; it declares some with a result that is const.
constexpr contents::Functions kFunctions = {
    .log = [](double x) -> double { return Sleef_cinz_logd1_u10purec(x); },
    .cospi = [](double x) -> double { return Sleef_cinz_cospid1_u05purec(x); },
    .pow = [](double x, double y) -> double { return Sleef_cinz_powd1_u10purec(x, y); }};

absl::StatusOr<contents::Kind> CsrKind(const Fill::Csr& fill) {
  if (fill.array() == Fill::Csr::ARRAY_UNSPECIFIED) {
    return absl::InvalidArgumentError("csr: say which array, ROW_POINTERS or COLUMN_INDICES");
  }
  return contents::Csr{.seed = fill.seed(),
                       .rows = fill.rows(),
                       .columns = fill.columns(),
                       .mean_degree = fill.mean_degree(),
                       .skew = fill.skew(),
                       .max_degree = fill.max_degree(),
                       .array = fill.array() == Fill::Csr::ROW_POINTERS ? contents::Csr::Array::kRowPointers
                                                                        : contents::Csr::Array::kColumnIndices};
}

absl::StatusOr<std::string> FileContents(const Fill::File& file, ScalarType type, uint64_t count,
                                         const RecipeFile& recipe) {
  absl::StatusOr<std::string> bytes = ReadWholeFile(recipe.Resolve(file.path()));
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() != count * ScalarBytes(type)) {
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": has ", bytes->size(), " bytes, but ", count,
                                                   " elements of type ", recipe::v1::ScalarType_Name(type), " need ",
                                                   count * ScalarBytes(type)));
  }
  return bytes;
}

}  // namespace

const contents::Functions& GeneratorFunctions() { return kFunctions; }

contents::Scalar ScalarOf(ScalarType type) {
  // Both have their types in one order.
  return static_cast<contents::Scalar>(static_cast<int>(type) - static_cast<int>(recipe::v1::I8));
}

bool IsScalar(ScalarType type) {
  return recipe::v1::ScalarType_IsValid(type) && type != recipe::v1::SCALAR_UNSPECIFIED;
}

uint64_t ScalarBytes(ScalarType type) { return contents::ElementBytes(ScalarOf(type)); }

bool IsFloating(ScalarType type) { return type == recipe::v1::F32 || type == recipe::v1::F64; }

absl::StatusOr<contents::Kind> KindOf(const Fill& fill) {
  switch (fill.kind_case()) {
    case Fill::KIND_NOT_SET:
    case Fill::kZeros:
      break;
    case Fill::kIota:
      return contents::Iota{fill.iota().start(), fill.iota().step()};
    case Fill::kConstant:
      return contents::Constant{fill.constant().value()};
    case Fill::kUniform:
      return contents::Uniform{fill.uniform().seed(), fill.uniform().low(), fill.uniform().high()};
    case Fill::kNormal:
      return contents::Normal{fill.normal().seed(), fill.normal().mean(), fill.normal().deviation()};
    case Fill::kZipf:
      return contents::Zipf{fill.zipf().seed(), fill.zipf().exponent(), fill.zipf().n()};
    case Fill::kPermutation:
      return contents::Permutation{fill.permutation().seed()};
    case Fill::kValues:
      return contents::Values{{fill.values().value().begin(), fill.values().value().end()}};
    case Fill::kFile:
      return absl::InvalidArgumentError(absl::StrCat(fill.file().path(), ": a file has no generator"));
    case Fill::kCsr:
      return CsrKind(fill.csr());
  }
  return contents::Zeros{};
}

absl::StatusOr<std::string> MakeContents(const Fill& fill, ScalarType type, uint64_t count, const RecipeFile& recipe) {
  if (fill.has_file()) return FileContents(fill.file(), type, count, recipe);
  HEDDLE_ASSIGN_OR_RETURN(const contents::Kind kind, KindOf(fill));
  contents::Made made = contents::Make(kind, ScalarOf(type), count, kFunctions, InterruptRequested);
  if (made.stopped) return absl::CancelledError("interrupted");
  if (!made.error.empty()) return absl::InvalidArgumentError(made.error);
  return std::move(made.bytes);
}

double ReadScalar(const void* bytes, ScalarType type, uint64_t index) {
  return contents::ReadElement(bytes, ScalarOf(type), index);
}

}  // namespace heddle::tracegen
