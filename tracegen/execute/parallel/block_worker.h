// A process that runs ranges of a launch's blocks in a private copy of memory, and hands the outcome back when asked.
#ifndef HEDDLE_TRACEGEN_EXECUTE_PARALLEL_BLOCK_WORKER_H_
#define HEDDLE_TRACEGEN_EXECUTE_PARALLEL_BLOCK_WORKER_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/execute/block/block_runner.h"
#include "tracegen/execute/block/record_arena.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/execute/parallel/footprint.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// The process that makes a worker forks it, with a runner in which the launch has begun and which waits between two
// blocks. The worker sees memory as it is when it begins a range; bytes that are committed meanwhile may or may not be
// seen, so that what it reads of them makes its range invalid (Footprint::ReadsWhat).
//
// It ends with the process that made it, and is killed when this object goes.
class BlockWorker {
 public:
  static constexpr int kArenas = 2;

  // What a range has come to.
  struct Outcome {
    // False: something happened that only running the range where its effects are seen can tell right: an error, a
    // warning, a text that was printed, a reading of the clock, a thread that waited for another one, a write outside
    // global memory, more records than there is room for. Nothing of the range may be used.
    bool valid = false;
    uint64_t end = 0;  // of the blocks that were run: the range may be cut short for lack of room
    uint64_t thread_instructions = 0;
    uint32_t division_by_zero = 0;  // BlockRunner::division_by_zero
  };

  // Errors: no process, or no memory.
  static absl::StatusOr<std::unique_ptr<BlockWorker>> Start(BlockRunner& runner, const trace::Program& program,
                                                            bool uses_local, uint32_t threads, DeviceMemory& memory,
                                                            uint64_t arena_bytes);
  ~BlockWorker();
  BlockWorker(const BlockWorker&) = delete;
  BlockWorker& operator=(const BlockWorker&) = delete;

  // Begins to run blocks [first, end); `instructions` is BlockRunner::instructions() now. The records go to that arena,
  // behind the blocks a text with the observer's findings. The range before must have been waited for. Errors: the
  // process is gone.
  absl::Status Run(uint64_t first, uint64_t end, uint64_t instructions, int arena);
  // Waits for the end of the range. Errors: the process is gone; CancelledError: the capture is interrupted.
  absl::StatusOr<Outcome> Wait();
  // Puts what the range has written into memory, where everybody sees it. Errors: UnavailableError if the process
  // is gone and nothing was done; InternalError if it ended while it was at it; CancelledError.
  absl::Status Commit();

  // Of the range that was run last.
  const Footprint& footprint() const { return *footprint_; }
  const RecordArena& arena(int number) const { return *arenas_[static_cast<size_t>(number)]; }

 private:
  struct Command {
    enum class Kind : uint32_t { kRun, kCommit } kind = Kind::kRun;
    int32_t arena = 0;
    uint64_t first = 0;
    uint64_t end = 0;
    uint64_t instructions = 0;
  };
  class Sink;
  class Observer;

  BlockWorker() = default;
  absl::Status Send(const Command& command);
  absl::Status Receive(Outcome* outcome);
  // In the process itself.
  struct Setting {
    BlockRunner& runner;
    const trace::Program& program;
    bool uses_local;
    uint32_t threads;
    DeviceMemory& memory;
  };
  [[noreturn]] void Serve(const Setting& setting);

  pid_t process_ = -1;
  int socket_ = -1;  // to the other process
  std::unique_ptr<Footprint> footprint_;
  std::array<std::unique_ptr<RecordArena>, kArenas> arenas_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_PARALLEL_BLOCK_WORKER_H_
