// The first seam: how warps are formed, split, rejoined and regrouped.
//
// To add a policy: write replay/policies/divergence/NAME.cc with a class that derives from DivergencePolicy and one
// HEDDLE_DIVERGENCE_POLICY registration that declares its parameters and counters. Nothing else is edited: the build
// finds the file, `heddle policies` lists it, and the conformance tests run it. No header is needed.
#ifndef HEDDLE_REPLAY_SEAMS_DIVERGENCE_POLICY_H_
#define HEDDLE_REPLAY_SEAMS_DIVERGENCE_POLICY_H_

#include <cstdint>
#include <span>

#include "replay/seams/issue_view.h"
#include "replay/seams/policy_origin.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/shared_state.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_editor.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// What a policy wants to be told beyond control flow. Straight-line code calls a policy only if it asks.
enum Interest : uint32_t {
  kControlOnly = 0,       // branches with two or more outcomes, returns, exits, and arrivals at a slot's stop position
  kEveryInstruction = 1,  // Resolve after every instruction
  kEveryBlockEnd = 2,     // Resolve at the end of every basic block, fall-through and jumps included
  kEveryCycle = 4,        // Tick once per cycle with a resident block
  kIssue = 8,             // AcceptIssue before an instruction enters the pipeline
  kLaneReturns = 16,      // LanesReturned for parts of a warp's memory access
  kBarriers = 32,         // BarrierArrived, BarrierReleased
  kLongLatency = 64,      // LongLatency, LongLatencyEnded: a slot has to wait for memory beyond the core
};

// Threads of a resolved slot that go to the same place. Lanes are those of the slot.
struct PathGroup {
  Position at;
  LaneMask lanes = 0;
  bool taken = false;  // the taken side of a conditional branch
};

enum class ResolveReason : uint8_t { kControl, kStop, kBlockEnd, kInstruction, kBarrier, kLanes };

// An instruction of a slot has completed.
struct Resolution {
  SlotId slot = kNoSlot;
  Position from;  // the instruction
  ResolveReason reason = ResolveReason::kControl;
  std::span<const PathGroup> groups;  // live threads by next position, ascending by position; empty if all exited
  LaneMask exited = 0;                // lanes whose thread has ended; they are no longer in the slot
  const Lanes* lanes = nullptr;       // lanes of the slot before the exit, for `groups` and `exited`
  // Of `lanes`, those whose thread has executed the instruction: all of them, but for those whose guard was false. In a
  // block of guarded instructions they are the same for all of it.
  LaneMask executed = 0;
  // The branch's reconvergence point: its immediate post-dominator at the same depth, or the caller's continuation if
  // that is the function's end; Exit() if that is the kernel's end or the instruction is no branch.
  Position reconvergence;
  bool conditional = false;  // the instruction is a branch with two or more outcomes
  bool uniform = false;      // marked uniform by the static analysis
};

// A block's threads have been given hardware threads.
struct BlockAdmission {
  BlockId block = 0;
  Position entry;
  ThreadId first_thread = 0;  // a multiple of the warp size
  // One mask per hardware warp: the lanes that hold a thread. Warp w covers hardware threads
  // first_thread + w * warp size and following.
  std::span<const LaneMask> warps;
};

enum class Verdict : uint8_t { kAccepted, kRefused };

// One instance per SM and launch. Called only by the core, in simulated time order; must be a deterministic function of
// its calls. Must not keep spans or pointers beyond a call.
class DivergencePolicy {
 public:
  static constexpr char kSeam[] = "divergence";
  static constexpr char kKind[] = "divergence policy";

  virtual ~DivergencePolicy() = default;

  virtual uint32_t interests() const { return kControlOnly; }
  // What the SM's slots lack to issue: a view that lives as long as the policy. Comes once, before all other calls but
  // those that ask what the policy is (interests, issue_slots).
  virtual void SetIssueView(const IssueView& /*view*/) {}

  // A block enters: every thread is unassigned at the entry and has to be placed. The default makes the static warps.
  virtual void Admit(const BlockAdmission& admission, WarpEditor& editor);

  // Decides where the slot's threads go on. Returning kRefused without having changed anything means that the policy
  // has no room: write-back stalls and asks again in the next cycle.
  virtual Verdict Resolve(const Resolution& resolution, WarpEditor& editor) = 0;

  // Number of slots that may issue together in one scheduler cycle (MIMD: a warp's worth of single threads). The
  // scheduler is asked again until the issue is full or nothing is left.
  virtual int issue_slots() const { return 1; }
  // Whether `candidate` may issue together with the slots chosen before it.
  virtual bool MayIssueWith(std::span<const SlotId> chosen, SlotId candidate, const WarpTable& table) const;

  // Extra cycles for which an issue of this slot holds its port (register bank conflicts, say).
  virtual int IssuePenalty(SlotId /*slot*/, const WarpTable& /*table*/) const { return 0; }

  // kIssue: kRefused nullifies the issue; the slot stays offered unless the policy parks it.
  virtual Verdict AcceptIssue(SlotId /*slot*/, WarpEditor& /*editor*/) { return Verdict::kAccepted; }
  // kLaneReturns: the data of `lanes` of an in-flight slot have come, others are outstanding. Returning true lets these
  // lanes go on alone: they leave the slot and are resolved as kLanes.
  virtual bool LanesReturned(SlotId /*slot*/, LaneMask /*lanes*/, WarpEditor& /*editor*/) { return false; }
  // kEveryCycle: after all completions of the cycle, before selection.
  virtual void Tick(WarpEditor& /*editor*/) {}
  // A timer of WarpEditor::StartTimer.
  virtual void Timer(uint64_t /*tag*/, WarpEditor& /*editor*/) {}
  // kBarriers: the slot's threads arrived at a barrier of their block / the barrier opened. The default lets the slot
  // go on with the threads it has, straight to the next instruction. Also told, with a number that no barrier has,
  // where threads wait for others of their static warp at a matrix instruction.
  virtual void BarrierArrived(SlotId /*slot*/, uint32_t /*barrier*/, WarpEditor& /*editor*/) {}
  // Returning true asks for a Resolve (reason kBarrier) of the slot instead of going on unchanged.
  virtual bool BarrierReleased(SlotId /*slot*/, uint32_t /*barrier*/, WarpEditor& /*editor*/) { return false; }
  // kLongLatency: the slot's next instruction has to wait for data from beyond the core, or the one that holds it does.
  // After the selection of the cycle. Told again if the slot is parked, and offered while it still waits.
  virtual void LongLatency(SlotId /*slot*/, WarpEditor& /*editor*/) {}
  // kLongLatency: the slot does not wait any more, be it offered or parked. After the completions of the cycle, before
  // barriers let go and before timers; once, by slot. Not for a slot that has been freed or formed anew since.
  virtual void LongLatencyEnded(SlotId /*slot*/, WarpEditor& /*editor*/) {}
  // All threads of the block have exited.
  virtual void Retire(BlockId /*block*/, WarpEditor& /*editor*/) {}

  // Values of the declared counters, in the order of their declaration.
  virtual std::span<const uint64_t> counters() const { return {}; }

  // One line on what the policy waits for, for the report of a deadlock; empty if nothing.
  virtual std::string Explain(const WarpTable& /*table*/) const { return {}; }

  // Whether MayIssueWith and IssuePenalty have anything to say. A policy whose every thread is a slot may say no.
  virtual bool restricts_issues() const { return true; }
  // With issue_slots() above 1: these slots, one or more, have issued together; they are in flight, at their
  // instruction. For counting.
  virtual void IssuedTogether(std::span<const SlotId> /*slots*/, const WarpTable& /*table*/) {}
};

// What a policy may know when it is made.
struct DivergenceContext {
  const trace::Program& program;
  int warp_size;
  int max_threads;  // hardware threads of the SM
  int max_blocks;
  int ports;  // schedulers of the SM
  // All warps of block b issue on scheduler b mod ports, and hold no threads of another one's blocks.
  bool one_port_per_block = false;
  SmShared shared = {};  // with other policies of the SM
};

using DivergenceRegistry = PolicyRegistry<DivergencePolicy, DivergenceContext>;

#define HEDDLE_DIVERGENCE_POLICY(...)                                                                            \
  HEDDLE_REGISTER_AT_SEAM("divergence", ::heddle::replay::DivergencePolicy, ::heddle::replay::DivergenceContext, \
                          ::heddle::replay::DivergenceRegistry, __VA_ARGS__)

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_DIVERGENCE_POLICY_H_
