#include "tracegen/execute/block/frame_rounds.h"

#include "absl/base/attributes.h"

namespace heddle::tracegen {

void FrameRounds::BeginLaunch(const KernelCall& call, bool allowed) {
  call_ = call;
  has_room_ = frames_.Place(call.kernel->frame_bytes, threads_.count());
  allowed_ = allowed && is_active();
}

bool FrameRounds::Run(uint32_t first) {
  round_.starts = first == kNoThread;
  round_.first = first;
  if (!round_.starts) {
    round_.result = threads_[first].result;
    context_.frame_barrier_result = static_cast<uint32_t>(round_.result);
  }
  in_round_ = true;
  for (;;) {
    switch (RunRound()) {
      case End::kWhole:
        if (threads_.alive() != 0) break;
        in_round_ = false;
        return false;
      case End::kRecordFull:
        return false;
      case End::kLeft:
        return true;
    }
    OpenBarrier();
  }
}

// What is done here and in RunRound for every thread is most of what a barrier costs.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool FrameRounds::RunThread(uint32_t index) {
  ThreadContext& context = context_;
  DeviceThread& thread = threads_.SetRunning(index);
  if (round_.starts) {
    StartRunning();
  } else {
    Resume(index);
  }
  if (context.frame_barrier == round_.frame_barrier) {
    thread.state = ThreadState::kAtBarrier;
  } else if (!ArriveRunning()) {
    return false;
  }
  thread.frame_barrier = context.frame_barrier;
  thread.Keep(context, nullptr);
  log_.Close(index, context.address_cursor, context.decision_cursor);
  return true;
}

FrameRounds::End FrameRounds::RunRound() {
  round_.barrier = kNoBarrier;
  round_.frame_barrier = kNoFrameBarrier;
  round_.brought = BarrierCount{};
  // The first one has not waited, so its share of the record is the one it had.
  if (round_.first != kNoThread && !RunThread(round_.first)) return End::kLeft;
  limits_.ForgetShares();
  const uint32_t count = threads_.count();
  for (uint32_t t = 0; t < count; ++t) {
    const DeviceThread& thread = threads_[t];
    if (thread.state == ThreadState::kExited || t == round_.first) continue;
    if (!limits_.SharesHold() && !limits_.EstimateShares()) {
      Leave(t);
      return End::kRecordFull;
    }
    if (round_.starts) {
      threads_.StartNext(context_);
    } else {
      context_.own = thread.own;
    }
    limits_.SetEstimate();
    if (!RunThread(t)) return End::kLeft;
  }
  return End::kWhole;
}

bool FrameRounds::ArriveRunning() {
  if (!in_round_) return false;
  if (context_.frame_barrier == 0) {
    threads_.ExitRunning();
    return true;
  }
  const FrameBarrier& barrier = call_.kernel->barriers[context_.frame_barrier - 1];
  if (round_.barrier == kNoBarrier && barrier.id < BarrierTable::kBarriers) round_.barrier = barrier.id;
  if (barrier.id != round_.barrier || barrier.threads != 0) {
    LeaveByRunning();
    return false;
  }
  threads_.current().state = ThreadState::kAtBarrier;
  const bool reduces = barrier.reduction != BarrierReduction::kNone;
  round_.brought.reduction = barrier.reduction;
  round_.brought.count += reduces && context_.frame_barrier_predicate != 0;
  round_.frame_barrier = reduces ? kNoFrameBarrier : context_.frame_barrier;
  return true;
}

void FrameRounds::OpenBarrier() {
  round_.brought.arrived = threads_.alive();
  round_.result = round_.brought.Result();
  context_.frame_barrier_result = static_cast<uint32_t>(round_.result);
  round_.first = threads_.current().state == ThreadState::kAtBarrier ? threads_.running() : kNoThread;
  round_.starts = false;
}

void FrameRounds::LeaveByRunning() {
  threads_.current().state = ThreadState::kRunning;
  Leave(threads_.running() == round_.first ? 0 : threads_.running() + 1);
}

void FrameRounds::Leave(uint32_t next) {
  in_round_ = false;
  round_.frame_barrier = kNoFrameBarrier;
  for (uint32_t t = next; t < threads_.count() && !round_.starts; ++t) {
    if (t == round_.first || threads_[t].state == ThreadState::kExited) continue;
    threads_[t].result = round_.result;
    threads_.Release(t);
  }
  warps_.Recount();
  if (round_.barrier == kNoBarrier) return;
  barriers_.Restore(round_.barrier, round_.brought);
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    if (threads_[t].state != ThreadState::kAtBarrier) continue;
    barriers_.RestoreThread(round_.barrier, t, call_.kernel->barriers[threads_[t].frame_barrier - 1].site);
  }
}

}  // namespace heddle::tracegen
