// ViennaCL: conjugate gradients on a sparse matrix, and a product of dense ones.
#define VIENNACL_WITH_OPENCL
#include <cstdio>
#include <map>
#include <vector>

#include "viennacl/compressed_matrix.hpp"
#include "viennacl/linalg/cg.hpp"
#include "viennacl/linalg/inner_prod.hpp"
#include "viennacl/linalg/prod.hpp"
#include "viennacl/matrix.hpp"
#include "viennacl/vector.hpp"

int main() {
  const int n = 400, width = 20;  // a grid of 20 x 20
  std::vector<std::map<unsigned, float>> rows(n);
  for (int i = 0; i < n; ++i) {
    rows[i][i] = 4;
    for (int other : {i - width, i - 1, i + 1, i + width}) {
      if (other >= 0 && other < n) rows[i][other] = -1;
    }
  }
  const std::vector<float> ones(n, 1.0f);
  viennacl::compressed_matrix<float> a(n, n);
  viennacl::vector<float> b(n);
  viennacl::copy(rows, a);
  viennacl::copy(ones, b);
  viennacl::vector<float> x = viennacl::linalg::solve(a, b, viennacl::linalg::cg_tag(1e-5, 300));
  viennacl::vector<float> rest = viennacl::linalg::prod(a, x);
  rest -= b;
  bool right = viennacl::linalg::norm_2(rest) < 1e-3;

  viennacl::matrix<float> twos = viennacl::scalar_matrix<float>(64, 64, 2.0f);
  viennacl::matrix<float> threes = viennacl::scalar_matrix<float>(64, 64, 3.0f);
  viennacl::matrix<float> product = viennacl::linalg::prod(twos, threes);
  std::vector<std::vector<float>> found(64, std::vector<float>(64));
  viennacl::copy(product, found);
  for (const std::vector<float>& row : found) {
    for (float value : row) right &= value == 384.0f;
  }
  std::puts(right ? "all right" : "wrong");
}
