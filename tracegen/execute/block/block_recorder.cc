#include "tracegen/execute/block/block_recorder.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/record_arena.h"
#include "traces/base/status_macros.h"
#include "traces/format/limits.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {

static_assert(trace::kChunkAccesses <= RecordLog::kMostEntries);
static_assert(trace::kChunkThreadInstructions <= RecordLog::kMostEntries);

uint64_t BlockRecorder::LargestBlock() const {
  return RecordArena::BytesOf(threads_.count(), options_.part_accesses + kernel_->step_addresses + 1,
                              options_.part_instructions + kernel_->step_decisions + 1);
}

void BlockRecorder::BeginBlock(uint64_t block) {
  block_ = block;
  is_cut_ = false;
  start_instructions_ = context_.instructions;
  const uint64_t kept = KeepsBlocks() ? options_.whole_block_entries : 0;
  log_.Begin(std::max(options_.part_accesses, kept) + kernel_->step_addresses + 1,
             std::max(options_.part_instructions, kept) + kernel_->step_decisions + 1);
  BeginPart();
}

void BlockRecorder::BeginPart() {
  context_.address_cursor = log_.addresses() + log_.kept_addresses();
  context_.decision_cursor = log_.decisions();
  limits_.BeginPart();
}

absl::Status BlockRecorder::Finish() {
  if (sink_ == nullptr && !KeepsBlocks()) return absl::OkStatus();
  if (is_cut_) return HandOverPart(true);
  log_.Finish(threads_.count());
  BlockRecords records(log_);
  if (sink_ != nullptr) {
    HEDDLE_RETURN_IF_ERROR(sink_->AddBlock(block_, records, context_.instructions - start_instructions_));
  }
  outside_.LookAt(log_, records);
  if (observer_ == nullptr) return absl::OkStatus();
  consumed_.resize(threads_.count());
  for (uint32_t t = 0; t < threads_.count(); ++t) consumed_[t] = log_.access_count(t);
  return observer_->AddBlock(block_, records, consumed_, true);
}

void BlockRecorder::ShowFailedBlock() {
  if (observer_ == nullptr || sink_ == nullptr) return;
  log_.Close(threads_.running(), context_.address_cursor, context_.decision_cursor);
  log_.Finish(threads_.count());
  log_.Join();
  const std::span<trace::ThreadRecord> records = log_.records();
  consumed_.resize(threads_.count());
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    records[t].exited = threads_[t].state == ThreadState::kExited;
    consumed_[t] = log_.access_count(t);
    const uint32_t location = t == threads_.running() ? context_.own.location : threads_[t].own.location;
    if (records[t].exited || location == 0) continue;
    // Addresses of the IR block that the thread is in may not have been stored yet.
    consumed_[t] -= std::min<uint64_t>(consumed_[t], kernel_->blocks[location - 1].access_instructions.size());
  }
  BlockRecords shown(records);
  observer_->AddBlock(block_, shown, consumed_, /*last=*/false).IgnoreError();
}

absl::Status BlockRecorder::Cut() {
  if (KeepsBlocks()) return KeepOn();
  if (sink_ != nullptr) return HandOverPart(false);
  // Nobody reads the record: start over in the same place, where addresses that are still outstanding do no harm.
  log_.Begin(0, 0);
  BeginPart();
  return absl::OkStatus();
}

absl::Status BlockRecorder::KeepOn() {
  const auto addresses = static_cast<uint64_t>(context_.address_cursor - log_.addresses());
  const auto decisions = static_cast<uint64_t>(context_.decision_cursor - log_.decisions());
  if (addresses + options_.part_accesses > options_.whole_block_entries ||
      decisions + options_.part_instructions > options_.whole_block_entries) {
    return absl::ResourceExhaustedError(absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "': block ",
                                                     block_, " records more than can be kept of one block (",
                                                     options_.whole_block_entries, " accesses or decisions)"));
  }
  limits_.BeginPart();
  return absl::OkStatus();
}

absl::Status BlockRecorder::HandOverPart(bool last) {
  is_cut_ = true;
  log_.Finish(threads_.count());
  log_.Join();
  const std::span<trace::ThreadRecord> records = log_.records();
  for (uint32_t t = 0; t < threads_.count(); ++t) records[t].exited = threads_[t].state == ThreadState::kExited;
  consumed_.assign(threads_.count(), 0);
  HEDDLE_RETURN_IF_ERROR(sink_->AddBlockPart(block_, records, last, consumed_));
  outside_.LookAtPart(log_, consumed_);
  if (observer_ != nullptr) {
    if (last) {
      for (uint32_t t = 0; t < threads_.count(); ++t) consumed_[t] = log_.access_count(t);
    }
    BlockRecords whole(log_);
    HEDDLE_RETURN_IF_ERROR(observer_->AddBlock(block_, whole, consumed_, last));
  }
  if (!last) CarryOver();
  return absl::OkStatus();
}

void BlockRecorder::CarryOver() {
  // The records of blocks that were entered after a thread's last decision go over into the next part, and with them
  // the place where a suspended thread still has to store addresses.
  std::vector<const uint64_t*> bases(threads_.count(), nullptr);
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    const ThreadState state = threads_[t].state;
    if (state != ThreadState::kNotStarted && state != ThreadState::kExited) bases[t] = threads_[t].own.block_base;
  }
  std::vector<uint64_t> positions;
  log_.PositionsInRecords(bases, positions);
  std::vector<uint64_t*> starts;
  log_.KeepRests(consumed_, options_.part_accesses + kernel_->step_addresses + 1, starts);
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    if (bases[t] != nullptr && positions[t] >= consumed_[t]) {
      threads_[t].own.block_base = starts[t] + (positions[t] - consumed_[t]);
    }
  }
  BeginPart();
}

}  // namespace heddle::tracegen
