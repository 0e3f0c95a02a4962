// Barriers of thread blocks, from what they take with few warps and with many.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "tools/exchange/card/fitting.h"
#include "tools/exchange/card/model_benchmarks.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

constexpr char kBenchmark[] = "latency_barrier";
constexpr uint64_t kWarp = 32;

struct Point {
  uint64_t warps = 0;
  Measured measured;
};

std::optional<Point> PointOf(const Measured& measured) {
  const auto threads = measured.parameter.find("threads");
  uint64_t number = 0;
  if (threads == measured.parameter.end() || !absl::SimpleAtoi(threads->second, &number)) return std::nullopt;
  if (number < kWarp) return std::nullopt;
  return Point{number / kWarp, measured};
}

// What the model takes with as many warps; nothing if it has no value for that.
std::optional<double> Model(const Fitting& fitting, const Point& point) {
  const absl::StatusOr<std::vector<ModelBenchmark>> all = RunModelBenchmarks(fitting.machine(), {kBenchmark});
  if (!all.ok()) return std::nullopt;
  for (const ModelBenchmark& one : *all) {
    if (one.why.empty() && one.parameter == point.measured.parameter) return one.value;
  }
  return std::nullopt;
}

}  // namespace

absl::Status FitBarriers(Fitting& fitting) {
  std::optional<Point> few, many;
  for (const Measured& measured : fitting.All(kBenchmark)) {
    const std::optional<Point> point = PointOf(measured);
    if (!point.has_value()) continue;
    if (!few.has_value() || point->warps < few->warps) few = point;
    if (!many.has_value() || point->warps > many->warps) many = point;
  }
  if (!few.has_value() || few->warps == many->warps) return absl::OkStatus();
  machine::v1::BlockBarriers& barriers = *fitting.machine().mutable_core()->mutable_block_barriers();
  const double slope = (many->measured.median - few->measured.median) / static_cast<double>(many->warps - few->warps);
  barriers.set_arrival_interval(static_cast<uint32_t>(std::clamp(std::round(slope), 0.0, 1e4)));
  barriers.set_release_latency(0);
  fitting.Use("core.block_barriers.arrival_interval", few->measured);
  fitting.Use("core.block_barriers.arrival_interval", many->measured);
  const std::optional<double> before = Model(fitting, *few);
  if (!before.has_value()) return absl::OkStatus();
  barriers.set_release_latency(static_cast<uint32_t>(std::clamp(std::round(few->measured.median - *before), 0.0, 1e4)));
  fitting.Use("core.block_barriers.release_latency", few->measured);
  for (const Point& point : {*few, *many}) {
    const std::optional<double> after = Model(fitting, point);
    if (!after.has_value()) continue;
    fitting.Note(absl::StrFormat("%s of %d warps: %.1f cycles on the machine, %.1f on the card", kBenchmark,
                                 point.warps, *after, point.measured.median));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools
