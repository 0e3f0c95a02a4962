#include "traces/format/edit/add_last_writers.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/columns/last_writers.h"
#include "traces/format/container/container_writer.h"
#include "traces/format/edit/block_slices.h"
#include "traces/format/edit/last_writer_tracker.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {
namespace {

// Takes the columns of last writers out.
void RemoveLastWriters(v1::BlockChunk& chunk) {
  auto& extra = *chunk.mutable_extra();
  for (int i = extra.size() - 1; i >= 0; --i) {
    if (extra[i].kind() == kLastWriterKind) extra.DeleteSubrange(i, 1);
  }
}

// The reads of a chunk, of which all in front have been seen.
absl::Status FindReads(const TraceReader& reader, const LaunchView& launch, const v1::ChunkReference& reference,
                       LastWriterTracker& tracker, std::vector<WrittenRead>& reads) {
  reads.clear();
  BlockSlices slices(reader, launch, std::span(&reference, 1));
  uint64_t position = 0;  // of the block's first access in the chunk
  std::vector<uint64_t> first;
  for (;;) {
    HEDDLE_ASSIGN_OR_RETURN(bool more, slices.Next());
    if (!more) return absl::OkStatus();
    first.clear();
    for (const ThreadRecord& thread : slices.threads()) {
      first.push_back(position);
      position += thread.addresses.size();
    }
    for (const LastWriterTracker::Found& found :
         tracker.AddBlock(slices.block(), slices.last_part(), slices.threads())) {
      reads.push_back({first[found.thread] + found.access, found.instruction, found.write});
    }
  }
}

}  // namespace

absl::StatusOr<LastWriterSummary> AddLastWriters(const std::string& path, int zstd_level, unsigned threads) {
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<TraceReader> opened, TraceReader::Open(path));
  const TraceReader& reader = *opened;
  for (const LaunchView& launch : reader.launches()) {
    if (launch.launch.resident_blocks() < 2) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(reader.name(), ": launch ", launch.launch.id(), " (", BriefKernelName(launch.program->name()),
                     ") ran with ", launch.launch.resident_blocks(),
                     " blocks live at once; last writers are known only where one ", "block ran after the other"));
  }
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<ContainerWriter> created, ContainerWriter::Create(path, zstd_level, threads));
  ContainerWriter& writer = *created;
  LastWriterSummary summary;
  std::optional<LastWriterTracker> tracker;
  std::optional<uint32_t> launch_of_tracker;
  std::vector<WrittenRead> reads;
  auto chunk = reader.index().chunk().begin();
  v1::Record record;
  for (uint64_t number = 0; number < reader.record_count(); ++number) {
    HEDDLE_RETURN_IF_ERROR(reader.ReadRecord(number, record));
    if (record.has_chunk()) {
      const LaunchView& launch = reader.launches()[chunk->launch()];
      if (launch_of_tracker != chunk->launch()) {
        if (tracker.has_value()) summary.overflowed_launches += tracker->overflowed();
        tracker.emplace(*launch.program, launch.threads_per_block, reader.header().window());
        launch_of_tracker = chunk->launch();
      }
      HEDDLE_RETURN_IF_ERROR(FindReads(reader, launch, *chunk++, *tracker, reads));
      RemoveLastWriters(*record.mutable_chunk());
      EncodeLastWriters(reads, *record.mutable_chunk());
      summary.reads += reads.size();
    } else if (record.has_index()) {
      v1::Index& index = *record.mutable_index();
      index = reader.index();
      index.set_content_sha256(writer.ContentDigest());
      HEDDLE_RETURN_IF_ERROR(writer.NumberFrames(index));
    }
    HEDDLE_RETURN_IF_ERROR(writer.Append(record));
  }
  if (tracker.has_value()) summary.overflowed_launches += tracker->overflowed();
  HEDDLE_RETURN_IF_ERROR(writer.Commit());
  return summary;
}

}  // namespace heddle::trace
