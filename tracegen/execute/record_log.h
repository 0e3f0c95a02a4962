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

// A stretch of both logs, written by one thread without interruption: from the end of the one before it to these
// places. Threads that wait at barriers leave one each time, so it is small.
struct Segment {
  uint32_t thread = 0;
  uint32_t end_address = 0;
  uint32_t end_decision = 0;
};

class RecordLog {
 public:
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
  uint32_t address_end_ = 0;  // of the last segment
  uint32_t decision_end_ = 0;
  uint64_t kept_addresses_ = 0;
  std::vector<Segment> segments_;
  // For Gather: how much of a thread there is; then, of one with several segments, where the next one goes.
  struct Part {
    uint32_t segments = 0;
    uint64_t addresses = 0;
    uint64_t decisions = 0;
  };
  std::vector<Part> parts_;
  std::vector<uint64_t> joined_addresses_;
  std::vector<uint8_t> joined_decisions_;
};

inline void RecordLog::Close(uint32_t thread, const uint64_t* address_cursor, const uint8_t* decision_cursor) {
  const auto address = static_cast<uint32_t>(address_cursor - addresses_.get());
  const auto decision = static_cast<uint32_t>(decision_cursor - decisions_.get());
  if (address == address_end_ && decision == decision_end_) return;
  segments_.push_back({thread, address, decision});
  address_end_ = address;
  decision_end_ = decision;
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_RECORD_LOG_H_
