// Boost.Compute: sort, reduce, scan, count, unique, against the standard library.
#define CL_TARGET_OPENCL_VERSION 120
#include <algorithm>
#include <boost/compute.hpp>
#include <cstdio>
#include <numeric>
#include <vector>

namespace compute = boost::compute;

int main() {
  compute::device device = compute::system::default_device();
  compute::context context(device);
  compute::command_queue queue(context, device);
  std::vector<int> host(20000);
  unsigned state = 1;
  for (int& value : host) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<int>(state >> 18);
  }
  compute::vector<int> values(host.begin(), host.end(), queue);
  compute::sort(values.begin(), values.end(), queue);
  std::sort(host.begin(), host.end());
  std::vector<int> found(host.size());
  compute::copy(values.begin(), values.end(), found.begin(), queue);
  bool right = found == host;

  int sum = 0;
  compute::reduce(values.begin(), values.end(), &sum, queue);
  right &= sum == std::accumulate(host.begin(), host.end(), 0);

  compute::vector<int> sums(host.size(), context);
  compute::inclusive_scan(values.begin(), values.end(), sums.begin(), queue);
  compute::copy(sums.begin(), sums.end(), found.begin(), queue);
  std::vector<int> expected(host.size());
  std::partial_sum(host.begin(), host.end(), expected.begin());
  right &= found == expected;

  using compute::lambda::_1;
  const auto even = [](int value) { return value % 2 == 0; };
  right &= compute::count_if(values.begin(), values.end(), _1 % 2 == 0, queue) ==
           static_cast<size_t>(std::count_if(host.begin(), host.end(), even));
  right &= compute::unique(values.begin(), values.end(), queue) - values.begin() ==
           std::unique(host.begin(), host.end()) - host.begin();
  std::puts(right ? "all right" : "wrong");
}
