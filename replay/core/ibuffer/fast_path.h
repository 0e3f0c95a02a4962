// A quick second way to run cycles of the front end with instruction buffers.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_FAST_PATH_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_FAST_PATH_H_

#include "replay/core/ibuffer/cycle_accounting.h"
#include "replay/core/ibuffer/fetch_stage.h"
#include "replay/core/ibuffer/ibuffer_state.h"
#include "replay/core/ibuffer/instruction_buffers.h"
#include "replay/core/ibuffer/issue_stage.h"
#include "replay/core/ibuffer/issue_status_unit.h"
#include "replay/core/ibuffer/result_stage.h"
#include "replay/core/resolve_unit.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// The parts of a core that a fast path works on.
struct FastPathParts {
  SmParts& sm;
  IBufferState& state;
  InstructionBuffers& buffers;
  FetchStage& fetch;
  IssueStatusUnit& status;
  IssueStage& issue;
  CycleAccounting& accounting;
  const ResultStage& results;
  const ResolveUnit& resolve;
};

// Must come to the same as the core in every counter and in every call of scheduler, fetch policy and divergence
// policy.
class FastPath {
 public:
  virtual ~FastPath() = default;

  struct Outcome {
    bool ran = false;  // else it would not have paid, nothing has been done, and the rest means nothing
    Cycle until = 0;   // the cycle after the last one that was run
    Cycle next = 0;    // the next cycle in which something can happen; it has not been run
    // The last cycle, `until` - 1, has been run up to a result that is not for here: the core goes on with the results.
    // `next` means nothing then.
    bool unfinished = false;
  };
  // Runs cycles from `next` on that come before `limit`; in none of them may anything come from the memory.
  virtual Outcome Run(Cycle next, Cycle limit) = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_FAST_PATH_H_
