// Policies as the command line gives them, and the runs that follow from their product.
#ifndef HEDDLE_TOOLS_INPUTS_POLICY_LIST_H_
#define HEDDLE_TOOLS_INPUTS_POLICY_LIST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/engine/replay.h"

namespace heddle::tools {

// Splits "nrec,capri:capt_entries=8,history=1bS,pdom" into nrec; capri with two parameters; pdom. A comma separates
// policies, unless the piece behind it has a '=' and no ':' and follows a policy with parameters: then it is a further
// parameter of that policy. Names and parameters are not checked here.
absl::StatusOr<std::vector<replay::PolicySpec>> SplitPolicies(const std::string& text);

// What --divergence, --scheduler, --dispatch, --fetch and --memory ask for.
struct PolicyLists {
  std::string divergence = "pdom";
  std::string scheduler = "lrr";
  std::string dispatch = "thread_blocks";
  std::string fetch = "round_robin";
  std::string memory = "lru";
};

// One run of the product that does not go, and why.
struct SkippedRun {
  replay::CheckedConfiguration configuration;
  std::string reason;
};

struct RunPlan {
  std::vector<replay::CheckedConfiguration> runs;  // divergence slowest, memory fastest
  std::vector<SkippedRun> skipped;
  std::vector<std::string> without_effect;  // a sentence for each parameter that is given and that no rule reads
};

// The product of the lists; "all" stands for every policy of a kind. Unknown names, wrong parameters and policies given
// twice are errors. A combination that does not go together, or not with the machine if one is given, is skipped if
// others of the product remain, and an error if none does.
absl::StatusOr<RunPlan> PlanRuns(const PolicyLists& lists, const machine::v1::Machine* machine = nullptr);

// "name" or "name:key=value,...", as on the command line.
std::string PolicyText(const replay::PolicySpec& policy);

// "divergence", "scheduler", "dispatch", "fetch" or "memory": the seam behind which there is a policy of that name;
// else empty.
std::string SeamOf(const std::string& name);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_POLICY_LIST_H_
