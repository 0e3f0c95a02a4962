#include "tracegen/execute/block/block_runner.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/launch/live_blocks.h"
#include "tracegen/execute/order/block_order.h"
#include "tracegen/instrument/cluster_window.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kInstructionsPerProgress = 50'000'000;

}  // namespace

BlockRunner::BlockRunner(RunnerOptions options, WaitMarks* shared_marks)
    : options_(std::move(options)),
      threads_(options_, log_, shared_marks),
      places_(threads_.context()),
      outside_(places_, options_.describe_address, warnings_),
      recorder_(options_, threads_.context(), threads_.scheduler(), threads_.limits(), log_, outside_),
      services_(options_, geometry_, places_, threads_) {
  threads_.context().runner = &services_;
}

BlockRunner::~BlockRunner() = default;

void BlockRunner::BeginLaunch(const KernelCall& call, const Geometry& geometry, BlockSink* sink) {
  geometry_ = geometry;
  shared_bytes_ = SharedBytes(*call.kernel, geometry);
  threads_.BeginLaunch(call, geometry, sink != nullptr);
  places_.BeginLaunch(*call.kernel, geometry);
  outside_.BeginLaunch(*call.kernel, geometry);
  recorder_.BeginLaunch(*call.kernel, sink);
  ThreadContext& context = threads_.context();
  for (int i = 0; i < 3; ++i) {
    context.ntid[i] = geometry.block[i];
    context.nctaid[i] = geometry.grid[i];
    context.cluster_nctaid[i] = geometry.cluster[i];
    context.nclusterid[i] = geometry.grid[i] / geometry.cluster[i];
  }
  context.cluster_nctarank = geometry.cluster_blocks();
  context.is_explicit_cluster = geometry.is_explicit_cluster ? 1 : 0;
  context.dynamic_shared_bytes = geometry.dynamic_shared_bytes;
  context.total_shared_bytes = shared_bytes_;
  context.grid_id = geometry.grid_id;
  std::copy(std::begin(geometry.environment), std::end(geometry.environment), context.environment);
  context.division_by_zero = 0;
  if (geometry.first_block == 0) context.clock = 0;
}

void BlockRunner::EndLaunch() {
  const uint32_t division_by_zero = threads_.context().division_by_zero;
  if (division_by_zero == 0) return;
  warnings_.Add(absl::StrCat(places_.Kernel(), " divides by zero at ", places_.Site(division_by_zero - 1),
                             ": the quotient is all ones, the remainder is the dividend, as on a GPU"));
}

absl::Status BlockRunner::Run(const KernelCall& call, const Geometry& geometry, trace::TraceWriter* writer) {
  std::optional<WriterSink> sink;
  if (writer != nullptr) sink.emplace(*writer);
  BeginLaunch(call, geometry, sink.has_value() ? &*sink : nullptr);
  HEDDLE_RETURN_IF_ERROR(
      RunBlocks(geometry.first_block, geometry.end_block == 0 ? geometry.blocks() : geometry.end_block));
  EndLaunch();
  return absl::OkStatus();
}

absl::Status BlockRunner::RunBlocks(uint64_t first, uint64_t end_block) {
  FaultHandler handler(options_.allow_outside_reads);
  uint64_t next_progress = 0;
  // A fault in the kernel continues here.
  if (sigsetjmp(*handler.target(), 0) != 0) {
    absl::Status status = FaultError(handler);
    recorder_.ShowFailedBlock();
    Abandon();
    return status;
  }
  const BlockOrder order(first, end_block, options_.order_seed);
  threads_.BeginBlocks();
  for (uint64_t at = first; at < end_block; ++at) {
    const uint64_t block = order.At(at);
    if (InterruptRequested()) return absl::CancelledError("interrupted");
    if (absl::Status status = RunBlock(block); !status.ok()) {
      recorder_.ShowFailedBlock();
      Abandon();
      return status;
    }
    if (options_.progress && instructions() >= next_progress) {
      options_.progress(block, instructions());
      next_progress = instructions() + kInstructionsPerProgress;
    }
  }
  return absl::OkStatus();
}

void BlockRunner::BeginBlock(uint64_t block) {
  ThreadContext& context = threads_.context();
  context.ctaid[0] = static_cast<uint32_t>(block % geometry_.grid[0]);
  context.ctaid[1] = static_cast<uint32_t>(block / geometry_.grid[0] % geometry_.grid[1]);
  context.ctaid[2] = static_cast<uint32_t>(block / geometry_.grid[0] / geometry_.grid[1]);
  for (int i = 0; i < 3; ++i) {
    context.clusterid[i] = context.ctaid[i] / geometry_.cluster[i];
    context.cluster_ctaid[i] = context.ctaid[i] % geometry_.cluster[i];
  }
  const trace::Clusters clusters = geometry_.clusters();
  context.cluster_ctarank = clusters.RankOf(block);
  threads_.BeginBlock(block, clusters.ClusterOf(block));
  std::memset(reinterpret_cast<void*>(kSharedBase), 0, shared_bytes_);
  recorder_.BeginBlock(block);
}

absl::Status BlockRunner::RunBlock(uint64_t block) {
  BeginBlock(block);
  for (;;) {
    switch (const BlockStop stop = threads_.Continue()) {
      case BlockStop::kFinished:
        return recorder_.Finish();
      case BlockStop::kRecordFull:
        HEDDLE_RETURN_IF_ERROR(EmptyRecord());
        break;
      case BlockStop::kIdle:
        if (!threads_.warps().LetGo()) return IdleError(WhyIdle());
        break;
      default:
        return StopError(stop);
    }
  }
}

absl::StatusOr<BlockRunner::TurnEnd> BlockRunner::TakeTurn(uint64_t thread_instructions, uint64_t most_instructions) {
  const uint64_t limit = ~uint64_t{0};
  options_.max_instructions = instructions() + std::min(most_instructions, limit - instructions());
  threads_.limits().EndTurnAt(instructions() + thread_instructions * geometry_.threads());
  switch (const BlockStop stop = threads_.Continue()) {
    case BlockStop::kFinished:
      HEDDLE_RETURN_IF_ERROR(recorder_.Finish());
      return TurnEnd::kFinished;
    case BlockStop::kRecordFull:
      HEDDLE_RETURN_IF_ERROR(EmptyRecord());
      return TurnEnd::kGoesOn;
    case BlockStop::kTurnOver:
      return TurnEnd::kGoesOn;
    case BlockStop::kIdle:
      return TurnEnd::kIdle;
    default:
      return StopError(stop);
  }
}

absl::Status BlockRunner::EmptyRecord() {
  if (InterruptRequested()) return absl::CancelledError("interrupted");
  if (instructions() < options_.max_instructions) return recorder_.Cut();
  std::string text = absl::StrCat(RunningThread(), ": the run has reached its limit of ", options_.max_instructions,
                                  " thread-instructions; raise it with --max-instructions if this is no endless loop");
  if (geometry_.blocks() > 1 && !threads_.polling().is_shared()) {
    absl::StrAppend(&text, "; if it waits for another block, ", OneBlockAtATime());
  }
  return absl::ResourceExhaustedError(text);
}

std::string BlockRunner::RunningThread() const {
  const ThreadScheduler& threads = threads_.scheduler();
  const uint32_t running = threads.running();
  const bool is_running = threads[running].state == ThreadState::kRunning;
  return places_.ThreadNear(running, is_running ? threads_.context().own.location : threads[running].own.location);
}

absl::Status BlockRunner::StopError(BlockStop stop) const {
  if (stop == BlockStop::kStuck) {
    return absl::FailedPreconditionError(
        absl::StrCat(places_.Block(), ": threads wait for others that never come: ", threads_.DescribeStuck(places_)));
  }
  if (stop == BlockStop::kFailed) {
    return absl::FailedPreconditionError(absl::StrCat(RunningThread(), ": ", threads_.failure()));
  }
  return absl::ResourceExhaustedError("no memory for what device threads keep while they wait");
}

absl::Status BlockRunner::IdleError(const std::string& more) const {
  const ReadyRing& ready = threads_.scheduler().ready();
  if (ready.empty()) return StopError(BlockStop::kStuck);
  std::string others;
  if (ready.size() > 1) others = absl::StrCat(", with ", ready.size() - 1, " other threads of its block");
  return absl::FailedPreconditionError(absl::StrCat(places_.Thread(ready.front()), ": ",
                                                    threads_.polling().Describe(ready.front()), " that nobody makes",
                                                    others, "; ", more));
}

std::string BlockRunner::WhyIdle() const {
  if (const uint32_t held = threads_.FindHeldBack(); held != ThreadScheduler::kNoThread) {
    return absl::StrCat("in lockstep (--lockstep) thread ", places_.Coordinates(held),
                        ", which has left the loop, does not go on before the others of its warp: a device whose warps "
                        "wait for all their threads hangs here; without --lockstep each thread goes on by itself");
  }
  if (geometry_.blocks() == 1) return "the grid has no other blocks, and the host waits for the kernel";
  return OneBlockAtATime();
}

std::string BlockRunner::OneBlockAtATime() const {
  return absl::StrCat("the grid has ", geometry_.blocks(), " blocks, which run one after the other here: ",
                      LiveBlocksAdvice(geometry_, threads_.kernel().uses_local, 1, options_.resident_blocks_setting,
                                       /*all=*/false));
}

std::string BlockRunner::DescribeShare(uint64_t address) const {
  const auto [rank, offset] = PlaceInCluster(address);
  const uint32_t blocks = geometry_.cluster_blocks();
  if (rank >= blocks) {
    return absl::StrCat("shared memory of block ", rank, " of a cluster, which has ", blocks,
                        blocks == 1 ? " block" : " blocks");
  }
  return absl::StrCat("byte ", offset, " of the shared memory of block ", rank,
                      " of the cluster, which has ended: a block must stay until the others have accessed its memory "
                      "(cluster.sync())");
}

absl::Status BlockRunner::FaultError(const FaultHandler& fault) const {
  const void* const address = fault.address();
  const auto number = reinterpret_cast<uint64_t>(address);
  const std::string where = places_.Thread(threads_.scheduler().running());
  const auto near = [](const char* before, const Site& site) {
    return site.line != 0 ? absl::StrCat(before, site.ToString()) : "";
  };
  if (threads_.stacks().InGuard(address)) {
    return absl::InternalError(absl::StrCat(where, ": stack overflow: device functions call each other too deeply",
                                            near(", near ", places_.RunningBlock())));
  }
  const std::string at = near(" at ", places_.LastAccess(address));
  if (fault.signal() == SIGFPE) return absl::InternalError(absl::StrCat(where, ": arithmetic fault", at));
  if (fault.signal() == SIGILL) return absl::InternalError(absl::StrCat(where, ": illegal instruction", at));
  const std::string what = number - kClusterBase < kClusterBytes + kSharedBytes ? DescribeShare(number)
                           : options_.describe_address                          ? options_.describe_address(number)
                                                                                : "where nothing is allocated";
  const bool may_pass = fault.is_read() && !options_.allow_outside_reads && FaultHandler::ReadsAllowedAt(number);
  return absl::InternalError(
      absl::StrCat(where, ": access to address 0x", absl::Hex(number), ", ", what, at,
                   may_pass ? absl::StrCat(" (", options_.allow_outside_reads_setting, " lets reads pass)") : ""));
}

void BlockRunner::Redirect(BlockSink* sink, BlockObserver* observer,
                           std::function<void(const std::string& text)> print) {
  recorder_.SetSink(sink);
  recorder_.SetObserver(observer);
  options_.print = std::move(print);
  options_.progress = nullptr;
}

void BlockRunner::CountFrom(uint64_t instructions) {
  threads_.context().instructions = instructions;
  threads_.context().division_by_zero = 0;
}

void BlockRunner::Skip(uint64_t instructions, uint32_t division_by_zero) {
  threads_.context().instructions += instructions;
  if (division_by_zero != 0) threads_.context().division_by_zero = division_by_zero;
}

}  // namespace heddle::tracegen
