// Input box_mesh: an unstructured mesh of a box, as Euler solvers read it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// Each cell of a grid of cubes is one element with four of its faces, as tetrahedra have: neighbour and outward normal.
// Faces without a neighbour are far field (-2) but for the floor, which is a wall (-1). The numbers of elements are
// shuffled within runs of 64, so that neighbours are near but not in order.
std::string Make(Random& random, const InputSettings& set) {
  const auto side = static_cast<int64_t>(set.at("side"));
  const int64_t elements = side * side * side;
  std::vector<int64_t> number(static_cast<size_t>(elements));
  for (int64_t cell = 0; cell < elements; ++cell) number[static_cast<size_t>(cell)] = cell;
  for (int64_t run = 0; run < elements; run += 64) {
    for (int64_t last = std::min(run + 64, elements) - 1; last > run; --last) {
      const int64_t other = run + static_cast<int64_t>(random.Below(static_cast<uint64_t>(last - run + 1)));
      std::swap(number[static_cast<size_t>(last)], number[static_cast<size_t>(other)]);
    }
  }
  std::vector<std::string> lines(static_cast<size_t>(elements));
  // Two axes in full; so that all faces of an element sum to zero.
  const int64_t step[4][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1}};
  for (int64_t cell = 0; cell < elements; ++cell) {
    const int64_t at[3] = {cell % side, cell / side % side, cell / side / side};
    std::string line = absl::StrFormat("%.6f", 1.0 + random.Unit() / 8);
    for (const auto& move : step) {
      const int64_t to[3] = {at[0] + move[0], at[1] + move[1], at[2] + move[2]};
      const bool outside = to[0] < 0 || to[0] >= side || to[2] < 0 || to[2] >= side;
      const int64_t beyond = to[2] < 0 ? -1 : -2;
      const int64_t there = (to[2] * side + to[1]) * side + to[0];
      const int64_t neighbour = outside ? beyond : number[static_cast<size_t>(there)] + 1;
      absl::StrAppend(&line, " ", neighbour, " ", move[0], ".0 ", move[1], ".0 ", move[2], ".0");
    }
    lines[static_cast<size_t>(number[static_cast<size_t>(cell)])] = line;
  }
  std::string text = absl::StrCat(elements, "\n");
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  return text;
}

HEDDLE_INPUT_GENERATOR(.name = "box_mesh",
                       .what = "mesh as text: elements; then area and four times neighbour and normal of each",
                       .parameters = {{"side", "elements along an edge of the box", 16, 2, 128}}, .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
