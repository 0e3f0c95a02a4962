// Reads from the records of thread blocks which memory they read and write.
#ifndef HEDDLE_TRACEGEN_EXECUTE_PARALLEL_FOOTPRINT_MARKER_H_
#define HEDDLE_TRACEGEN_EXECUTE_PARALLEL_FOOTPRINT_MARKER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/execute/parallel/footprint.h"
#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// A read counts as the worker's own only if an earlier block, or an earlier part of the block, has written the byte:
// the order in which the threads of a block ran is not looked at.
//
// Local memory keeps what earlier blocks left in it. A thread that reads there what it has not written itself would
// therefore depend on them; that is looked for in whole blocks, and parts of blocks are refused for kernels with local
// memory.
class FootprintMarker {
 public:
  // Why the records of `program` do not tell all that its threads read and write; empty if they do.
  static std::string WhyNot(const trace::Program& program);

  // Marks in `footprint` what blocks of `program` with so many threads do. Both must outlive it.
  FootprintMarker(const trace::Program& program, uint32_t threads, bool uses_local, Footprint& footprint);

  // The next block is a new one, whatever parts have been seen.
  void StartOver() { in_block_ = false; }

  // As of TraceWriter; `consumed` is filled in. Errors: a record that does not follow the program; FailedPrecondition
  // if the block writes where its writes cannot be kept apart, or reads local memory before it has written it.
  absl::Status AddBlock(std::span<const trace::ThreadRecord> threads);
  absl::Status AddBlockPart(std::span<const trace::ThreadRecord> threads, bool last, std::span<uint64_t> consumed);

 private:
  struct Access {
    uint16_t bytes = 0;
    bool reads = false;
    bool writes = false;
    bool is_common = false;  // may be to global memory
    bool is_local = false;   // may be to local memory
  };
  struct Step {
    uint32_t position = 0;  // among the path's accesses
    uint16_t bytes = 0;
    bool reads = false;
    bool writes = false;
  };
  // Ranges of steps_.
  struct PathSteps {
    uint32_t first_read = 0;
    uint32_t end_read = 0;  // where the writes begin
    uint32_t end_write = 0;
    uint32_t end_local = 0;  // in the order of the program, from end_write on
  };
  // 8 bytes of a thread's local memory.
  struct LocalGroup {
    uint32_t stamp = 0;
    uint8_t written = 0;
  };

  // The steps of a path whose accesses are those, by position in Program::accesses().
  PathSteps StepsOf(std::span<const uint16_t> sequence);
  // The path of a whole thread.
  absl::StatusOr<uint32_t> PathOf(const trace::ThreadRecord& thread);
  // What threads do that take the paths path_of_thread_.
  absl::Status Mark(std::span<const trace::ThreadRecord> threads);
  void ForgetPaths();
  absl::Status CheckLocal(const trace::ThreadRecord& thread, const PathSteps& path);
  absl::Status RefuseWrite(uint64_t address) const;

  const trace::Program& program_;
  const bool uses_local_;
  Footprint& footprint_;
  std::vector<Access> accesses_;  // by position in Program::accesses()
  std::vector<Step> steps_;
  std::vector<PathSteps> paths_;
  std::vector<uint64_t> path_accesses_;               // by path
  absl::flat_hash_map<std::string, uint32_t> known_;  // paths of whole threads, by their decisions
  std::vector<uint32_t> path_of_thread_;
  std::vector<uint16_t> sequence_;
  trace::PendingChunk part_;  // of a block that is cut in time
  std::vector<LocalGroup> local_;
  uint32_t stamp_ = 0;
  bool in_block_ = false;  // parts of it have been seen
  std::vector<trace::WalkState> states_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_PARALLEL_FOOTPRINT_MARKER_H_
