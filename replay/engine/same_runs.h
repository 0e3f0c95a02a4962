// Configurations that come to the same run.
#ifndef HEDDLE_REPLAY_ENGINE_SAME_RUNS_H_
#define HEDDLE_REPLAY_ENGINE_SAME_RUNS_H_

#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/engine/replay.h"

namespace heddle::replay {

// What a configuration means on a machine.
struct RunMeaning {
  // Equal for configurations that are declared to give the same run: a policy stands for the one that it comes down
  // to there (PolicyInfo::same_as), and parameters that no rule reads are left out (ParameterSpec::only_if).
  std::string text;
  // Why other configurations may have the same text: "fetch policy fef decides as round_robin does:
  // core.ibuffer.fetch_when=EMPTY". Parameters that are not read are told elsewhere (WithoutEffect).
  std::vector<std::string> reasons;
};

// Of a configuration that Validate accepts on the machine.
RunMeaning MeaningOf(const CheckedConfiguration& configuration, const machine::v1::Machine& machine);

// Whether two runs of the same launches came to the same in everything that is not a counter of a policy's own.
bool HaveSameCounters(const result::v1::Result& a, const result::v1::Result& b);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_SAME_RUNS_H_
