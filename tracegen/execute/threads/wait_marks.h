// Who waited for whose change of memory, while the blocks of a launch ran.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_WAIT_MARKS_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_WAIT_MARKS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/trace.pb.h"

namespace heddle::tracegen {

// A place of memory, whoever names it: addresses of shared memory mean another one in every block. `owner` is the
// block, or the cluster; in clusters of several blocks the address is that in their common window.
struct WatchedPlace {
  uint64_t address = 0;
  uint64_t owner = 0;
};

// Shared by all blocks that are live at once.
class WaitMarks {
 public:
  // Waits of a launch that are kept one by one; the others are counted.
  static constexpr uint64_t kMaxListed = 10'000;

  // A waiting that has not ended; the names are those of trace::v1::Wait.
  struct Open {
    bool waits = false;
    bool writer_known = false;
    bool meets_block = false;  // WaitSite::meets_block
    uint32_t instruction = 0;
    uint32_t thread = 0;
    uint32_t writer_thread = 0;
    uint64_t address = 0;
    WatchedPlace place;  // at that address
    uint64_t block = 0;
    uint64_t polls = 0;
    uint64_t writer_block = 0;
    uint64_t since = 0;  // writes that had been seen when it polled last
  };

  // A new launch begins.
  void Reset();

  // Anything happened that may let a waiting thread go on: threads that have polled in vain since the last change need
  // not poll again before the next one.
  void Changed() { ++epoch_; }
  uint64_t epoch() const { return epoch_; }

  // The thread has polled in vain and yields.
  void Wait(Open& open);
  // It polls again; if its memory has been written, the latest writer is noted.
  void Poll(Open& open);
  // It has gone on. Kept only if `record`, and if it was a wait: threads that poll shared memory, and pass a barrier of
  // their block in every iteration, all make as many iterations in whatever order they run.
  void End(Open& open, bool record);

  // A thread has changed memory, from that place on, while watching() was not 0.
  void Wrote(const WatchedPlace& place, uint64_t bytes, uint64_t block, uint32_t thread);
  // Threads that wait now.
  uint64_t watching() const { return watching_; }

  // Moves the waits of the launch into its end.
  void Store(trace::v1::LaunchEnd& end);

 private:
  // 8 bytes of memory that threads poll.
  struct Watch {
    uint32_t threads = 0;
    uint64_t write = 0;  // number of the latest write to it, 0 = none since the first of the threads waits
    uint64_t block = 0;
    uint32_t thread = 0;
  };
  static uint64_t Key(const WatchedPlace& place);

  uint64_t epoch_ = 1;
  uint64_t writes_ = 0;
  uint64_t watching_ = 0;
  absl::flat_hash_map<uint64_t, Watch> watches_;
  std::vector<Open> waits_;
  uint64_t not_listed_ = 0;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_WAIT_MARKS_H_
