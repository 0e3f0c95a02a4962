// What a wrong policy is stopped with.
#ifndef HEDDLE_REPLAY_SEAMS_POLICY_ERROR_H_
#define HEDDLE_REPLAY_SEAMS_POLICY_ERROR_H_

#include <stdexcept>

namespace heddle::replay {

// The policy is wrong, not the run: it asks for a parameter that it did not declare, its factory makes nothing, its
// declaration contradicts itself. An exception, since it comes from within calls that return values, through code of
// whoever wrote the policy. RegisterPolicy and ReplayLaunch turn it into a status; nothing else catches it.
class PolicyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_POLICY_ERROR_H_
