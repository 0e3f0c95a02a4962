// Replays of a study that come to the same run.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_EQUAL_RUNS_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_EQUAL_RUNS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/engine/replay.h"

namespace heddle::tools::sweep {

// Collects what is declared to be the same: policies that decide as others do on a machine, and settings that no rule
// reads (replay/engine/same_runs.h).
class EqualRuns {
 public:
  // A run on `machine`, which is `base` after `set`. `name` is what it is called: "machine sms=2, pdom, lrr". Only runs
  // of one `scope`, a trace and its kernels, can be the same.
  void Add(const std::string& scope, const std::string& name, const machine::v1::Machine& base,
           const machine::v1::Machine& machine, const std::vector<std::string>& set,
           const replay::CheckedConfiguration& configuration);

  // A sentence for each policy that decides as another one does on a machine, then one on the runs that are the same,
  // of which each is `replays` replays.
  std::vector<std::string> Notes(uint64_t replays) const;

 private:
  std::map<std::string, std::string> first_;  // by meaning: the name of its first run
  std::set<std::string> reasons_;
  std::string example_;
  uint64_t runs_ = 0;
  uint64_t equal_ = 0;  // to an earlier one
};

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_EQUAL_RUNS_H_
