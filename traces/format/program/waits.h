// What a reader demands of the waits that a launch lists.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_WAITS_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_WAITS_H_

#include <algorithm>
#include <cstdint>

#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Whether all instructions, blocks and threads that `end` names exist in a launch of `program` with so many blocks, of
// so many threads each.
inline bool WaitsExist(const v1::LaunchEnd& end, const Program& program, uint64_t grid_blocks, uint64_t block_threads) {
  return std::all_of(end.wait().begin(), end.wait().end(), [&](const v1::Wait& wait) {
    return wait.instruction() < program.instruction_count() && wait.block() < grid_blocks &&
           wait.thread() < block_threads &&
           (!wait.writer_known() || (wait.writer_block() < grid_blocks && wait.writer_thread() < block_threads));
  });
}

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_WAITS_H_
