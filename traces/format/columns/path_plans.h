// Paths that several threads take: what a path alone tells of addresses is worked out once.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_PATH_PLANS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_PATH_PLANS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/format/chunk/walked_paths.h"
#include "traces/format/columns/models/decoder_columns.h"

namespace heddle::trace {

// Of a column of bases: what the next thread that runs the instruction starts with.
struct ThreadStart {
  const uint64_t* next_base = nullptr;
  const uint64_t* addends = nullptr;
};

// How far a walk over the threads of a chunk has come.
struct WalkProgress {
  std::vector<AddressSlot> slots;
  std::vector<ThreadStart> starts;  // by column
};

// How the threads of a path are walked.
struct PathPlan {
  bool tried = false;
  bool planned = false;      // else by cursors
  bool chained = false;      // then: some column belongs to a chain
  bool finished = false;     // a thread of the path has been walked
  bool shifts = false;       // a value is made by a shift
  bool certain = false;      // whatever the bases, 32-bit offsets hold what counts from them
  uint32_t carry_count = 0;  // the values behind 0
  uint32_t base_count = 0;   // those behind these: bases of separable columns
  uint32_t value_count = 0;  // likewise, bases included
  uint64_t first_place = 0;  // likewise what is added
  uint64_t first_value = 0;
  uint64_t first_carry = 0;
};

// For each access of a path the plans have a value of the thread and what is added to it, with chains, references and
// steps resolved: a thread has few values of its own. Buffers are reused from chunk to chunk.
class PathPlans {
 public:
  // Both are those of the chunk at hand, whatever that is.
  PathPlans(DecoderColumns& columns, WalkProgress& progress) : columns_(columns), progress_(progress) {}

  // Forgets all plans, for a walk that starts anew.
  void Clear();

  // Works out what a path tells of its addresses; false if that is more than a plan holds, or too little to pay.
  // `alone`: no thread of the path follows at once.
  bool Make(const WalkedPaths::Path& path, uint64_t accesses, bool alone, PathPlan& plan);

  // Walks threads that follow one another in one planned path; returns the bits of all offsets that 32 bits cannot
  // hold.
  template <typename Output>
  uint64_t Walk(const uint16_t* sequence, uint64_t accesses, uint64_t threads, PathPlan& plan, Output* output);

  // Bytes of the buffer that an unusually large chunk makes large, and its end.
  size_t large_bytes() const { return values_.capacity() * sizeof(Value); }
  void FreeLarge() { std::vector<Value>().swap(values_); }

 private:
  // What an address is: a value of the thread plus what the path tells. Value 0 is always 0.
  struct Latest {
    uint32_t value = 0;
    uint32_t state = 0;  // of a chain, see AddressSlot
    uint64_t added = 0;
  };
  // A reach that grows: from `first` by distances.
  struct FullReach {
    bool any = false;
    uint64_t first = 0;
    int64_t lowest = 0;
    int64_t highest = 0;
  };
  // A value that a thread has of its own: shifted(value `source` + before) + constant + what comes next in `stream`.
  struct Value {
    const uint64_t** stream = nullptr;
    uint32_t source = 0;
    uint8_t stride = 0;  // bytes by which the stream moves on
    uint8_t left = 0;
    uint8_t right = 0;
    uint64_t constant = 0;
    AddressReach reach = {};  // what is added to it, the bases of the instructions subtracted
    uint64_t before = 0;
  };
  // A chain that goes on from thread to thread: a value that is its latest address.
  struct Carry {
    uint32_t slot = 0;
    bool reaches = false;     // some access counts from it
    AddressReach reach = {};  // as that of a Value
    Latest last = {};         // with which a thread of the path leaves it
  };
  static constexpr uint32_t kNoValue = ~uint32_t{0};

  // Takes back what Make has appended.
  void Forget(const PathPlan& plan);
  void Start(const WalkedPaths::Path& path, PathPlan& plan);
  template <bool kShifts>
  uint64_t FindValues(const PathPlan& plan);
  template <typename Output>
  uint64_t Finish(const uint16_t* sequence, uint64_t accesses, PathPlan& plan);
  template <typename Output>
  uint64_t WalkShortThreads(const PathPlan& plan, uint64_t accesses, uint64_t threads, Output* output);
  std::vector<uint32_t>& AddedOf(uint32_t /*output*/) { return added32_; }
  std::vector<uint64_t>& AddedOf(uint64_t /*output*/) { return added64_; }

  DecoderColumns& columns_;
  WalkProgress& progress_;
  // Of one planned path after the other:
  std::vector<uint16_t> places_;   // by access: number of the value that it counts from
  std::vector<uint32_t> added32_;  // by access: what is added to the value; less the instruction's base
  std::vector<uint64_t> added64_;  // the same for 64-bit addresses
  std::vector<Value> values_;
  std::vector<Carry> carries_;
  std::vector<uint32_t> base_columns_;  // of the values that are bases; as long as values_
  std::vector<uint64_t> of_thread_;     // values of the running thread: 0, carries, bases, values that accesses make
  std::vector<uint64_t> added_;         // by access of the path that is planned
  std::vector<FullReach> reaches_;      // by value of the path that is planned
  std::vector<Latest> latest_;          // by slot, while a path is planned
  std::vector<uint32_t> occurrence_;    // by column, likewise
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_PATH_PLANS_H_
