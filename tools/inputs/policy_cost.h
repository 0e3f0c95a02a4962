// The storage that policies take in hardware.
#ifndef HEDDLE_TOOLS_INPUTS_POLICY_COST_H_
#define HEDDLE_TOOLS_INPUTS_POLICY_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "replay/engine/replay.h"
#include "replay/seams/policy_storage.h"

namespace heddle::tools {

// A policy with its parameters, and the structures that it takes.
struct PolicyCost {
  std::string name;
  std::string text;                                // as on the command line
  const replay::PolicyStorage* storage = nullptr;  // null: its source tabulates no sizes
  std::vector<replay::StorageItem> items;
};

// Of one SM of the machine. InvalidArgument: an unknown policy or wrong parameters.
absl::StatusOr<PolicyCost> CostOf(const replay::PolicySpec& policy, const machine::v1::Machine& machine);

// The bits of one policy, NAME:key=value,... Errors: unknown names, wrong parameters; NotFound if its paper tabulates
// no sizes; FailedPrecondition if a structure has no bound.
absl::StatusOr<uint64_t> PolicyStorageBits(const std::string& policy, const machine::v1::Machine& machine);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_POLICY_COST_H_
