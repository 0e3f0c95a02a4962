#include "tracegen/execute/block/block_threads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/fault_handler.h"

namespace heddle::tracegen {

BlockThreads::BlockThreads(const RunnerOptions& options, RecordLog& log, WaitMarks* shared_marks)
    : options_(options),
      log_(log),
      threads_(options.order_seed),
      limits_(options, context_, threads_),
      warps_(threads_),
      barriers_(threads_, warps_),
      waits_(threads_, warps_),
      polling_(context_, threads_, shared_marks),
      lockstep_(threads_, polling_),
      rounds_(context_, threads_, limits_, log, barriers_, warps_),
      fibers_(&BlockThreads::FiberMain, this) {}

void BlockThreads::BeginLaunch(const KernelCall& call, const Geometry& geometry, bool record) {
  call_ = call;
  threads_.BeginLaunch(geometry, options_.slot);
  warps_.BeginLaunch(call.kernel->has_matrices, call.kernel->follows_code);
  context_.lane_registers = warps_.lane_registers();
  barriers_.BeginLaunch();
  lockstep_.BeginLaunch(*call.kernel);
  polling_.BeginLaunch(*call.kernel, geometry.first_block == 0, record);
  rounds_.BeginLaunch(call, !threads_.is_random() && !polling_.is_shared());
}

void BlockThreads::BeginBlock(uint64_t block, uint64_t cluster) {
  threads_.BeginBlock();
  warps_.BeginBlock();
  barriers_.BeginBlock();
  waits_.BeginBlock(threads_.count());
  polling_.BeginBlock(block, cluster);
  rounds_.BeginBlock();
  fibers_.BeginBlock();
  limits_.BeginBlock();
}

BlockStop BlockThreads::Continue() {
  stop_ = BlockStop::kOutOfMemory;  // unless they get as far as to stop for another reason
  if (rounds_.is_out_of_memory()) return stop_;
  Fiber* const first = Next();
  if (first == nullptr) return stop_;
  FaultHandler::SetActive(true);
  fibers_.Launch(first);
  FaultHandler::SetActive(false);
  return stop_;
}

void BlockThreads::RunFiber() {
  for (;;) {
    Fiber* const self = fibers_.running();
    if (rounds_.is_active()) RunFrames();
    while (MayStart()) {
      StartThread();
      limits_.Set();
      heddle_enter_kernel(call_.entry, &context_, call_.arguments, &self->unwind);
      FinishThread();
    }
    // Nothing more to start: this fiber is free again, a thread that waits goes on.
    fibers_.pool().Put(self);
    fibers_.SwitchTo(Next());
  }
}

void BlockThreads::RunFrames() {
  for (;;) {
    if (const uint32_t thread = rounds_.TakeToResume(); thread != ThreadScheduler::kNoThread) {
      ResumeThread(thread);
      rounds_.ResumeRunning();
    } else if (!MayStart()) {
      return;
    } else if (threads_.all_new() && rounds_.are_allowed()) {
      if (!rounds_.Run(FrameRounds::kNoThread)) continue;
    } else {
      StartThread();
      limits_.Set();
      rounds_.StartRunning();
    }
    AfterFrame();
  }
}

void BlockThreads::AfterFrame() {
  for (;;) {
    if (context_.frame_barrier == 0) {
      FinishThread();
      return;
    }
    const uint32_t self = threads_.running();
    const FrameBarrier& barrier = call_.kernel->barriers[context_.frame_barrier - 1];
    if (!ArriveAtBarrier(barrier, context_.frame_barrier_predicate)) {
      Leave(nullptr);
      return;
    }
    // All threads are at the same barrier, and none on a stack: a round can begin.
    if (rounds_.are_allowed() && barrier.threads == 0 && fibers_.suspended() == 0 &&
        threads_.ready().size() + 1 == threads_.alive()) {
      threads_.ready().Clear();
      if (!rounds_.Run(self)) return;
    } else {
      rounds_.ResumeRunning();
    }
  }
}

Fiber* BlockThreads::Next() {
  if (is_stopped()) return nullptr;
  if (threads_.alive() == 0) return Stop(BlockStop::kFinished);
  if (limits_.IsFull()) return Stop(BlockStop::kRecordFull);
  if (limits_.IsTurnOver()) return Stop(BlockStop::kTurnOver);
  if (threads_.has_new()) return fibers_.pool().Get();
  ReadyRing& ready = threads_.ready();
  if (options_.lockstep && (ready.empty() || (polling_.is_active() && polling_.AllIdle()))) lockstep_.ReleaseTogether();
  // Other blocks of the cluster may let threads go on; if none can, whoever runs them all fails a test.
  if (ready.empty() && waits_.live != nullptr) return Stop(BlockStop::kIdle);
  if (ready.empty() && !FailOneTest() && !warps_.LetGo()) return Stop(BlockStop::kStuck);
  // A thread that has polled in vain is not asked again before something has changed: AllIdle has put one to the front.
  if (polling_.is_active() && polling_.AllIdle()) return Stop(BlockStop::kIdle);
  const uint32_t thread =
      threads_.is_random() && !polling_.is_active() ? threads_.TakeRandomReady() : threads_.TakeReady();
  Fiber* const stack = threads_[thread].fiber;
  threads_.SetRunning(thread);
  if (stack != nullptr) return stack;
  rounds_.SetToResume(thread);
  return fibers_.pool().Get();
}

void BlockThreads::StartThread() {
  threads_.StartNext(context_);
  polling_.Start();
}

void BlockThreads::FinishThread() {
  const uint32_t self = threads_.running();
  log_.Close(self, context_.address_cursor, context_.decision_cursor);
  threads_.ExitRunning();
  polling_.Exit();
  if (!call_.kernel->has_barriers && !call_.kernel->meets_warp) return;
  warps_.Exit(self);
  barriers_.CheckAll();
  waits_.cluster.Check();
  if (warps_.AnyBlocked(self)) warps_.Check(self);
}

void BlockThreads::ResumeThread(uint32_t thread) {
  context_.own = threads_.SetRunning(thread).own;
  polling_.Resume();
  limits_.Set();
}

void BlockThreads::Leave(Fiber* stack) {
  log_.Close(threads_.running(), context_.address_cursor, context_.decision_cursor);
  threads_.current().Keep(context_, stack);
  polling_.Keep();
}

void BlockThreads::Suspend() {
  const uint32_t self = threads_.running();
  Leave(fibers_.running());
  fibers_.Suspend(Next());
  ResumeThread(self);
}

void BlockThreads::Yield() {
  if (limits_.Relax()) return;
  if (rounds_.in_round()) rounds_.LeaveByRunning();
  polling_.NoteActivity();
  if (!limits_.IsFull() && !limits_.IsTurnOver() && !threads_.has_new() && threads_.ready().empty()) {
    limits_.Set();  // nobody else can run: go on at once
    return;
  }
  // Nothing of the block has been recorded yet, so no address is outstanding.
  context_.own.block_base = nullptr;
  threads_.Release(threads_.running());
  Suspend();
}

bool BlockThreads::ArriveAtBarrier(const FrameBarrier& barrier, uint32_t predicate) {
  if (!barriers_.Accepts(barrier)) Fail(barriers_.WhyRefused(barrier, SiteText(*call_.kernel, barrier.site)));
  polling_.NoteSynchronization(barrier.site, barrier.reduction != BarrierReduction::kNone, predicate);
  return barriers_.Arrive(barrier, predicate);
}

uint32_t BlockThreads::Barrier(const FrameBarrier& barrier, uint32_t predicate) {
  const uint32_t self = threads_.running();
  if (rounds_.in_round()) rounds_.LeaveByRunning();
  if (!ArriveAtBarrier(barrier, predicate)) Suspend();
  return static_cast<uint32_t>(threads_[self].result);
}

void BlockThreads::FailIf(std::string wrong, uint32_t site) {
  if (wrong.empty()) return;
  absl::StrAppend(&wrong, ", at ", SiteText(*call_.kernel, site));
  Fail(std::move(wrong));
}

void BlockThreads::ArriveOnly(const FrameBarrier& barrier) {
  if (rounds_.in_round()) rounds_.LeaveByRunning();
  if (!barriers_.Accepts(barrier)) Fail(barriers_.WhyRefused(barrier, SiteText(*call_.kernel, barrier.site)));
  polling_.NoteActivity();
  barriers_.Count(barrier);
}

void BlockThreads::MeetCluster(uint32_t site, bool waits) {
  FailIf(waits ? waits_.cluster.WhyNoWait() : waits_.cluster.Arrive(), site);
  polling_.NoteActivity();
  if (!waits) return;
  if (rounds_.in_round()) rounds_.LeaveByRunning();
  if (!waits_.cluster.Wait(site)) Suspend();
}

void BlockThreads::WaitForCopies(uint32_t pending) {
  const uint32_t self = threads_.running();
  const bool arrived = pending == kWaitForAll ? waits_.copies.WaitForAll(self) : waits_.copies.Wait(self, pending);
  if (arrived) polling_.NoteActivity();
}

uint64_t BlockThreads::Transact(uint32_t site, Transaction operation, uint64_t address, uint32_t number) {
  // Those that the barrier stands for arrive now.
  if (operation == Transaction::kCopies || operation == Transaction::kCopiesCounted) WaitForCopies(kWaitForAll);
  uint64_t before = 0;
  FailIf(waits_.Transact(operation, address, number, &before), site);
  polling_.NoteActivity();
  return before;
}

uint64_t BlockThreads::WaitForPhase(TransactionBarriers::Wait wait) {
  wait.address = waits_.OwnAddress(wait.address);
  FailIf(waits_.WhyNoWait(wait.address), wait.site);
  const uint32_t self = threads_.running();
  if (rounds_.in_round()) rounds_.LeaveByRunning();
  polling_.NoteActivity();
  if (const uint64_t phases = waits_.transactions.Test(wait); phases != 0) return phases;
  Suspend();
  return threads_[self].result;
}

uint64_t BlockThreads::ArriveAtWarpOperation(const WarpRequest& request, const LaneOperands& operands) {
  const uint32_t self = threads_.running();
  const uint32_t lane = self % kWarpWidth;
  if (rounds_.in_round()) rounds_.LeaveByRunning();
  if (!request.converged && (request.mask >> lane & 1) == 0) {
    Fail(absl::StrCat("the ", NameOf(request.operation), " at ", SiteText(*call_.kernel, request.site),
                      " has a mask (0x", absl::Hex(request.mask), ") without the calling lane ", lane));
  }
  const bool exchanges = request.operation != WarpOperation::kSync && request.operation != WarpOperation::kMeet;
  polling_.NoteSynchronization(request.site, exchanges, operands.value);
  if (!warps_.Arrive(request, operands)) Suspend();
  return threads_[self].result;
}

void BlockThreads::BeforeAccess(uint32_t pc) {
  lockstep_.Wait(pc);
  Suspend();
}

void BlockThreads::Spin(uint32_t wait, uint64_t address) {
  polling_.Wait(wait, address);
  context_.own.block_base = nullptr;  // between two blocks of the program no address is outstanding
  threads_.Release(threads_.running());
  Suspend();
  polling_.Poll();
}

void BlockThreads::Iterate(uint32_t wait, uint64_t state) {
  if (polling_.Repeats(wait, state)) Spin(wait, 0);
}

void BlockThreads::Fail(std::string message) {
  failure_ = message;
  std::string().swap(message);  // the stack is abandoned
  Stop(BlockStop::kFailed);
  fibers_.Abandon();
}

std::string BlockThreads::DescribeStuck(const ThreadPlaces& places) const {
  // Group the waiting threads by what they wait for, the first few groups are enough to see the reason.
  struct Group {
    std::string what;
    uint32_t first = 0;
    uint32_t threads = 0;
  };
  std::vector<Group> groups;
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    const ThreadState state = threads_[t].state;
    std::string what;
    if (state == ThreadState::kAtBarrier) {
      what = barriers_.Describe(t, places.Site(barriers_.SiteOf(t)));
    } else if (state == ThreadState::kAtWarpOperation || state == ThreadState::kConverging) {
      what = warps_.Describe(t, places.Site(warps_.SiteOf(t)));
    } else if (state == ThreadState::kAtPhase) {
      what = waits_.Describe(t, places.Site(waits_.SiteOf(t)));
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
  std::string text;
  for (size_t i = 0; i < groups.size() && i < 4; ++i) {
    if (i > 0) text += "; ";
    absl::StrAppend(&text, "thread ", places.Coordinates(groups[i].first));
    if (groups[i].threads > 1) absl::StrAppend(&text, " and ", groups[i].threads - 1, " more");
    absl::StrAppend(&text, " at ", groups[i].what);
  }
  if (threads_.exited() > 0) absl::StrAppend(&text, "; ", threads_.exited(), " threads have exited");
  return text;
}

}  // namespace heddle::tracegen
