// The addresses of the threads that a chunk has taken in.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_PENDING_ADDRESSES_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_PENDING_ADDRESSES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "traces/format/chunk/segmented_block.h"

namespace heddle::trace {

// Most threads that take one path do the same with other parts of the data: each instruction's addresses are those of
// the first thread on the path, moved by one distance. Of such a thread only the distances are kept. They are found
// while what the thread has recorded is in the host's caches, and spare the encoder nearly all its work.
//
// Paths and threads are numbered as they are added. The columns of a path are its memory instructions in the order of
// their first use, numbered from 0.
class PendingAddresses {
 public:
  // Forgets all threads and paths.
  void Clear();

  // A path on which there is no thread yet: by access the number of its column.
  void AddPath(std::span<const uint16_t> columns, uint32_t column_count);

  // A thread on a path, with as many addresses as the path has accesses.
  void AddThread(uint32_t path, const uint64_t* addresses);

  // AddThread for a block whose addresses have not been put together by thread: each thread, and then what all of them
  // have accessed.
  void AddThreadOfBlock(uint32_t path);
  void AddBlock(const SegmentedBlock& block);

  // Of all threads.
  uint64_t accesses() const { return accesses_; }
  // How the thread's addresses differ from those of the first one on its path: by column, what to add. Empty if they
  // are kept as they are.
  std::span<const uint64_t> moves(size_t thread) const {
    const Thread& place = threads_[thread];
    if (!place.moved) return {};
    return {moves_.at(place.first), paths_[place.path].column_count};
  }
  // The thread's addresses in program order. `room` is used if they are not kept as they are.
  const uint64_t* Of(size_t thread, std::vector<uint64_t>& room) const;
  // Those of the first thread on a path that is used.
  const uint64_t* OfFirst(uint32_t path) const { return given_.at(paths_[path].first_given); }
  // Which of two used paths was used first.
  bool IsEarlier(uint32_t path, uint32_t other) const { return paths_[path].first_given < paths_[other].first_given; }
  // By access the number of its column.
  std::span<const uint16_t> ColumnsOf(uint32_t path) const {
    return std::span(columns_).subspan(paths_[path].first_access, paths_[path].accesses);
  }

  // Ranges that hold all addresses of the latest so many threads; none if most of these are not like the first one on
  // their path.
  void RangesOfLatest(size_t threads, std::vector<AddressBounds>& ranges);

 private:
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
  struct Path {
    uint64_t first_access = 0;  // in columns_
    uint64_t accesses = 0;
    uint32_t column_count = 0;
    uint64_t uses = 0;
    uint64_t unlike = 0;     // threads that were compared with the first one and are not like it
    size_t first_given = 0;  // of the first thread
    size_t first_run = 0;    // once there is a second thread
    size_t first_range = 0;  // if has_ranges
    bool has_ranges = false;
  };
  struct Thread {
    uint32_t path = 0;
    bool moved = false;
    size_t first = 0;  // in moves_ if it is, else in given_
  };
  // Accesses in a row whose columns need no look-up when a thread is compared with the first one: of columns that have
  // not been used before, of known ones, each one higher than the one before it, or of one column. Others are mixed.
  struct ColumnRun {
    enum class Kind : uint8_t { kNew, kAscending, kSame, kMixed };
    uint32_t accesses = 0;
    uint16_t column = 0;  // of the first one
    Kind kind = Kind::kMixed;
  };
  // A thread's addresses that are being compared with those of the first one on the path, segment after segment.
  struct Comparison {
    const uint64_t* first = nullptr;   // what the next address is compared with
    const uint16_t* column = nullptr;  // of the next address
    uint64_t* moves = nullptr;         // by column
    size_t run = 0;                    // of the next address
    uint32_t done = 0;                 // accesses of the run
    uint64_t wrong = 0;                // the thread is not like the first one if this is not 0
  };

  // Adds a thread with room for its distances, or with room for its addresses.
  void AddMoved(uint32_t path);
  void AddGiven(uint32_t path);
  // Whether a further thread on the path is to be compared with the first one.
  static bool MayBeMoved(const Path& path);
  void FindRuns(Path& path);
  Comparison Compare(const Thread& thread);
  void CompareNext(const uint64_t* addresses, uint64_t count, Comparison& comparison) const;
  // By column, of a thread on the path.
  void FindRanges(const Path& path, const uint64_t* addresses, AddressBounds* ranges) const;
  // FindRanges for threads in a row on one path, all of them moved. False: the distances are too far apart to tell.
  bool FindRangesOfMoved(std::span<const Thread> threads, AddressBounds* ranges);

  std::vector<Path> paths_;
  std::vector<uint16_t> columns_;  // by access of each path
  std::vector<ColumnRun> runs_;
  std::vector<AddressBounds> ranges_;  // of the first threads on paths, by column
  std::vector<Thread> threads_;
  GrowingArray given_;  // addresses
  GrowingArray moves_;  // distances
  uint64_t accesses_ = 0;
  // Scratch, by thread of a block.
  std::vector<Comparison> comparisons_;
  std::vector<size_t> next_given_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_PENDING_ADDRESSES_H_
