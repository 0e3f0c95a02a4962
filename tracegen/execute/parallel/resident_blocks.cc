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

}  // namespace

// Records of one slot's blocks.
class ResidentBlocks::Sink : public BlockSink {
 public:
  explicit Sink(ResidentBlocks& owner) : owner_(owner) {}

  absl::Status AddBlock(uint64_t block, BlockRecords& threads, uint64_t expected) override {
    return owner_.AddBlock(block, threads.joined(), expected);
  }
  absl::Status AddBlockPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                            std::span<uint64_t> consumed) override {
    if (!encoder_.has_value()) {
      HEDDLE_ASSIGN_OR_RETURN(const trace::Program* program, owner_.Program());
      encoder_.emplace().Begin(program, block, threads.size());
    }
    trace::v1::BlockChunk chunk;
    absl::Status status = encoder_->Add(threads, last, consumed, owner_.encoder_memory_, chunk);
    if (last) encoder_.reset();
    return status.ok() ? owner_.AddChunk(block, std::move(chunk)) : status;
  }

 private:
  ResidentBlocks& owner_;
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
                                 std::span<const BlockStretch> stretches, const Geometry& geometry,
                                 const trace::v1::KernelProgram* program, trace::TraceWriter* writer) {
  geometry_ = geometry;
  geometry_.first_block = geometry_.end_block = 0;
  const InstrumentedKernel& kernel = *(recorded != nullptr ? recorded : native)->kernel;
  live_blocks_ = LiveBlocks(options_.resident_blocks, geometry, kernel.uses_local);
  if (const uint64_t wanted = std::min<uint64_t>(options_.resident_blocks, geometry.blocks()); live_blocks_ < wanted) {
    warnings_.push_back(absl::StrCat("kernel '", trace::BriefKernelName(kernel.name), "': ", live_blocks_,
                                     " of its blocks are live at once, ", "not ", wanted,
                                     ": there is room for the stacks of ",
                                     kernel.uses_local ? kMaxLiveThreadsWithLocal : kMaxLiveThreads, " threads"));
  }
  writer_ = writer;
  program_proto_ = program;
  program_.reset();
  encoder_memory_ = {};
  clock_ = 0;
  waits_.Reset();
  while (slots_.size() < live_blocks_) {
    RunnerOptions options = options_;
    options.slot = static_cast<uint32_t>(slots_.size());
    Slot& slot = slots_.emplace_back();
    slot.runner = std::make_unique<BlockRunner>(std::move(options));
    slot.runner->waits_ = &waits_;
  }
  for (Slot& slot : slots_) {
    slot.sink = std::make_unique<Sink>(*this);
    slot.runner->options_.resident_blocks = live_blocks_;
    slot.runner->SetBounds(allocations_, program);
  }
  FaultHandler handler(options_.allow_outside_reads);
  // A fault in the kernel continues here.
  if (sigsetjmp(*handler.target(), 0) != 0) {
    absl::Status status = absl::InternalError(active_->runner->FaultText(handler));
    Reset();
    return status;
  }
  absl::Status status = RunAll(recorded, native, stretches);
  Reset();
  return status;
}

absl::Status ResidentBlocks::RunAll(const LaunchForm* recorded, const LaunchForm* native,
                                    std::span<const BlockStretch> stretches) {
  size_t stretch = 0;
  uint64_t next = stretches.empty() ? 0 : stretches[0].first;
  for (;;) {
    bool progressed = false;
    bool any = false;
    for (uint32_t s = 0; s < live_blocks_; ++s) {
      Slot& slot = slots_[s];
      if (InterruptRequested()) return absl::CancelledError("interrupted");
      while (stretch < stretches.size() && next == stretches[stretch].end) {
        if (++stretch < stretches.size()) next = stretches[stretch].first;
      }
      if (!slot.live && stretch < stretches.size()) {
        const bool record = stretches[stretch].record;
        Begin(slot, *(record ? recorded : native), record, next++);
        progressed = true;
      }
      if (!slot.live) continue;
      any = true;
      HEDDLE_RETURN_IF_ERROR(Turn(slot, &progressed));
    }
    if (!any) return absl::OkStatus();
    if (!progressed) return Deadlock();
  }
}

void ResidentBlocks::Begin(Slot& slot, const LaunchForm& form, bool record, uint64_t block) {
  Activate(slot);
  BlockRunner& runner = *slot.runner;
  if (slot.form != &form) {
    if (slot.form != nullptr) runner.EndLaunch();
    runner.BeginLaunch(*form.kernel, form.entry, form.arguments.data(), geometry_, record ? slot.sink.get() : nullptr);
    slot.form = &form;
  }
  runner.BeginBlock(block);
  slot.live = true;
  slot.record = record;
  slot.idle_in = 0;
  if (record) unwritten_.insert(block);
}

void ResidentBlocks::Activate(Slot& slot) {
  if (active_ == &slot) return;
  char* window = reinterpret_cast<char*>(kSharedBase);
  if (active_ != nullptr && active_->live) active_->shared.assign(window, window + active_->runner->shared_bytes_);
  if (slot.live) std::memcpy(window, slot.shared.data(), slot.shared.size());
  active_ = &slot;
}

absl::Status ResidentBlocks::Turn(Slot& slot, bool* progressed) {
  if (slot.idle_in == waits_.epoch()) return absl::OkStatus();
  Activate(slot);
  BlockRunner& runner = *slot.runner;
  const uint64_t before = runner.context_.instructions;
  runner.context_.clock = clock_;
  runner.turn_limit_ = before + kTurnInstructions * runner.thread_count_;
  if (options_.max_instructions != ~uint64_t{0}) {
    runner.options_.max_instructions =
        before + options_.max_instructions - std::min(options_.max_instructions, instructions_);
  }
  const BlockRunner::Stop stop = runner.Continue();
  clock_ = runner.context_.clock;
  instructions_ += runner.context_.instructions - before;
  switch (stop) {
    case BlockRunner::Stop::kIdle:
      slot.idle_in = waits_.epoch();
      // Threads that have begun, or polled for the first time, may have changed something.
      *progressed = *progressed || runner.context_.instructions != before;
      return absl::OkStatus();
    case BlockRunner::Stop::kTurnOver:
      *progressed = true;
      return absl::OkStatus();
    case BlockRunner::Stop::kRecordFull:
      *progressed = true;
      return runner.EmptyRecord();
    case BlockRunner::Stop::kFinished: {
      *progressed = true;
      slot.live = false;
      HEDDLE_RETURN_IF_ERROR(runner.FinishBlock());
      if (options_.progress) options_.progress(runner.block_, instructions_);
      return slot.record ? Flush() : absl::OkStatus();
    }
    default:
      return runner.StopError(stop);
  }
}

absl::Status ResidentBlocks::Deadlock() {
  for (uint32_t s = 0; s < live_blocks_; ++s) {
    Slot& slot = slots_[s];
    if (!slot.live) continue;
    const uint64_t blocks = geometry_.blocks();
    return slot.runner->IdleError(
        live_blocks_ == blocks
            ? absl::StrCat("all ", blocks, " blocks of the grid are live: a deadlock of the program")
            : absl::StrCat("all live blocks wait, ", live_blocks_, " of ", blocks, ": ",
                           LiveBlocksAdvice(geometry_, slot.runner->kernel_->uses_local, live_blocks_,
                                            options_.resident_blocks_setting, /*all=*/false)));
  }
  return absl::InternalError("no block is live, yet the launch has not ended");
}

void ResidentBlocks::TakeWarnings(Slot& slot) {
  for (const std::string& warning : slot.runner->warnings_) {
    if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end()) warnings_.push_back(warning);
  }
}

void ResidentBlocks::Reset() {
  for (Slot& slot : slots_) {
    if (slot.form != nullptr) slot.runner->EndLaunch();
    if (slot.live) slot.runner->fibers_.Reset();
    slot.live = false;
    slot.form = nullptr;
    TakeWarnings(slot);
  }
  active_ = nullptr;
  unwritten_.clear();
  kept_.clear();
  kept_bytes_ = 0;
}

absl::StatusOr<const trace::Program*> ResidentBlocks::Program() {
  if (!program_.has_value()) {
    HEDDLE_ASSIGN_OR_RETURN(trace::Program program, trace::Program::Create(*program_proto_));
    program_ = std::move(program);
  }
  return &*program_;
}

absl::Status ResidentBlocks::AddBlock(uint64_t block, std::span<const trace::ThreadRecord> threads,
                                      uint64_t instructions) {
  if (*unwritten_.begin() == block) {
    unwritten_.erase(unwritten_.begin());
    return writer_->AddBlock(block, threads, instructions);
  }
  uint64_t addresses = 0;
  uint64_t decisions = 0;
  for (const trace::ThreadRecord& thread : threads) {
    addresses += thread.addresses.size();
    decisions += thread.decisions.size();
  }
  Kept& kept = kept_[block];
  kept.complete = true;
  if (kept_bytes_ + addresses * 8 + decisions > kMaxKeptBytes) {
    HEDDLE_ASSIGN_OR_RETURN(const trace::Program* program, Program());
    trace::PartEncoder encoder;
    encoder.Begin(program, block, threads.size());
    std::vector<uint64_t> consumed(threads.size());
    return encoder.Add(threads, true, consumed, encoder_memory_, kept.chunks.emplace_back());
  }
  kept_bytes_ += addresses * 8 + decisions;
  kept.instructions = instructions;
  kept.addresses.reserve(addresses);
  kept.decisions.reserve(decisions);
  for (const trace::ThreadRecord& thread : threads) {
    trace::ThreadRecord& copy = kept.threads.emplace_back();
    copy.addresses = {kept.addresses.data() + kept.addresses.size(), thread.addresses.size()};
    copy.decisions = {kept.decisions.data() + kept.decisions.size(), thread.decisions.size()};
    kept.addresses.insert(kept.addresses.end(), thread.addresses.begin(), thread.addresses.end());
    kept.decisions.insert(kept.decisions.end(), thread.decisions.begin(), thread.decisions.end());
  }
  return absl::OkStatus();
}

absl::Status ResidentBlocks::AddChunk(uint64_t block, trace::v1::BlockChunk chunk) {
  Kept& kept = kept_[block];
  kept.complete = chunk.last_part();
  kept.chunks.push_back(std::move(chunk));
  return Flush();
}

absl::Status ResidentBlocks::Flush() {
  while (!unwritten_.empty()) {
    const uint64_t block = *unwritten_.begin();
    const auto found = kept_.find(block);
    if (found == kept_.end()) return absl::OkStatus();
    Kept& kept = found->second;
    for (trace::v1::BlockChunk& chunk : kept.chunks) {
      HEDDLE_RETURN_IF_ERROR(writer_->AddChunk(std::move(chunk), block));
    }
    kept.chunks.clear();
    if (!kept.complete) return absl::OkStatus();
    if (!kept.threads.empty()) {
      kept_bytes_ -= kept.addresses.size() * 8 + kept.decisions.size();
      HEDDLE_RETURN_IF_ERROR(writer_->AddBlock(block, kept.threads, kept.instructions));
    }
    kept_.erase(found);
    unwritten_.erase(unwritten_.begin());
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
