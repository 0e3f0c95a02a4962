#include "traces/format/write/part_encoder.h"

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/limits.h"

namespace heddle::trace {

void PartEncoder::Begin(const Program* program, uint64_t block, size_t threads) {
  program_ = program;
  block_ = block;
  part_ = 0;
  states_.assign(threads, WalkState{program->entry_block(), {}, false});
  joined_.assign(threads, JoinedThread());
  joined_slices_ = 0;
  joined_size_ = JoinLimits();
}

absl::Status PartEncoder::Walk(std::span<const ThreadRecord> threads, bool last, std::vector<WalkState>& states,
                               PendingChunk& chunk, std::span<uint64_t> consumed) {
  chunk.Reset(program_);
  for (size_t t = 0; t < threads.size(); ++t) {
    absl::StatusOr<uint32_t> path = chunk.AddThreadPart(
        threads[t], states[t], last, kMaxChunkThreadInstructions - chunk.thread_instructions(), consumed[t]);
    if (path.ok() && (chunk.thread_instructions() > kMaxChunkThreadInstructions ||
                      chunk.addresses().accesses() > kMaxBlockAccesses)) {
      path = absl::ResourceExhaustedError("the part is too long: add smaller ones");
    }
    if (!path.ok()) {
      return absl::Status(path.status().code(), absl::StrCat("block ", block_, ", part ", part_, ", thread ", t, ": ",
                                                             path.status().message()));
    }
  }
  return absl::OkStatus();
}

void PartEncoder::Encode(const PendingChunk& pending, bool last, EncoderMemory& memory, v1::BlockChunk& chunk) {
  const bool cut = part_ > 0 || !last;
  chunk.set_first_block(block_);
  chunk.set_block_count(1);
  if (cut) chunk.set_part(part_);
  chunk.set_last_part(last);
  encoder_.Encode(pending, cut, memory, chunk);
  ++part_;
}

absl::Status PartEncoder::Add(std::span<const ThreadRecord> threads, bool last, std::span<uint64_t> consumed,
                              EncoderMemory& memory, v1::BlockChunk& chunk) {
  HEDDLE_RETURN_IF_ERROR(Walk(threads, last, states_, pending_, consumed));
  Encode(pending_, last, memory, chunk);
  return absl::OkStatus();
}

absl::Status PartEncoder::AddSlice(std::span<const ThreadRecord> threads, bool last, std::span<uint64_t> consumed,
                                   const JoinLimits& limits, EncoderMemory& memory, Sink sink) {
  std::vector<WalkState> before;
  if (limits.thread_instructions != 0) before = states_;
  HEDDLE_RETURN_IF_ERROR(Walk(threads, last, states_, pending_, consumed));
  const JoinLimits size = {pending_.thread_instructions(), pending_.addresses().accesses(), pending_.encoded_bytes()};
  const auto fits = [&] {
    return joined_size_.thread_instructions + size.thread_instructions <= limits.thread_instructions &&
           joined_size_.accesses + size.accesses <= limits.accesses && joined_size_.bytes + size.bytes <= limits.bytes;
  };
  if (joined_slices_ > 0 && !fits()) {
    // What is kept is walked in `pending_` once more.
    PendingChunk slice = std::move(pending_);
    const absl::Status status = EndJoined(false, memory, sink);
    pending_ = std::move(slice);
    if (!status.ok()) return status;
  }
  if (joined_slices_ == 0 && (last || !fits())) {
    v1::BlockChunk chunk;
    Encode(pending_, last, memory, chunk);
    return sink(chunk);
  }
  if (joined_slices_ == 0) joined_states_ = std::move(before);
  for (size_t t = 0; t < threads.size(); ++t) {
    JoinedThread& thread = joined_[t];
    const auto& [decisions, addresses, exited] = threads[t];
    thread.decisions.insert(thread.decisions.end(), decisions.begin(), decisions.end());
    thread.addresses.insert(thread.addresses.end(), addresses.begin(),
                            addresses.begin() + static_cast<ptrdiff_t>(consumed[t]));
    thread.exited |= states_[t].ended;
  }
  ++joined_slices_;
  joined_size_.thread_instructions += size.thread_instructions;
  joined_size_.accesses += size.accesses;
  joined_size_.bytes += size.bytes;
  return last ? EndJoined(true, memory, sink) : absl::OkStatus();
}

absl::Status PartEncoder::EndJoined(bool last, EncoderMemory& memory, Sink sink) {
  if (joined_slices_ == 0) return absl::OkStatus();
  std::vector<ThreadRecord> records;
  records.reserve(joined_.size());
  for (const JoinedThread& thread : joined_) records.push_back({thread.decisions, thread.addresses, thread.exited});
  std::vector<uint64_t> consumed(records.size());
  HEDDLE_RETURN_IF_ERROR(Walk(records, last, joined_states_, pending_, consumed));
  for (size_t t = 0; t < records.size(); ++t) {
    if (consumed[t] != joined_[t].addresses.size()) {
      return absl::InternalError(
          absl::StrCat("block ", block_, ", part ", part_, ", thread ", t, ": slices do not join where they were cut"));
    }
  }
  v1::BlockChunk chunk;
  Encode(pending_, last, memory, chunk);
  for (JoinedThread& thread : joined_) {
    thread.decisions.clear();
    thread.addresses.clear();
    thread.exited = false;
  }
  joined_slices_ = 0;
  joined_size_ = JoinLimits();
  return sink(chunk);
}

}  // namespace heddle::trace
