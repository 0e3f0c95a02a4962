// Where the L1 of a card ends, beside that of the machine.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/exchange/card/fitting.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

constexpr double kRise = 1.1;  // our choice: one level of the memory varies by less

// Of the curve: a footprint, and what a load takes.
struct Point {
  uint64_t bytes = 0;
  double cycles = 0;
};

std::vector<Point> Curve(const Fitting& fitting) {
  std::vector<Point> curve;
  for (const Measured& value : fitting.All("latency_by_footprint")) {
    const auto footprint = value.parameter.find("footprint_bytes");
    Point point{0, value.median};
    if (footprint == value.parameter.end() || !absl::SimpleAtoi(footprint->second, &point.bytes)) continue;
    curve.push_back(point);
  }
  std::ranges::stable_sort(curve, {}, &Point::bytes);
  return curve;
}

// The first point that takes longer than the first one; the number of points if there is none.
absl::StatusOr<size_t> Rise(size_t points, const std::function<absl::StatusOr<double>(size_t)>& cycles) {
  HEDDLE_ASSIGN_OR_RETURN(const double first, cycles(0));
  for (size_t i = 1; i < points; ++i) {
    HEDDLE_ASSIGN_OR_RETURN(const double here, cycles(i));
    if (here > kRise * first) return i;
  }
  return points;
}

}  // namespace

absl::Status CompareL1Size(Fitting& fitting) {
  const std::vector<Point> curve = Curve(fitting);
  if (curve.empty() || fitting.machine().memory().hierarchy().l1_data().sets() == 0) return absl::OkStatus();
  HEDDLE_ASSIGN_OR_RETURN(const size_t card, Rise(curve.size(), [&](size_t i) { return curve[i].cycles; }));
  if (card == curve.size()) {
    fitting.Note("latency_by_footprint: rises nowhere, so that it does not say where the L1 ends");
    return absl::OkStatus();
  }
  // Somewhat further than the card's, so that a chain is never long.
  const size_t points = std::min(curve.size(), card + 3);
  const absl::StatusOr<size_t> machine = Rise(points, [&](size_t i) -> absl::StatusOr<double> {
    HEDDLE_ASSIGN_OR_RETURN(const Chain chain, FootprintChain(fitting.machine(), curve[i].bytes));
    return CyclesPerLink(fitting.machine(), chain);
  });
  if (!machine.ok()) {
    fitting.Note(absl::StrCat("latency_by_footprint: not compared: ", machine.status().message()));
    return absl::OkStatus();
  }
  const std::string ends = *machine == points
                               ? absl::StrCat(curve[points - 1].bytes, " bytes or more")
                               : absl::StrCat(curve[*machine - 1].bytes, ", not ", curve[*machine].bytes, " bytes");
  // A footprint as large as the L1 fits by a hair, or does not: one step is no difference.
  const bool agree = *machine + 1 >= card && *machine <= card + 1;
  fitting.Note(absl::StrCat("latency_by_footprint: the L1 holds ", curve[card - 1].bytes, ", not ", curve[card].bytes,
                            " bytes; the machine's holds ", ends, agree ? ": they agree" : ": they differ"));
  return absl::OkStatus();
}

}  // namespace heddle::tools
