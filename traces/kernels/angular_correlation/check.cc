// Every pair, by a linear search. Coordinates are small multiples of 1/64, so that products and sums are exact in
// single precision and no pair can fall on the other side of an edge.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto coordinates = check.Find<int32_t>("coordinates");
  const auto edges = check.Find<float>("edges");
  const auto bins = check.Find<uint32_t>("bins");
  std::vector<int64_t> expected(bins.count);
  const uint64_t n = coordinates.count / 3;
  for (uint64_t i = 0; i < n; ++i) {
    for (uint64_t j = i + 1; j < n; ++j) {
      double cosine = 0;
      for (uint64_t axis = 0; axis < 3; ++axis) {
        cosine += coordinates.before[3 * i + axis] * coordinates.before[3 * j + axis] / 4096.0;
      }
      uint64_t bin = 0;
      while (bin + 1 < bins.count && cosine < edges.before[bin]) ++bin;
      ++expected[bin];
    }
  }
  for (uint64_t i = 0; i < bins.count && !check.failed(); ++i) check.Equal("bins", i, bins.after[i], expected[i]);
  return check.result();
}
