// All claims of a paper with their scores: what the pages show.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCTION_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCTION_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/measurements.h"
#include "tools/study/reproduce/run_plan.h"
#include "tools/study/reproduce/score.h"

namespace heddle::tools::reproduce {

// A claim under a variation that changes something it is computed from.
struct VariedResult {
  size_t variation = 0;  // index in Paper.variation
  ClaimResult result;
  bool flips = false;  // the verdict is another than with the paper as we read it
};

struct Reproduction {
  const PaperClaims* claims = nullptr;
  std::vector<ClaimResult> results;               // in the order of the claims
  std::vector<std::vector<VariedResult>> varied;  // by claim, those that were planned
  bool sensitivity = false;                       // every variation was planned
  uint32_t jitter = 0;                            // seeds of the noise
  std::string size;                               // of the inputs
  std::string model_version;
  uint64_t replays = 0;
  std::vector<sweep::PlannedTrace> traces;
  const Reproduction* tests = nullptr;  // the same with other inputs, for noise and variations

  struct Count {
    size_t agree = 0, of = 0;
  };
  Count structural() const;
  Count directions() const;  // of values and trends
  Count sizes() const;       // of values
  size_t not_computed() const;
};

// Evaluates every claim, with the plan's seeds, and under every variation that was planned for it. `tests` may be
// nullptr; if not, an effect has to be above its noise, too.
Reproduction Reproduce(const PaperClaims& claims, const RunPlan& plan, Measurements& measurements,
                       const Reproduction* tests);

// One page, headings from the second level on.
std::string PageOf(const Reproduction& reproduction);
nlohmann::ordered_json JsonOf(const Reproduction& reproduction);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCTION_H_
