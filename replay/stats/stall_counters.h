// Where the cycles of issue ports and warps go.
#ifndef HEDDLE_REPLAY_STATS_STALL_COUNTERS_H_
#define HEDDLE_REPLAY_STATS_STALL_COUNTERS_H_

#include <array>
#include <bit>
#include <cstdint>

#include "absl/status/status.h"
#include "proto/result.pb.h"

namespace heddle::replay {

// What a warp waits for, from the closest to issue to the farthest: the classes of the BAWS paper, section 6.3, in an
// order that is ours, and data hazards by what they wait for.
enum class WarpClass : uint8_t {
  kStructural,     // nothing but a unit, or the port
  kMemory,         // data, some of them from memory
  kMemoryWaw,      // data, some of them from memory: only a write after write blocks
  kArithmetic,     // data, all of them from arithmetic
  kArithmeticWaw,  // data, all of them from arithmetic: only a write after write blocks
  kControl,        // a branch that has not resolved, or the refill after it
  kFetch,          // instructions
  kPolicy,         // the policy holds it back
  kPaused,         // its block is paused, whatever else it waits for
  kBarrier,        // a barrier or a fence
  kExit,           // it has exited, its block has not retired
  kNone,           // it is no warp: a free slot, or one without threads
};
inline constexpr int kWarpClasses = static_cast<int>(WarpClass::kNone);

// A set of classes.
using WarpClassMask = uint16_t;
constexpr WarpClassMask MaskOf(WarpClass one) { return static_cast<WarpClassMask>(1u << static_cast<int>(one)); }
inline constexpr WarpClassMask kDataClasses = MaskOf(WarpClass::kMemory) | MaskOf(WarpClass::kMemoryWaw) |
                                              MaskOf(WarpClass::kArithmetic) | MaskOf(WarpClass::kArithmeticWaw);

// The class that a port whose warps are in `classes` loses a cycle to: the closest to issue; of data, memory if some
// warp waits for memory, and a write after write only if no warp waits for a register that it reads. kNone: it has no
// warp.
constexpr WarpClass ClosestOf(WarpClassMask classes) {
  if (classes == 0) return WarpClass::kNone;
  if ((classes & MaskOf(WarpClass::kStructural)) != 0) return WarpClass::kStructural;
  if ((classes & kDataClasses) == 0) return static_cast<WarpClass>(std::countr_zero(classes));
  const bool memory = (classes & (MaskOf(WarpClass::kMemory) | MaskOf(WarpClass::kMemoryWaw))) != 0;
  const bool reads = (classes & (MaskOf(WarpClass::kMemory) | MaskOf(WarpClass::kArithmetic))) != 0;
  if (memory) return reads ? WarpClass::kMemory : WarpClass::kMemoryWaw;
  return reads ? WarpClass::kArithmetic : WarpClass::kArithmeticWaw;
}

// Counters of one SM and launch. Port cycles: those of an SM with a resident block. Warp cycles: one for every warp in
// every cycle. docs/reference/timing.md, section 5.
struct StallCounters {
  // Scheduler view: port cycles without issue, by the class closest to issue that a warp of the port is in.
  uint64_t port_cycles = 0;
  uint64_t structural = 0;
  uint64_t data_memory = 0;
  uint64_t data_arithmetic = 0;
  uint64_t data_waw = 0;  // of the two before: no warp waits for a register that it reads
  uint64_t control = 0;
  uint64_t fetch = 0;
  uint64_t policy = 0;  // and those of paused warps
  uint64_t paused = 0;  // of those before: all of these warps are paused
  uint64_t barrier = 0;
  uint64_t exit = 0;
  uint64_t empty = 0;  // the port has no warp
  uint64_t issued = 0;
  // Warp view.
  uint64_t warp_cycles = 0;
  uint64_t warp_issues = 0;
  std::array<uint64_t, kWarpClasses> warp_class{};

  // `count` cycles without issue of a port that loses them to a class (ClosestOf).
  void AddPortCycles(WarpClass closest, uint64_t count);
  void Add(const StallCounters& other);
};

// Checks that the classes add up to all cycles, in both views. Internal error naming the sum that is wrong.
absl::Status CheckSums(const StallCounters& counters);

void FillResult(const StallCounters& counters, result::v1::LaunchResult& out);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_STALL_COUNTERS_H_
