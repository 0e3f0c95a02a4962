// The blocks that a writer has taken and not yet written: distinct paths, the path of each thread, and its addresses.
#ifndef HEDDLE_TRACES_FORMAT_PENDING_CHUNK_H_
#define HEDDLE_TRACES_FORMAT_PENDING_CHUNK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/format/program.h"
#include "traces/format/segmented_block.h"
#include "traces/format/walk.h"
#include "traces/format/writer.h"

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
  uint64_t first_given = 0;  // in given(): addresses of the first thread that takes it
  uint64_t unlike = 0;       // threads that were compared with the first one and are not like it
  size_t first_stretch = 0;  // what they are compared by, once there is a second thread
  bool has_ranges = false;   // of the first thread
  // kCut: addresses that threads run between the cut and their next decision or exit, and which of the two it is.
  uint64_t tail_accesses = 0;
  bool tail_exits = false;
  uint32_t end = 0;  // kCut: in ends()
};

// Most threads that take one path do the same with other parts of the data: each instruction's addresses are those of
// the first thread on the path, moved by one distance. Of such a thread only the distances are kept. They are found
// while what the thread has recorded is in the host's caches, and spare the encoder nearly all its work.
class PendingChunk {
  // Numbers that are written soon after they have been added. What std::vector would clear first is left as it is.
  class GrowingArray {
   public:
    void Clear() { size_ = 0; }
    size_t size() const { return size_; }
    // Returns the position of the first one.
    size_t Add(size_t count) {
      if (size_ + count > data_.size()) data_.resize(std::max(size_ + count, 2 * data_.size()));
      return std::exchange(size_, size_ + count);
    }
    void TakeBack(size_t count) { size_ -= count; }
    uint64_t* at(size_t position) { return data_.data() + position; }
    const uint64_t* at(size_t position) const { return data_.data() + position; }

   private:
    std::vector<uint64_t> data_;
    size_t size_ = 0;
  };

 public:
  // Empties the chunk and prepares it for blocks of `program`.
  void Reset(const Program* program);

  // Adds a thread that runs from the entry to its exit. `budget` bounds its thread-instructions.
  absl::StatusOr<uint32_t> AddWholeThread(const ThreadRecord& thread, uint64_t budget);

  // The same in two steps, for a block whose addresses have not been put together by thread: each thread, and then what
  // all of them have accessed.
  absl::StatusOr<uint32_t> AddThreadWithoutAddresses(std::span<const uint8_t> decisions, uint64_t accesses,
                                                     uint64_t budget);
  void AddAddresses(const SegmentedBlock& block);
  // Ranges that hold all addresses of the last so many threads; none if most of these are not like the first one on
  // their path.
  void RangesOfLast(size_t threads, std::vector<AddressBounds>& ranges);

  // Adds a thread of a part that starts at `state`. With `last` it must reach its exit. `state` moves to where the
  // thread stops; `consumed` is the number of addresses up to there.
  absl::StatusOr<uint32_t> AddThreadPart(const ThreadRecord& thread, WalkState& state, bool last, uint64_t budget,
                                         uint64_t& consumed);

  bool empty() const { return path_of_thread_.empty(); }
  const Program& program() const { return *program_; }
  std::span<const PendingPath> paths() const { return paths_; }
  std::span<const uint32_t> path_of_thread() const { return path_of_thread_; }
  // Of all threads.
  uint64_t accesses() const { return accesses_; }
  // How the thread's addresses differ from those of the first one on its path: by column of the path, what to add.
  // Empty if they are kept as they are.
  std::span<const uint64_t> moves(size_t thread) const {
    const Place& place = place_of_thread_[thread];
    if (!place.moved) return {};
    return {moves_.at(place.first), paths_[path_of_thread_[thread]].column_count};
  }
  // The thread's addresses in program order. `room` is used if they are not kept as they are.
  const uint64_t* AddressesOf(size_t thread, std::vector<uint64_t>& room) const;
  // Those of the first thread on a path that is used.
  const uint64_t* FirstAddresses(const PendingPath& path) const { return given_.at(path.first_given); }
  std::span<const uint8_t> decisions() const { return decisions_; }
  std::span<const uint16_t> sequence() const { return sequence_; }
  // The same by positions among the path's columns.
  std::span<const uint16_t> column_sequence() const { return column_sequence_; }
  std::span<const PathColumn> ColumnsOf(const PendingPath& path) const {
    return std::span(columns_).subspan(path.first_column, path.column_count);
  }
  const WalkState& start(uint32_t index) const { return starts_[index]; }
  uint64_t thread_instructions() const { return thread_instructions_; }
  // Upper estimate of the record's size in bytes.
  uint64_t encoded_bytes() const { return accesses_ * 8 + decisions_.size() / 8 + path_of_thread_.size() * 2; }

 private:
  static constexpr uint32_t kNoPath = ~uint32_t{0};

  // Accesses of a path in a row whose columns need no look-up when a thread is compared with the first one.
  struct Stretch {
    enum class Kind : uint8_t { kNew, kAscending, kSame, kMixed };
    uint32_t accesses = 0;
    uint16_t column =
        0;  // of the first one, among the path's. kNew, kAscending: the next one's is one higher, and so on
    Kind kind = Kind::kMixed;
  };
  // A thread's addresses that are being compared with those of the first one on the path, segment after segment.
  struct Comparison {
    const uint64_t* first = nullptr;   // what the next address is compared with
    const uint16_t* column = nullptr;  // of the next address
    uint64_t* moves = nullptr;         // by column of the path
    size_t stretch = 0;                // of the next address
    uint32_t done = 0;                 // accesses of the stretch
    uint64_t wrong = 0;                // the thread is not like the first one if this is not 0
  };

  uint32_t Find(uint64_t hash, std::span<const uint8_t> decisions, uint32_t start, Extent extent) const;
  bool Same(const PendingPath& path, std::span<const uint8_t> decisions, uint32_t start, Extent extent) const;
  // The path of a thread that runs from the entry to its exit.
  absl::StatusOr<uint32_t> WholePath(std::span<const uint8_t> decisions, uint64_t accesses, uint64_t budget);
  // Walks and stores a new path; does not add a thread.
  absl::StatusOr<uint32_t> NewPath(uint64_t hash, std::span<const uint8_t> decisions, uint32_t start, Extent extent,
                                   uint64_t budget);
  void AddThread(uint32_t path, const ThreadRecord& thread);
  // Of AddThread: all but the addresses. True if they are to be compared with those of the first thread on the path.
  bool CountThread(uint32_t path);
  // Room for a thread's distances at the end of moves_.
  void AddMoves(PendingPath& path);
  Comparison Compare(size_t thread);
  void CompareNext(const uint64_t* addresses, uint64_t count, Comparison& comparison) const;
  void FindStretches(PendingPath& path);
  void FindRanges(const PendingPath& path, const uint64_t* addresses, AddressBounds* ranges) const;
  void Insert(uint32_t path);
  uint32_t InternStart(const WalkState& state);
  // Finds where the code behind the end of a cut path leads.
  void WalkTail(PendingPath& path);

  const Program* program_ = nullptr;
  std::vector<PendingPath> paths_;
  std::vector<uint32_t> table_;  // open addressing, 1 + path
  std::vector<uint32_t> path_of_thread_;
  // Where a thread's addresses are: in given_, or by distances in moves_.
  struct Place {
    uint64_t first = 0;
    bool moved = false;
  };
  std::vector<Place> place_of_thread_;
  GrowingArray given_;
  GrowingArray moves_;
  uint64_t accesses_ = 0;
  std::vector<uint8_t> decisions_;
  std::vector<uint16_t> sequence_;         // program has at most 65,536 instructions
  std::vector<uint16_t> column_sequence_;  // the same as positions among the path's columns
  std::vector<PathColumn> columns_;
  std::vector<Stretch> stretches_;
  std::vector<AddressBounds> first_ranges_;  // by columns_: of the first thread on a path that has_ranges
  // Scratch, by thread of a block.
  std::vector<Comparison> comparisons_;
  std::vector<uint64_t> next_given_;
  std::vector<WalkState> starts_;
  std::vector<WalkState> ends_;
  absl::flat_hash_map<std::string, uint32_t> start_of_;
  std::vector<uint32_t> column_counts_;   // scratch, all zero between walks
  std::vector<uint16_t> column_numbers_;  // scratch: position among the columns of the path that is walked
  uint64_t thread_instructions_ = 0;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PENDING_CHUNK_H_
