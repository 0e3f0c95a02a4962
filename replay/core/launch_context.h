// What all SMs of a run of one launch share, worked out once from machine, program and policies.
#ifndef HEDDLE_REPLAY_CORE_LAUNCH_CONTEXT_H_
#define HEDDLE_REPLAY_CORE_LAUNCH_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/core/collective_step.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/seams/policy_traits.h"
#include "replay/seams/types.h"
#include "replay/stats/issue_observer.h"
#include "replay/stats/warp_progress.h"
#include "traces/format/program/clusters.h"
#include "traces/format/program/matrix_shapes.h"
#include "traces/format/program/predication.h"
#include "traces/format/program/program.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

class ClusterBoard;
class InstructionProfile;
class MemoryProfile;

// An instruction as the core's inner loop sees it.
struct Step {
  enum Kind : uint8_t { kPlain, kMemory, kBarrier, kAsync };
  Kind kind = kPlain;
  bool ends_block = false;
  bool has_address = false;
  bool scripted = false;  // some scripted latency may match
  bool uniform = false;
  bool shared = false;  // may access shared memory
  // kBarrier: whether the threads arrive, and whether they wait.
  bool arrives : 1 = true;
  bool waits : 1 = true;
  // Not all threads that issue it need execute it; the first of its block takes their decisions.
  bool guarded : 1 = false;
  bool takes_guards : 1 = false;
  bool is_volatile : 1 = false;
  bool behind_join : 1 = false;  // and a join, which no warp issues, was recorded before it
  trace::v1::OpClass op = trace::v1::OP_UNKNOWN;
  trace::v1::MemorySpace space = trace::v1::SPACE_NONE;
  uint8_t barrier = 0;   // dense number of the barrier id
  uint8_t members = 0;   // of matrices: those of the kMatrixThreads whose addresses count; 0: no such instruction
  bool cluster = false;  // some lanes' addresses may be in shared memory of another block
  uint8_t bytes = 0;
  uint32_t collective = 0;       // 1 + index in LaunchContext::collectives; 0: no operands, and not asynchronous
  uint32_t barrier_threads = 0;  // 0 = all of the block
  uint32_t block = 0;            // basic block

  // Whether all live threads of the warp must issue it together.
  bool meets() const { return members != 0; }
  // Of lanes that issue it, those that access memory: of a warp's tiles each has a row from the first threads, and the
  // addresses of the others are not used. Where only others are together (--force-regrouping), all of them count.
  LaneMask LanesThatAccess(LaneMask lanes) const {
    if (members == 0) return lanes;
    const LaneMask first = (LaneMask{1} << members) - 1;
    const LaneMask used = lanes & (first | first << trace::kMatrixThreads);
    return used != 0 ? used : lanes;
  }
  // Whether the addresses say which memory the lanes access.
  bool by_lane() const { return space == trace::v1::SPACE_GENERIC || space == trace::v1::SPACE_CLUSTER_SHARED; }
};
static_assert(sizeof(Step) == 32, "two to a line of the host's cache");

struct LaunchContext {
  LaunchContext(const trace::LaunchView& launch, const trace::v1::FileHeader& header,
                const machine::v1::Machine& machine);

  LaunchContext(const LaunchContext&) = delete;
  LaunchContext& operator=(const LaunchContext&) = delete;

  const trace::LaunchView& launch;
  const std::optional<trace::PredicatedProgram> predicated;  // if there are guards that do not part warps
  const trace::Program& program;                             // as warps walk it
  AddressWindows windows;
  trace::SharedWindows shared_windows;
  std::vector<Step> steps;  // by PC
  std::vector<CollectiveStep> collectives;
  const CollectiveStep& CollectiveOf(Pc pc) const { return collectives[steps[pc].collective - 1u]; }
  bool has_async = false;
  bool has_matrices = false;
  bool has_uniform_values = false;  // threads recorded some
  // Whether threads recorded values of uniform registers for the instruction at `pc`.
  bool HasUniformValues(Pc pc) const {
    return steps[pc].collective != 0 && !CollectiveOf(pc).uniform_slots.empty() &&
           (steps[pc].kind == Step::kPlain || steps[pc].kind == Step::kMemory);
  }
  // By dense number. A cluster's barrier has the first id that blocks do not have.
  std::vector<uint32_t> barrier_ids;
  static constexpr uint32_t kClusterBarrier = 16;
  // Dense number of an id; kNoBarrier if no instruction can have it.
  static constexpr uint8_t kNoBarrier = 0xff;
  uint8_t DenseBarrier(uint64_t id) const;
  // What policies are told that is no barrier's id: the threads wait for others of their warp at a matrix instruction.
  static constexpr uint32_t kRendezvous = kClusterBarrier + 1;
  std::vector<machine::v1::ScriptedLatency> scripted;
  uint32_t longest_scripted = 0;
  machine::v1::CopyEngine copies;
  machine::v1::TransactionBarriers transaction_barriers;
  machine::v1::BlockBarriers block_barriers;
  // Whether barriers of blocks open later than in the cycle of the last arrival.
  bool BarriersDelay() const {
    return !barrier_ids.empty() && (block_barriers.arrival_interval() != 0 || block_barriers.release_latency() != 0);
  }

  int warp_size;
  int issue_cycles;  // core cycles that a warp's issue takes: ceil(warp size / SIMD width)
  int ports;
  bool one_port_per_block = false;  // ThesisPipeline.blocks_on_one_scheduler; set by who runs the launch
  uint32_t pipeline_depth;          // the machine's; the run takes the stage off that the policy goes past
  // Front end with a single pipeline: register banks, and whether instructions go through it to a memory stage (else
  // their latencies are fixed, and there is no pipeline).
  machine::v1::ThesisPipeline::BankPenalty bank_penalty;
  int bank_penalty_cycles;  // of one unit
  bool has_memory_stage;
  int max_threads;
  uint32_t threads_per_block;
  uint32_t hw_warps_per_block;  // that a block occupies
  uint32_t cluster_blocks;      // of a cluster
  Position entry;

  // Set by the run.
  int capacity = 1;      // blocks that an SM holds at once, whole or in part
  bool by_warp = false;  // the dispatcher gives single warps
  bool swizzle = false;
  bool any_lane = false;
  bool static_warps = false;
  ScoreboardScope scoreboard = ScoreboardScope::kWarp;
  bool mixed_pcs = false;
  bool force_tick = false;
  bool force_regrouping = false;  // threads of a warp need not be together where they must
  uint32_t l1_ways = 0;           // of the sets of the first-level data caches
  std::string policy_name;        // of the divergence policy
  std::string scheduler_name;
  std::string fetch_name;
  std::string dispatch_name;
  bool counts_activity = false;      // SmActivity is asked for
  ClusterBoard* clusters = nullptr;  // if they have several blocks, or barriers
  // Whether threads have to come together for matrix instructions.
  bool threads_meet() const { return has_matrices && !force_regrouping; }
  // Whether anything happens that slots alone do not tell of: threads begin copies, meet, or wait for other SMs;
  // barriers open later.
  bool has_collectives() const { return has_async || threads_meet() || clusters != nullptr || BarriersDelay(); }
  IssueObserver* observer = nullptr;
  bool observes_states = false;                 // the observer wants them
  WarpProgressTotals* warp_progress = nullptr;  // sums over all SMs; always there in a run
  // Only if asked for.
  InstructionProfile* profile = nullptr;
  MemoryProfile* memory_profile = nullptr;
  WarpTimelines* timelines = nullptr;
  uint32_t configuration_index = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_LAUNCH_CONTEXT_H_
