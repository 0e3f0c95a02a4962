#include "tools/study/reproduce/metric_sources.h"

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace heddle::tools::reproduce {

MetricSource Remembered(MetricSource source) {
  // Nested, so that a look-up copies no text: permutations ask millions of times.
  using ByKernel = absl::flat_hash_map<std::string, absl::StatusOr<double>>;
  using Known = absl::flat_hash_map<std::string, absl::flat_hash_map<std::string, ByKernel>>;
  return [source = std::move(source), known = std::make_shared<Known>()](
             const std::string& path, const std::string& run, const std::string& kernel) {
    ByKernel& by_kernel = (*known)[path][run];
    const auto it = by_kernel.find(kernel);
    if (it != by_kernel.end()) return it->second;
    return by_kernel.emplace(kernel, source(path, run, kernel)).first->second;
  };
}

MetricSource Without(MetricSource source, std::set<std::string> kernels) {
  return [source = std::move(source), kernels = std::move(kernels)](
             const std::string& path, const std::string& run, const std::string& kernel) -> absl::StatusOr<double> {
    if (kernels.contains(kernel)) return absl::NotFoundError(absl::StrCat(kernel, " is left out"));
    return source(path, run, kernel);
  };
}

MetricSource Exchanged(const MetricSource& source, const Exchange& exchange) {
  return [&source, &exchange](const std::string& path, const std::string& run, const std::string& kernel) {
    const auto runs = exchange.find(kernel);
    if (runs == exchange.end()) return source(path, run, kernel);
    const auto other = runs->second.find(run);
    return source(path, other == runs->second.end() ? run : other->second, kernel);
  };
}

}  // namespace heddle::tools::reproduce
