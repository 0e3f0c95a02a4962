#include "tracegen/execute/parallel/resident_blocks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/execute/launch/live_blocks.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kSmallestPart = 64 << 10;  // instructions and accesses
constexpr uint64_t kNoLimit = ~uint64_t{0};

}  // namespace

// Records of one slot's blocks.
class ResidentBlocks::Sink : public BlockSink {
 public:
  explicit Sink(InOrderWriter& writer) : writer_(writer) {}

  absl::Status AddBlock(uint64_t block, BlockRecords& threads, uint64_t expected) override {
    return writer_.AddBlock(block, threads.joined(), expected);
  }
  absl::Status AddBlockPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                            std::span<uint64_t> consumed) override {
    return writer_.AddPart(block, threads, last, consumed, encoder_);
  }

 private:
  InOrderWriter& writer_;
  std::optional<trace::PartEncoder> encoder_;  // of a block that is cut in time
};

ResidentBlocks::ResidentBlocks(RunnerOptions options) : options_(std::move(options)) {
  // The records of all live blocks together are about those of one that is alone.
  const auto share = [this](uint64_t whole) {
    return std::min(whole, std::max(kSmallestPart, whole / options_.resident_blocks));
  };
  options_.part_instructions = share(options_.part_instructions);
  options_.part_accesses = share(options_.part_accesses);
  options_.turn_instructions = kTurnInstructions;
}

ResidentBlocks::~ResidentBlocks() = default;

void ResidentBlocks::SetHeap(DeviceHeap* heap) {
  options_.heap = heap;
  for (Slot& slot : slots_) slot.runner->SetHeap(heap);
}

absl::Status ResidentBlocks::Run(const LaunchForm* recorded, const LaunchForm* native,
                                 std::span<const GridRange> ranges, const Geometry& geometry,
                                 const trace::v1::KernelProgram* program, trace::TraceWriter* writer) {
  geometry_ = geometry;
  geometry_.first_block = geometry_.end_block = 0;
  const InstrumentedKernel& kernel = *(recorded != nullptr ? recorded : native)->kernel;
  clusters_.width = geometry.cluster_blocks();
  const uint64_t wanted =
      std::max(clusters_.width, static_cast<uint32_t>(std::min<uint64_t>(options_.resident_blocks, geometry.blocks())) /
                                    clusters_.width * clusters_.width);
  live_blocks_ = std::max(clusters_.width, LiveBlocks(static_cast<uint32_t>(wanted), geometry, kernel.uses_local) /
                                               clusters_.width * clusters_.width);
  if (live_blocks_ < wanted) {
    warnings_.Add(absl::StrCat("kernel '", trace::BriefKernelName(kernel.name), "': ", live_blocks_,
                               " of its blocks are live at once, ", "not ", wanted,
                               ": there is room for the stacks of ",
                               kernel.uses_local ? kMaxLiveThreadsWithLocal : kMaxLiveThreads, " threads"));
  }
  writer_.BeginLaunch(program, writer);
  clock_ = 0;
  waits_.Reset();
  while (slots_.size() < live_blocks_) {
    RunnerOptions options = options_;
    options.slot = static_cast<uint32_t>(slots_.size());
    Slot& slot = slots_.emplace_back();
    slot.runner = std::make_unique<BlockRunner>(std::move(options), &waits_);
  }
  for (Slot& slot : slots_) {
    slot.sink = std::make_unique<Sink>(writer_);
    slot.runner->SetObserver(nullptr);
    slot.runner->SetLiveBlocks(live_blocks_);
    slot.runner->SetBounds(allocations_, program);
  }
  clusters_.live.clear();
  if (clusters_.width > 1) {
    HEDDLE_ASSIGN_OR_RETURN(clusters_.memory, ClusterMemory::Create(live_blocks_ / clusters_.width));
    while (clusters_.live.size() < live_blocks_ / clusters_.width) {
      clusters_.live.push_back(std::make_unique<LiveCluster>());
      clusters_.live.back()->phase.on_end = [this] { waits_.Changed(); };
    }
    if (clusters_.live.size() == 1 && program != nullptr) {
      for (size_t rank = 0; rank < observers_.size() && rank < clusters_.width; ++rank) {
        slots_[rank].runner->SetObserver(observers_[rank]);
      }
    }
  }
  FaultHandler handler(options_.allow_outside_reads);
  // A fault in the kernel continues here.
  if (sigsetjmp(*handler.target(), 0) != 0) {
    absl::Status status = active_->runner->FaultError(handler);
    ShowFailedBlocks();
    Reset();
    return status;
  }
  absl::Status status = RunAll(recorded, native, ranges);
  if (!status.ok()) ShowFailedBlocks();
  Reset();
  return status;
}

absl::Status ResidentBlocks::RunAll(const LaunchForm* recorded, const LaunchForm* native,
                                    std::span<const GridRange> ranges) {
  BlockQueue queue(ranges, geometry_.clusters());
  for (;;) {
    bool progressed = false;
    bool any = false;
    for (size_t cluster = 0; cluster < live_blocks_ / clusters_.width; ++cluster) {
      const std::span<Slot> group = Group(cluster);
      if (!queue.empty() && std::ranges::none_of(group, &Slot::live)) {
        BeginGroup(cluster, *(queue.record() ? recorded : native), queue);
        queue.Pop();
        progressed = true;
      }
      for (Slot& slot : group) {
        if (InterruptRequested()) return absl::CancelledError("interrupted");
        if (!slot.live) continue;
        any = true;
        HEDDLE_RETURN_IF_ERROR(Turn(slot, &progressed));
      }
    }
    if (!any) return absl::OkStatus();
    if (!progressed) HEDDLE_RETURN_IF_ERROR(Deadlock());
  }
}

void ResidentBlocks::BeginGroup(size_t cluster, const LaunchForm& form, const BlockQueue& queue) {
  const bool record = queue.record();
  // Those of later clusters, too: this one may have none.
  for (const uint64_t block : queue.BeginningRecords()) writer_.BeginBlock(block);
  if (clusters_.width > 1) {
    clusters_.live[cluster]->blocks.clear();
    clusters_.live[cluster]->phase.number = 0;
    clusters_.live[cluster]->phase.blocks.clear();
  }
  for (uint32_t rank = 0; rank < clusters_.width; ++rank) {
    Slot& slot = Group(cluster)[rank];
    Begin(slot, form, record, queue.block(rank));
    if (clusters_.width == 1) continue;
    slot.runner->JoinCluster(*clusters_.live[cluster]);
    clusters_.memory->Open(static_cast<uint32_t>(cluster), rank);
  }
}

void ResidentBlocks::Begin(Slot& slot, const LaunchForm& form, bool record, uint64_t block) {
  Activate(slot);
  BlockRunner& runner = *slot.runner;
  if (slot.form != &form) {
    if (slot.form != nullptr) runner.EndLaunch();
    runner.BeginLaunch(form.Call(), geometry_, record ? slot.sink.get() : nullptr);
    slot.form = &form;
  }
  runner.BeginBlock(block);
  slot.live = true;
  slot.record = record;
  slot.block = block;
  slot.idle_in = 0;
}

void ResidentBlocks::Activate(Slot& slot) {
  if (active_ == &slot) return;
  if (clusters_.memory != nullptr) {
    const auto number = static_cast<uint32_t>(&slot - slots_.data());
    clusters_.memory->Show(number / clusters_.width, number % clusters_.width);
    active_ = &slot;
    return;
  }
  char* window = reinterpret_cast<char*>(kSharedBase);
  if (active_ != nullptr && active_->live) active_->shared.assign(window, window + active_->runner->shared_bytes());
  if (slot.live) std::memcpy(window, slot.shared.data(), slot.shared.size());
  active_ = &slot;
}

absl::Status ResidentBlocks::Turn(Slot& slot, bool* progressed) {
  if (slot.idle_in == waits_.epoch()) return absl::OkStatus();
  Activate(slot);
  BlockRunner& runner = *slot.runner;
  const uint64_t before = runner.instructions();
  runner.set_clock(clock_);
  const uint64_t most = options_.max_instructions;
  const absl::StatusOr<BlockRunner::TurnEnd> end =
      runner.TakeTurn(kTurnInstructions, most == kNoLimit ? kNoLimit : most - std::min(most, instructions_));
  clock_ = runner.clock();
  const uint64_t run = runner.instructions() - before;
  instructions_ += run;
  HEDDLE_RETURN_IF_ERROR(end.status());
  if (*end == BlockRunner::TurnEnd::kIdle) {
    slot.idle_in = waits_.epoch();
    // Threads that have begun, or polled for the first time, may have changed something.
    *progressed = *progressed || run != 0;
    return absl::OkStatus();
  }
  *progressed = true;
  if (*end != BlockRunner::TurnEnd::kFinished) return absl::OkStatus();
  slot.live = false;
  if (clusters_.memory != nullptr) {
    const auto number = static_cast<uint32_t>(&slot - slots_.data());
    clusters_.memory->Close(number / clusters_.width, number % clusters_.width);
  }
  if (options_.progress) options_.progress(slot.block, instructions_);
  return slot.record ? writer_.Flush() : absl::OkStatus();
}

absl::Status ResidentBlocks::Deadlock() {
  for (uint32_t s = 0; s < live_blocks_ && clusters_.width > 1; ++s) {
    if (!slots_[s].live || !slots_[s].runner->FailOneTest()) continue;
    waits_.Changed();
    return absl::OkStatus();
  }
  for (uint32_t s = 0; s < live_blocks_; ++s) {
    if (!slots_[s].live || !slots_[s].runner->LetGo()) continue;
    waits_.Changed();
    return absl::OkStatus();
  }
  for (uint32_t s = 0; s < live_blocks_; ++s) {
    Slot& slot = slots_[s];
    if (!slot.live) continue;
    Activate(slot);  // what threads wait for is told by what lies in their shared memory
    const uint64_t blocks = geometry_.blocks();
    return slot.runner->IdleError(
        live_blocks_ == blocks ? absl::StrCat("all ", blocks, " blocks of the grid are live: a deadlock of the program")
                               : absl::StrCat("all live blocks wait, ", live_blocks_, " of ", blocks, ": ",
                                              LiveBlocksAdvice(geometry_, slot.form->kernel->uses_local, live_blocks_,
                                                               options_.resident_blocks_setting, /*all=*/false)));
  }
  return absl::InternalError("no block is live, yet the launch has not ended");
}

void ResidentBlocks::ShowFailedBlocks() {
  for (Slot& slot : slots_) {
    if (slot.live) slot.runner->ShowFailedBlock();
  }
}

void ResidentBlocks::Reset() {
  for (Slot& slot : slots_) {
    if (slot.form != nullptr) slot.runner->EndLaunch();
    if (slot.live) slot.runner->Abandon();
    slot.live = false;
    slot.form = nullptr;
    warnings_.AddAll(slot.runner->warnings());
  }
  active_ = nullptr;
  clusters_.memory.reset();
  writer_.EndLaunch();
}

}  // namespace heddle::tracegen
