#include "traces/format/write/writer.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/container_writer.h"
#include "traces/format/limits.h"
#include "traces/format/program/geometry.h"
#include "traces/format/program/operands.h"
#include "traces/format/program/printable_records.h"
#include "traces/format/write/writer_state.h"

namespace heddle::trace {
namespace {

// Whatever a program calls its kernels and files: no trace has a text that its readers would have to change or refuse.
void MakeTextsFit(google::protobuf::Message& message) {
  MakePrintable(message);
  CutTexts(message);
}

}  // namespace

unsigned UsualThreads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 4u); }

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::~TraceWriter() = default;
const WriterTotals& TraceWriter::totals() const { return state_->totals; }
const std::string& TraceWriter::temporary_file() const { return state_->file->temporary(); }

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Create(const std::string& path, v1::FileHeader header,
                                                                 const WriterOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<ContainerWriter> container,
                          ContainerWriter::Create(path, options.zstd_level, options.threads));
  auto state = std::make_unique<State>(std::move(container), options.threads);
  const auto limit = [](uint64_t wanted, uint64_t usual, uint64_t most) {
    return std::min(wanted == 0 ? usual : wanted, most);
  };
  state->chunk_thread_instructions =
      limit(options.chunk_thread_instructions, kChunkThreadInstructions, kMaxChunkThreadInstructions / 2);
  state->chunk_accesses = limit(options.chunk_accesses, kChunkAccesses, kMaxChunkAccesses / 2);
  if (options.join_parts) {
    const bool usual = options.chunk_thread_instructions == 0;
    state->join = {usual ? kJoinedThreadInstructions : state->chunk_thread_instructions, state->chunk_accesses,
                   usual ? kJoinedBytes : kChunkBytes};
  }
  header.set_major(kMajorVersion);
  header.set_minor(std::clamp(header.minor(), kUsualMinorVersion, kMinorVersion));
  header.clear_required_feature();
  header.add_required_feature(kChunkFeature);
  header.set_max_chunk_thread_instructions(kMaxChunkThreadInstructions);
  header.set_max_chunk_accesses(kMaxChunkAccesses);
  header.set_max_record_bytes(kMaxRecordBytes);
  v1::Record record;
  *record.mutable_header() = std::move(header);
  MakeTextsFit(*record.mutable_header());
  HEDDLE_RETURN_IF_ERROR(state->Append(record));
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(state)));
}

absl::StatusOr<const Program*> TraceWriter::AddProgram(v1::KernelProgram program) {
  State& s = *state_;
  if (!s.error.ok()) return s.error;
  if (s.finished || s.open) {
    return s.Fail(absl::FailedPreconditionError("AddProgram comes before BeginLaunch or after EndLaunch"));
  }
  program.set_id(static_cast<uint32_t>(s.programs.size()));
  MakeTextsFit(program);
  absl::StatusOr<Program> created = Program::Create(std::move(program));
  if (!created.ok()) return s.Fail(created.status());
  v1::Record record;
  *record.mutable_program() = created->proto();
  s.index.add_program_frame(s.file->record_count());
  if (absl::Status status = s.Append(record); !status.ok()) return s.Fail(status);
  if (std::ranges::any_of(created->proto().instruction(), IsUnusualBarrier)) s.RequireFeature(kBarrierFeature);
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
  if (launch.has_parent() && launch.parent().launch() >= launch.id()) {
    return s.Fail(absl::InvalidArgumentError(
        absl::StrCat("launch ", launch.id(), ": launch ", launch.parent().launch(), " cannot have launched it")));
  }
  s.mark = s.file->End();
  s.totals_before = s.totals;
  s.chunks_before = s.index.chunk_size();
  s.features_before = s.index.required_feature_size();
  s.index.add_launch_frame(s.file->record_count());
  v1::Record record;
  MakeTextsFit(launch);
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
  s.memories[s.launch.program()].trials.BeginLaunch();
  s.pending.Reset(&s.programs[s.launch.program()]);
  s.pending_blocks.clear();
  return absl::OkStatus();
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

absl::Status TraceWriter::AddBlock(uint64_t block, const SegmentedBlock& threads, uint64_t expected_thread_instructions,
                                   std::vector<AddressBounds>& ranges) {
  if (!state_->error.ok()) return state_->error;
  return state_->Fail(state_->AddBlock(block, threads, expected_thread_instructions, ranges));
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
  s.index.add_launch_end_frame(s.file->record_count());
  v1::Record record;
  *record.mutable_launch_end() = s.end;
  return s.Fail(s.Append(record));
}

absl::Status TraceWriter::AbandonLaunch() {
  State& s = *state_;
  if (!s.open) return s.Fail(absl::FailedPreconditionError("AbandonLaunch: no launch is open"));
  s.worker.Wait();
  const absl::Status appended = s.under_way ? s.appended : absl::OkStatus();
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
  s.error.Update(appended);
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
  MakeTextsFit(record);
  s.index.add_other_frame(s.file->record_count());
  return s.Fail(s.Append(record));
}

absl::Status TraceWriter::Finish() {
  State& s = *state_;
  if (!s.error.ok()) return s.error;
  if (s.finished || s.open)
    return s.Fail(absl::FailedPreconditionError("Finish: a launch is still open, or called twice"));
  s.index.set_records(s.file->record_count());
  s.index.set_thread_instructions(s.totals.thread_instructions);
  s.index.set_accesses(s.totals.accesses);
  s.index.set_content_sha256(s.file->ContentDigest());
  if (absl::Status status = s.file->NumberFrames(s.index); !status.ok()) return s.Fail(status);
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
