// What the threads of a block have recorded: two logs that all threads share, and who wrote which range of them.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_LOG_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_LOG_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tracegen/execute/memory/bounds_check.h"
#include "traces/format/chunk/segmented_block.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// A log has one writer after the other: generated code appends behind two cursors, and Close says whose that was. All
// threads of a block share it, so that switching threads moves no records.
class RecordLog {
 public:
  // The most entries that whoever sets limits may ask for, besides those of one basic block: positions take 32 bits.
  static constexpr uint64_t kMostEntries = uint64_t{1} << 31;

  // Makes room for this many entries, below 2^32, and starts over.
  void Begin(uint64_t addresses, uint64_t decisions);

  uint64_t* addresses() { return addresses_.entries.get(); }
  uint8_t* decisions() { return decisions_.entries.get(); }

  // Everything from the end of the last segment up to the two cursors was written by `thread`.
  void Close(uint32_t thread, const uint64_t* address_cursor, const uint8_t* decision_cursor);

  // Ends a block or a part of one. One record per thread: its decisions, and the addresses of its first segment, which
  // for most threads without barriers are all.
  void Finish(uint32_t threads);
  std::span<trace::ThreadRecord> records() { return records_; }
  uint64_t access_count(uint32_t thread) const { return access_counts_[thread]; }
  // Whether an address lies outside `bounds`.
  bool FindOutside(const BoundsCheck& bounds) const;
  // Puts the addresses of threads with several segments together, once; then records() are complete.
  void Join();
  bool is_joined() const { return is_joined_; }
  // The segments as they are.
  trace::SegmentedBlock segmented() const { return {runs_, addresses_.entries.get(), records_, access_counts_}; }

  // Where pointers[thread], which leads into the address log (or is null), lies in that thread's record.
  void PositionsInRecords(std::span<const uint64_t* const> pointers, std::vector<uint64_t>& positions);

  // Starts over with what each thread must pass again: the end of its record, which is joined, from consumed[thread]
  // on. `room` more addresses fit behind. starts[thread] receives where the thread's rest begins.
  void KeepRests(std::span<const uint64_t> consumed, uint64_t room, std::vector<uint64_t*>& starts);

  uint64_t kept_addresses() const { return kept_addresses_; }

 private:
  // Memory that is reused, and is not set to anything.
  template <typename Entry>
  struct Log {
    std::unique_ptr<Entry[]> entries;
    uint64_t capacity = 0;

    void Reserve(uint64_t count);
  };
  // Where the records of threads with several segments are put together.
  template <typename Entry>
  struct Joined {
    std::vector<Entry> entries;
    std::vector<Entry*> ends;  // by thread: how far its record has been put together; null: it stays where it is

    // Gives each thread room for so many entries as count(thread) says; those of 0 get no place of their own.
    template <typename Count>
    void MakeRoom(size_t threads, Count&& count);
  };
  // A thread's part of the logs.
  struct Part {
    uint32_t segments = 0;
    uint32_t addresses = 0;
    uint32_t decisions = 0;
  };
  void BeginRun(const trace::SegmentRun& run);  // apart, so that Close is short enough to be inline
  // Steps of Finish: the parts, as sums of what each run adds to its first thread and takes from the one behind it; and
  // all decisions, and the first addresses, of each thread.
  void CountParts(uint32_t threads);
  void JoinDecisions();
  void FindFirstSegments();

  Log<uint64_t> addresses_;
  Log<uint8_t> decisions_;
  const uint64_t* address_end_ = nullptr;  // of the last segment
  const uint8_t* decision_end_ = nullptr;
  uint64_t kept_addresses_ = 0;
  std::vector<trace::SegmentRun> runs_;  // the first one is empty
  // By thread.
  std::vector<Part> parts_;
  std::vector<uint64_t> access_counts_;
  std::vector<trace::ThreadRecord> records_;
  bool is_joined_ = false;
  Joined<uint64_t> joined_addresses_;
  Joined<uint8_t> joined_decisions_;
};

inline void RecordLog::Close(uint32_t thread, const uint64_t* address_cursor, const uint8_t* decision_cursor) {
  const auto addresses = static_cast<uint32_t>(address_cursor - address_end_);
  const auto decisions = static_cast<uint32_t>(decision_cursor - decision_end_);
  if ((addresses | decisions) == 0) return;
  address_end_ = address_cursor;
  decision_end_ = decision_cursor;
  trace::SegmentRun& last = runs_.back();
  if (last.first_thread + last.threads == thread && last.addresses == addresses && last.decisions == decisions) {
    ++last.threads;
  } else {
    BeginRun({thread, 1, addresses, decisions});
  }
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_LOG_H_
