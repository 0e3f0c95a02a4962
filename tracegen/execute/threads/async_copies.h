// Asynchronous copies of the threads of a block (PTX ISA 9.7.9.25.3): what is on its way, and when it arrives.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_ASYNC_COPIES_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_ASYNC_COPIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::tracegen {

// A device may read the source and write the destination at any time between the copy and the wait that covers it. Here
// the source is read at the copy, and the destination written at the wait: so what reads the destination too early, or
// without a wait, does not see the data, as can happen on a device. A copy that nobody waits for never arrives. Copies
// that a transaction barrier stands for arrive with the arrival of their thread.
class AsyncCopies {
 public:
  static constexpr uint32_t kMostBytes = 16;
  // Of a thread. If there are more, the oldest ones arrive without a wait, as they do on any device.
  static constexpr size_t kMostOnTheirWay = 4096;

  // A block of so many threads begins: nothing is on its way.
  void BeginBlock(uint32_t threads);

  // `thread` copies `bytes` bytes, of which it reads the first `read`; the others become zero. Touches both places, so
  // that a wrong address faults here.
  void Copy(uint32_t thread, uint64_t to, uint64_t from, uint32_t bytes, uint32_t read);
  // Closes the thread's group.
  void Commit(uint32_t thread);
  // All copies of the thread arrive but those of its `pending` youngest groups, and of the open one. False: none was on
  // its way.
  bool Wait(uint32_t thread, uint32_t pending);
  // All copies of the thread arrive, those of the open group as well.
  bool WaitForAll(uint32_t thread);

 private:
  struct OnItsWay {
    uint64_t to = 0;
    uint32_t group = 0;  // number of the thread's, from 0
    uint32_t bytes = 0;
    std::array<uint8_t, kMostBytes> data = {};
  };
  struct Thread {
    uint32_t closed = 0;  // groups
    std::vector<OnItsWay> copies;
  };

  // The oldest ones; those of groups below `end`, if there are any.
  static void Arrive(Thread& thread, size_t count);
  static bool ArriveBelow(Thread& thread, uint32_t end);

  std::vector<Thread> threads_;  // empty until the block copies something
  uint32_t count_ = 0;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_ASYNC_COPIES_H_
