// Where the paths behind a branch meet again.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_POST_DOMINATORS_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_POST_DOMINATORS_H_

#include <cstdint>
#include <vector>

#include "traces/format/program/program.h"

namespace heddle::trace {

// Immediate post-dominators of a function's blocks by the rules of the format, in the form of Block::post_dominator.
std::vector<uint32_t> ComputePostDominators(const Program& program);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_POST_DOMINATORS_H_
