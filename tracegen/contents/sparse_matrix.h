// Random sparse matrices and graphs in compressed sparse rows.
#ifndef HEDDLE_TRACEGEN_CONTENTS_SPARSE_MATRIX_H_
#define HEDDLE_TRACEGEN_CONTENTS_SPARSE_MATRIX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/contents/contents.h"

namespace heddle::contents {

struct SparseMatrix {
  std::vector<uint64_t> row_pointers;    // rows + 1
  std::vector<uint64_t> column_indices;  // ascending within a row, none twice
};

// rows * mean_degree elements in all, rounded. Without skew every row has the mean, rounded up or down at random; with
// it row lengths follow a Zipf law with that exponent, in random order, at most max_degree. Returns what is wrong with
// the shape, or nothing: more elements than fit, or a skew without a function to compute it, or without fitting
// lengths.
std::string MakeSparseMatrix(const Csr& shape, const Functions& functions, SparseMatrix* matrix);

// Lengths of the rows of a shape with a skew that MakeSparseMatrix accepts, longest first or nearly so, before they are
// put into random order.
std::vector<uint64_t> SkewedRowLengths(const Csr& shape, const Functions& functions);

}  // namespace heddle::contents

#endif  // HEDDLE_TRACEGEN_CONTENTS_SPARSE_MATRIX_H_
