// Copies launches and blocks of traces into a new trace: what `heddle trace repack`, `extract` and `merge` do.
#ifndef HEDDLE_TRACES_FORMAT_EDIT_COPY_H_
#define HEDDLE_TRACES_FORMAT_EDIT_COPY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/base/number_ranges.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::trace {

// Told how many thread-instructions of how many have been copied or compared so far.
using ProgressCallback = std::function<void(uint64_t done, uint64_t total)>;

// The header of a trace that holds what `readers` hold, and what becomes of each one's source files.
struct MergedHeader {
  v1::FileHeader header;
  // By reader, then by old number: Instruction.source_file in the merged trace (0 stays 0).
  std::vector<std::vector<uint32_t>> source_file;
};

// Target, compiler, optimisation, abstraction level and address windows must be the same, and warp widths too where
// kernels depend on them: InvalidArgument names the first field and the two traces that differ. Source files are
// united. Entries of provenance that differ are kept under NAME@2, NAME@3, ... (the number of the trace in the list); a
// command line is kept if all have the same. `producer` is the program that writes the new trace.
absl::StatusOr<MergedHeader> MergeHeaders(std::span<const TraceReader* const> readers, const std::string& producer);

// Which part of a trace is copied.
struct CopySelection {
  std::vector<bool> launches;  // by number of the launch; empty = all
  // Linear block indices, of every launch. Of a cluster of which one is named, all blocks are taken.
  NumberRanges blocks;
};

// Copies into an open writer, one trace after the other.
class TraceCopier {
 public:
  // With `encode_anew`, all chunks are decoded and encoded by the writer's rules of today; else chunks that are
  // selected whole are taken over as they are. Blocks that were cut in time keep their parts either way.
  TraceCopier(TraceWriter& writer, bool encode_anew) : writer_(writer), encode_anew_(encode_anew) {}
  TraceCopier(const TraceCopier&) = delete;
  TraceCopier& operator=(const TraceCopier&) = delete;

  // Appends what `selection` names of the trace, in order of the run. Programs that are already there are shared;
  // launches are numbered anew, and what depended on a launch that is left out depends on what that one depended on.
  // Transfers and annotations are kept, certificates with their launches. InvalidArgument if a selected launch has no
  // selected block. `source_file` is that of MergeHeaders.
  absl::Status Add(const TraceReader& reader, const CopySelection& selection, std::span<const uint32_t> source_file,
                   const ProgressCallback& progress = {});

 private:
  absl::StatusOr<const Program*> AddProgram(const Program& program, std::span<const uint32_t> source_file);
  absl::Status AddLaunch(const TraceReader& reader, const LaunchView& launch, const CopySelection& selection,
                         std::span<const uint32_t> source_file, const ProgressCallback& progress, uint64_t total);
  absl::Status AddOther(const v1::Record& record, const std::map<uint32_t, uint32_t>& new_id);
  absl::Status CopyBlocks(const TraceReader& reader, const LaunchView& launch, const v1::ChunkReference& chunk,
                          const NumberRanges& blocks);

  TraceWriter& writer_;
  const bool encode_anew_;
  uint32_t launches_ = 0;                           // written so far
  uint64_t done_ = 0;                               // thread-instructions
  std::map<std::string, const Program*> programs_;  // by contents
  // Of the trace that is being added: launches that a launch depends on, in new numbers; for a launch that was left
  // out, those that stand in its place.
  std::vector<std::vector<uint32_t>> stands_for_;
};

// Writes the records of a trace anew, byte for byte the same, at another compression level. The digest stays.
absl::Status RecompressTrace(const TraceReader& reader, const std::string& path, int zstd_level,
                             const std::function<void(const std::string&)>& temporary_file,
                             const ProgressCallback& progress = {});

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_EDIT_COPY_H_
