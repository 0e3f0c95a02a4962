// Which executions of an instruction by the threads of a warp are one dynamic instance, as far as its program alone
// says.
#ifndef HEDDLE_REPLAY_ANALYSIS_DYNAMIC_INSTANCES_H_
#define HEDDLE_REPLAY_ANALYSIS_DYNAMIC_INSTANCES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/analysis/cycle_nest.h"
#include "replay/seams/types.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// Follows one thread, instruction by instruction. Two threads execute the same dynamic instance of an instruction if
// they have come to it by the same calls and are in the same iteration of each cycle around it, counted from when they
// entered the cycle.
class ThreadInstances {
 public:
  // The thread executes the instruction at `pc`: its first, or one that the program lets follow on the one before.
  // Returns a number that threads share if, and but for one chance in 2^64 only if, it is the same dynamic instance.
  uint64_t Execute(const trace::Program& program, const CycleNest& nest, Pc pc);

 private:
  struct Count {
    uint32_t cycle;
    uint64_t iteration;
  };
  struct Frame {
    uint64_t calls = 0;         // by which the thread has come here
    uint64_t place = 0;         // the same with the iterations
    std::vector<Count> counts;  // of the cycles around the present block
  };

  void EnterBlock(const CycleNest& nest, uint32_t block);

  std::vector<Frame> frames_ = std::vector<Frame>(1);
  std::vector<Count> earlier_;  // of EnterBlock
  enum class Next : uint8_t { kNothing, kCall, kReturn } next_ = Next::kNothing;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ANALYSIS_DYNAMIC_INSTANCES_H_
