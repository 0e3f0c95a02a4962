#include "replay/core/async_unit.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "replay/core/clusters/cluster_board.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

using trace::v1::Async;

AsyncUnit::AsyncUnit(const LaunchContext& context, const Formation& formation, ThreadCursors& cursors,
                     MemoryPort& memory)
    : context_(context),
      formation_(formation),
      cursors_(cursors),
      engine_(context.copies, memory),
      barriers_(context.transaction_barriers.arrival_latency()) {
  if (!context.has_async) return;
  threads_.resize(static_cast<size_t>(context.max_threads));
  copies_of_block_.resize(static_cast<size_t>(context.capacity));
}

const CollectiveStep& AsyncUnit::StepOf(SlotId slot) const {
  return context_.CollectiveOf(formation_.table().position[slot].pc());
}

// --- from issue

void AsyncUnit::Issue(SlotId slot, SharedLocator& locator, Cycle now) {
  const CollectiveStep& step = StepOf(slot);
  const Lanes& lanes = formation_.table().lanes[slot];
  TakeOperands(step, lanes, cursors_, values_);
  switch (step.role) {
    case Async::COPY:
      BeginCopies(slot, step, now);
      break;
    case Async::COMMIT:
      ForEachLane(lanes.mask, [&](int lane) { threads_[lanes.thread[lane]].copies.Commit(latest_); });
      break;
    case Async::WAIT_GROUP:
    case Async::WAIT_ALL:
      break;
    default:
      UseBarriers(slot, step, ArriveAtOthers(slot, step, locator, now), now);
      break;
  }
}

// Threads of several blocks, if a policy has put them together, make a copy for each block.
void AsyncUnit::BeginCopies(SlotId slot, const CollectiveStep& step, Cycle now) {
  const Lanes& lanes = formation_.table().lanes[slot];
  const int sizes = step.Find(trace::v1::Operand::BYTES);
  WarpCopy copy;
  copy.slot = slot;
  copy.pc = formation_.table().position[slot].pc();
  copy.bytes = step.bytes;
  copy.lanes.thread = lanes.thread;
  copy.from = values_[0];
  copy.to = values_[1];
  for (LaneMask left = lanes.mask; left != 0; left &= ~copy.lanes.mask) {
    copy.block = formation_.block_of(lanes.thread[std::countr_zero(left)]);
    copy.number = ++latest_;
    copy.lanes.mask = copy.reads = 0;
    ForEachLane(left, [&](int lane) {
      if (formation_.block_of(lanes.thread[lane]) != copy.block) return;
      copy.lanes.mask |= LaneMask{1} << lane;
      const bool reads = sizes < 0 || values_[static_cast<size_t>(sizes)][static_cast<size_t>(lane)] != 0;
      copy.reads |= LaneMask{reads} << lane;
      threads_[lanes.thread[lane]].copies.Begin(copy.number);
    });
    ++copies_of_block_[copy.block];
    engine_.Start(copy, now);
  }
}

LaneMask AsyncUnit::ArriveAtOthers(SlotId slot, const CollectiveStep& step, SharedLocator& locator, Cycle now) {
  const Lanes& lanes = formation_.table().lanes[slot];
  const Pc pc = formation_.table().position[slot].pc();
  if (!context_.steps[pc].cluster) [[likely]]
    return lanes.mask;
  const int counts = step.Find(trace::v1::Operand::COUNT);
  LaneMask own = 0;
  ForEachLane(lanes.mask, [&](int lane) {
    const auto at = static_cast<size_t>(lane);
    const auto place = locator.LocateOne(pc, lanes.thread[at], values_[0][at]);
    if (!place.has_value()) {
      own |= LaneMask{1} << lane;
    } else if (step.role == Async::BARRIER_ARRIVE) {
      const uint64_t count = counts < 0 ? 1 : values_[static_cast<size_t>(counts)][at];
      context_.clusters->ArriveAt(place->block, place->rank, place->address, count, step.drops_arrivals, now);
    } else {
      locator.Fail(pc, lanes.thread[at], values_[0][at],
                   "a transaction barrier of another block, where it may only arrive");
    }
  });
  return own;
}

void AsyncUnit::UseBarriers(SlotId slot, const CollectiveStep& step, LaneMask mask, Cycle now) {
  const Lanes& lanes = formation_.table().lanes[slot];
  const int counts = step.Find(trace::v1::Operand::COUNT);
  if (step.role == Async::BARRIER_WAIT) {
    if (barrier_waits_.size() <= slot) barrier_waits_.resize(size_t{slot} + 1);
    barrier_waits_[slot] = {values_[0], values_[static_cast<size_t>(counts)]};
    return;
  }
  changed_ = true;
  ForEachLane(mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    const BlockId block = formation_.block_of(thread);
    const auto at = static_cast<size_t>(lane);
    const uint64_t address = values_[0][at];
    const uint64_t count = counts < 0 ? 1 : values_[static_cast<size_t>(counts)][at];
    switch (step.role) {
      case Async::BARRIER_INIT:
        barriers_.Init(block, address, count);
        break;
      case Async::BARRIER_INVALIDATE:
        barriers_.Invalidate(block, address);
        break;
      case Async::BARRIER_ARRIVE:
        barriers_.Arrive(block, address, count, step.drops_arrivals, now);
        break;
      case Async::BARRIER_COPIES:
        if (step.adds_arrival) barriers_.ExpectOneMore(block, address);
        threads_[thread].arrivals.push_back({block, latest_, address});
        ++arrivals_to_come_;
        ArriveBehindCopies(threads_[thread], now);
        break;
      default:
        break;
    }
  });
}

bool AsyncUnit::BarrierPending(SlotId slot) const {
  const Lanes& lanes = formation_.table().lanes[slot];
  const BarrierWait& wait = barrier_waits_[slot];
  bool pending = false;
  ForEachLane(lanes.mask, [&](int lane) {
    const auto at = static_cast<size_t>(lane);
    const BlockId block = formation_.block_of(lanes.thread[lane]);
    pending |= barriers_.PhasesOver(block, wait.address[at]) < wait.phases[at];
  });
  return pending;
}

bool AsyncUnit::Waits(SlotId slot) const {
  const CollectiveStep& step = StepOf(slot);
  if (step.role == Async::BARRIER_WAIT) return BarrierPending(slot);
  if (!step.waits()) return false;
  const Lanes& lanes = formation_.table().lanes[slot];
  bool pending = false;
  ForEachLane(lanes.mask, [&](int lane) {
    const CopyProgress& copies = threads_[lanes.thread[lane]].copies;
    pending |= step.role == Async::WAIT_ALL ? copies.AnyPending(latest_) : copies.GroupsPending(step.most_pending);
  });
  return pending;
}

// --- a cycle

void AsyncUnit::EndCopy(const WarpCopy& copy, Cycle now) {
  changed_ = true;
  ForEachLane(copy.lanes.mask, [&](int lane) {
    Thread& thread = threads_[copy.lanes.thread[lane]];
    thread.copies.End(copy.number);
    ArriveBehindCopies(thread, now);
  });
  for (size_t i = static_cast<size_t>(context_.max_threads); i < threads_.size();) {
    threads_[i].copies.End(copy.number);
    ArriveBehindCopies(threads_[i], now);
    if (threads_[i].arrivals.empty()) {
      threads_.erase(threads_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (--copies_of_block_[copy.block] == 0) idle_blocks_.push_back(copy.block);
}

void AsyncUnit::ArriveBehindCopies(Thread& thread, Cycle now) {
  auto next = thread.arrivals.begin();
  for (; next != thread.arrivals.end() && !thread.copies.AnyPending(next->copy); ++next) {
    barriers_.Arrive(next->block, next->address, 1, /*drops=*/false, now);
    --arrivals_to_come_;
    changed_ = true;
  }
  thread.arrivals.erase(thread.arrivals.begin(), next);
}

void AsyncUnit::RunCycle(Cycle now) {
  waits_.BeginCycle();
  idle_blocks_.clear();
  engine_.RunCycle(now);
  for (const WarpCopy& copy : engine_.ended()) EndCopy(copy, now);
  changed_ |= barriers_.CountArrivals(now);
  if (changed_) {
    const auto is_over = [this](SlotId slot) { return !Waits(slot); };
    const auto cycles_to_wake = [this](SlotId slot) {
      return StepOf(slot).role == Async::BARRIER_WAIT ? context_.transaction_barriers.wake_latency() : 0;
    };
    waits_.EndWaits(now, is_over, cycles_to_wake);
  }
  changed_ = false;
  waits_.Release(now);
}

Cycle AsyncUnit::NextWake(Cycle now) const {
  if (changed_ && waits_.any_waiting()) return now + 1;
  return std::min({engine_.NextWake(now), std::max(now + 1, barriers_.NextArrival()), waits_.NextRelease()});
}

void AsyncUnit::Admit(uint32_t first, uint32_t threads) {
  if (!used()) return;
  for (uint32_t i = first; i < first + threads; ++i) {
    Thread gone = std::exchange(threads_[i], Thread());
    if (!gone.arrivals.empty()) threads_.push_back(std::move(gone));
  }
}

}  // namespace heddle::replay
