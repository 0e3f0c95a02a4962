// ViennaCL on CUDA: iterative solvers, formats of sparse matrices, products, factorization.
#define VIENNACL_WITH_CUDA
#include <cmath>
#include <map>
#include <vector>

#include "check.h"
#include "viennacl/compressed_matrix.hpp"
#include "viennacl/ell_matrix.hpp"
#include "viennacl/hyb_matrix.hpp"
#include "viennacl/linalg/bicgstab.hpp"
#include "viennacl/linalg/cg.hpp"
#include "viennacl/linalg/direct_solve.hpp"
#include "viennacl/linalg/gmres.hpp"
#include "viennacl/linalg/inner_prod.hpp"
#include "viennacl/linalg/jacobi_precond.hpp"
#include "viennacl/linalg/lu.hpp"
#include "viennacl/linalg/norm_2.hpp"
#include "viennacl/linalg/prod.hpp"
#include "viennacl/matrix.hpp"
#include "viennacl/sliced_ell_matrix.hpp"
#include "viennacl/vector.hpp"

int main() {
  typedef double T;
  const size_t side = 24, n = side * side;
  std::vector<std::map<unsigned, T>> a(n);
  for (size_t y = 0; y < side; ++y)
    for (size_t x = 0; x < side; ++x) {
      size_t i = y * side + x;
      a[i][i] = 4;
      if (x) a[i][i - 1] = -1;
      if (x + 1 < side) a[i][i + 1] = -1;
      if (y) a[i][i - side] = -1;
      if (y + 1 < side) a[i][i + side] = -1;
    }
  std::vector<T> want(n), rhs(n, 0);
  for (size_t i = 0; i < n; ++i) want[i] = std::sin(0.1 * i);
  for (size_t i = 0; i < n; ++i)
    for (auto& e : a[i]) rhs[i] += e.second * want[e.first];
  viennacl::compressed_matrix<T> m(n, n);
  viennacl::copy(a, m);
  viennacl::vector<T> b(n), x(n), w(n);
  viennacl::copy(rhs, b);
  viennacl::copy(want, w);
  auto check = [&](const viennacl::vector<T>& got, double eps) {
    viennacl::vector<T> d = got - w;
    T e = viennacl::linalg::norm_2(d);
    if (!(e < eps)) printf("error %g\n", e);
    return e < eps;
  };
  x = viennacl::linalg::solve(m, b, viennacl::linalg::cg_tag(1e-10, 500));
  EXPECT(check(x, 1e-6));
  x = viennacl::linalg::solve(m, b, viennacl::linalg::bicgstab_tag(1e-10, 500));
  EXPECT(check(x, 1e-6));
  x = viennacl::linalg::solve(m, b, viennacl::linalg::gmres_tag(1e-10, 300, 40));
  EXPECT(check(x, 1e-5));
  viennacl::linalg::jacobi_precond<viennacl::compressed_matrix<T>> j(m, viennacl::linalg::jacobi_tag());
  x = viennacl::linalg::solve(m, b, viennacl::linalg::cg_tag(1e-10, 500), j);
  EXPECT(check(x, 1e-6));
  viennacl::ell_matrix<T> em;
  viennacl::hyb_matrix<T> hm;
  viennacl::sliced_ell_matrix<T> sm;
  viennacl::copy(a, em);
  viennacl::copy(a, hm);
  viennacl::copy(a, sm);
  viennacl::vector<T> y1 = viennacl::linalg::prod(em, w), y2 = viennacl::linalg::prod(hm, w),
                      y3 = viennacl::linalg::prod(sm, w);
  y1 -= b;
  y2 -= b;
  y3 -= b;
  EXPECT(viennacl::linalg::norm_2(y1) < 1e-10 && viennacl::linalg::norm_2(y2) < 1e-10 &&
         viennacl::linalg::norm_2(y3) < 1e-10);
  const size_t k = 60;
  viennacl::matrix<T> A(k, k), B(k, k), C(k, k);
  std::vector<std::vector<T>> ha(k, std::vector<T>(k)), hc = ha;
  for (size_t i = 0; i < k; ++i)
    for (size_t l = 0; l < k; ++l) ha[i][l] = (i == l ? 10.0 : 0) + 1.0 / (1 + i + l);
  viennacl::copy(ha, A);
  B = viennacl::trans(A);
  C = viennacl::linalg::prod(A, B);
  viennacl::copy(C, hc);
  T e = 0;
  for (size_t i = 0; i < k; ++i)
    for (size_t l = 0; l < k; ++l) {
      T s = 0;
      for (size_t q = 0; q < k; ++q) s += ha[i][q] * ha[l][q];
      e += std::fabs(s - hc[i][l]);
    }
  EXPECT(e < 1e-8);
  viennacl::vector<T> v = viennacl::scalar_vector<T>(k, 1.0), r = viennacl::linalg::prod(A, v);
  viennacl::linalg::lu_factorize(A);
  viennacl::linalg::lu_substitute(A, r);
  r -= v;
  EXPECT(viennacl::linalg::norm_2(r) < 1e-9);
  EXPECT(std::fabs(viennacl::linalg::inner_prod(w, w) - [&] {
           T s = 0;
           for (T q : want) s += q * q;
           return s;
         }()) < 1e-9);
  return Finish();
}
