// Random sparse matrices and graphs in compressed sparse rows.
#ifndef HEDDLE_TRACEGEN_RECIPE_SPARSE_MATRIX_H_
#define HEDDLE_TRACEGEN_RECIPE_SPARSE_MATRIX_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/recipe.pb.h"

namespace heddle::tracegen {

struct SparseMatrix {
  std::vector<uint64_t> row_pointers;    // rows + 1
  std::vector<uint64_t> column_indices;  // ascending within a row, none twice
};

// rows * mean_degree elements in all, rounded. Without skew every row has the mean, rounded up or down at random; with
// it row lengths follow a Zipf law with that exponent, in random order, at most max_degree. Errors: more elements than
// fit.
absl::StatusOr<SparseMatrix> MakeSparseMatrix(const recipe::v1::Fill::Csr& shape);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_SPARSE_MATRIX_H_
