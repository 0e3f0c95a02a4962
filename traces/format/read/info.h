// `heddle trace info`: what a trace holds and what its bytes are spent on.
#ifndef HEDDLE_TRACES_FORMAT_READ_INFO_H_
#define HEDDLE_TRACES_FORMAT_READ_INFO_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {

// How the threads of a launch diverge if static warps of 32 neighbouring threads run them; no policy is involved.
struct DivergenceSummary {
  // Upper bound of the lane activity that any policy can reach with these warps: thread-instructions over 32 times the
  // sum, per warp and basic block, of the most visits by one of its threads. 1 = no divergence; 0 if nothing ran.
  double lane_activity_bound = 0;
  uint64_t warps = 0;
  uint64_t uniform_warps = 0;  // all threads take the same path
  // Pairs of a warp and a branch that it runs, and those where its threads do not all decide alike every time.
  uint64_t warp_branches = 0;
  uint64_t divergent_warp_branches = 0;
  // The same of guards that stand before other instructions than branches (Program::DecidesGuard).
  uint64_t warp_guards = 0;
  uint64_t divergent_warp_guards = 0;
  uint64_t distinct_paths = 0;  // per chunk, summed over the chunks
};

// Bytes of one kind of content. Encoded: serialized, before Zstandard. Compressed: the share of the frames' bytes,
// split in proportion to each kind's size when compressed by itself.
struct ByteCount {
  uint64_t encoded = 0;
  double compressed = 0;
};

// One memory instruction over all chunks of a launch.
struct ColumnInfo {
  Pc instruction = 0;
  uint64_t accesses = 0;  // by all threads
  static constexpr int kModels = 6;
  uint64_t chunks_by_model[kModels] = {};  // SEPARABLE, TIME, RELATIVE, CHAIN, INDUCTION, COUNTED
  ByteCount bytes;
};

struct LaunchInfo {
  uint32_t id = 0;
  std::string kernel;
  bool recorded = false;
  uint64_t grid_blocks = 0;
  uint64_t blocks = 0;  // recorded
  uint32_t threads_per_block = 0;
  uint64_t threads = 0;
  uint64_t thread_instructions = 0;
  uint64_t accesses = 0;
  uint64_t chunks = 0;
  uint64_t frame_bytes = 0;         // of its chunks
  ByteCount paths;                  // path table and references
  ByteCount other;                  // block numbers, totals, extra columns
  std::vector<ColumnInfo> columns;  // ascending by instruction
  std::map<Pc, uint64_t>
      collectives;                   // how often threads ran each collective or asynchronous instruction (IsCollective)
  std::vector<uint64_t> block_runs;  // how often threads ran each basic block; empty unless it is machine code
  std::optional<v1::Certificate> certificate;
  DivergenceSummary divergence;
};

struct TraceInfo {
  std::string digest;  // hexadecimal
  uint64_t file_bytes = 0;
  uint64_t records = 0;
  uint64_t thread_instructions = 0;
  uint64_t accesses = 0;
  std::vector<LaunchInfo> launches;
  double bytes_per_thread_instruction() const {
    return thread_instructions == 0 ? 0 : static_cast<double>(file_bytes) / static_cast<double>(thread_instructions);
  }
};

// Reads every chunk once. Errors: those of TraceReader::ReadChunk.
absl::StatusOr<TraceInfo> DescribeTrace(const TraceReader& reader);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_INFO_H_
