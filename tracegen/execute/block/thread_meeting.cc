// Where threads of a block wait for one another: barriers (PTX ISA 9.7.13.1) and operations of a warp
// (9.7.9.6, 9.7.13.4).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/block_runner.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kPredicate = uint64_t{1} << 32;

// Source lane of a shuffle, and whether it is in range.
struct ShuffleSource {
  uint32_t lane = 0;
  bool in_range = false;
};
ShuffleSource SourceLane(WarpOperation operation, uint32_t lane, uint32_t b, uint32_t c) {
  uint32_t offset = b & 31;
  uint32_t clamp = c & 31;
  uint32_t segment = c >> 8 & 31;
  uint32_t highest = (lane & segment) | (clamp & ~segment);
  uint32_t lowest = lane & segment;
  int source = 0;
  bool in_range = false;
  switch (operation) {
    case WarpOperation::kShuffleUp:
      source = static_cast<int>(lane) - static_cast<int>(offset);
      in_range = source >= static_cast<int>(highest);
      break;
    case WarpOperation::kShuffleDown:
      source = static_cast<int>(lane + offset);
      in_range = source <= static_cast<int>(highest);
      break;
    case WarpOperation::kShuffleButterfly:
      source = static_cast<int>(lane ^ offset);
      in_range = source <= static_cast<int>(highest);
      break;
    default:
      source = static_cast<int>(lowest | (offset & ~segment));
      in_range = source <= static_cast<int>(highest);
      break;
  }
  return {in_range ? static_cast<uint32_t>(source) : lane, in_range};
}

bool IsShuffle(WarpOperation operation) {
  return operation >= WarpOperation::kShuffleUp && operation <= WarpOperation::kShuffleIndex;
}

const char* NameOf(WarpOperation operation) {
  if (IsShuffle(operation)) return "shuffle";
  switch (operation) {
    case WarpOperation::kSync:
      return "syncwarp";
    case WarpOperation::kVoteAll:
    case WarpOperation::kVoteAny:
    case WarpOperation::kVoteUniform:
    case WarpOperation::kBallot:
      return "vote";
    case WarpOperation::kMatchAny:
    case WarpOperation::kMatchAll:
      return "match";
    case WarpOperation::kActiveMask:
      return "activemask";
    default:
      return "warp reduction";
  }
}

uint32_t Reduce(WarpOperation operation, uint32_t a, uint32_t b) {
  switch (operation) {
    case WarpOperation::kReduceAdd:
      return a + b;
    case WarpOperation::kReduceMin:
      return static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
    case WarpOperation::kReduceMax:
      return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
    case WarpOperation::kReduceUnsignedMin:
      return std::min(a, b);
    case WarpOperation::kReduceUnsignedMax:
      return std::max(a, b);
    case WarpOperation::kReduceAnd:
      return a & b;
    case WarpOperation::kReduceOr:
      return a | b;
    default:
      return a ^ b;
  }
}

}  // namespace

uint32_t BlockRunner::Barrier(uint32_t site, uint32_t id, uint32_t threads, BarrierReduction reduction,
                              uint32_t predicate) {
  const uint32_t self = running_;
  if (in_round_) LeaveRoundOfRunning();
  if (!ArriveAtBarrier(site, id, threads, reduction, predicate)) Suspend();
  return static_cast<uint32_t>(threads_[self].result);
}

bool BlockRunner::ArriveAtBarrier(uint32_t site, uint32_t id, uint32_t threads, BarrierReduction reduction,
                                  uint32_t predicate) {
  if (id >= 16)
    Fail(absl::StrCat("barrier ", id, " at ", SiteText(site), " does not exist: a block has barriers 0 to 15"));
  if (threads > thread_count_) {
    Fail(absl::StrCat("the barrier at ", SiteText(site), " waits for ", threads, " threads, but the block has ",
                      thread_count_));
  }
  BarrierCount& barrier = barriers_[id];
  if (barrier.arrived > 0 && barrier.expected != threads) {
    Fail(absl::StrCat("barrier ", id, " at ", SiteText(site),
                      " waits for another number of threads than the threads that "
                      "wait there already"));
  }
  NoteMeeting(site, reduction != BarrierReduction::kNone, predicate);
  barrier.expected = threads;
  barrier.reduction = reduction;
  ++barrier.arrived;
  barrier.count += predicate != 0;
  Thread& thread = threads_[running_];
  thread.state = State::kAtBarrier;
  thread.barrier = id;
  thread.site = site;
  uint32_t warp = running_ / kWarpWidth;
  warps_[warp].blocked |= 1u << running_ % kWarpWidth;
  uint32_t self = running_;
  CheckBarrier(id);
  if (thread.state == State::kReady) {
    // The last to arrive was queued behind those it released; it goes on at once instead.
    uint32_t last = ready_head_ + ready_count_ - 1;
    for (uint32_t i = 0; i < ready_count_; ++i) {
      uint32_t slot = (last + thread_count_ - i) % thread_count_;
      if (ready_[slot] != self) continue;
      for (uint32_t j = i; j > 0; --j) {
        ready_[(last + thread_count_ - j) % thread_count_] = ready_[(last + thread_count_ - j + 1) % thread_count_];
      }
      break;
    }
    --ready_count_;
    thread.state = State::kRunning;
    return true;
  }
  if (warps_[warp].blocked == warps_[warp].alive) CheckWarp(warp);
  return false;
}

// A thread that waits in a loop, and brings what it has brought before, lets nobody go on who would not have before.
void BlockRunner::NoteMeeting(uint32_t site, bool brings_value, uint64_t value) {
  if (kernel_->waits.empty()) return;
  NoteActivity();
  if (!brings_value) return;
  Polling& polling = polling_[running_];
  if (polling.last_site != site + 1 || polling.last_value != value) waits_->Changed();
  polling.last_site = site + 1;
  polling.last_value = value;
}

uint32_t BlockRunner::ResultOf(const BarrierCount& barrier) {
  switch (barrier.reduction) {
    case BarrierReduction::kNone:
      return 0;
    case BarrierReduction::kCount:
      return barrier.count;
    case BarrierReduction::kAnd:
      return barrier.count == barrier.arrived;
    case BarrierReduction::kOr:
      return barrier.count > 0;
  }
  return 0;
}

// Opens the barrier if everybody is there. Threads that have exited count as arrived, unless a number was given.
void BlockRunner::CheckBarrier(uint32_t id) {
  BarrierCount& barrier = barriers_[id];
  if (barrier.arrived == 0) return;
  bool open = barrier.expected == 0 ? barrier.arrived + exited_ >= thread_count_ : barrier.arrived >= barrier.expected;
  if (!open) return;
  const uint32_t result = ResultOf(barrier);
  barrier = BarrierCount{};
  for (uint32_t t = 0; t < thread_count_; ++t) {
    Thread& thread = threads_[t];
    if (thread.state != State::kAtBarrier || thread.barrier != id) continue;
    thread.result = result;
    warps_[t / kWarpWidth].blocked &= ~(1u << t % kWarpWidth);
    Release(t);
  }
}

uint64_t BlockRunner::WarpMeeting(uint32_t site, WarpOperation operation, uint32_t mask, uint64_t value, uint32_t b,
                                  uint32_t c, bool converged) {
  uint32_t self = running_;
  uint32_t warp = self / kWarpWidth;
  uint32_t lane = self % kWarpWidth;
  if (in_round_) LeaveRoundOfRunning();
  if (!converged && (mask >> lane & 1) == 0) {
    Fail(absl::StrCat("the ", NameOf(operation), " at ", SiteText(site), " has a mask (0x", absl::Hex(mask),
                      ") without the calling lane ", lane));
  }
  NoteMeeting(site, operation != WarpOperation::kSync, value);
  Thread& thread = threads_[self];
  thread.state = converged ? State::kConverging : State::kAtWarpOperation;
  thread.operation = operation;
  thread.site = site;
  thread.mask = mask;
  thread.value = value;
  thread.b = b;
  thread.c = c;
  warps_[warp].blocked |= 1u << lane;
  bool complete = !converged && CompleteMeeting(warp, lane);
  if (!complete && warps_[warp].blocked == warps_[warp].alive) CheckWarp(warp);
  if (thread.state == State::kReady && ready_count_ > 0 &&
      ready_[(ready_head_ + ready_count_ - 1) % thread_count_] == self) {
    // Lanes were released in order; the caller, if it is the last of them, need not switch.
    --ready_count_;
    thread.state = State::kRunning;
    return thread.result;
  }
  Suspend();
  return threads_[self].result;
}

// Looks whether lanes of the warp can go on now that one more has exited or waits.
void BlockRunner::CheckWarp(uint32_t warp) {
  for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
    uint32_t thread = warp * kWarpWidth + lane;
    if (thread < thread_count_ && threads_[thread].state == State::kAtWarpOperation) CompleteMeeting(warp, lane);
  }
  if (warps_[warp].blocked == warps_[warp].alive) CompleteConverged(warp);
}

bool BlockRunner::CompleteMeeting(uint32_t warp, uint32_t lane) {
  const Thread& caller = threads_[warp * kWarpWidth + lane];
  uint32_t needed = caller.mask & warps_[warp].alive;
  if ((warps_[warp].blocked & needed) != needed) return false;
  for (uint32_t rest = needed; rest != 0; rest &= rest - 1) {
    const Thread& other = threads_[warp * kWarpWidth + static_cast<uint32_t>(__builtin_ctz(rest))];
    if (other.state != State::kAtWarpOperation || other.mask != caller.mask || other.operation != caller.operation) {
      return false;
    }
  }
  Resolve(warp, needed);
  return true;
}

// Operations without a mask of their own (activemask, and shuffles and votes of older PTX) see the lanes that run
// together. Which lanes do is the machine's choice; here they are all lanes that reach the same place before the warp
// cannot move otherwise, as on a machine that reconverges as early as possible.
void BlockRunner::CompleteConverged(uint32_t warp) {
  uint32_t lanes = 0;
  uint32_t site = 0;
  for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
    uint32_t index = warp * kWarpWidth + lane;
    if (index >= thread_count_ || threads_[index].state != State::kConverging) continue;
    if (lanes == 0) site = threads_[index].site;
    if (threads_[index].site == site) lanes |= 1u << lane;
  }
  if (lanes != 0) Resolve(warp, lanes);
}

void BlockRunner::Resolve(uint32_t warp, uint32_t lanes) {
  Thread* threads = &threads_[warp * kWarpWidth];
  auto for_each = [&](auto&& function) {
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) function(static_cast<uint32_t>(__builtin_ctz(rest)));
  };
  uint32_t first = static_cast<uint32_t>(__builtin_ctz(lanes));
  WarpOperation operation = threads[first].operation;
  uint32_t votes = 0;
  bool equal = true;
  uint32_t reduced = static_cast<uint32_t>(threads[first].value);
  for_each([&](uint32_t lane) {
    if (threads[lane].value != 0) votes |= 1u << lane;
    equal = equal && threads[lane].value == threads[first].value;
    if (lane != first) reduced = Reduce(operation, reduced, static_cast<uint32_t>(threads[lane].value));
  });
  for_each([&](uint32_t lane) {
    Thread& thread = threads[lane];
    switch (operation) {
      case WarpOperation::kSync:
        thread.result = 0;
        break;
      case WarpOperation::kVoteAll:
        thread.result = votes == lanes;
        break;
      case WarpOperation::kVoteAny:
        thread.result = votes != 0;
        break;
      case WarpOperation::kVoteUniform:
        thread.result = votes == 0 || votes == lanes;
        break;
      case WarpOperation::kBallot:
        thread.result = votes;
        break;
      case WarpOperation::kActiveMask:
        thread.result = lanes;
        break;
      case WarpOperation::kMatchAny: {
        uint32_t same = 0;
        for_each([&](uint32_t other) { same |= (threads[other].value == thread.value ? 1u : 0u) << other; });
        thread.result = same;
        break;
      }
      case WarpOperation::kMatchAll:
        thread.result = equal ? kPredicate | lanes : 0;
        break;
      default:
        if (IsShuffle(operation)) {
          ShuffleSource source = SourceLane(operation, lane, thread.b, thread.c);
          // A lane that does not take part has no value to give. What then comes is undefined; programs that add it up,
          // such as the reductions of the vendor's samples, count on 0.
          const uint64_t value = lanes >> source.lane & 1 ? threads[source.lane].value & 0xffffffff : 0;
          thread.result = value | (source.in_range ? kPredicate : 0);
        } else {
          thread.result = reduced;
        }
        break;
    }
  });
  // The running thread is released last, so that it can go on without a switch.
  for_each([&](uint32_t lane) {
    warps_[warp].blocked &= ~(1u << lane);
    if (warp * kWarpWidth + lane != running_) Release(warp * kWarpWidth + lane);
  });
  if (running_ / kWarpWidth == warp && (lanes >> running_ % kWarpWidth & 1) != 0) Release(running_);
}

absl::Status BlockRunner::StuckError() const {
  // Group the waiting threads by what they wait for, the first few groups are enough to see the reason.
  struct Group {
    std::string what;
    uint32_t first = 0;
    uint32_t threads = 0;
  };
  std::vector<Group> groups;
  for (uint32_t t = 0; t < thread_count_; ++t) {
    const Thread& thread = threads_[t];
    std::string what;
    if (thread.state == State::kAtBarrier) {
      what = absl::StrCat("barrier ", thread.barrier, " at ", SiteText(thread.site));
    } else if (thread.state == State::kAtWarpOperation) {
      what = absl::StrCat("the ", NameOf(thread.operation), " (mask 0x", absl::Hex(thread.mask), ") at ",
                          SiteText(thread.site));
    } else if (thread.state == State::kConverging) {
      what = absl::StrCat("the ", NameOf(thread.operation), " at ", SiteText(thread.site));
    } else {
      continue;
    }
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.what == what; });
    if (found == groups.end()) {
      groups.push_back({what, t, 1});
    } else {
      ++found->threads;
    }
  }
  std::string text =
      absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "', block (", context_.ctaid[0], ",",
                   context_.ctaid[1], ",", context_.ctaid[2], "): threads wait for others that never come: ");
  for (size_t i = 0; i < groups.size() && i < 4; ++i) {
    if (i > 0) text += "; ";
    absl::StrAppend(&text, "thread ", Coordinates(groups[i].first));
    if (groups[i].threads > 1) absl::StrAppend(&text, " and ", groups[i].threads - 1, " more");
    absl::StrAppend(&text, " at ", groups[i].what);
  }
  if (exited_ > 0) absl::StrAppend(&text, "; ", exited_, " threads have exited");
  return absl::FailedPreconditionError(text);
}

}  // namespace heddle::tracegen
