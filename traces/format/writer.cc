#include "traces/format/writer.h"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "traces/format/chunk_encoder.h"
#include "traces/format/container_writer.h"
#include "traces/format/geometry.h"
#include "traces/format/limits.h"
#include "traces/format/part_encoder.h"
#include "traces/format/pending_chunk.h"
#include "traces/format/worker_thread.h"

namespace heddle::trace {

namespace {

bool NeedsLaterFeature(const v1::BlockChunk& chunk) {
  const auto& columns = chunk.column();
  return !chunk.paths().decision_planes().empty() ||
         std::any_of(columns.begin(), columns.end(),
                     [](const v1::AddressColumn& column) { return column.model() == v1::AddressColumn::INDUCTION; });
}

}  // namespace

struct TraceWriter::State {
  State(std::unique_ptr<ContainerWriter> container, unsigned threads)
      : file(std::move(container)), encodes_aside(threads > 1), encoder(threads), parts(threads) {}

  absl::Status Fail(absl::Status status) {
    if (!status.ok() && error.ok()) error = status;
    return status;
  }
  absl::Status Append(v1::Record& record) {
    absl::Status status = file->Append(record);
    totals.bytes = file->bytes();
    return status;
  }

  absl::Status CheckBlock(uint64_t block, std::span<const ThreadRecord> threads);
  absl::Status AddBlock(uint64_t block, std::span<const ThreadRecord> threads, uint64_t expected);
  absl::Status AddBlockPart(uint64_t block, std::span<const ThreadRecord> threads, bool last,
                            std::span<uint64_t> consumed);
  absl::Status AddChunk(v1::BlockChunk chunk, uint64_t last_block);
  // Ends the open chunk; it may be encoded while the next one is taken in.
  absl::Status CloseChunk();
  // Ends the open chunk, and appends it and the one before it.
  absl::Status Flush();
  // Appends the chunk that is being encoded aside, if there is one.
  absl::Status Settle();
  absl::Status AppendChunk(v1::Record& record, uint64_t last_block);
  void CountBlocks(uint64_t blocks, uint64_t threads);

  std::unique_ptr<ContainerWriter> file;
  absl::Status error;
  bool finished = false;
  uint64_t chunk_thread_instructions = 0;
  uint64_t chunk_accesses = 0;

  std::deque<Program> programs;         // references stay valid
  std::vector<EncoderMemory> memories;  // per program
  v1::Index index;
  WriterTotals totals;
  uint64_t launches = 0;

  // The open launch.
  bool open = false;
  // To come back to when it is abandoned.
  ContainerWriter::Mark mark;
  WriterTotals totals_before;
  int chunks_before = 0;
  int features_before = 0;
  v1::Launch launch;
  v1::LaunchEnd end;
  uint64_t grid_blocks = 0;
  uint64_t block_threads = 0;
  uint64_t next_block = 0;  // lowest block that may follow

  // The open chunk.
  PendingChunk pending;
  std::vector<uint64_t> pending_blocks;

  // The chunk that is being encoded, on another thread if there are several; `encoder`, `encoding`, `encoded` and the
  // program's memory are that thread's until Settle.
  const bool encodes_aside;
  ChunkEncoder encoder;
  PendingChunk encoding;
  v1::Record encoded;
  uint64_t encoded_last_block = 0;
  bool under_way = false;

  // The block that is being cut in time.
  bool in_parts = false;
  uint64_t part_block = 0;
  uint32_t part = 0;           // the next one
  bool encoded_parts = false;  // its parts come as encoded chunks
  PartEncoder parts;

  WorkerThread worker;  // goes first, for it uses the rest
};

unsigned UsualThreads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 4u); }

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::~TraceWriter() = default;
const WriterTotals& TraceWriter::totals() const { return state_->totals; }
const std::string& TraceWriter::temporary_file() const { return state_->file->temporary(); }

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Create(const std::string& path, v1::FileHeader header,
                                                                 const WriterOptions& options) {
  absl::StatusOr<std::unique_ptr<ContainerWriter>> container =
      ContainerWriter::Create(path, options.zstd_level, options.threads);
  if (!container.ok()) return container.status();
  auto state = std::make_unique<State>(*std::move(container), options.threads);
  const auto limit = [](uint64_t wanted, uint64_t usual, uint64_t most) {
    return std::min(wanted == 0 ? usual : wanted, most);
  };
  state->chunk_thread_instructions =
      limit(options.chunk_thread_instructions, kChunkThreadInstructions, kMaxChunkThreadInstructions / 2);
  state->chunk_accesses = limit(options.chunk_accesses, kChunkAccesses, kMaxChunkAccesses / 2);
  header.set_major(kMajorVersion);
  header.set_minor(std::clamp(header.minor(), kUsualMinorVersion, kMinorVersion));
  header.clear_required_feature();
  header.add_required_feature(kChunkFeature);
  header.set_max_chunk_thread_instructions(kMaxChunkThreadInstructions);
  header.set_max_chunk_accesses(kMaxChunkAccesses);
  header.set_max_record_bytes(kMaxRecordBytes);
  v1::Record record;
  *record.mutable_header() = std::move(header);
  if (absl::Status status = state->Append(record); !status.ok()) return status;
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(state)));
}

absl::StatusOr<const Program*> TraceWriter::AddProgram(v1::KernelProgram program) {
  State& s = *state_;
  if (!s.error.ok()) return s.error;
  if (s.finished || s.open) {
    return s.Fail(absl::FailedPreconditionError("AddProgram comes before BeginLaunch or after EndLaunch"));
  }
  program.set_id(static_cast<uint32_t>(s.programs.size()));
  absl::StatusOr<Program> created = Program::Create(std::move(program));
  if (!created.ok()) return s.Fail(created.status());
  v1::Record record;
  *record.mutable_program() = created->proto();
  s.index.add_program_frame(s.file->frame_count());
  if (absl::Status status = s.Append(record); !status.ok()) return s.Fail(status);
  s.programs.push_back(*std::move(created));
  s.memories.emplace_back();
  return &s.programs.back();
}

absl::Status TraceWriter::BeginLaunch(v1::Launch launch) {
  State& s = *state_;
  if (!s.error.ok()) return s.error;
  if (s.finished || s.open)
    return s.Fail(absl::FailedPreconditionError("BeginLaunch: the launch before is still open"));
  launch.set_id(static_cast<uint32_t>(s.launches));
  absl::StatusOr<Geometry> geometry = GeometryOf(launch);
  if (!geometry.ok()) return s.Fail(geometry.status());
  if (launch.program() >= s.programs.size()) {
    return s.Fail(absl::InvalidArgumentError(
        absl::StrCat("launch ", launch.id(), ": program ", launch.program(), " has not been added")));
  }
  for (uint32_t earlier : launch.depends_on()) {
    if (earlier >= launch.id()) {
      return s.Fail(absl::InvalidArgumentError(
          absl::StrCat("launch ", launch.id(), ": it cannot depend on launch ", earlier, ", which comes later")));
    }
  }
  s.mark = s.file->End();
  s.totals_before = s.totals;
  s.chunks_before = s.index.chunk_size();
  s.features_before = s.index.required_feature_size();
  s.index.add_launch_frame(s.file->frame_count());
  v1::Record record;
  *record.mutable_launch() = launch;
  if (absl::Status status = s.Append(record); !status.ok()) return s.Fail(status);
  ++s.launches;
  if (!launch.recorded()) return absl::OkStatus();
  s.open = true;
  s.launch = std::move(launch);
  s.end = v1::LaunchEnd();
  s.end.set_launch(s.launch.id());
  s.grid_blocks = geometry->grid_blocks;
  s.block_threads = geometry->block_threads;
  s.next_block = 0;
  // A launch may have little in common with the one before it: its first chunk gets a trial of its own.
  EncoderMemory& memory = s.memories[s.launch.program()];
  memory.chunks = std::min<uint64_t>(memory.chunks, 1);
  s.pending.Reset(&s.programs[s.launch.program()]);
  s.pending_blocks.clear();
  return absl::OkStatus();
}

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

absl::Status TraceWriter::State::AppendChunk(v1::Record& record, uint64_t last_block) {
  const v1::BlockChunk& chunk = record.chunk();
  if (index.required_feature_size() == 0 && NeedsLaterFeature(chunk)) index.add_required_feature(kLaterChunkFeature);
  v1::ChunkReference& reference = *index.add_chunk();
  reference.set_frame(file->frame_count());
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
  return Append(record);
}

absl::Status TraceWriter::State::CloseChunk() {
  if (pending.empty()) return absl::OkStatus();
  if (absl::Status status = Settle(); !status.ok()) return status;
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
  const auto encode = [this, &memory = memories[launch.program()], &chunk] {
    encoder.Encode(encoding, false, memory, chunk);
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
  absl::Status status = AppendChunk(encoded, encoded_last_block);
  encoded.Clear();
  return status;
}

absl::Status TraceWriter::State::Flush() {
  if (absl::Status status = CloseChunk(); !status.ok()) return status;
  return Settle();
}

absl::Status TraceWriter::State::AddBlock(uint64_t block, std::span<const ThreadRecord> threads, uint64_t expected) {
  if (absl::Status status = CheckBlock(block, threads); !status.ok()) return status;
  const absl::string_view in_parts_rule = "the block before is being added in parts and has not had its last";
  if (in_parts) return absl::FailedPreconditionError(absl::StrCat("block ", block, ": ", in_parts_rule));
  uint64_t accesses = 0;
  for (const ThreadRecord& thread : threads) accesses += thread.addresses.size();
  const uint64_t most_instructions = kMaxChunkThreadInstructions - chunk_thread_instructions;
  if (accesses > kMaxBlockAccesses) {
    return absl::ResourceExhaustedError(absl::StrCat("launch ", launch.id(), ", block ", block, ": ", accesses,
                                                     " accesses; a block of more than ", kMaxBlockAccesses,
                                                     " must be added in parts"));
  }
  if (pending.path_of_thread().size() + threads.size() > kMaxChunkThreads ||
      (!pending.empty() && pending.addresses().size() + accesses > kMaxBlockAccesses)) {
    if (absl::Status status = CloseChunk(); !status.ok()) return status;
  }
  const uint64_t before = pending.thread_instructions();
  for (size_t t = 0; t < threads.size(); ++t) {
    const uint64_t budget = before + most_instructions - pending.thread_instructions();
    absl::StatusOr<uint32_t> path = pending.AddWholeThread(threads[t], budget);
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
  CountBlocks(1, threads.size());
  if (pending.thread_instructions() >= chunk_thread_instructions || pending.addresses().size() >= chunk_accesses ||
      pending.encoded_bytes() >= kChunkBytes) {
    return CloseChunk();
  }
  return absl::OkStatus();
}

absl::Status TraceWriter::State::AddBlockPart(uint64_t block, std::span<const ThreadRecord> threads, bool last,
                                              std::span<uint64_t> consumed) {
  if (absl::Status status = CheckBlock(block, threads); !status.ok()) return status;
  const std::string place = absl::StrCat("launch ", launch.id(), ", block ", block);
  if (consumed.size() != threads.size()) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": one count of consumed addresses per thread is needed"));
  }
  if (in_parts ? block != part_block : false) {
    return absl::FailedPreconditionError(absl::StrCat(place, ": block ", part_block, " has not had its last part"));
  }
  if (!in_parts) {
    if (absl::Status status = Flush(); !status.ok()) return status;
    in_parts = true;
    encoded_parts = false;
    part_block = block;
    parts.Begin(&programs[launch.program()], block, threads.size());
  } else if (encoded_parts) {
    return absl::FailedPreconditionError(absl::StrCat(place, ": its first parts were added as encoded chunks"));
  }
  v1::Record record;
  v1::BlockChunk& chunk = *record.mutable_chunk();
  chunk.set_launch(launch.id());
  if (absl::Status status = parts.Add(threads, last, consumed, memories[launch.program()], chunk); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat("launch ", launch.id(), ", ", status.message()));
  }
  totals.thread_instructions += chunk.thread_instructions();
  totals.accesses += chunk.accesses();
  if (absl::Status status = AppendChunk(record, block); !status.ok()) return status;
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
  if (absl::Status status = Flush(); !status.ok()) return status;
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

absl::Status TraceWriter::AddChunk(v1::BlockChunk chunk, uint64_t last_block) {
  if (!state_->error.ok()) return state_->error;
  return state_->Fail(state_->AddChunk(std::move(chunk), last_block));
}

absl::Status TraceWriter::AddBlock(uint64_t block, std::span<const ThreadRecord> threads,
                                   uint64_t expected_thread_instructions) {
  if (!state_->error.ok()) return state_->error;
  return state_->Fail(state_->AddBlock(block, threads, expected_thread_instructions));
}

absl::Status TraceWriter::AddBlockPart(uint64_t block, std::span<const ThreadRecord> threads, bool last,
                                       std::span<uint64_t> consumed_addresses) {
  if (!state_->error.ok()) return state_->error;
  return state_->Fail(state_->AddBlockPart(block, threads, last, consumed_addresses));
}

absl::Status TraceWriter::AddWaits(const v1::LaunchEnd& waits) {
  State& s = *state_;
  if (!s.error.ok()) return s.error;
  if (!s.open) return s.Fail(absl::FailedPreconditionError("AddWaits: no launch is open"));
  s.end.mutable_wait()->MergeFrom(waits.wait());
  s.end.set_waits_not_listed(s.end.waits_not_listed() + waits.waits_not_listed());
  return absl::OkStatus();
}

absl::Status TraceWriter::EndLaunch() {
  State& s = *state_;
  if (!s.error.ok()) return s.error;
  if (!s.open) return s.Fail(absl::FailedPreconditionError("EndLaunch: no launch is open"));
  if (s.in_parts) {
    return s.Fail(
        absl::FailedPreconditionError(absl::StrCat("EndLaunch: block ", s.part_block, " misses its last part")));
  }
  if (absl::Status status = s.Flush(); !status.ok()) return s.Fail(status);
  s.open = false;
  s.index.add_launch_end_frame(s.file->frame_count());
  v1::Record record;
  *record.mutable_launch_end() = s.end;
  return s.Fail(s.Append(record));
}

absl::Status TraceWriter::AbandonLaunch() {
  State& s = *state_;
  if (!s.open) return s.Fail(absl::FailedPreconditionError("AbandonLaunch: no launch is open"));
  s.worker.Wait();
  s.under_way = false;
  s.encoded.Clear();
  s.open = false;
  s.in_parts = false;
  --s.launches;
  s.totals = s.totals_before;
  s.index.mutable_launch_frame()->RemoveLast();
  s.index.mutable_chunk()->DeleteSubrange(s.chunks_before, s.index.chunk_size() - s.chunks_before);
  s.index.mutable_required_feature()->DeleteSubrange(s.features_before,
                                                     s.index.required_feature_size() - s.features_before);
  s.pending.Reset(&s.programs[s.launch.program()]);
  s.pending_blocks.clear();
  s.error = s.file->CutBack(s.mark);
  s.totals.bytes = s.file->bytes();
  return s.error;
}

absl::Status TraceWriter::AddTransfer(const v1::Transfer& transfer) {
  v1::Record record;
  *record.mutable_transfer() = transfer;
  return AddOther(record);
}

absl::Status TraceWriter::AddCertificate(const v1::Certificate& certificate) {
  if (state_->error.ok() && certificate.launch() >= state_->launches) {
    return state_->Fail(absl::InvalidArgumentError(
        absl::StrCat("certificate: launch ", certificate.launch(), " has not been written")));
  }
  v1::Record record;
  *record.mutable_certificate() = certificate;
  return AddOther(record);
}

absl::Status TraceWriter::AddAnnotation(const v1::Annotation& annotation) {
  v1::Record record;
  *record.mutable_annotation() = annotation;
  return AddOther(record);
}

absl::Status TraceWriter::AddOther(v1::Record& record) {
  State& s = *state_;
  if (!s.error.ok()) return s.error;
  if (s.finished || s.open) {
    return s.Fail(absl::FailedPreconditionError("transfers, certificates and annotations stand between launches"));
  }
  s.index.add_other_frame(s.file->frame_count());
  return s.Fail(s.Append(record));
}

absl::Status TraceWriter::Finish() {
  State& s = *state_;
  if (!s.error.ok()) return s.error;
  if (s.finished || s.open)
    return s.Fail(absl::FailedPreconditionError("Finish: a launch is still open, or called twice"));
  s.index.set_records(s.file->frame_count());
  s.index.set_thread_instructions(s.totals.thread_instructions);
  s.index.set_accesses(s.totals.accesses);
  s.index.set_content_sha256(s.file->ContentDigest());
  v1::Record record;
  *record.mutable_index() = std::move(s.index);
  if (absl::Status status = s.Append(record); !status.ok()) return s.Fail(status);
  if (absl::Status status = s.file->Commit(); !status.ok()) return s.Fail(status);
  s.totals.bytes = s.file->bytes();
  s.finished = true;
  s.error = absl::FailedPreconditionError("the trace is complete: nothing can be added");
  return absl::OkStatus();
}

}  // namespace heddle::trace
