// Contents of buffers, made reproducibly: the same on every host and in every version.
#ifndef HEDDLE_TRACEGEN_RECIPE_FILL_H_
#define HEDDLE_TRACEGEN_RECIPE_FILL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/recipe.pb.h"
#include "tracegen/contents/contents.h"
#include "tracegen/recipe/recipe_file.h"

namespace heddle::tracegen {

// Whether elements can have it: a file may hold any number.
bool IsScalar(recipe::v1::ScalarType type);
// Bytes of one element, of a type for which IsScalar holds.
uint64_t ScalarBytes(recipe::v1::ScalarType type);
bool IsFloating(recipe::v1::ScalarType type);

// The type as generators know it; only for types that have a size.
contents::Scalar ScalarOf(recipe::v1::ScalarType type);

// Functions that give the same result everywhere.
const contents::Functions& GeneratorFunctions();

// The generator that a fill stands for. Errors: a file, which has none; a kind that lacks something.
absl::StatusOr<contents::Kind> KindOf(const recipe::v1::Fill& fill);

// The bytes of `count` elements. Files are read relative to the recipe. Errors: values that the type cannot hold, a
// file of another length, parameters that make no sense; each says what to change. CancelledError: a signal came.
absl::StatusOr<std::string> MakeContents(const recipe::v1::Fill& fill, recipe::v1::ScalarType type, uint64_t count,
                                         const RecipeFile& recipe);

// Element `index` of `bytes` as a double (64-bit integers lose low bits).
double ReadScalar(const void* bytes, recipe::v1::ScalarType type, uint64_t index);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_FILL_H_
