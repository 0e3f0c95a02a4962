// Which model a result comes from.
#ifndef HEDDLE_REPLAY_ENGINE_MODEL_VERSION_H_
#define HEDDLE_REPLAY_ENGINE_MODEL_VERSION_H_

#include <string>

namespace heddle::replay {

// The version of this program, '+', and a digest of the sources that decide results, policies of HEDDLE_POLICY_DIRS
// among them: builds of the same sources agree wherever they are made, and results of different sources are never mixed
// up. Policies that come otherwise have a digest of their own (PolicyOrigin::code).
std::string ModelVersion();

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_MODEL_VERSION_H_
