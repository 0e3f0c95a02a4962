// What the threads of a block have recorded: two logs that all threads share, and who wrote which stretch of them.
#ifndef HEDDLE_TRACEGEN_EXECUTE_RECORD_LOG_H_
#define HEDDLE_TRACEGEN_EXECUTE_RECORD_LOG_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tracegen/execute/bounds_check.h"
#include "traces/format/writer.h"

namespace heddle::tracegen {

// Segments are stretches of both logs, each written by one thread without interruption. Threads that wait at barriers
// leave one each time, and most do what their neighbours do; so this is a run of them, one behind the other, by threads
// with consecutive numbers, that are equally long.
struct SegmentRun {
  uint32_t first_thread = 0;
  uint32_t threads = 0;
  uint32_t addresses = 0;  // of each
  uint32_t decisions = 0;
};

class RecordLog {
 public:
  // The most entries that whoever sets limits may ask for, besides those of one basic block: positions take 32 bits.
  static constexpr uint64_t kMostEntries = uint64_t{1} << 31;

  // Makes room for this many entries, below 2^32, and starts over.
  void Begin(uint64_t addresses, uint64_t decisions);

  uint64_t* addresses() { return addresses_.get(); }
  uint8_t* decisions() { return decisions_.get(); }

  // Everything from the end of the last segment up to the two cursors was written by `thread`.
  void Close(uint32_t thread, const uint64_t* address_cursor, const uint8_t* decision_cursor);

  // One record per thread, pointing into the logs or, for threads with several segments, into a copy. True if an
  // address lies outside `bounds` (which may be null): it is looked for here, while the addresses are in the cache.
  bool Gather(uint32_t threads, const BoundsCheck* bounds, std::vector<trace::ThreadRecord>& records);

  // Where pointers[thread], which leads into the address log (or is null), lies in that thread's record as Gather put
  // it together.
  void PositionsInRecords(std::span<const uint64_t* const> pointers, std::vector<uint64_t>& positions);

  // Starts over with what each thread must pass again: the end of its record from consumed[thread] on. `room` more
  // addresses fit behind. starts[thread] receives where the thread's rest begins.
  void KeepRests(const std::vector<trace::ThreadRecord>& records, std::span<const uint64_t> consumed, uint64_t room,
                 std::vector<uint64_t*>& starts);

  uint64_t kept_addresses() const { return kept_addresses_; }

 private:
  std::unique_ptr<uint64_t[]> addresses_;
  std::unique_ptr<uint8_t[]> decisions_;
  uint64_t address_capacity_ = 0;
  uint64_t decision_capacity_ = 0;
  // A thread's part of the logs.
  struct Part {
    uint32_t segments = 0;
    uint32_t addresses = 0;
    uint32_t decisions = 0;
  };
  void BeginRun(const SegmentRun& run);  // apart, so that Close is short enough to be inline
  // Steps of Gather: the parts, as sums of what each run adds to its first thread and takes from the one behind it; and
  // room for those of several segments.
  void CountParts(uint32_t threads);
  void PlaceParts();

  const uint64_t* address_end_ = nullptr;  // of the last segment
  const uint8_t* decision_end_ = nullptr;
  uint64_t kept_addresses_ = 0;
  std::vector<SegmentRun> runs_;  // the first one is empty
  // For Gather, by thread.
  std::vector<Part> parts_;
  std::vector<uint64_t*> address_ends_;  // how far its record has been put together
  std::vector<uint8_t*> decision_ends_;
  std::vector<uint64_t> joined_addresses_;
  std::vector<uint8_t> joined_decisions_;
};

inline void RecordLog::Close(uint32_t thread, const uint64_t* address_cursor, const uint8_t* decision_cursor) {
  const auto addresses = static_cast<uint32_t>(address_cursor - address_end_);
  const auto decisions = static_cast<uint32_t>(decision_cursor - decision_end_);
  if ((addresses | decisions) == 0) return;
  address_end_ = address_cursor;
  decision_end_ = decision_cursor;
  SegmentRun& last = runs_.back();
  if (last.first_thread + last.threads == thread && last.addresses == addresses && last.decisions == decisions) {
    ++last.threads;
  } else {
    BeginRun({thread, 1, addresses, decisions});
  }
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_RECORD_LOG_H_
