// Which parameters matter: the effects of a Plackett-Burman design.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_EFFECTS_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_EFFECTS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/study/sweep/folder.h"

namespace heddle::tools::sweep {

struct EffectsOptions {
  std::string metric = "cycles";  // a column of numbers of the collected table
  // A divergence policy: the response is then its metric divided by the point's, in the same run of the design: with
  // cycles the point's speed-up over it. Empty = the metric itself.
  std::string baseline;
};

// The runs of a design with everything else the same.
struct EffectGroup {
  std::string trace, kernels, machine, divergence, scheduler, dispatch, fetch, memory;
  uint64_t seed = 0;
  std::vector<double> responses;  // in the order of the design's runs
  double mean = 0;
  std::vector<double> effects;  // by parameter, in the unit of the response: high less low
  std::vector<uint64_t> ranks;  // by parameter: 1 = the largest effect, of either sign
};

struct EffectsReport {
  std::string response;  // in words
  std::vector<std::string> parameters;
  std::vector<EffectGroup> groups;  // complete ones, in the order of the points
  uint64_t incomplete = 0;          // groups that lack a result
  // By parameter, over all groups: the sum of the ranks; the smallest matters most (Yi, Lilja and Hawkins, HPCA 2003).
  std::vector<uint64_t> rank_sums;
};

// Refuses sweeps of another design, unknown metrics and baselines, and sweeps without one complete group.
absl::StatusOr<EffectsReport> ComputeEffects(const SweepFolder& folder, const EffectsOptions& options);

std::string EffectsText(const EffectsReport& report);
nlohmann::ordered_json EffectsJson(const EffectsReport& report);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_EFFECTS_H_
