// What a capture asks of those that run thread blocks.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_RUNNER_OPTIONS_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_RUNNER_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tracegen/execute/memory/device_heap.h"
#include "traces/format/limits.h"

namespace heddle::tracegen {

class DeviceMemory;

// A process more costs some milliseconds, and a kernel whose blocks turn out to communicate what they have done.
inline constexpr double kSecondsBeforeSpreading = 0.1;

struct RunnerOptions {
  uint64_t part_instructions = trace::kChunkThreadInstructions;  // a block is cut in time at these
  uint64_t part_accesses = trace::kChunkAccesses;
  uint64_t max_instructions = ~uint64_t{0};                              // of the run; reaching it is an error
  std::function<void(uint64_t blocks, uint64_t instructions)> progress;  // called now and then; may be empty
  // What is known of an address that a kernel may not access, such as "in 'a', which has been freed"; may be empty.
  std::function<std::string(uint64_t address)> describe_address;
  std::function<void(const std::string& text)> print;  // receives what printf of device code prints; may be empty
  DeviceHeap* heap = nullptr;                          // of device code; null = malloc finds nothing
  // Blocks and threads in a pseudo-random order that follows from this number, within what barriers and warp operations
  // allow, and threads yield at random loop iterations. Only without a writer, which wants blocks in order.
  std::optional<uint64_t> order_seed;
  // Without a writer: records of a block are kept until it ends, up to so many accesses and so many decisions; more is
  // a ResourceExhausted error. 0 = they are thrown away. Threads take turns as if the block were cut in time all the
  // same.
  uint64_t whole_block_entries = 0;
  // The threads of a warp run from one memory access to the next together (the kernel must have been made for it).
  bool lockstep = false;
  // Of blocks that are live at once (ResidentBlocks): how many; which of them this runner runs; and how many
  // instructions a thread runs before it yields, 0 = a share of the record.
  uint32_t resident_blocks = 1;
  const char* resident_blocks_setting = "--resident-blocks ";  // how messages tell the user to choose their number
  uint32_t slot = 0;
  uint64_t turn_instructions = 0;
  // Reads outside all allocations pass (FaultHandler); and how messages tell the user to let them.
  bool allow_outside_reads = false;
  const char* allow_outside_reads_setting = "--allow-bounds";
  // Of launches whose blocks are spread over processes (LaunchRunner): how many, 1 = none; the memory that they work
  // on; how long a kernel has run before they are started; and who is told that the blocks of a kernel cannot be
  // spread.
  unsigned jobs = 1;
  DeviceMemory* memory = nullptr;
  double seconds_before_spreading = kSecondsBeforeSpreading;
  std::function<void(const std::string& text)> note;  // may be empty
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_RUNNER_OPTIONS_H_
