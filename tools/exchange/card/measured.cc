#include "tools/exchange/card/measured.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/study/statistics/intervals.h"

namespace heddle::tools {

std::vector<Measured> AllMeasured(const hardware::v1::Visit& visit, const std::string& benchmark) {
  std::vector<Measured> all;
  for (const hardware::v1::Benchmark& one : visit.benchmark()) {
    if (one.name() != benchmark) continue;
    const std::optional<double> median = Median({one.value().begin(), one.value().end()});
    if (!median.has_value() || *median <= 0) continue;
    const auto [least, most] = std::ranges::minmax_element(one.value());
    const auto kind = one.parameter().find("instruction");
    const std::string of = kind == one.parameter().end() ? "" : absl::StrCat(" of ", kind->second);
    all.push_back({benchmark,
                   {one.parameter().begin(), one.parameter().end()},
                   *median,
                   absl::StrFormat("%s%s %.6g %s (%d times, %.6g to %.6g)", benchmark, of, *median, one.unit(),
                                   one.value_size(), *least, *most)});
  }
  return all;
}

std::optional<Measured> FindMeasured(const hardware::v1::Visit& visit, const std::string& benchmark,
                                     const std::map<std::string, std::string>& parameters) {
  for (Measured& one : AllMeasured(visit, benchmark)) {
    const auto has = [&](const auto& wanted) {
      const auto found = one.parameter.find(wanted.first);
      return found != one.parameter.end() && found->second == wanted.second;
    };
    if (std::ranges::all_of(parameters, has)) return std::move(one);
  }
  return std::nullopt;
}

}  // namespace heddle::tools
