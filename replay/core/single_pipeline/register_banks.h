// Register banks of the front end with a single pipeline.
#ifndef HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_REGISTER_BANKS_H_
#define HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_REGISTER_BANKS_H_

#include "replay/core/launch_context.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Extra cycles for which the threads of one register bank wait for one another (Fung's thesis, section 5.1.1): threads
// of one home lane read the same bank, one after another. Warps that keep to their home lanes never wait.
int RegisterBankPenalty(const LaunchContext& context, const Lanes& lanes);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_REGISTER_BANKS_H_
