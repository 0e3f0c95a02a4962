// Time, progress and failure of one SM.
#ifndef HEDDLE_REPLAY_CORE_SM_RUN_STATE_H_
#define HEDDLE_REPLAY_CORE_SM_RUN_STATE_H_

#include "absl/status/status.h"
#include "replay/seams/types.h"

namespace heddle::replay {

struct SmRunState {
  Cycle now = 0;            // the cycle that is being run, or was run last
  Cycle last_progress = 0;  // the last cycle in which something issued or completed, or a block came
  // Some part of the SM has found an error. All parts set this flag, so that one look per cycle is enough; the status
  // of the part says what it was.
  bool failed = false;
  bool hung = false;    // see SmCore::hung
  absl::Status status;  // the first error of those that the core itself has found

  void Fail(const absl::Status& error) {
    if (!status.ok()) return;
    failed = true;
    status = error;
  }
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SM_RUN_STATE_H_
