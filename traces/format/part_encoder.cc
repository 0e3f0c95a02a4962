#include "traces/format/part_encoder.h"

#include "absl/strings/str_cat.h"
#include "traces/format/limits.h"

namespace heddle::trace {

void PartEncoder::Begin(const Program* program, uint64_t block, size_t threads) {
  program_ = program;
  block_ = block;
  part_ = 0;
  states_.assign(threads, WalkState{program->entry_block(), {}, false});
}

absl::Status PartEncoder::Add(std::span<const ThreadRecord> threads, bool last, std::span<uint64_t> consumed,
                              EncoderMemory& memory, v1::BlockChunk& chunk) {
  pending_.Reset(program_);
  for (size_t t = 0; t < threads.size(); ++t) {
    absl::StatusOr<uint32_t> path = pending_.AddThreadPart(
        threads[t], states_[t], last, kMaxChunkThreadInstructions - pending_.thread_instructions(), consumed[t]);
    if (path.ok() && (pending_.thread_instructions() > kMaxChunkThreadInstructions ||
                      pending_.addresses().size() > kMaxBlockAccesses)) {
      path = absl::ResourceExhaustedError("the part is too long: add smaller ones");
    }
    if (!path.ok()) {
      return absl::Status(path.status().code(), absl::StrCat("block ", block_, ", part ", part_, ", thread ", t, ": ",
                                                             path.status().message()));
    }
  }
  const bool cut = part_ > 0 || !last;
  chunk.set_first_block(block_);
  chunk.set_block_count(1);
  if (cut) chunk.set_part(part_);
  chunk.set_last_part(last);
  encoder_.Encode(pending_, cut, memory, chunk);
  ++part_;
  return absl::OkStatus();
}

}  // namespace heddle::trace
