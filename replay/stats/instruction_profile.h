// Where the cycles of the issue ports went and the divergence arose, by instruction.
#ifndef HEDDLE_REPLAY_STATS_INSTRUCTION_PROFILE_H_
#define HEDDLE_REPLAY_STATS_INSTRUCTION_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "proto/result.pb.h"
#include "proto/trace.pb.h"
#include "replay/seams/types.h"
#include "replay/stats/stall_counters.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

class MemoryProfile;

// What a port's cycle without an issue is counted as: the classes of StallCounters under the front end with instruction
// buffers, those of SmCounters under the one with a single pipeline.
enum class PortLoss : uint8_t {
  kStructural,
  kDataMemory,
  kDataArithmetic,
  kControl,
  kFetch,
  kPolicy,
  kBarrier,
  kExit,
  kEmpty,
  // Front end with a single pipeline.
  kStall,
  kMemory,
  kIdle,
};
inline constexpr size_t kPortLosses = static_cast<size_t>(PortLoss::kIdle) + 1;

// The class that a port's cycle belongs to if its warps are in `classes`, as ClosestOf has it.
PortLoss PortLossOf(WarpClassMask classes);
// The classes of warps that a loss can be put down to; none for losses without a warp that stands at an instruction.
WarpClassMask ClassesOf(PortLoss loss);

// Of one launch, all SMs together. Every cycle of an issue port goes to exactly one instruction, or to none
// ("elsewhere") if the warps have exited or there is none: an issue to the instruction issued, a loss to the
// instruction at which the port's oldest warp of the class stands.
class InstructionProfile {
 public:
  explicit InstructionProfile(size_t instructions) : counters_(instructions) {}

  // A port issues; the instruction is that of the first slot. `inserted`: it is one that the policy has put before it.
  void PortIssued(Pc pc, bool inserted) {
    ++counters_[pc].port_issues;
    counters_[pc].issues += !inserted;
  }
  void ThreadsIssued(Pc pc, int threads) { counters_[pc].threads += static_cast<uint64_t>(threads); }
  // Of threads that issue a guarded instruction, those whose guard is false.
  void PredicatedOff(Pc pc, int threads) { counters_[pc].predicated_off += static_cast<uint64_t>(threads); }
  // The threads of a warp go on to different places after the instruction, or only some of them exit.
  void Split(Pc pc) { ++counters_[pc].splits; }
  // `waw`: no warp of the port waits for a register that it reads.
  void Lost(Pc pc, PortLoss loss, bool waw, uint64_t cycles) { Add(counters_[pc], loss, waw, cycles); }
  void LostElsewhere(PortLoss loss, bool waw, uint64_t cycles) { Add(elsewhere_, loss, waw, cycles); }

  // `memory` is null without a memory hierarchy.
  void Fill(const trace::Program& program, const trace::v1::FileHeader& header, uint32_t warp_size, bool has_buffers,
            const MemoryProfile* memory, result::v1::InstructionProfile& out) const;

 private:
  struct Counters {
    uint64_t issues = 0;       // of the trace
    uint64_t port_issues = 0;  // with inserted ones
    uint64_t threads = 0;
    uint64_t predicated_off = 0;
    uint64_t splits = 0;
    uint64_t waw = 0;  // of the losses to data
    std::array<uint64_t, kPortLosses> lost{};
  };
  static void Add(Counters& counters, PortLoss loss, bool waw, uint64_t cycles) {
    counters.lost[static_cast<size_t>(loss)] += cycles;
    if (waw) counters.waw += cycles;
  }
  static void Fill(const Counters& counters, result::v1::StallCycles& out);
  static void Fill(const Counters& counters, result::v1::SchedulerCycles& out);

  std::vector<Counters> counters_;  // by PC
  Counters elsewhere_;
};

// Checks that the cycles of a launch's profile are the launch's, class by class, and so are issues and
// thread-instructions. Internal error naming the class that is wrong.
absl::Status CheckSums(const result::v1::InstructionProfile& profile, const result::v1::LaunchResult& launch);

// An instruction as the trace has it: opcode, then registers written and read, as in "add.s32 %3, %1, %2"; registers
// have the numbers of the trace, or in machine code the names of the architecture, as in "IADD3 R3, R1, R2".
std::string InstructionText(const trace::Program& program, Pc pc);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_INSTRUCTION_PROFILE_H_
