#include "tracegen/execute/block/block_runner.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/execute/block/record_arena.h"
#include "tracegen/execute/launch/live_blocks.h"
#include "tracegen/execute/order/block_order.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {
namespace {

static_assert(trace::kChunkAccesses <= RecordLog::kMostEntries);
static_assert(trace::kChunkThreadInstructions <= RecordLog::kMostEntries);

constexpr uint64_t kLargestRandomShare = 2048;  // instructions that a thread may run under a random order, besides

}  // namespace

BlockRunner::BlockRunner(RunnerOptions options) : options_(std::move(options)), fibers_(&BlockRunner::FiberMain, this) {
  context_.runner = this;
}

BlockRunner::~BlockRunner() = default;

void BlockRunner::BeginLaunch(const InstrumentedKernel& kernel, KernelEntry entry, const void* const* arguments,
                              const Geometry& geometry, BlockSink* sink) {
  kernel_ = &kernel;
  entry_ = entry;
  arguments_ = arguments;
  geometry_ = geometry;
  sink_ = sink;
  thread_count_ = geometry.threads();
  shared_bytes_ = SharedBytes(kernel, geometry);
  bounds_.SetShared(geometry.dynamic_shared_bytes == 0 ? kernel.static_shared_bytes : shared_bytes_);
  threads_.assign(thread_count_, Thread{});
  polling_.assign(kernel.waits.empty() ? 0 : thread_count_, Polling{});
  warps_.assign((thread_count_ + kWarpWidth - 1) / kWarpWidth, Warp{});
  ready_.assign(thread_count_, 0);
  PlaceFrames();
  for (int i = 0; i < 3; ++i) {
    context_.ntid[i] = geometry.block[i];
    context_.nctaid[i] = geometry.grid[i];
  }
  context_.dynamic_shared_bytes = geometry.dynamic_shared_bytes;
  context_.total_shared_bytes = shared_bytes_;
  context_.grid_id = geometry.grid_id;
  std::copy(std::begin(geometry.environment), std::end(geometry.environment), context_.environment);
  context_.division_by_zero = 0;
  warned_of_bounds_ = kernels_outside_.contains(kernel.name);
  if (geometry.first_block == 0) {
    context_.clock = 0;
    if (waits_ == &own_waits_) waits_->Reset();
  }
}

void BlockRunner::EndLaunch() {
  if (context_.division_by_zero != 0) {
    Warn(absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "' divides by zero at ",
                      SiteText(context_.division_by_zero - 1),
                      ": the quotient is all ones, the remainder is the dividend, as on a GPU"));
  }
}

absl::Status BlockRunner::Run(const InstrumentedKernel& kernel, KernelEntry entry, const void* const* arguments,
                              const Geometry& geometry, trace::TraceWriter* writer) {
  std::optional<WriterSink> sink;
  if (writer != nullptr) sink.emplace(*writer);
  BeginLaunch(kernel, entry, arguments, geometry, sink.has_value() ? &*sink : nullptr);
  absl::Status status =
      RunBlocks(geometry.first_block, geometry.end_block == 0 ? geometry.blocks() : geometry.end_block);
  if (status.ok()) EndLaunch();
  return status;
}

absl::Status BlockRunner::RunBlocks(uint64_t first, uint64_t end_block) {
  FaultHandler handler(options_.allow_outside_reads);
  uint64_t next_progress = 0;
  // A fault in the kernel continues here.
  if (sigsetjmp(*handler.target(), 0) != 0) {
    absl::Status status = absl::InternalError(FaultText(handler));
    fibers_.Reset();
    return status;
  }
  const BlockOrder order(first, end_block, options_.order_seed);
  if (options_.order_seed.has_value()) random_ = Random(*options_.order_seed);
  for (uint64_t at = first; at < end_block; ++at) {
    const uint64_t block = order.At(at);
    if (InterruptRequested()) return absl::CancelledError("interrupted");
    if (absl::Status status = RunBlock(block); !status.ok()) {
      fibers_.Reset();
      return status;
    }
    if (options_.progress && context_.instructions >= next_progress) {
      options_.progress(block, context_.instructions);
      next_progress = context_.instructions + 50'000'000;
    }
  }
  return absl::OkStatus();
}

void BlockRunner::Redirect(BlockSink* sink, BlockObserver* observer,
                           std::function<void(const std::string& text)> print) {
  sink_ = sink;
  observer_ = observer;
  options_.print = std::move(print);
  options_.progress = nullptr;
}

void BlockRunner::CountFrom(uint64_t instructions) {
  context_.instructions = instructions;
  context_.division_by_zero = 0;
}

void BlockRunner::Skip(uint64_t instructions, uint32_t division_by_zero) {
  context_.instructions += instructions;
  if (division_by_zero != 0) context_.division_by_zero = division_by_zero;
}

uint64_t BlockRunner::LargestBlock() const {
  return RecordArena::BytesOf(thread_count_, options_.part_accesses + kernel_->step_addresses + 1,
                              options_.part_instructions + kernel_->step_decisions + 1);
}

void BlockRunner::BeginBlock(uint64_t block) {
  block_ = block;
  for (Thread& thread : threads_) thread.state = State::kNotStarted;
  for (size_t w = 0; w < warps_.size(); ++w) {
    uint32_t lanes = std::min<uint32_t>(kWarpWidth, thread_count_ - static_cast<uint32_t>(w) * kWarpWidth);
    warps_[w].alive = lanes == kWarpWidth ? ~0u : (1u << lanes) - 1;
    warps_[w].blocked = 0;
  }
  for (BarrierCount& barrier : barriers_) barrier = BarrierCount{};
  next_thread_ = 0;
  if (options_.order_seed.has_value()) start_order_ = RandomOrder(thread_count_, random_);
  exited_ = 0;
  ready_head_ = ready_count_ = 0;
  frame_to_resume_ = kNoThread;
  on_stacks_ = 0;
  in_round_ = false;
  limits_are_estimates_ = false;
  std::fill(std::begin(next_tid_), std::end(next_tid_), 0);
  context_.ctaid[0] = static_cast<uint32_t>(block % geometry_.grid[0]);
  context_.ctaid[1] = static_cast<uint32_t>(block / geometry_.grid[0] % geometry_.grid[1]);
  context_.ctaid[2] = static_cast<uint32_t>(block / geometry_.grid[0] / geometry_.grid[1]);
  std::memset(reinterpret_cast<void*>(kSharedBase), 0, shared_bytes_);
  cut_ = false;
  block_start_instructions_ = context_.instructions;
  log_.Begin(
      std::max(options_.part_accesses, KeepsBlocks() ? options_.whole_block_entries : 0) + kernel_->step_addresses + 1,
      std::max(options_.part_instructions, KeepsBlocks() ? options_.whole_block_entries : 0) + kernel_->step_decisions +
          1);
  BeginPart();
}

void BlockRunner::BeginPart() {
  context_.address_cursor = log_.addresses() + log_.kept_addresses();
  context_.decision_cursor = log_.decisions();
  ExtendLimits();
}

void BlockRunner::ExtendLimits() {
  uint64_t left = options_.max_instructions - std::min(options_.max_instructions, context_.instructions);
  part_limit_ = context_.instructions + std::min(options_.part_instructions, left);
  part_address_limit_ = context_.address_cursor + options_.part_accesses;
}

BlockRunner::Stop BlockRunner::Continue() {
  stop_ = Stop::kNone;
  if (UsesFrames() && frames_ == nullptr) return stop_;
  Fiber* first = Next();
  if (first != nullptr) {
    running_fiber_ = first;
    FaultHandler::SetActive(true);
    heddle_switch_stack(&launcher_, first->stack_pointer);
    FaultHandler::SetActive(false);
  }
  return stop_;
}

absl::Status BlockRunner::EmptyRecord() {
  if (InterruptRequested()) return absl::CancelledError("interrupted");
  if (context_.instructions >= options_.max_instructions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "', ", Where(running_),
                     ": the run has reached its limit of ", options_.max_instructions,
                     " thread-instructions; raise it with --max-instructions if this is no endless loop"));
  }
  return CutBlock(false);
}

absl::Status BlockRunner::StopError(Stop stop) const {
  if (stop == Stop::kStuck) return StuckError();
  if (stop == Stop::kFailed) return absl::FailedPreconditionError(failure_);
  return absl::ResourceExhaustedError("no memory for what device threads keep while they wait");
}

absl::Status BlockRunner::RunBlock(uint64_t block) {
  BeginBlock(block);
  for (;;) {
    switch (const Stop stop = Continue()) {
      case Stop::kFinished:
        return FinishBlock();
      case Stop::kRecordFull:
        HEDDLE_RETURN_IF_ERROR(EmptyRecord());
        break;
      case Stop::kIdle:
        if (const uint32_t held = HeldBack(); held != kNoThread) {
          return IdleError(absl::StrCat("in lockstep (--lockstep) thread ", Coordinates(held),
                                        ", which has left the loop, does not go on before the others of its warp: a "
                                        "device whose warps wait for all their threads hangs here; without --lockstep "
                                        "each thread goes on by itself"));
        }
        return IdleError(geometry_.blocks() == 1
                             ? "the grid has no other blocks, and the host waits for the kernel"
                             : absl::StrCat("the grid has ", geometry_.blocks(),
                                            " blocks, which run one after the other here: ",
                                            LiveBlocksAdvice(geometry_, kernel_->uses_local, 1,
                                                             options_.resident_blocks_setting, /*all=*/false)));
      default:
        return StopError(stop);
    }
  }
}

absl::Status BlockRunner::FinishBlock() {
  if (sink_ == nullptr && !KeepsBlocks()) return absl::OkStatus();
  if (cut_) return CutBlock(true);
  log_.Finish(thread_count_);
  BlockRecords records(log_);
  if (sink_ != nullptr) {
    absl::Status status = sink_->AddBlock(block_, records, context_.instructions - block_start_instructions_);
    if (!status.ok()) return status;
  }
  const BoundsCheck* const bounds = BoundsToCheck();
  if (bounds != nullptr && !bounds->Holds(records.ranges()) && log_.FindOutside(*bounds)) WarnOfAccessOutside();
  if (observer_ == nullptr) return absl::OkStatus();
  consumed_.resize(thread_count_);
  for (uint32_t t = 0; t < thread_count_; ++t) consumed_[t] = log_.access_count(t);
  return observer_->AddBlock(block_, records, consumed_, true);
}

absl::Status BlockRunner::CutBlock(bool last) {
  if (KeepsBlocks()) {
    const auto addresses = static_cast<uint64_t>(context_.address_cursor - log_.addresses());
    const auto decisions = static_cast<uint64_t>(context_.decision_cursor - log_.decisions());
    if (addresses + options_.part_accesses > options_.whole_block_entries ||
        decisions + options_.part_instructions > options_.whole_block_entries) {
      return absl::ResourceExhaustedError(absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "': block ",
                                                       block_, " records more than can be kept of one block (",
                                                       options_.whole_block_entries, " accesses or decisions)"));
    }
    ExtendLimits();
    return absl::OkStatus();
  }
  if (sink_ == nullptr) {
    // Nobody reads the record: start over in the same place, where addresses that are still outstanding do no harm.
    log_.Begin(0, 0);
    BeginPart();
    return absl::OkStatus();
  }
  cut_ = true;
  log_.Finish(thread_count_);
  log_.Join();
  const std::span<trace::ThreadRecord> records = log_.records();
  for (uint32_t t = 0; t < thread_count_; ++t) records[t].exited = threads_[t].state == State::kExited;
  consumed_.assign(thread_count_, 0);
  HEDDLE_RETURN_IF_ERROR(sink_->AddBlockPart(block_, records, last, consumed_));
  const BoundsCheck* const bounds = BoundsToCheck();
  if (bounds != nullptr && log_.FindOutside(*bounds)) WarnOfAccessOutside();
  if (observer_ != nullptr) {
    if (last) {
      for (uint32_t t = 0; t < thread_count_; ++t) consumed_[t] = log_.access_count(t);
    }
    BlockRecords whole(log_);
    HEDDLE_RETURN_IF_ERROR(observer_->AddBlock(block_, whole, consumed_, last));
  }
  if (last) return absl::OkStatus();
  // The records of blocks that were entered after a thread's last decision go over into the next part, and with them
  // the place where a suspended thread still has to store addresses.
  std::vector<const uint64_t*> bases(thread_count_, nullptr);
  for (uint32_t t = 0; t < thread_count_; ++t) {
    if (threads_[t].state != State::kNotStarted && threads_[t].state != State::kExited)
      bases[t] = threads_[t].own.block_base;
  }
  std::vector<uint64_t> positions;
  log_.PositionsInRecords(bases, positions);
  std::vector<uint64_t*> starts;
  log_.KeepRests(consumed_, options_.part_accesses + kernel_->step_addresses + 1, starts);
  for (uint32_t t = 0; t < thread_count_; ++t) {
    if (bases[t] != nullptr && positions[t] >= consumed_[t])
      threads_[t].own.block_base = starts[t] + (positions[t] - consumed_[t]);
  }
  BeginPart();
  return absl::OkStatus();
}

void BlockRunner::FiberMain(void* self) { static_cast<BlockRunner*>(self)->FiberLoop(); }

void BlockRunner::FiberLoop() {
  for (;;) {
    Fiber* self = running_fiber_;
    if (UsesFrames()) RunFrames();
    while (next_thread_ < thread_count_ && !RecordFull() && !TurnOver() && stop_ == Stop::kNone) {
      const uint32_t next = next_thread_++;
      StartThread(start_order_.empty() ? next : start_order_[next]);
      SetLimits();
      heddle_enter_kernel(entry_, &context_, arguments_, &self->unwind);
      FinishThread();
    }
    // Nothing more to begin: this fiber is free again, a thread that waits goes on.
    fibers_.Put(self);
    Fiber* next = Next();
    if (next == self) continue;
    if (next != nullptr) running_fiber_ = next;
    heddle_switch_stack(&self->stack_pointer, next != nullptr ? next->stack_pointer : launcher_);
    running_fiber_ = self;
  }
}

Fiber* BlockRunner::Next() {
  if (stop_ != Stop::kNone) return nullptr;
  if (exited_ == thread_count_) {
    stop_ = Stop::kFinished;
    return nullptr;
  }
  if (RecordFull()) {
    stop_ = Stop::kRecordFull;
    return nullptr;
  }
  if (TurnOver()) {
    stop_ = Stop::kTurnOver;
    return nullptr;
  }
  if (next_thread_ < thread_count_) return fibers_.Get();
  if (options_.lockstep && (ready_count_ == 0 || (!kernel_->waits.empty() && AllIdle()))) ReleaseTogether();
  if (ready_count_ == 0) {
    stop_ = Stop::kStuck;
    return nullptr;
  }
  if (!kernel_->waits.empty() && AllIdle()) {
    stop_ = Stop::kIdle;
    return nullptr;
  }
  // A thread that has polled in vain is not asked again before something has changed: AllIdle has put one to the front.
  if (options_.order_seed.has_value() && kernel_->waits.empty()) ScrambleReady();
  uint32_t thread = ready_[ready_head_];
  ready_head_ = ready_head_ + 1 == thread_count_ ? 0 : ready_head_ + 1;
  --ready_count_;
  running_ = thread;
  if (threads_[thread].fiber == nullptr) {
    frame_to_resume_ = thread;
    return fibers_.Get();
  }
  return threads_[thread].fiber;
}

void BlockRunner::Suspend() {
  const uint32_t self = running_;
  Thread& thread = threads_[self];
  Leave(running_fiber_);
  ++on_stacks_;
  Fiber* next = Next();
  if (next != thread.fiber) {
    if (next != nullptr) running_fiber_ = next;
    heddle_switch_stack(&thread.fiber->stack_pointer, next != nullptr ? next->stack_pointer : launcher_);
  }
  --on_stacks_;
  running_fiber_ = thread.fiber;
  ResumeThread(self);
}

void BlockRunner::SetLimits() { SetLimits(context_.instructions, context_.address_cursor); }

void BlockRunner::SetLimits(uint64_t instructions, const uint64_t* cursor) {
  limits_are_estimates_ = false;
  // Threads that have not ended share what is left of the part.
  uint64_t sharers = std::max<uint64_t>(1, thread_count_ - exited_);
  uint64_t left = part_limit_ - std::min(part_limit_, instructions);
  uint64_t addresses_left = static_cast<uint64_t>(std::max<ptrdiff_t>(0, part_address_limit_ - cursor));
  uint64_t share = std::max(kSmallestShare, left / sharers);
  if (options_.order_seed.has_value()) share = kSmallestShare + random_.Below(kLargestRandomShare);
  context_.instruction_limit = instructions + std::min(left, share);
  context_.address_limit = cursor + std::min(addresses_left, std::max(kSmallestShare, addresses_left / sharers));
  if (options_.turn_instructions != 0) {
    context_.instruction_limit = std::min(context_.instruction_limit, instructions + options_.turn_instructions);
  }
}

void BlockRunner::ResumeThread(uint32_t index) {
  Thread& thread = threads_[index];
  running_ = index;
  thread.state = State::kRunning;
  context_.own = thread.own;
  context_.progress = thread.progress;
  context_.waiting = thread.waiting;
  context_.watches = waits_->watching();
  SetLimits();
}

void BlockRunner::StartThread(uint32_t thread) {
  running_ = thread;
  threads_[thread].state = State::kRunning;
  if (!kernel_->waits.empty()) {
    threads_[thread].progress = threads_[thread].idle_in = 0;
    polling_[thread] = Polling{};
    context_.progress = 0;
    context_.waiting = 0;
    context_.watches = waits_->watching();
    waits_->Changed();
  }
  ThreadOwn& own = threads_[thread].own;
  own = ThreadOwn{};
  own.linear_tid = thread;
  // Threads begin in order, so the indices count up; no division in the path of short kernels.
  if (!start_order_.empty()) {
    next_tid_[0] = thread % geometry_.block[0];
    next_tid_[1] = thread / geometry_.block[0] % geometry_.block[1];
    next_tid_[2] = thread / geometry_.block[0] / geometry_.block[1];
  }
  std::copy(std::begin(next_tid_), std::end(next_tid_), own.tid);
  if (++next_tid_[0] == geometry_.block[0]) {
    next_tid_[0] = 0;
    if (++next_tid_[1] == geometry_.block[1]) {
      next_tid_[1] = 0;
      ++next_tid_[2];
    }
  }
  const uint64_t local = LocalOf(thread);
  own.local_pointer = reinterpret_cast<char*>(local);
  own.local_limit = reinterpret_cast<char*>(local + kLocalBytes);
  context_.own = own;
}

void BlockRunner::FinishThread() {
  CloseSegment();
  Thread& thread = threads_[running_];
  thread.state = State::kExited;
  ++exited_;
  if (!kernel_->waits.empty()) {
    waits_->End(polling_[running_].open, sink_ != nullptr);
    waits_->Changed();
  }
  if (!kernel_->has_barriers && !kernel_->meets_warp) return;
  uint32_t warp = running_ / kWarpWidth;
  warps_[warp].alive &= ~(1u << running_ % kWarpWidth);
  for (uint32_t id = 0; id < 16; ++id) CheckBarrier(id);
  if (warps_[warp].blocked != 0) CheckWarp(warp);
}

void BlockRunner::Yield() {
  if (limits_are_estimates_) {
    SetLimits(context_.instruction_limit - instruction_share_, context_.address_limit - address_share_);
    if (context_.instructions < context_.instruction_limit && context_.address_cursor < context_.address_limit) return;
  }
  if (in_round_) LeaveRoundOfRunning();
  Thread& thread = threads_[running_];
  NoteActivity();
  if (!RecordFull() && !TurnOver() && next_thread_ >= thread_count_ && ready_count_ == 0) {
    SetLimits();  // nobody else can run: go on at once
    return;
  }
  thread.state = State::kReady;
  // Nothing of the block has been recorded yet, so no address is outstanding.
  context_.own.block_base = nullptr;
  Release(running_);
  Suspend();
}

void BlockRunner::Release(uint32_t thread) {
  threads_[thread].state = State::kReady;
  uint32_t slot = ready_head_ + ready_count_;
  ready_[slot >= thread_count_ ? slot - thread_count_ : slot] = thread;
  ++ready_count_;
}

void BlockRunner::Fail(std::string message) {
  failure_ = absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "', ", Where(running_), ": ", message);
  std::string().swap(message);  // the stack is abandoned
  stop_ = Stop::kFailed;
  void* abandoned;
  heddle_switch_stack(&abandoned, launcher_);
  __builtin_unreachable();
}

void BlockRunner::Print(const std::string& text) const {
  if (options_.print) options_.print(text);
}

uint64_t BlockRunner::Allocate(uint64_t bytes) { return options_.heap != nullptr ? options_.heap->Allocate(bytes) : 0; }

void BlockRunner::ExitThread() { heddle_leave_kernel(running_fiber_->unwind); }

}  // namespace heddle::tracegen
