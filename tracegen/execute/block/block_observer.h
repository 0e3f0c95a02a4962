// Who looks at what blocks have recorded.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_OBSERVER_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_OBSERVER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_records.h"

namespace heddle::tracegen {

// Sees what the threads of a block have recorded, after the writer. Errors end the run.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  // A block of which nothing has been handed over is whole if `last` is true at once. Threads of a part pass what
  // ThreadRecord says; addresses behind consumed[t] belong to the next part and may not have been written.
  virtual absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed,
                                bool last) = 0;

  // Blocks of one launch may be shown to copies of an observer in other processes: then what a copy has found since the
  // last call, and what adds it here. Findings are added in the order of blocks. False: all blocks come here.
  virtual bool CanBeCopied() const { return false; }
  virtual std::string TakeFindings() { return ""; }
  virtual void AddFindings(std::string_view) {}
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_OBSERVER_H_
