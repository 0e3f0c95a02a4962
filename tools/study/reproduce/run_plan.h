// From the claims of a paper to a sweep: which replays they need.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_RUN_PLAN_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_RUN_PLAN_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/kernel_facts.h"
#include "tools/study/sweep/folder.h"

namespace heddle::tools::reproduce {

// The trace that a kernel of a paper is computed from.
struct KernelTrace {
  std::string path;
  std::string kernels;    // regular expression on the trace's kernels; empty = all
  bool original = false;  // of the paper's own program; else of ours
  std::string name;       // in the sweep: other traces have other ones
};

// Gives a kernel's trace. An error is that kernel's problem and ends nothing.
using TraceFinder = std::function<absl::StatusOr<KernelTrace>(const claims::v1::Kernel& kernel)>;

struct PlanOptions {
  std::string folder;  // of the sweep
  TraceFinder traces;
  TraceFinder paper_traces;            // with the geometry of papers: of Variation.paper_size
  uint32_t jitter = 0;                 // runs with noise on the memory's latencies, seeds 1 to this; 0 = one without
  uint32_t headline_jitter = 0;        // the same of headlines, if it is more
  bool sensitivity = false;            // also every variation, with one seed
  std::set<std::string> suspected;     // claims, by id, that are also run under the variations that they suspect
  std::vector<std::string> registers;  // as `heddle replay --registers` takes them
  bool paper_residency = false;        // as many blocks per SM as the paper states, where it does
  size_t most_replays = SIZE_MAX;      // of a claim and a suspect: those that need more are not run
};

// One replay: `variation` is 0 for the paper as we read it, else one more than the index in Paper.variation; `seed`
// counts from 0.
struct ReplayId {
  size_t variation = 0;
  std::string run, kernel;
  size_t seed = 0;
  auto operator<=>(const ReplayId&) const = default;
};

class RunPlan {
 public:
  // Errors are those of the claims' file: unknown policies, machines, fields. What goes wrong with one kernel (no
  // trace, policies that do not go together) is a problem of its replays.
  static absl::StatusOr<RunPlan> Make(const PaperClaims& claims, const PlanOptions& options);

  // Writes the sweep: points.jsonl and plan.json, as `heddle sweep plan` does. Results that are there stay.
  absl::Status Write(const std::string& folder) const;

  // The key of the replay's result, or why there is none.
  absl::StatusOr<std::string> Key(const ReplayId& id) const;

  // Whether the claim was planned under the variation (numbered as in ReplayId), and is then computed from other
  // replays or kernels than in the paper as we read it.
  bool Varies(size_t variation, const claims::v1::Claim& claim) const;

  uint64_t points() const { return plan_.points; }
  // Of the noise that a claim is run with.
  size_t Seeds(const claims::v1::Claim& claim) const { return claim.headline() ? headline_seeds_ : seeds_; }
  // What the paper as we read it is computed from, by name of the kernels that claims need.
  const std::map<std::string, KernelFacts>& kernels() const { return kernels_; }
  const sweep::Plan& plan() const { return plan_; }

 private:
  struct Entry {
    std::string key;
    std::string problem;  // if there is no key
  };
  // Whether anything that these metrics are computed from is other than in the paper as we read it.
  bool Changes(size_t variation, const claims::v1::Variation& what, const std::set<Need>& needs) const;

  std::map<ReplayId, Entry> entries_;
  std::set<std::pair<size_t, std::string>> varies_;                    // variation, claim
  std::map<std::string, std::map<std::string, sweep::Point>> points_;  // by trace, key
  sweep::Plan plan_;
  std::map<std::string, KernelFacts> kernels_;
  size_t seeds_ = 1;
  size_t headline_seeds_ = 1;

  friend class PlanMaker;
};

// The run with as many blocks of the kernel per SM as the paper states, whatever registers they take; as it is if the
// paper states none.
claims::v1::Run WithPaperResidency(const claims::v1::Run& run, const claims::v1::Kernel& kernel);

// The run under a variation: other fields of its machine, other parameters of its policies.
claims::v1::Run Vary(const claims::v1::Run& run, const claims::v1::Variation& variation);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_RUN_PLAN_H_
