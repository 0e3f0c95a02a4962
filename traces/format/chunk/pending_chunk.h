// The blocks that a writer has taken and not yet written: distinct paths, the path of each thread, and its addresses.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_PENDING_CHUNK_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_PENDING_CHUNK_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/format/chunk/pending_addresses.h"
#include "traces/format/chunk/segmented_block.h"
#include "traces/format/chunk/thread_record.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// How often a path runs one memory instruction; `column` is the instruction's position in Program::accesses().
struct PathColumn {
  uint32_t column = 0;
  uint32_t count = 0;
};

// One distinct path with what its walk found, so that further threads that take it need no walk.
struct PendingPath {
  uint64_t hash = 0;
  uint64_t first_decision = 0;  // in decisions()
  uint32_t decision_count = 0;
  uint32_t start = 0;  // in starts()
  Extent extent = Extent::kRunsToExit;
  uint64_t thread_instructions = 0;
  uint64_t first_access = 0;  // in sequence()
  uint64_t accesses = 0;
  uint32_t first_column = 0;  // in columns(), ordered by first use
  uint32_t column_count = 0;
  uint64_t uses = 0;
  // kCut: addresses that threads run between the cut and their next decision or exit, and which of the two it is.
  uint64_t tail_accesses = 0;
  bool tail_exits = false;
  uint32_t end = 0;  // kCut: in ends()
};

class PendingChunk {
 public:
  // Empties the chunk and prepares it for blocks of `program`.
  void Reset(const Program* program);

  // Adds a thread that runs from the entry to its exit. `budget` bounds its thread-instructions.
  absl::StatusOr<uint32_t> AddWholeThread(const ThreadRecord& thread, uint64_t budget);

  // AddWholeThread for a block whose addresses have not been put together by thread: each thread, and then what all of
  // them have accessed, of which `ranges` receives PendingAddresses::RangesOfLatest.
  absl::StatusOr<uint32_t> AddThreadOfBlock(std::span<const uint8_t> decisions, uint64_t accesses, uint64_t budget);
  void AddAddresses(const SegmentedBlock& block, std::vector<AddressBounds>& ranges);

  // Adds a thread of a part that starts at `state`. With `last` it must reach its exit. `state` moves to where the
  // thread stops; `consumed` is the number of addresses up to there.
  absl::StatusOr<uint32_t> AddThreadPart(const ThreadRecord& thread, WalkState& state, bool last, uint64_t budget,
                                         uint64_t& consumed);

  bool empty() const { return path_of_thread_.empty(); }
  const Program& program() const { return *program_; }
  std::span<const PendingPath> paths() const { return paths_; }
  std::span<const uint32_t> path_of_thread() const { return path_of_thread_; }
  // By path and thread.
  const PendingAddresses& addresses() const { return addresses_; }
  std::span<const uint8_t> decisions() const { return decisions_; }
  std::span<const uint16_t> sequence() const { return sequence_; }
  std::span<const PathColumn> ColumnsOf(const PendingPath& path) const {
    return std::span(columns_).subspan(path.first_column, path.column_count);
  }
  const WalkState& start(uint32_t index) const { return starts_[index]; }
  uint64_t thread_instructions() const { return thread_instructions_; }
  // Upper estimate of the record's size in bytes.
  uint64_t encoded_bytes() const {
    return addresses_.accesses() * 8 + decisions_.size() / 8 + path_of_thread_.size() * 2;
  }

 private:
  static constexpr uint32_t kNoPath = ~uint32_t{0};

  uint32_t Find(uint64_t hash, std::span<const uint8_t> decisions, uint32_t start, Extent extent) const;
  bool Same(const PendingPath& path, std::span<const uint8_t> decisions, uint32_t start, Extent extent) const;
  // The path of a thread that runs from the entry to its exit.
  absl::StatusOr<uint32_t> WholePath(std::span<const uint8_t> decisions, uint64_t accesses, uint64_t budget);
  // Walks and stores a new path; does not add a thread.
  absl::StatusOr<uint32_t> NewPath(uint64_t hash, std::span<const uint8_t> decisions, uint32_t start, Extent extent,
                                   uint64_t budget);
  void AddThread(uint32_t path, const ThreadRecord& thread);
  void CountThread(uint32_t path);  // all but its addresses
  void Insert(uint32_t path);
  uint32_t InternStart(const WalkState& state);
  // Finds where the code behind the end of a cut path leads.
  void WalkTail(PendingPath& path);

  const Program* program_ = nullptr;
  std::vector<PendingPath> paths_;
  std::vector<uint32_t> table_;  // open addressing, 1 + path
  std::vector<uint32_t> path_of_thread_;
  PendingAddresses addresses_;
  std::vector<uint8_t> decisions_;
  std::vector<uint16_t> sequence_;  // program has at most 65,536 instructions
  std::vector<PathColumn> columns_;
  std::vector<WalkState> starts_;
  std::vector<WalkState> ends_;
  absl::flat_hash_map<std::string, uint32_t> start_of_;
  // Scratch of walks: by column how often, all zero between walks, and its number in the path; by access that number.
  std::vector<uint32_t> column_counts_;
  std::vector<uint16_t> column_numbers_;
  std::vector<uint16_t> number_sequence_;
  uint64_t thread_instructions_ = 0;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_PENDING_CHUNK_H_
