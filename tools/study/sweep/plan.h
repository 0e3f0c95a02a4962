// From a specification to the points of a sweep.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_PLAN_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_PLAN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/study/sweep/folder.h"
#include "tools/study/sweep/spec.h"

namespace heddle::tools::sweep {

// A machine with one setting of the parameters, and the runs that are possible on it.
struct PlannedMachine {
  std::string name;              // as in Point
  std::vector<std::string> set;  // assignments to fields
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string digest;  // MachineDigest
  struct Policies {
    std::string divergence, scheduler, dispatch, fetch, memory;
    std::string canonical;
  };
  std::vector<Policies> policies;
};

// What the points are the product of.
struct Expansion {
  Plan plan;  // without points and their digest
  std::vector<PlannedMachine> machines;
  // The user's machine files: name in the sweep's folder, path.
  std::vector<std::pair<std::string, std::string>> machine_files;
};

// Opens traces and machines and looks policies up. `folder` is where the sweep will be: traces' paths are given from
// there. Refuses what cannot be opened, unknown names, traces or machines of one name, kernels that no trace has, seeds
// on machines without noise, parameters that a machine or policy does not have, machines that are impossible with some
// setting, and designs of few runs of which some would be missing.
absl::StatusOr<Expansion> Expand(const Spec& spec, const std::string& folder);

// Calls `use` for every point, with its key, in the order of their numbers: by trace, kernels, machine and setting,
// policies (divergence slowest, then scheduler, dispatch, fetch, memory), seed. An error of `use` ends it. Refuses two
// points with one key, naming both.
absl::Status ForEachPoint(const Spec& spec, const Expansion& expansion,
                          const std::function<absl::Status(const Point& point)>& use);

// Writes the folder: machine files, points.jsonl, and plan.json last. Results that are there stay; those of points that
// are in the new plan too count for it. Returns the plan as written.
absl::StatusOr<Plan> WritePlan(const Spec& spec, const std::string& folder);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_PLAN_H_
