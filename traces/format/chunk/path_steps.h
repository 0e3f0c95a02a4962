// A program as a table of steps from one two-way decision to the next, and of strides over four decisions, so that a
// path is walked with one look-up for several basic blocks.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_PATH_STEPS_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_PATH_STEPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/program/program.h"

namespace heddle::trace {

// Steps are made when a path first takes them, and hold for one program. Calls, wide branches and programs in which the
// steps would be many times as long as the program have none: general walks (walk.h) are for them.
class PathSteps {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kStrideDecisions = 4;

  // The blocks from behind a decision up to the block that asks for the next one, or that the thread exits in.
  struct Step {
    uint32_t next[2] = {kNone, kNone};  // step behind decision 0 and 1, kNone if it has not been made
    uint32_t instructions = 0;
    uint32_t first_access = 0;  // in sequence()
    uint32_t access_count = 0;
    uint32_t visits = 0;   // for the user, who leaves it 0
    bool decides = false;  // else the thread exits
  };

  // Steps one behind the other, all of which decide.
  struct Stride {
    uint32_t next = kNone;  // the step behind its last decision
    uint32_t instructions = 0;
    uint32_t first_access = 0;  // in sequence()
    uint32_t access_count = 0;
    uint32_t visits = 0;  // for the user, who leaves it 0
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

  // The stride from `step` over kStrideDecisions decisions, the first in the least significant bit of `decisions`;
  // kNone if it would lead to a thread's exit, or if the strides that there are have grown too long.
  uint32_t StrideFrom(uint32_t step, uint32_t decisions) {
    const uint32_t known = stride_from_[(step << kStrideDecisions) + decisions];
    return known < kNotMade ? known : MakeStride(step, decisions);
  }

  Step& step(uint32_t index) { return steps_[index]; }
  Stride& stride(uint32_t index) { return strides_[index]; }
  bool usable() const { return usable_; }

  // Columns of the accesses of all steps and strides. kPadding elements may be read behind those of any.
  const uint16_t* sequence() const { return sequence_.data(); }
  static constexpr uint32_t kPadding = 16;

 private:
  static constexpr uint32_t kNotMade = kNone - 1;

  uint32_t Make(uint32_t step, bool taken);
  uint32_t MakeStride(uint32_t step, uint32_t decisions);

  const Program* program_ = nullptr;
  std::vector<Step> steps_;
  std::vector<uint32_t> last_block_;  // by step
  std::vector<uint32_t> step_at_;     // by block
  std::vector<Stride> strides_;
  std::vector<uint32_t> stride_from_;  // by step and decisions; kNotMade, or kNone if there cannot be one
  std::vector<uint16_t> sequence_;
  uint64_t merged_ = 0;           // instructions of all steps
  uint64_t stride_accesses_ = 0;  // of all strides
  bool usable_ = false;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_PATH_STEPS_H_
