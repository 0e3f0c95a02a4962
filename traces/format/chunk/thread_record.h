// What one thread did, as a writer of traces takes it.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_THREAD_RECORD_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_THREAD_RECORD_H_

#include <cstdint>
#include <span>

namespace heddle::trace {

// What one thread did since its last part.
struct ThreadRecord {
  // One element per decision, in program order: 0 or 1 for a conditional branch, the successor's or callee's number for
  // wide branches and indirect calls (255 at most).
  std::span<const uint8_t> decisions;
  // One element per access, in program order of the static program (PTX order within a block).
  std::span<const uint64_t> addresses;
  // For AddBlockPart: the thread has reached its exit. Otherwise its record may end with addresses that are reserved
  // but not yet written, because it is suspended within a basic block.
  bool exited = false;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_THREAD_RECORD_H_
