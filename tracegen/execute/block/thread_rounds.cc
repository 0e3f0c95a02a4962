// Kernels whose threads leave frames at barriers (InstrumentedKernel::frame_bytes). The usual case is a round: one loop
// calls all threads of a block in the order in which they would take turns, and each runs from one barrier to the next.
// Whatever a round does not know (threads that give way because their share of the record is used up, a full record,
// warp operations, barriers for some of the threads) ends it where it is, and the block goes on thread by thread; so
// threads run in the same order, and are cut in time at the same places, as on stacks of their own.
#include <algorithm>
#include <bit>
#include <utility>

#include "absl/base/attributes.h"
#include "tracegen/execute/block/block_runner.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kFrameAlignment = 64;  // a cache line, and more than any value of device code needs

// The frame's first word is the function that goes on with it.
void Resume(void* frame) { (*static_cast<void (**)(void*)>(frame))(frame); }

}  // namespace

void BlockRunner::PlaceFrames() {
  frame_stride_ = (kernel_->frame_bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  // Random orders are drawn thread by thread, and of several live blocks each has its turns.
  rounds_allowed_ = UsesFrames() && !options_.order_seed.has_value() && waits_ == &own_waits_;
  const uint64_t bytes = frame_stride_ * thread_count_;
  if (bytes > frame_capacity_) {
    frame_memory_.reset(static_cast<char*>(std::aligned_alloc(kFrameAlignment, bytes)));
    frame_capacity_ = frame_memory_ != nullptr ? bytes : 0;
  }
  frames_ = frame_memory_.get();
}

void BlockRunner::RunFrames() {
  for (;;) {
    if (frame_to_resume_ != kNoThread) {
      ResumeThread(std::exchange(frame_to_resume_, kNoThread));
      context_.meeting_result = static_cast<uint32_t>(threads_[running_].result);
      Resume(FrameOf(running_));
    } else if (next_thread_ < thread_count_ && !RecordFull() && !TurnOver() && stop_ == Stop::kNone) {
      if (next_thread_ == 0 && rounds_allowed_) {
        if (!RunRounds(kNoThread)) continue;
      } else {
        const uint32_t next = next_thread_++;
        StartThread(start_order_.empty() ? next : start_order_[next]);
        SetLimits();
        context_.frame = FrameOf(running_);
        entry_(&context_, arguments_);
      }
    } else {
      return;
    }
    AfterTurn();
  }
}

void BlockRunner::AfterTurn() {
  for (;;) {
    if (context_.meeting == 0) {
      FinishThread();
      return;
    }
    const uint32_t self = running_;
    const FrameBarrier& barrier = kernel_->barriers[context_.meeting - 1];
    if (!ArriveAtBarrier(barrier.site, barrier.id, barrier.threads, barrier.reduction, context_.meeting_predicate)) {
      Leave(nullptr);
      return;
    }
    round_result_ = threads_[self].result;
    context_.meeting_result = static_cast<uint32_t>(round_result_);
    // All threads are at the same barrier, and none on a stack: a round can begin.
    if (rounds_allowed_ && barrier.threads == 0 && on_stacks_ == 0 && ready_count_ + 1 == thread_count_ - exited_) {
      ready_count_ = ready_head_ = 0;
      if (!RunRounds(self)) return;
    } else {
      Resume(FrameOf(self));
    }
  }
}

bool BlockRunner::RunRounds(uint32_t first) {
  round_begins_ = first == kNoThread;
  round_first_ = first;
  in_round_ = true;
  for (;;) {
    switch (RunRound()) {
      case RoundEnd::kWhole:
        if (exited_ != thread_count_) break;
        in_round_ = false;
        return false;
      case RoundEnd::kRecordFull:
        return false;
      case RoundEnd::kLeft:
        return true;
    }
    OpenBarrierOfRound();
  }
}

// What is done here and in RunRound for every thread is most of what a barrier costs.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool BlockRunner::RunInRound(uint32_t index) {
  Thread& thread = threads_[index];
  running_ = index;
  thread.state = State::kRunning;
  if (round_begins_) {
    context_.frame = FrameOf(index);
    entry_(&context_, arguments_);
  } else {
    Resume(FrameOf(index));
  }
  if (context_.meeting == round_meeting_) {
    thread.state = State::kAtBarrier;
  } else if (!ArriveInRound()) {
    return false;
  }
  thread.meeting = context_.meeting;
  KeepOwn(thread, nullptr);
  CloseSegment();
  return true;
}

BlockRunner::RoundEnd BlockRunner::RunRound() {
  round_barrier_ = kNoBarrier;
  round_meeting_ = kNoMeeting;
  // The first one has not waited, so its share of the record is the one it had.
  if (round_first_ != kNoThread && !RunInRound(round_first_)) return RoundEnd::kLeft;
  shares_hold_to_instructions_ = 0;
  for (uint32_t t = 0; t < thread_count_; ++t) {
    const Thread& thread = threads_[t];
    if (thread.state == State::kExited || t == round_first_) continue;
    if ((context_.instructions > shares_hold_to_instructions_ || context_.address_cursor > shares_hold_to_address_) &&
        !ShareRecord()) {
      LeaveRound(t);
      return RoundEnd::kRecordFull;
    }
    if (round_begins_) {
      StartThread(next_thread_++);
    } else {
      context_.own = thread.own;
    }
    limits_are_estimates_ = true;
    context_.instruction_limit = context_.instructions + instruction_share_;
    context_.address_limit = context_.address_cursor + address_share_;
    if (!RunInRound(t)) return RoundEnd::kLeft;
  }
  return RoundEnd::kWhole;
}

bool BlockRunner::ArriveInRound() {
  if (!in_round_) return false;
  Thread& thread = threads_[running_];
  if (context_.meeting == 0) {
    thread.state = State::kExited;
    ++exited_;
    return true;
  }
  const FrameBarrier& barrier = kernel_->barriers[context_.meeting - 1];
  if (round_barrier_ == kNoBarrier && barrier.id < std::size(barriers_)) round_barrier_ = barrier.id;
  if (barrier.id != round_barrier_ || barrier.threads != 0) {
    LeaveRoundOfRunning();
    return false;
  }
  thread.state = State::kAtBarrier;
  BarrierCount& count = barriers_[barrier.id];
  count.reduction = barrier.reduction;
  const bool reduces = barrier.reduction != BarrierReduction::kNone;
  count.count += reduces && context_.meeting_predicate != 0;
  round_meeting_ = reduces ? kNoMeeting : context_.meeting;
  return true;
}

void BlockRunner::OpenBarrierOfRound() {
  BarrierCount& barrier = barriers_[round_barrier_];
  barrier.arrived = thread_count_ - exited_;
  round_result_ = ResultOf(barrier);
  barrier = BarrierCount{};
  context_.meeting_result = static_cast<uint32_t>(round_result_);
  round_first_ = threads_[running_].state == State::kAtBarrier ? running_ : kNoThread;
  round_begins_ = false;
}

void BlockRunner::LeaveRoundOfRunning() {
  threads_[running_].state = State::kRunning;
  LeaveRound(running_ == round_first_ ? 0 : running_ + 1);
}

void BlockRunner::LeaveRound(uint32_t next) {
  in_round_ = false;
  round_meeting_ = kNoMeeting;
  for (uint32_t t = next; t < thread_count_ && !round_begins_; ++t) {
    if (t == round_first_ || threads_[t].state == State::kExited) continue;
    threads_[t].result = round_result_;
    Release(t);
  }
  for (Warp& warp : warps_) warp = Warp{};
  for (uint32_t t = 0; t < thread_count_; ++t) {
    Thread& thread = threads_[t];
    const uint32_t lane = 1u << t % kWarpWidth;
    if (thread.state != State::kExited) warps_[t / kWarpWidth].alive |= lane;
    if (thread.state != State::kAtBarrier) continue;
    thread.barrier = round_barrier_;
    thread.site = kernel_->barriers[thread.meeting - 1].site;
    ++barriers_[round_barrier_].arrived;
    warps_[t / kWarpWidth].blocked |= lane;
  }
}

// Shares that are no larger than those of SetLimits, without its divisions, and that hold until half of what is left of
// the record is used up; Yield asks for the right ones when they are reached. False: nothing is left.
bool BlockRunner::ShareRecord() {
  if (RecordFull()) return false;
  const auto sharers_shift = static_cast<uint32_t>(std::bit_width(uint64_t{thread_count_} - exited_));
  const auto share = [sharers_shift](uint64_t left, uint64_t& holds) {
    holds = left / 2 < kSmallestShare ? 0 : left / 2;
    return std::min(left, std::max(kSmallestShare, holds >> sharers_shift));
  };
  uint64_t holds = 0;
  instruction_share_ = share(part_limit_ - context_.instructions, holds);
  shares_hold_to_instructions_ = context_.instructions + holds;
  address_share_ = share(static_cast<uint64_t>(part_address_limit_ - context_.address_cursor), holds);
  shares_hold_to_address_ = context_.address_cursor + holds;
  return true;
}

}  // namespace heddle::tracegen
