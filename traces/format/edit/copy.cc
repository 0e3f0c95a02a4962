#include "traces/format/edit/copy.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/container_writer.h"
#include "traces/format/edit/block_slices.h"
#include "traces/format/program/clusters.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/whole_clusters.h"

namespace heddle::trace {
namespace {

// Launches and what stands between them, in order of the run.
struct CopiedItem {
  uint64_t record = 0;
  bool is_launch = false;
  uint32_t launch = 0;
};

std::vector<CopiedItem> ItemsOf(const v1::Index& index) {
  std::vector<CopiedItem> items;
  for (uint64_t record : index.other_frame()) items.push_back({record, false, 0});
  for (int i = 0; i < index.launch_frame_size(); ++i) {
    items.push_back({index.launch_frame(i), true, static_cast<uint32_t>(i)});
  }
  std::sort(items.begin(), items.end(), [](const CopiedItem& a, const CopiedItem& b) { return a.record < b.record; });
  return items;
}

bool IsSelected(const CopySelection& selection, uint32_t launch) {
  return selection.launches.empty() || selection.launches[launch];
}

// How many blocks of a chunk are selected.
absl::StatusOr<uint64_t> CountSelected(const TraceReader& reader, const v1::ChunkReference& chunk,
                                       const NumberRanges& blocks) {
  const uint64_t within = blocks.CountWithin(chunk.first_block(), chunk.last_block());
  if (within == 0) return 0;
  if (within == chunk.last_block() - chunk.first_block() + 1) return chunk.block_count();
  if (chunk.block_count() == chunk.last_block() - chunk.first_block() + 1) return within;
  v1::BlockChunk encoded;
  HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(chunk, encoded));
  uint64_t count = blocks.Holds(chunk.first_block());
  uint64_t block = chunk.first_block();
  for (uint64_t gap : encoded.block_gap()) count += blocks.Holds(block += gap + 1);
  return count;
}

absl::StatusOr<uint64_t> CountSelected(const TraceReader& reader, const LaunchView& launch,
                                       const NumberRanges& blocks) {
  if (blocks.everything()) return launch.totals.blocks();
  uint64_t count = 0;
  for (const v1::ChunkReference& chunk : launch.chunks) {
    if (chunk.part() > 0) continue;
    HEDDLE_ASSIGN_OR_RETURN(uint64_t more, CountSelected(reader, chunk, blocks));
    count += more;
  }
  return count;
}

// What to say about the blocks of a launch of which `count` are left.
v1::BlockSelection SelectionOf(const LaunchView& launch, const NumberRanges& blocks, uint64_t count) {
  v1::BlockSelection selection = launch.launch.selection();
  if (count == launch.totals.blocks()) return selection;
  const bool all = launch.totals.blocks() == launch.grid_blocks;
  const bool first = blocks.CountWithin(0, count - 1) == count;
  selection.Clear();
  selection.set_rule(all && first ? v1::BlockSelection::FIRST : v1::BlockSelection::LISTED);
  selection.set_blocks(count);
  return selection;
}

// The waits of the blocks that are left. Those that are not listed may be of any block.
v1::LaunchEnd SelectWaits(const LaunchView& launch, const NumberRanges& blocks) {
  v1::LaunchEnd waits;
  for (const v1::Wait& wait : launch.totals.wait()) {
    if (blocks.Holds(wait.block())) *waits.add_wait() = wait;
  }
  waits.set_waits_not_listed(launch.totals.waits_not_listed());
  return waits;
}

}  // namespace

absl::StatusOr<const Program*> TraceCopier::AddProgram(const Program& program, std::span<const uint32_t> source_file) {
  v1::KernelProgram proto = program.proto();
  proto.set_id(0);
  for (v1::Instruction& instruction : *proto.mutable_instruction()) {
    instruction.set_source_file(source_file[instruction.source_file()]);
  }
  std::string contents = proto.SerializeAsString();
  if (const auto it = programs_.find(contents); it != programs_.end()) return it->second;
  absl::StatusOr<const Program*> added = writer_.AddProgram(std::move(proto));
  if (added.ok()) programs_.emplace(std::move(contents), *added);
  return added;
}

absl::Status TraceCopier::Add(const TraceReader& reader, const CopySelection& selection,
                              std::span<const uint32_t> source_file, const ProgressCallback& progress) {
  const uint64_t total = done_ + reader.index().thread_instructions();
  std::map<uint32_t, uint32_t> new_id;
  stands_for_.assign(reader.launches().size(), {});
  for (const CopiedItem& item : ItemsOf(reader.index())) {
    if (!item.is_launch) {
      v1::Record record;
      HEDDLE_RETURN_IF_ERROR(reader.ReadRecord(item.record, record));
      HEDDLE_RETURN_IF_ERROR(AddOther(record, new_id));
      continue;
    }
    const LaunchView& launch = reader.launches()[item.launch];
    std::set<uint32_t> earlier;
    for (uint32_t id : launch.launch.depends_on()) earlier.insert(stands_for_[id].begin(), stands_for_[id].end());
    stands_for_[item.launch].assign(earlier.begin(), earlier.end());
    if (!IsSelected(selection, item.launch)) continue;
    const uint32_t id = launches_;
    HEDDLE_RETURN_IF_ERROR(AddLaunch(reader, launch, selection, source_file, progress, total));
    new_id[item.launch] = id;
    stands_for_[item.launch].assign(1, id);
  }
  return absl::OkStatus();
}

absl::Status TraceCopier::AddOther(const v1::Record& record, const std::map<uint32_t, uint32_t>& new_id) {
  switch (record.kind_case()) {
    case v1::Record::kTransfer:
      return writer_.AddTransfer(record.transfer());
    case v1::Record::kAnnotation:
      return writer_.AddAnnotation(record.annotation());
    case v1::Record::kCertificate: {
      const auto it = new_id.find(record.certificate().launch());
      if (it == new_id.end()) return absl::OkStatus();
      v1::Certificate certificate = record.certificate();
      certificate.set_launch(it->second);
      return writer_.AddCertificate(certificate);
    }
    default:
      return absl::InternalError("a record of another kind stands among transfers, certificates and annotations");
  }
}

absl::Status TraceCopier::AddLaunch(const TraceReader& reader, const LaunchView& launch, const CopySelection& selection,
                                    std::span<const uint32_t> source_file, const ProgressCallback& progress,
                                    uint64_t total) {
  // A launch has all blocks of a cluster or none.
  const NumberRanges selected = WholeClusters(selection.blocks, Clusters(launch.launch));
  HEDDLE_ASSIGN_OR_RETURN(uint64_t count, CountSelected(reader, launch, selected));
  if (launch.launch.recorded() && launch.totals.blocks() > 0 && count == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.name(), ": launch ", launch.launch.id(), " (", BriefKernelName(launch.program->name()),
                     ") has none of these blocks; it has ", launch.totals.blocks(), " blocks, from ",
                     launch.chunks.front().first_block(), " to ", launch.chunks.back().last_block()));
  }
  HEDDLE_ASSIGN_OR_RETURN(const Program* program, AddProgram(*launch.program, source_file));
  v1::Launch copy = launch.launch;
  copy.set_program(program->id());
  const std::vector<uint32_t>& depends = stands_for_[launch.launch.id()];
  copy.mutable_depends_on()->Assign(depends.begin(), depends.end());
  if (copy.has_parent()) {
    // A launch without the one that launched it stands as if the host had done so.
    const uint32_t parent = copy.parent().launch();
    if (IsSelected(selection, parent)) {
      copy.mutable_parent()->set_launch(stands_for_[parent].front());
    } else {
      copy.clear_parent();
    }
  }
  if (copy.recorded() && count != launch.totals.blocks()) {
    *copy.mutable_selection() = SelectionOf(launch, selected, count);
  }
  HEDDLE_RETURN_IF_ERROR(writer_.BeginLaunch(std::move(copy)));
  ++launches_;
  if (!launch.launch.recorded()) return absl::OkStatus();
  for (const v1::ChunkReference& chunk : launch.chunks) {
    done_ += chunk.thread_instructions();
    HEDDLE_ASSIGN_OR_RETURN(uint64_t blocks, CountSelected(reader, chunk, selected));
    if (blocks == 0) continue;
    absl::Status status;
    if (blocks == chunk.block_count() && !encode_anew_) {
      v1::BlockChunk encoded;
      status = reader.ReadChunk(chunk, encoded);
      // Nothing that cannot be read may get into a new trace.
      DecodedChunk decoded;
      if (status.ok()) status = reader.ReadChunk(chunk, decoded);
      if (status.ok()) status = writer_.AddChunk(std::move(encoded), chunk.last_block());
    } else {
      status = CopyBlocks(reader, launch, chunk, selected);
    }
    if (!status.ok()) return status;
    if (progress) progress(done_, total);
  }
  HEDDLE_RETURN_IF_ERROR(writer_.AddWaits(SelectWaits(launch, selected)));
  return writer_.EndLaunch();
}

absl::Status TraceCopier::CopyBlocks(const TraceReader& reader, const LaunchView& launch,
                                     const v1::ChunkReference& chunk, const NumberRanges& blocks) {
  BlockSlices slices(reader, launch, std::span(&chunk, 1));
  std::vector<uint64_t> consumed;
  for (;;) {
    HEDDLE_ASSIGN_OR_RETURN(bool more, slices.Next());
    if (!more) return absl::OkStatus();
    if (!blocks.Holds(slices.block())) continue;
    if (!slices.cut()) {
      absl::Status status = writer_.AddBlock(slices.block(), slices.threads(), TraceWriter::kNoExpectation);
      if (!status.ok()) return status;
      continue;
    }
    consumed.assign(slices.threads().size(), 0);
    absl::Status status = writer_.AddBlockPart(slices.block(), slices.threads(), slices.last_part(), consumed);
    if (!status.ok()) return status;
    for (size_t t = 0; t < consumed.size(); ++t) {
      if (consumed[t] != slices.threads()[t].addresses.size()) {
        return absl::InternalError(absl::StrCat(reader.name(), ": block ", slices.block(), ", part ", slices.part(),
                                                ", thread ", t, ": the writer cut the part in another place"));
      }
    }
  }
}

absl::Status RecompressTrace(const TraceReader& reader, const std::string& path, int zstd_level,
                             const std::function<void(const std::string&)>& temporary_file,
                             const ProgressCallback& progress) {
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<ContainerWriter> writer,
                          ContainerWriter::Create(path, zstd_level, UsualThreads()));
  if (temporary_file) temporary_file(writer->temporary());
  std::string raw;
  for (uint64_t frame = 0; frame < reader.frame_count(); ++frame) {
    HEDDLE_RETURN_IF_ERROR(reader.ReadRaw(frame, raw));
    if (frame + 1 == reader.frame_count() && writer->ContentDigest() != reader.index().content_sha256()) {
      return absl::DataLossError(absl::StrCat(reader.name(), ": the digest is not that of the frames"));
    }
    HEDDLE_RETURN_IF_ERROR(writer->AppendRaw(raw));
    if (progress) progress(frame + 1, reader.frame_count());
  }
  return writer->Commit();
}

}  // namespace heddle::trace
