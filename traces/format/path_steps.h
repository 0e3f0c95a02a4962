// A program as a table of steps from one two-way decision to the next, so that a path is walked with one look-up per
// decision, not one per basic block.
#ifndef HEDDLE_TRACES_FORMAT_PATH_STEPS_H_
#define HEDDLE_TRACES_FORMAT_PATH_STEPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/program.h"

namespace heddle::trace {

// Steps are made when a path first takes them, and hold for one program. Calls, wide branches and programs in which the
// steps would be many times as long as the program have none: general walks (walk.h) are for them.
class PathSteps {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // The blocks from behind a decision up to the block that asks for the next one, or that the thread exits in.
  struct Step {
    uint32_t next[2] = {kNone, kNone};  // step behind decision 0 and 1, kNone if it has not been made
    uint32_t instructions = 0;
    uint32_t first_access = 0;  // in sequence()
    uint32_t access_count = 0;
    uint32_t visits = 0;   // for the user, who leaves it 0
    bool decides = false;  // else the thread exits
  };

  // Forgets all steps and prepares for those of `program`, which must live as long as they are asked for.
  void Reset(const Program& program);

  // The step that starts with `block`; kNone if there is none, then there are none from now on.
  uint32_t At(uint32_t block);

  // The step behind decision `taken` of `step`, which decides.
  uint32_t Behind(uint32_t step, bool taken) {
    const uint32_t known = steps_[step].next[taken];
    return known != kNone ? known : Make(step, taken);
  }

  Step& step(uint32_t index) { return steps_[index]; }
  bool usable() const { return usable_; }

  // Columns of the accesses of all steps. kPadding elements may be read behind those of any step.
  const uint16_t* sequence() const { return sequence_.data(); }
  static constexpr uint32_t kPadding = 8;

 private:
  uint32_t Make(uint32_t step, bool taken);

  const Program* program_ = nullptr;
  std::vector<Step> steps_;
  std::vector<uint32_t> last_block_;  // by step
  std::vector<uint32_t> step_at_;     // by block
  std::vector<uint16_t> sequence_;
  uint64_t merged_ = 0;  // instructions of all steps
  bool usable_ = false;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PATH_STEPS_H_
