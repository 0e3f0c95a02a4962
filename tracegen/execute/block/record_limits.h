// How far a thread may run before it yields.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_LIMITS_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_LIMITS_H_

#include <cstdint>

#include "tracegen/execute/block/runner_options.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// A block is cut in time into parts, each with room for so many instructions and accesses. The threads that have not
// exited share what is left of the part, so that all of them move on about equally. Generated code compares what it has
// recorded with the two limits in the context, and asks (heddle_yield) when it has reached one.
class RecordLimits {
 public:
  // All must outlive the object. Options count as they are when they are needed.
  RecordLimits(const RunnerOptions& options, ThreadContext& context, ThreadScheduler& threads)
      : options_(options), context_(context), threads_(threads) {}

  // A block begins.
  void BeginBlock() { are_estimates_ = false; }
  // A part begins where the context's cursors are.
  void BeginPart();
  // The block's turn ends at so many instructions, as the context counts them.
  void EndTurnAt(uint64_t instructions) { turn_limit_ = instructions; }

  // Nothing is left of the part.
  bool IsFull() const { return context_.instructions >= part_limit_ || context_.address_cursor >= part_address_limit_; }
  // Other blocks are to go on.
  bool IsTurnOver() const { return context_.instructions >= turn_limit_; }

  // Gives the running thread its share, from where the context is.
  void Set() { SetFrom(context_.instructions, context_.address_cursor); }

  // Set for many threads, without divisions: shares that are no larger than those of Set, and that hold until half
  // of what is left of the part is used up. False: nothing is left.
  bool EstimateShares();
  // No estimates so far: the next thread needs some.
  void ForgetShares() { shares_hold_to_instructions_ = 0; }
  bool SharesHold() const {
    return context_.instructions <= shares_hold_to_instructions_ && context_.address_cursor <= shares_hold_to_address_;
  }
  // Gives the thread that goes on now its estimated share.
  void SetEstimate() {
    are_estimates_ = true;
    context_.instruction_limit = context_.instructions + instruction_share_;
    context_.address_limit = context_.address_cursor + address_share_;
  }
  // The running thread has reached a limit. True: it was an estimate, and the exact one lets the thread go on.
  bool Relax();

 private:
  void SetFrom(uint64_t instructions, const uint64_t* cursor);  // of a thread that went on there

  const RunnerOptions& options_;
  ThreadContext& context_;
  ThreadScheduler& threads_;
  uint64_t part_limit_ = 0;  // of instructions
  const uint64_t* part_address_limit_ = nullptr;
  uint64_t turn_limit_ = ~uint64_t{0};
  // What SetEstimate grants, and how long the record may be for it.
  bool are_estimates_ = false;  // the context's limits
  uint64_t instruction_share_ = 0;
  uint64_t address_share_ = 0;
  uint64_t shares_hold_to_instructions_ = 0;
  const uint64_t* shares_hold_to_address_ = nullptr;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_LIMITS_H_
