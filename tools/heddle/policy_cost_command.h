// `heddle policies NAME --cost`: the storage that policies would take in hardware.
#ifndef HEDDLE_TOOLS_HEDDLE_POLICY_COST_COMMAND_H_
#define HEDDLE_TOOLS_HEDDLE_POLICY_COST_COMMAND_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"

namespace heddle::tools {

// The structures of the policies, as their papers tabulate them, computed from their parameters and the core of
// `machine`; with several policies also their sum. `policies`: a list as for --divergence, of any seams. Prints results
// and complaints itself and returns the exit status.
int PolicyCostCommand(const std::string& policies, const std::string& machine, bool json);

// The bits of one policy, NAME:key=value,... Errors: unknown names, wrong parameters; NotFound if its paper tabulates
// no sizes; FailedPrecondition if a structure has no bound.
absl::StatusOr<uint64_t> PolicyStorageBits(const std::string& policy, const machine::v1::Machine& machine);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_POLICY_COST_COMMAND_H_
