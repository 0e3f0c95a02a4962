// The part of a TraceWriter that takes in blocks, and makes chunks of them.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/limits.h"
#include "traces/format/program/operands.h"
#include "traces/format/write/writer_state.h"

namespace heddle::trace {

namespace {

bool NeedsLaterFeature(const v1::BlockChunk& chunk) {
  const auto& columns = chunk.column();
  return !chunk.paths().decision_planes().empty() ||
         std::any_of(columns.begin(), columns.end(),
                     [](const v1::AddressColumn& column) { return column.model() == v1::AddressColumn::INDUCTION; });
}

bool NeedsColumnFeature(const v1::BlockChunk& chunk) {
  const auto& columns = chunk.column();
  return std::any_of(columns.begin(), columns.end(), [](const v1::AddressColumn& column) {
    return column.model() == v1::AddressColumn::COUNTED || column.further_term_size() != 0 ||
           column.layout() == v1::AddressColumn::DICTIONARY;
  });
}

bool NeedsOperandFeature(const v1::BlockChunk& chunk, const Program& program) {
  const auto& columns = chunk.column();
  return std::any_of(columns.begin(), columns.end(), [&program](const v1::AddressColumn& column) {
    return column.operand() != 0 || column.ref_operand() != 0 ||
           (column.instruction() < program.instruction_count() &&
            !Program::HasAddress(program.instruction(column.instruction())));
  });
}

}  // namespace

absl::Status TraceWriter::State::CheckBlock(uint64_t block, std::span<const ThreadRecord> threads) {
  if (!open) return absl::FailedPreconditionError("a block needs an open launch that is recorded");
  const std::string place = absl::StrCat("launch ", launch.id(), ", block ", block);
  if (block >= grid_blocks) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": the grid has ", grid_blocks, " blocks"));
  }
  if (block < next_block) return absl::InvalidArgumentError(absl::StrCat(place, ": blocks must be added in order"));
  if (threads.size() != block_threads) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": ", threads.size(), " threads given, a block has ", block_threads));
  }
  return absl::OkStatus();
}

void TraceWriter::State::CountBlocks(uint64_t blocks, uint64_t threads) {
  end.set_blocks(end.blocks() + blocks);
  end.set_threads(end.threads() + threads);
  totals.blocks += blocks;
  totals.threads += threads;
}

void TraceWriter::State::RequireFeature(const char* feature) {
  const auto& known = index.required_feature();
  if (std::find(known.begin(), known.end(), feature) == known.end()) index.add_required_feature(feature);
}

void TraceWriter::State::IndexChunk(const v1::BlockChunk& chunk, uint64_t record, uint64_t last_block) {
  if (NeedsLaterFeature(chunk)) RequireFeature(kLaterChunkFeature);
  if (NeedsColumnFeature(chunk)) RequireFeature(kColumnFeature);
  if (NeedsOperandFeature(chunk, programs[launch.program()])) RequireFeature(kOperandFeature);
  v1::ChunkReference& reference = *index.add_chunk();
  reference.set_frame(record);
  reference.set_launch(chunk.launch());
  reference.set_first_block(chunk.first_block());
  reference.set_block_count(chunk.block_count());
  reference.set_last_block(last_block);
  reference.set_part(chunk.part());
  reference.set_thread_instructions(chunk.thread_instructions());
  reference.set_accesses(chunk.accesses());
  end.set_thread_instructions(end.thread_instructions() + chunk.thread_instructions());
  end.set_accesses(end.accesses() + chunk.accesses());
  end.set_chunks(end.chunks() + 1);
  ++totals.chunks;
}

absl::Status TraceWriter::State::AppendChunk(v1::Record& record, uint64_t last_block) {
  IndexChunk(record.chunk(), file->record_count(), last_block);
  return Append(record);
}

absl::Status TraceWriter::State::CloseChunk() {
  if (pending.empty()) return absl::OkStatus();
  HEDDLE_RETURN_IF_ERROR(Settle());
  v1::BlockChunk& chunk = *encoded.mutable_chunk();
  chunk.set_launch(launch.id());
  chunk.set_first_block(pending_blocks.front());
  chunk.set_block_count(pending_blocks.size());
  if (pending_blocks.back() - pending_blocks.front() != pending_blocks.size() - 1) {
    for (size_t i = 1; i < pending_blocks.size(); ++i) {
      chunk.add_block_gap(pending_blocks[i] - pending_blocks[i - 1] - 1);
    }
  }
  chunk.set_last_part(true);
  encoded_last_block = pending_blocks.back();
  std::swap(pending, encoding);
  pending.Reset(&programs[launch.program()]);
  pending_blocks.clear();
  under_way = true;
  encoded_number = file->record_count();
  const auto encode = [this, &memory = memories[launch.program()], &chunk] {
    encoder.Encode(encoding, false, memory, chunk);
    appended = file->Append(encoded);
  };
  if (encodes_aside) {
    worker.Start(encode);
    return absl::OkStatus();
  }
  encode();
  return Settle();
}

absl::Status TraceWriter::State::Settle() {
  if (!under_way) return absl::OkStatus();
  worker.Wait();
  under_way = false;
  IndexChunk(encoded.chunk(), encoded_number, encoded_last_block);
  encoded.Clear();
  totals.bytes = file->bytes();
  return appended;
}

absl::Status TraceWriter::State::Flush() {
  HEDDLE_RETURN_IF_ERROR(CloseChunk());
  return Settle();
}

absl::Status TraceWriter::State::MakeRoom(uint64_t block, std::span<const ThreadRecord> threads, uint64_t accesses) {
  HEDDLE_RETURN_IF_ERROR(CheckBlock(block, threads));
  const absl::string_view in_parts_rule = "the block before is being added in parts and has not had its last";
  if (in_parts) return absl::FailedPreconditionError(absl::StrCat("block ", block, ": ", in_parts_rule));
  if (accesses > kMaxBlockAccesses) {
    return absl::ResourceExhaustedError(absl::StrCat("launch ", launch.id(), ", block ", block, ": ", accesses,
                                                     " accesses; a block of more than ", kMaxBlockAccesses,
                                                     " must be added in parts"));
  }
  if (pending.path_of_thread().size() + threads.size() > kMaxChunkThreads ||
      (!pending.empty() && pending.addresses().accesses() + accesses > kMaxBlockAccesses)) {
    return CloseChunk();
  }
  return absl::OkStatus();
}

absl::Status TraceWriter::State::AddThreads(uint64_t block, size_t count, AddThread add, uint64_t accesses,
                                            uint64_t expected) {
  const uint64_t most_instructions = kMaxChunkThreadInstructions - chunk_thread_instructions;
  const uint64_t before = pending.thread_instructions();
  for (size_t t = 0; t < count; ++t) {
    absl::StatusOr<uint32_t> path = add(t, before + most_instructions - pending.thread_instructions());
    if (path.ok() && pending.thread_instructions() - before > most_instructions) {
      path = absl::ResourceExhaustedError("the block is too long: add it in parts");
    }
    if (!path.ok()) {
      return absl::Status(path.status().code(), absl::StrCat("launch ", launch.id(), ", block ", block, ", thread ", t,
                                                             ": ", path.status().message()));
    }
  }
  const uint64_t instructions = pending.thread_instructions() - before;
  if (expected != kNoExpectation && expected != instructions) {
    return absl::InternalError(absl::StrCat("launch ", launch.id(), ", block ", block, ": the paths have ",
                                            instructions, " thread-instructions, but ", expected,
                                            " were counted while running"));
  }
  totals.thread_instructions += instructions;
  totals.accesses += accesses;
  pending_blocks.push_back(block);
  next_block = block + 1;
  CountBlocks(1, count);
  return absl::OkStatus();
}

absl::Status TraceWriter::State::EndBlock() {
  if (pending.thread_instructions() >= chunk_thread_instructions || pending.addresses().accesses() >= chunk_accesses ||
      pending.encoded_bytes() >= kChunkBytes) {
    return CloseChunk();
  }
  return absl::OkStatus();
}

absl::Status TraceWriter::State::AddBlock(uint64_t block, std::span<const ThreadRecord> threads, uint64_t expected) {
  uint64_t accesses = 0;
  for (const ThreadRecord& thread : threads) accesses += thread.addresses.size();
  HEDDLE_RETURN_IF_ERROR(MakeRoom(block, threads, accesses));
  const auto add = [&](size_t t, uint64_t budget) { return pending.AddWholeThread(threads[t], budget); };
  HEDDLE_RETURN_IF_ERROR(AddThreads(block, threads.size(), add, accesses, expected));
  return EndBlock();
}

absl::Status TraceWriter::State::AddBlock(uint64_t block, const SegmentedBlock& segments, uint64_t expected,
                                          std::vector<AddressBounds>& ranges) {
  const std::span<const ThreadRecord> threads = segments.threads;
  const uint64_t accesses = std::accumulate(segments.access_count.begin(), segments.access_count.end(), uint64_t{0});
  HEDDLE_RETURN_IF_ERROR(MakeRoom(block, threads, accesses));
  const auto add = [&](size_t t, uint64_t budget) {
    return pending.AddThreadOfBlock(threads[t].decisions, segments.access_count[t], budget);
  };
  HEDDLE_RETURN_IF_ERROR(AddThreads(block, threads.size(), add, accesses, expected));
  pending.AddAddresses(segments, ranges);
  return EndBlock();
}

absl::Status TraceWriter::State::AddPart(v1::BlockChunk& chunk) {
  totals.thread_instructions += chunk.thread_instructions();
  totals.accesses += chunk.accesses();
  chunk.set_launch(launch.id());
  v1::Record record;
  *record.mutable_chunk() = std::move(chunk);
  return AppendChunk(record, part_block);
}

absl::Status TraceWriter::State::AddBlockPart(uint64_t block, std::span<const ThreadRecord> threads, bool last,
                                              std::span<uint64_t> consumed) {
  HEDDLE_RETURN_IF_ERROR(CheckBlock(block, threads));
  const std::string place = absl::StrCat("launch ", launch.id(), ", block ", block);
  if (consumed.size() != threads.size()) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": one count of consumed addresses per thread is needed"));
  }
  if (in_parts ? block != part_block : false) {
    return absl::FailedPreconditionError(absl::StrCat(place, ": block ", part_block, " has not had its last part"));
  }
  if (!in_parts) {
    HEDDLE_RETURN_IF_ERROR(Flush());
    in_parts = true;
    encoded_parts = false;
    part_block = block;
    parts.Begin(&programs[launch.program()], block, threads.size());
  } else if (encoded_parts) {
    return absl::FailedPreconditionError(absl::StrCat(place, ": its first parts were added as encoded chunks"));
  }
  const absl::Status status =
      parts.AddSlice(threads, last, consumed, join, memories[launch.program()], [this](auto& c) { return AddPart(c); });
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat("launch ", launch.id(), ", ", status.message()));
  part = parts.part();
  if (last) {
    in_parts = false;
    next_block = block + 1;
    CountBlocks(1, threads.size());
  }
  return absl::OkStatus();
}

absl::Status TraceWriter::State::AddChunk(v1::BlockChunk chunk, uint64_t last_block) {
  if (!open) return absl::FailedPreconditionError("a chunk needs an open launch that is recorded");
  const auto refuse = [&](absl::string_view rule) {
    return absl::InvalidArgumentError(
        absl::StrCat("launch ", launch.id(), ", chunk of block ", chunk.first_block(), ": ", rule));
  };
  HEDDLE_RETURN_IF_ERROR(Flush());
  if (in_parts && !encoded_parts) {
    const absl::Status status =
        parts.FlushSlices(memories[launch.program()], [this](auto& slices) { return AddPart(slices); });
    if (!status.ok()) return status;
    part = parts.part();
  }
  if (in_parts ? chunk.first_block() != part_block || chunk.part() != part : chunk.part() != 0) {
    return refuse(absl::StrCat("it is part ", chunk.part(), in_parts ? " behind " : " without ", "the parts before"));
  }
  if (chunk.first_block() < next_block || last_block < chunk.first_block() || last_block >= grid_blocks) {
    return refuse("its blocks do not come next, or are outside the grid");
  }
  const uint64_t threads = static_cast<uint64_t>(std::max(chunk.path_ref_size(), chunk.path_number_size()));
  if (threads / block_threads != chunk.block_count() || threads % block_threads != 0 || threads == 0) {
    return refuse("it does not have the threads of whole blocks");
  }
  in_parts = !chunk.last_part();
  part_block = chunk.first_block();
  encoded_parts = true;  // AddBlockPart cannot go on behind them: where the threads stopped is not known
  part = chunk.part() + 1;
  if (!in_parts) {
    next_block = last_block + 1;
    CountBlocks(chunk.block_count(), threads);
  }
  totals.thread_instructions += chunk.thread_instructions();
  totals.accesses += chunk.accesses();
  chunk.set_launch(launch.id());
  v1::Record record;
  *record.mutable_chunk() = std::move(chunk);
  return AppendChunk(record, last_block);
}

}  // namespace heddle::trace
