// What the threads of a whole block, or of a part of one, have recorded, as those see it who read it.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RECORDS_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tracegen/execute/block/record_log.h"
#include "traces/format/chunk/segmented_block.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// Either records, or a log in which the segments of each thread are still apart: they are put together when somebody
// needs that. One element per thread of the block.
class BlockRecords {
 public:
  explicit BlockRecords(std::span<const trace::ThreadRecord> records) : records_(records) {}
  // RecordLog::Finish has been called.
  explicit BlockRecords(RecordLog& log) : records_(log.records()), log_(&log) {}

  size_t threads() const { return records_.size(); }
  std::span<const uint8_t> decisions(size_t thread) const { return records_[thread].decisions; }
  bool exited(size_t thread) const { return records_[thread].exited; }
  // The thread's address at a position that it has reached. Those of its first segment cost nothing.
  uint64_t address(size_t thread, size_t position) {
    if (position >= records_[thread].addresses.size()) Join();
    return records_[thread].addresses[position];
  }
  // Everything put together.
  std::span<const trace::ThreadRecord> joined() {
    Join();
    return records_;
  }
  // Whether the segments of some thread are still apart, and all of them as they are.
  bool is_segmented() const { return log_ != nullptr && !log_->is_joined(); }
  trace::SegmentedBlock segmented() const { return log_->segmented(); }
  // Ranges that hold all addresses, if whoever took the records has found some; empty if not.
  std::vector<trace::AddressBounds>& ranges() { return ranges_; }

 private:
  void Join() {
    if (log_ != nullptr) log_->Join();
  }

  std::span<const trace::ThreadRecord> records_;
  RecordLog* log_ = nullptr;
  std::vector<trace::AddressBounds> ranges_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RECORDS_H_
