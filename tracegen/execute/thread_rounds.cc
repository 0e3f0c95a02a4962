// Kernels whose threads leave frames at barriers (InstrumentedKernel::frame_bytes). The usual case is a round: one loop
// calls all threads of a block in the order in which they would take turns, and each runs from one barrier to the next.
// Whatever a round does not know (threads that give way because their share of the record is used up, a full record,
// warp operations, barriers for some of the threads) ends it where it is, and the block goes on thread by thread; so
// threads run in the same order, and are cut in time at the same places, as on stacks of their own.
#include <algorithm>
#include <bit>
#include <utility>

#include "tracegen/execute/block_runner.h"

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

BlockRunner::RoundEnd BlockRunner::RunRound() {
  share_shift_ = static_cast<uint32_t>(std::bit_width(uint64_t{thread_count_} - exited_));
  round_barrier_ = kNoBarrier;
  if (round_first_ != kNoThread) {
    // It has not waited, so its share of the record is the one it had.
    running_ = round_first_;
    threads_[running_].state = State::kRunning;
    if (!RunInRound(round_first_)) return RoundEnd::kLeft;
  }
  for (uint32_t t = 0; t < thread_count_; ++t) {
    Thread& thread = threads_[t];
    if (t == round_first_ || thread.state == State::kExited) continue;
    if (RecordFull()) {
      LeaveRound(t);
      return RoundEnd::kRecordFull;
    }
    if (round_begins_) {
      StartThread(next_thread_++);
    } else {
      running_ = t;
      thread.state = State::kRunning;
      context_.linear_tid = t;
      std::copy(std::begin(thread.tid), std::end(thread.tid), context_.tid);
      context_.block_base = thread.block_base;
      context_.local_pointer = thread.local_pointer;
      context_.local_limit = reinterpret_cast<char*>(LocalOf(t) + kLocalBytes);
      context_.location = thread.location;
    }
    EstimateLimits();
    if (!RunInRound(t)) return RoundEnd::kLeft;
  }
  return RoundEnd::kWhole;
}

bool BlockRunner::RunInRound(uint32_t index) {
  if (round_begins_) {
    context_.frame = FrameOf(index);
    entry_(&context_, arguments_);
  } else {
    Resume(FrameOf(index));
  }
  if (!in_round_) return false;
  Thread& thread = threads_[index];
  if (context_.meeting == 0) {
    CloseSegment();
    thread.state = State::kExited;
    ++exited_;
    last_arrived_ = false;
    return true;
  }
  const FrameBarrier& barrier = kernel_->barriers[context_.meeting - 1];
  if (round_barrier_ == kNoBarrier && barrier.id < std::size(barriers_)) round_barrier_ = barrier.id;
  if (barrier.id != round_barrier_ || barrier.threads != 0) {
    LeaveRoundOfRunning();
    return false;
  }
  BarrierCount& count = barriers_[barrier.id];
  count.reduction = barrier.reduction;
  ++count.arrived;
  count.count += barrier.reduction != BarrierReduction::kNone && context_.meeting_predicate != 0;
  thread.state = State::kAtBarrier;
  thread.barrier = barrier.id;
  thread.site = barrier.site;
  last_arrived_ = true;
  Leave(nullptr);
  return true;
}

void BlockRunner::OpenBarrierOfRound() {
  BarrierCount& barrier = barriers_[round_barrier_];
  round_result_ = ResultOf(barrier);
  barrier = BarrierCount{};
  context_.meeting_result = static_cast<uint32_t>(round_result_);
  round_first_ = last_arrived_ ? running_ : kNoThread;
  round_begins_ = false;
}

void BlockRunner::LeaveRoundOfRunning() { LeaveRound(running_ == round_first_ ? 0 : running_ + 1); }

void BlockRunner::LeaveRound(uint32_t next) {
  in_round_ = false;
  for (uint32_t t = next; t < thread_count_ && !round_begins_; ++t) {
    if (t == round_first_ || threads_[t].state == State::kExited) continue;
    threads_[t].result = round_result_;
    Release(t);
  }
  for (Warp& warp : warps_) warp = Warp{};
  for (uint32_t t = 0; t < thread_count_; ++t) {
    const uint32_t lane = 1u << t % kWarpWidth;
    if (threads_[t].state != State::kExited) warps_[t / kWarpWidth].alive |= lane;
    if (threads_[t].state == State::kAtBarrier) warps_[t / kWarpWidth].blocked |= lane;
  }
}

// Limits that are no higher than those of SetLimits, without its divisions; Yield asks for the right ones when they are
// reached.
void BlockRunner::EstimateLimits() {
  limits_are_estimates_ = true;
  turn_instructions_ = context_.instructions;
  turn_cursor_ = context_.address_cursor;
  const uint64_t left = part_limit_ - context_.instructions;
  const auto addresses_left = static_cast<uint64_t>(part_address_limit_ - context_.address_cursor);
  context_.instruction_limit = context_.instructions + std::min(left, std::max(kSmallestShare, left >> share_shift_));
  context_.address_limit =
      context_.address_cursor + std::min(addresses_left, std::max(kSmallestShare, addresses_left >> share_shift_));
}

}  // namespace heddle::tracegen
