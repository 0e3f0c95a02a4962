// Thrust: sorts, reductions, scans, sets, partitions and iterators, against the standard library.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct Square {
  __host__ __device__ long long operator()(int x) const { return (long long)x * x; }
};
struct ByLow {
  __host__ __device__ bool operator()(int a, int b) const { return (a % 100) < (b % 100); }
};
struct Random {
  __host__ __device__ float operator()(unsigned i) const {
    thrust::default_random_engine g(i);
    g.discard(3);
    thrust::uniform_real_distribution<float> d(0, 1);
    return d(g);
  }
};
struct AddTo {
  template <class T>
  __device__ void operator()(T t) {
    thrust::get<2>(t) = thrust::get<0>(t) * 10 + thrust::get<1>(t);
  }
};
int main() {
  const int n = 5000;
  std::vector<int> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 7919) % 1009;
  thrust::device_vector<int> d(h.begin(), h.end());
  // reductions
  EXPECT(thrust::count_if(d.begin(), d.end(), Odd()) == std::count_if(h.begin(), h.end(), Odd()));
  EXPECT(thrust::transform_reduce(d.begin(), d.end(), Square(), 0LL, thrust::plus<long long>()) ==
         std::inner_product(h.begin(), h.end(), h.begin(), 0LL));
  EXPECT(thrust::max_element(d.begin(), d.end()) - d.begin() == std::max_element(h.begin(), h.end()) - h.begin());
  EXPECT(*thrust::min_element(d.begin(), d.end()) == 0);
  auto mm = thrust::minmax_element(d.begin(), d.end());
  EXPECT(*mm.second == 1008);
  EXPECT(thrust::find(d.begin(), d.end(), 500) - d.begin() == std::find(h.begin(), h.end(), 500) - h.begin());
  // sort by key, custom comparator
  thrust::device_vector<int> keys = d, vals(n);
  thrust::sequence(vals.begin(), vals.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), vals.begin(), ByLow());
  std::vector<int> idx(n);
  std::iota(idx.begin(), idx.end(), 0);
  std::stable_sort(idx.begin(), idx.end(), [&](int a, int b) { return h[a] % 100 < h[b] % 100; });
  EXPECT(std::equal(idx.begin(), idx.end(), thrust::host_vector<int>(vals).begin()));
  thrust::device_vector<float> f(n);
  thrust::transform(thrust::counting_iterator<unsigned>(0), thrust::counting_iterator<unsigned>(n), f.begin(),
                    Random());
  thrust::sort(f.begin(), f.end(), thrust::greater<float>());
  thrust::host_vector<float> hf = f;
  EXPECT(std::is_sorted(hf.begin(), hf.end(), std::greater<float>()));
  // reduce by key, unique, sets
  thrust::device_vector<int> s = d;
  thrust::sort(s.begin(), s.end());
  thrust::device_vector<int> k2(n), c2(n);
  auto e = thrust::reduce_by_key(s.begin(), s.end(), thrust::make_constant_iterator(1), k2.begin(), c2.begin());
  std::vector<int> hs(h);
  std::sort(hs.begin(), hs.end());
  hs.erase(std::unique(hs.begin(), hs.end()), hs.end());
  EXPECT(e.first - k2.begin() == (long)hs.size());
  EXPECT(c2[0] == std::count(h.begin(), h.end(), 0));
  auto u = thrust::unique(s.begin(), s.end());
  EXPECT(u - s.begin() == (long)hs.size());
  s.erase(u, s.end());
  thrust::device_vector<int> odd(s.size());
  auto oe = thrust::copy_if(s.begin(), s.end(), odd.begin(), Odd());
  odd.erase(oe, odd.end());
  thrust::device_vector<int> even(s.size());
  auto ee = thrust::set_difference(s.begin(), s.end(), odd.begin(), odd.end(), even.begin());
  EXPECT((ee - even.begin()) + (long)odd.size() == (long)s.size());
  even.erase(ee, even.end());
  thrust::device_vector<int> merged(s.size());
  thrust::merge(odd.begin(), odd.end(), even.begin(), even.end(), merged.begin());
  EXPECT(merged == s);
  // partition, scans, gather
  thrust::device_vector<int> p = d;
  auto mid = thrust::stable_partition(p.begin(), p.end(), Odd());
  EXPECT(mid - p.begin() == std::count_if(h.begin(), h.end(), Odd()));
  thrust::device_vector<int> x(n);
  thrust::exclusive_scan(d.begin(), d.end(), x.begin(), 5, thrust::maximum<int>());
  EXPECT(x[0] == 5 && x[n - 1] == 1008);
  thrust::device_vector<int> g(n);
  thrust::gather(vals.begin(), vals.end(), d.begin(), g.begin());
  EXPECT(g == keys);
  thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(d.begin(), vals.begin(), x.begin())),
                   thrust::make_zip_iterator(thrust::make_tuple(d.end(), vals.end(), x.end())), AddTo());
  EXPECT(x[7] == h[7] * 10 + idx[7]);
  thrust::device_vector<int> lb(10);
  thrust::device_vector<int> q(10);
  thrust::sequence(q.begin(), q.end(), 0, 100);
  thrust::lower_bound(s.begin(), s.end(), q.begin(), q.end(), lb.begin());
  EXPECT(lb[9] == std::lower_bound(hs.begin(), hs.end(), 900) - hs.begin());
  auto lambda = [] __device__(int v) { return v + 1; };
  thrust::transform(d.begin(), d.end(), g.begin(), lambda);
  EXPECT(g[3] == h[3] + 1);
  int* raw = thrust::raw_pointer_cast(d.data());
  cudaMemset(raw, 0, n * 4);
  EXPECT(thrust::reduce(thrust::device, d.begin(), d.end()) == 0);
  cudaStream_t st;
  cudaStreamCreate(&st);
  thrust::fill(thrust::cuda::par.on(st), d.begin(), d.end(), 3);
  cudaStreamSynchronize(st);
  EXPECT(d[n - 1] == 3);
  thrust::device_vector<double> dd(1000, 0.5);
  thrust::inclusive_scan(dd.begin(), dd.end(), dd.begin());
  EXPECT(dd[999] == 500.0);
  thrust::adjacent_difference(dd.begin(), dd.end(), dd.begin());
  EXPECT(dd[500] == 0.5);
  return Finish();
}
