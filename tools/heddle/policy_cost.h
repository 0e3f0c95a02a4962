// `heddle policies NAME --cost`: the storage that policies would take in hardware.
#ifndef HEDDLE_TOOLS_HEDDLE_POLICY_COST_H_
#define HEDDLE_TOOLS_HEDDLE_POLICY_COST_H_

#include <string>

namespace heddle::tools {

// The structures of the policies, as their papers tabulate them, computed from their parameters and the core of
// `machine`; with several policies also their sum. `policies`: a list as for --divergence, of any seams. Prints results
// and errors itself and returns the exit status.
int ShowPolicyCost(const std::string& policies, const std::string& machine, bool json);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_POLICY_COST_H_
