#include "tracegen/execute/parallel/in_order_writer.h"

#include <utility>

#include "traces/base/status_macros.h"

namespace heddle::tracegen {

void InOrderWriter::BeginLaunch(const trace::v1::KernelProgram* program, trace::TraceWriter* writer) {
  writer_ = writer;
  program_proto_ = program;
  program_.reset();
  encoder_memory_ = {};
  unwritten_.clear();
  kept_.clear();
  kept_bytes_ = 0;
}

absl::StatusOr<const trace::Program*> InOrderWriter::Program() {
  if (!program_.has_value()) {
    HEDDLE_ASSIGN_OR_RETURN(trace::Program program, trace::Program::Create(*program_proto_));
    program_ = std::move(program);
  }
  return &*program_;
}

absl::Status InOrderWriter::AddBlock(uint64_t block, std::span<const trace::ThreadRecord> threads,
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
  if (kept_bytes_ + addresses * sizeof(uint64_t) + decisions > kMaxKeptBytes) {
    HEDDLE_ASSIGN_OR_RETURN(const trace::Program* program, Program());
    trace::PartEncoder encoder;
    encoder.Begin(program, block, threads.size());
    std::vector<uint64_t> consumed(threads.size());
    return encoder.Add(threads, true, consumed, encoder_memory_, kept.chunks.emplace_back());
  }
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
  kept_bytes_ += kept.Bytes();
  return absl::OkStatus();
}

absl::Status InOrderWriter::AddPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                                    std::span<uint64_t> consumed, std::optional<trace::PartEncoder>& encoder) {
  if (!encoder.has_value()) {
    HEDDLE_ASSIGN_OR_RETURN(const trace::Program* program, Program());
    encoder.emplace().Begin(program, block, threads.size());
  }
  trace::v1::BlockChunk chunk;
  absl::Status status = encoder->Add(threads, last, consumed, encoder_memory_, chunk);
  if (last) encoder.reset();
  HEDDLE_RETURN_IF_ERROR(status);
  Kept& kept = kept_[block];
  kept.complete = chunk.last_part();
  kept.chunks.push_back(std::move(chunk));
  return Flush();
}

absl::Status InOrderWriter::Flush() {
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
      kept_bytes_ -= kept.Bytes();
      HEDDLE_RETURN_IF_ERROR(writer_->AddBlock(block, kept.threads, kept.instructions));
    }
    kept_.erase(found);
    unwritten_.erase(unwritten_.begin());
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
