// Loads of shared memory that no thread has stored to.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_UNINITIALIZED_LOADS_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_UNINITIALIZED_LOADS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tracegen/execute/checks/shared_paths.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// The first load, and its block, of what was not initialized.
struct UninitializedLoad {
  trace::Pc pc = 0;
  uint64_t block = 0;
  uint32_t thread = 0;
};

// A load of a place that no thread has stored to before the same barrier reads what is not initialized. Loads behind a
// barrier by which all of shared memory has been stored to need no look.
class UninitializedLoads {
 public:
  // `threads` and `units` of shared memory: per block.
  UninitializedLoads(uint32_t threads, uint32_t units) : units_(units), next_span_(threads), first_store_(units + 1) {}

  // Looks at what was walked last: block number `block`, or a part of it.
  void LookAt(const SharedAccesses& accesses, uint64_t block);

  const std::optional<UninitializedLoad>& found() const { return found_; }
  void Set(const UninitializedLoad& load) { found_ = load; }
  void Clear() { found_.reset(); }

 private:
  static constexpr uint32_t kNever = ~uint32_t{0};
  // When a place was first stored to: 1 + number of barriers before, kNever = not yet.
  struct FirstStore {
    uint64_t block = ~uint64_t{0};
    uint32_t plain = 0;
    uint32_t any = 0;
  };

  void NoteStores(const SharedAccesses& accesses, uint64_t block);
  void NoteStoresOf(const SharedAccesses& accesses, const SharedSpan& span, uint32_t thread, uint64_t block);
  void Find(const SharedAccesses& accesses, uint64_t block);

  const uint32_t units_;
  uint32_t stored_units_ = 0;        // of the block: places with a plain store
  std::vector<uint32_t> next_span_;  // by thread, for NoteStores
  std::vector<FirstStore> first_store_;
  uint32_t settled_ = kNever;  // as FirstStore: by when every place of the block has had a plain store
  std::optional<UninitializedLoad> found_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_UNINITIALIZED_LOADS_H_
