// LWM: large warps (Narasiman et al., MICRO 2011, as the HARP and CAPRI papers describe it: HARP section 2.3, CAPRI
// section 2.2). A group of rows of warp-size threads shares one reconvergence stack. At every instruction the threads
// of the stack's top are packed into sub-warps as wide as the SIMD unit, which issue one after the other.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/policies/divergence/large_warps/large_warp.h"
#include "replay/policies/divergence/large_warps/large_warp_stack.h"
#include "replay/policies/divergence/shared/explain_diverged.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

using Status = LargeWarpStack::Status;
using Part = SubWarpPart;
using Fetch = LargeWarpFetch;

class Lwm final : public DivergencePolicy {
 public:
  Lwm(const DivergenceContext& context, const Parameters& parameters)
      : warp_size_(context.warp_size),
        large_warp_threads_(static_cast<size_t>(parameters.Integer("large_warp_threads"))),
        refetch_first_(parameters.Choice("refetch") == "first"),
        taken_first_(parameters.Bool("taken_first")),
        ports_(context.one_port_per_block ? 0 : context.ports),
        large_warps_(static_cast<size_t>(context.max_threads / context.warp_size) + 1),
        sub_warps_(kMaxSlots),
        decides_(context.program.instruction_count(), 0),
        gathers_(context.program.instruction_count(), 0) {
    for (const trace::Block& block : context.program.blocks()) {
      const bool decides =
          block.terminator != trace::v1::Terminator::FALL_THROUGH && block.terminator != trace::v1::Terminator::CALL;
      decides_[block.first + block.count - 1] = decides ? 1 : 0;
    }
    for (Pc pc = 0; pc < context.program.instruction_count(); ++pc) {
      const trace::v1::Instruction& instruction = context.program.instruction(pc);
      gathers_[pc] = instruction.op() == trace::v1::OP_BARRIER || instruction.has_matrix() ? 1 : 0;
    }
  }

  uint32_t interests() const override { return kEveryInstruction | kIssue | kBarriers; }

  // A large warp never spans blocks; the last one of a block may have fewer rows.
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    const size_t width = static_cast<size_t>(warp_size_);
    const size_t all = admission.warps.size();
    const size_t rows = large_warp_threads_ == 0 ? all : (large_warp_threads_ + width - 1) / width;
    const size_t per_block = (all + rows - 1) / rows;
    for (size_t k = 0; k < per_block; ++k) {
      const size_t id = admission.block * per_block + k;
      LargeWarp& large = large_warps_[id];
      large.id = static_cast<uint32_t>(id);
      large.first_hw_warp = admission.first_thread / width + k * rows;
      large.age = 0;
      const std::span<const LaneMask> own = admission.warps.subspan(k * rows, std::min(rows, all - k * rows));
      large.stack.Reset(admission.entry, RowMasks(own.begin(), own.end()));
      large.in_flight.assign(own.size(), 0);
      Raise(kMaxStackDepth, 1);
      Start(large, editor);
    }
  }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    const SlotId slot = resolution.slot;
    LargeWarp& large = large_warps_[editor.table().group[slot]];
    SubWarp& sub_warp = sub_warps_[slot];
    sub_warp.accepted = false;
    for (const Part& part : sub_warp.parts) {
      large.in_flight[part.row] &= ~part.lanes;
      if (resolution.exited != 0) large.stack.Exit(part.row, part.lanes & resolution.exited);
    }
    Fetch& fetch = large.fetches[sub_warp.fetch];
    if (sub_warp.sequence != fetch.sequence) {
      Late(resolution, large, editor);
      return Verdict::kAccepted;
    }
    --fetch.in_flight;
    if (fetch.completed++ == 0) fetch.first_done = editor.now();
    for (const PathGroup& group : resolution.groups) fetch.AddPath(group, sub_warp.parts, large.in_flight.size());

    const size_t index = large.stack.WithTag(static_cast<int32_t>(sub_warp.fetch));
    LargeWarpStack::Entry& entry = large.stack[index];
    const bool whole = resolution.groups.size() == 1 && resolution.exited == 0;
    const bool done = fetch.issued_all && (fetch.in_flight == 0 || (refetch_first_ && !fetch.waits_for_last));
    if (fetch.decides && done) counters_[kLastSubWarpCycles] += editor.now() - fetch.first_done;
    if (whole && done && !refetch_first_ && fetch.slots.size() == 1 && fetch.intact &&
        entry.status == Status::kRunning && resolution.groups[0].at != entry.rpc) {
      // One sub-warp holds all threads, and they go on together.
      entry.next = resolution.groups[0].at;
      Restart(large, fetch, entry);
      editor.Continue(slot);
      return Verdict::kAccepted;
    }
    if (whole) {
      editor.ContinueParked(slot, HeldReason::kDependency);
      if (refetch_first_) fetch.done.push_back(slot);
    } else {
      editor.Dissolve(slot);
      fetch.intact = false;
      std::replace(fetch.slots.begin(), fetch.slots.end(), slot, kNoSlot);
      Hold(*resolution.lanes, resolution.lanes->mask & ~resolution.exited, HeldReason::kDependency, editor);
    }
    if (done) {
      Advance(large, index, resolution.reconvergence, editor);
    } else {
      GiveWay(large, index, editor);
    }
    return Verdict::kAccepted;
  }

  // Sub-warps of one instruction issue one after the other: while the large warp has unissued threads, the fetch of its
  // next instruction is held and it goes first on its port.
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override {
    LargeWarp& large = large_warps_[editor.table().group[slot]];
    SubWarp& sub_warp = sub_warps_[slot];
    if (std::exchange(sub_warp.accepted, true)) return Verdict::kAccepted;
    const uint32_t number = sub_warp.fetch;
    Fetch& fetch = large.fetches[number];
    if (!fetch.issued_any) CountInstruction(large, number);
    fetch.issued_any = true;
    sub_warp.sequence = fetch.sequence;
    ++fetch.in_flight;
    ++counters_[kSubWarps];
    --counters_[kRowsSaved];
    for (const Part& part : sub_warp.parts) large.in_flight[part.row] |= part.lanes;
    if (!refetch_first_) {
      fetch.issued_all = ++fetch.next == fetch.slots.size();
      if (!fetch.issued_all) OfferNext(fetch, editor);
      return Verdict::kAccepted;
    }
    std::erase(fetch.slots, slot);
    fetch.offered = kNoSlot;
    LaneMask left = 0;
    for (const Part& part : sub_warp.parts) fetch.unissued[part.row] &= ~part.lanes;
    for (const LaneMask mask : fetch.unissued) left |= mask;
    if (left != 0) {
      Pack(large, number, editor);
      return Verdict::kAccepted;
    }
    fetch.issued_all = true;
    // The first sub-warp was done before the last one could issue.
    if (fetch.paths_used != 0 && !fetch.waits_for_last) {
      Advance(large, large.stack.WithTag(static_cast<int32_t>(number)), Position::Exit(), editor);
    }
    return Verdict::kAccepted;
  }

  void BarrierArrived(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) override {
    LargeWarp& large = large_warps_[editor.table().group[slot]];
    const SubWarp& sub_warp = sub_warps_[slot];
    ++large.fetches[sub_warp.fetch].waiting;
    GiveWay(large, large.stack.WithTag(static_cast<int32_t>(sub_warp.fetch)), editor);
  }

  bool BarrierReleased(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) override {
    LargeWarp& large = large_warps_[editor.table().group[slot]];
    const SubWarp& sub_warp = sub_warps_[slot];
    --large.fetches[sub_warp.fetch].waiting;
    LargeWarpStack::Entry& entry = large.stack[large.stack.WithTag(static_cast<int32_t>(sub_warp.fetch))];
    if (entry.status == Status::kAtBarrier && large.stack.Running() == large.stack.size()) {
      entry.status = Status::kRunning;
    }
    return false;
  }

  std::span<const uint64_t> counters() const override { return counters_; }

  // The stacks of diverged large warps, the first ones only.
  std::string Explain(const WarpTable& /*table*/) const override {
    return ExplainDiverged("large warp", large_warps_, [](const LargeWarp& large) {
      return large.stack.size() < 2 ? std::string() : large.stack.Text();
    });
  }

 private:
  enum Counter {
    kInstructions,
    kSubWarps,
    kRowsSaved,
    kDivergences,
    kMaxStackDepth,
    kLastSubWarpCycles,
    kBarrierSwitches,
    kCounters
  };

  void Raise(Counter counter, uint64_t value) { counters_[counter] = std::max(counters_[counter], value); }

  ThreadId ThreadOf(const LargeWarp& large, size_t row, int lane) const {
    return static_cast<ThreadId>((large.first_hw_warp + row) * static_cast<size_t>(warp_size_) +
                                 static_cast<size_t>(lane));
  }

  static void Hold(const Lanes& lanes, LaneMask mask, HeldReason reason, WarpEditor& editor) {
    ForEachLane(mask, [&](int lane) { editor.SetHeld(lanes.thread[lane], reason); });
  }

  // Barriers and matrix instructions count threads: while all of one side of a divergence that are not done with theirs
  // wait for others, another side runs.
  void GiveWay(LargeWarp& large, size_t index, WarpEditor& editor) {
    LargeWarpStack::Entry& entry = large.stack[index];
    const Fetch& fetch = large.fetches[static_cast<size_t>(entry.tag)];
    if (large.stack.size() <= 1 || entry.status != Status::kRunning) return;
    if (!fetch.issued_all || fetch.waiting == 0 || fetch.waiting != fetch.in_flight) return;
    entry.status = Status::kAtBarrier;
    if (Start(large, editor)) ++counters_[kBarrierSwitches];
  }

  void CountInstruction(const LargeWarp& large, uint32_t fetch) {
    ++counters_[kInstructions];
    const size_t index = large.stack.WithTag(static_cast<int32_t>(fetch));
    for (const LaneMask mask : large.stack[index].threads) counters_[kRowsSaved] += mask != 0 ? 1 : 0;
  }

  // A sub-warp whose large warp has been fetched again since: its threads become ready for the instruction that is
  // being issued, or wait for it at a reconvergence point.
  void Late(const Resolution& resolution, LargeWarp& large, WarpEditor& editor) {
    const SlotId slot = resolution.slot;
    const Part& part = sub_warps_[slot].parts.front();
    const size_t index = large.stack.Find(part.row, part.lanes & (~part.lanes + 1));
    if (index == large.stack.size() || large.stack[index].status != Status::kRunning) {
      editor.Dissolve(slot);
      Hold(*resolution.lanes, resolution.lanes->mask, HeldReason::kReconverging, editor);
      return;
    }
    editor.ContinueParked(slot, HeldReason::kReady);
    const uint32_t number = static_cast<uint32_t>(large.stack[index].tag);
    Fetch& fetch = large.fetches[number];
    sub_warps_[slot].fetch = number;
    fetch.slots.push_back(slot);
    Pack(large, number, editor);
  }

  // The instruction is done as far as the next fetch needs: the stack is updated, and what is on top is fetched.
  void Advance(LargeWarp& large, size_t index, Position reconvergence, WarpEditor& editor) {
    LargeWarpStack& stack = large.stack;
    const uint32_t number = static_cast<uint32_t>(stack[index].tag);
    Fetch& fetch = large.fetches[number];
    const bool running = stack[index].status == Status::kRunning;
    const Position outer = stack[index].rpc;
    if (fetch.paths_used == 1 && fetch.intact && running && fetch.paths[0].at != outer) {
      LargeWarpStack::Entry& entry = stack[index];
      entry.next = fetch.paths[0].at;
      Restart(large, fetch, entry);
      if (refetch_first_) {
        Pack(large, number, editor);
      } else {
        OfferNext(fetch, editor);
      }
      return;
    }
    for (const SlotId slot : refetch_first_ ? fetch.done : fetch.slots) {
      if (slot != kNoSlot) editor.Dissolve(slot);
    }
    stack[index].status = Status::kWaiting;
    stack[index].tag = -1;
    large.free_fetches.push_back(number);
    fetch.sequence = 0;  // what is still in flight is late
    const Position reconvergence_point = fetch.paths_used > 1 && !reconvergence.is_exit() ? reconvergence : outer;
    for (size_t i = 0; i < fetch.paths_used; ++i) {
      const LargeWarpPath& path = fetch.paths[i];
      const HeldReason reason = path.at == reconvergence_point ? HeldReason::kReconverging : HeldReason::kInactive;
      for (size_t row = 0; row < path.threads.size(); ++row) {
        ForEachLane(path.threads[row], [&](int lane) { editor.SetHeld(ThreadOf(large, row, lane), reason); });
      }
    }
    if (fetch.paths_used == 1) {
      stack[index].next = fetch.paths[0].at;
    } else if (fetch.paths_used > 1) {
      ++counters_[kDivergences];
      stack.Diverge(index, reconvergence, fetch.paths, fetch.paths_used, taken_first_);
      Raise(kMaxStackDepth, stack.size());
    }
    stack.PopReconverged();
    Start(large, editor);
  }

  // Fetches the entry that may run, if there is one. True if there is.
  bool Start(LargeWarp& large, WarpEditor& editor) {
    const size_t index = large.stack.Runnable();
    if (index == large.stack.size()) return false;
    LargeWarpStack::Entry& entry = large.stack[index];
    entry.status = Status::kRunning;
    if (large.free_fetches.empty()) {
      large.free_fetches.push_back(static_cast<uint32_t>(large.fetches.size()));
      large.fetches.emplace_back();
    }
    const uint32_t number = large.free_fetches.back();
    large.free_fetches.pop_back();
    entry.tag = static_cast<int32_t>(number);
    Fetch& fetch = large.fetches[number];
    fetch.slots.clear();
    fetch.done.clear();
    fetch.intact = true;
    Restart(large, fetch, entry);
    // All sub-warps of the threads that are there: in every column the lowest row first.
    ready_ = entry.threads;
    for (size_t row = 0; row < ready_.size(); ++row) ready_[row] &= ~large.in_flight[row];
    while (Plan()) {
      for (const Part& part : plan_) ready_[part.row] &= ~part.lanes;
      if (Spawn(large, number, entry.next, plan_, editor) == kNoSlot) return true;  // has been reported
    }
    if (refetch_first_) {
      Pack(large, number, editor);
    } else {
      OfferNext(fetch, editor);
    }
    return true;
  }

  // The fetch begins with the entry's next instruction.
  void Restart(LargeWarp& large, Fetch& fetch, const LargeWarpStack::Entry& entry) {
    fetch.sequence = ++large.fetched;
    fetch.next = 0;
    fetch.in_flight = 0;
    fetch.completed = 0;
    fetch.waiting = 0;
    fetch.issued_any = false;
    fetch.issued_all = false;
    fetch.decides = decides_[entry.next.pc()] != 0;
    fetch.waits_for_last = fetch.decides || gathers_[entry.next.pc()] != 0;
    fetch.paths_used = 0;
    if (!refetch_first_) return;
    fetch.unissued = entry.threads;
    fetch.slots.swap(fetch.done);
    fetch.offered = kNoSlot;
  }

  // Plans the next sub-warp of the ready threads: in every column the lowest row. False if there are none.
  bool Plan() {
    plan_.clear();
    LaneMask taken = 0;
    for (size_t row = 0; row < ready_.size(); ++row) {
      const LaneMask lanes = ready_[row] & ~taken;
      if (lanes == 0) continue;
      plan_.push_back({static_cast<uint32_t>(row), lanes});
      taken |= lanes;
    }
    return taken != 0;
  }

  SlotId Spawn(LargeWarp& large, uint32_t number, Position at, std::span<const Part> parts, WarpEditor& editor) {
    Lanes lanes;
    for (const Part& part : parts) {
      lanes.mask |= part.lanes;
      ForEachLane(part.lanes, [&](int lane) { lanes.thread[lane] = ThreadOf(large, part.row, lane); });
    }
    const SlotId slot = editor.SpawnParked(at, lanes, HeldReason::kReady);
    if (slot == kNoSlot) return kNoSlot;
    // A large warp keeps the age of its first sub-warp, however often it is packed anew.
    if (large.age == 0) large.age = editor.table().formed[slot];
    editor.SetAge(slot, large.age);
    editor.SetGroup(slot, large.id);
    if (ports_ != 0) editor.SetPort(slot, static_cast<uint8_t>(large.id % static_cast<uint32_t>(ports_)));
    sub_warps_[slot].parts.assign(parts.begin(), parts.end());
    sub_warps_[slot].fetch = number;
    large.fetches[number].slots.push_back(slot);
    return slot;
  }

  // refetch = last.
  void OfferNext(const Fetch& fetch, WarpEditor& editor) {
    const SlotId slot = fetch.slots[fetch.next];
    editor.SetPriority(slot, fetch.issued_any ? 1 : 0);
    editor.Offer(slot);
    if (fetch.issued_any) return;
    for (const SlotId waiting : fetch.slots) {  // they could issue, if it were their turn
      if (waiting != slot) editor.Park(waiting, HeldReason::kReady);
    }
  }

  // refetch = first: offers the next sub-warp of the unissued threads that are ready. A sub-warp that was offered
  // before may take in more threads, or be packed anew.
  void Pack(LargeWarp& large, uint32_t number, WarpEditor& editor) {
    Fetch& fetch = large.fetches[number];
    ready_ = fetch.unissued;
    for (size_t row = 0; row < ready_.size(); ++row) ready_[row] &= ~large.in_flight[row];
    if (!Plan() || (fetch.offered != kNoSlot && sub_warps_[fetch.offered].parts == plan_)) return;
    if (fetch.offered != kNoSlot) {
      editor.Park(fetch.offered, HeldReason::kReady);
      fetch.offered = kNoSlot;
    }
    SlotId found = kNoSlot;
    for (const SlotId slot : fetch.slots) {
      if (sub_warps_[slot].parts == plan_) found = slot;
    }
    if (found == kNoSlot) {
      std::erase_if(fetch.slots, [&](SlotId slot) {
        if (!Share(sub_warps_[slot].parts, plan_)) return false;
        for (const Part& part : sub_warps_[slot].parts) dissolved_.push_back(part);
        editor.Dissolve(slot);
        return true;
      });
      const Position at = large.stack[large.stack.WithTag(static_cast<int32_t>(number))].next;
      found = Spawn(large, number, at, plan_, editor);
      if (found == kNoSlot) return;
      // Threads of the dissolved sub-warps that had no place stay ready, on their own.
      for (const Part& part : dissolved_) {
        Part rest = part;
        for (const Part& own : plan_) rest.lanes &= own.row == part.row ? ~own.lanes : ~LaneMask{0};
        if (rest.lanes != 0) Spawn(large, number, at, std::span(&rest, 1), editor);
      }
      dissolved_.clear();
    }
    fetch.offered = found;
    editor.SetPriority(found, fetch.issued_any ? 1 : 0);
    editor.Offer(found);
  }

  static bool Share(const std::vector<Part>& a, const std::vector<Part>& b) {
    for (const Part& left : a) {
      for (const Part& right : b) {
        if (left.row == right.row && (left.lanes & right.lanes) != 0) return true;
      }
    }
    return false;
  }

  int warp_size_;
  size_t large_warp_threads_;
  bool refetch_first_;
  bool taken_first_;
  int ports_;                           // over which large warps are spread; 0: blocks are bound to theirs
  std::vector<LargeWarp> large_warps_;  // by number; also WarpTable::group
  std::vector<SubWarp> sub_warps_;      // by slot
  // By PC: whether the instruction decides where its threads go, and whether they may have to wait for others there.
  std::vector<uint8_t> decides_;
  std::vector<uint8_t> gathers_;
  // Scratch.
  RowMasks ready_;
  std::vector<Part> plan_;
  std::vector<Part> dissolved_;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "lwm",
        .summary = "Packs the active threads of a large warp with one reconvergence stack into sub-warps at every "
                   "instruction",
        .source = "Narasiman et al., MICRO 2011, as described by HARP, section 2.3, and CAPRI, section 2.2",
        .traits = {.waits_at_post_dominators = true},
        .parameters =
            {
                {.name = "large_warp_threads",
                 .type = ParameterType::kInteger,
                 .default_value = "128",
                 .unit = "threads",
                 .minimum = 0,
                 .maximum = 4096,
                 .description =
                     "threads of a large warp, rounded up to whole rows of warp-size threads; a block's last "
                     "large warp may be smaller; 0 = the whole block",
                 .source = "HARP, Table 3"},
                {.name = "refetch",
                 .type = ParameterType::kChoice,
                 .default_value = "last",
                 .choices = {"last", "first"},
                 .description = "whether the next instruction of a large warp waits for the last sub-warp or, behind "
                                "instructions that decide no path and wait for nobody, for the first",
                 .source = "HARP, section 2.3: last; Narasiman et al.: first"},
                {.name = "taken_first",
                 .type = ParameterType::kBool,
                 .default_value = "true",
                 .description = "whether the taken path of a conditional branch runs before the fall-through",
                 .source = "as PDOM: Fung, section 3.2"},
            },
        .counters =
            {
                {"instructions", "instructions", "instructions of large warps"},
                {"sub_warps", "issues", "sub-warps that these instructions were packed into"},
                {"rows_saved", "issues", "rows with an active thread, less sub-warps"},
                {"divergences", "branches", "executed branches at which a large warp took more than one path"},
                {"max_stack_depth", "entries", "the deepest reconvergence stack", CounterSpec::Combine::kMaximum},
                {"last_sub_warp_cycles", "cycles",
                 "cycles between the first and the last sub-warp's completion of an instruction that decides the path"},
                {"barrier_switches", "switches", "times a path ran because another waited at a barrier"},
            },
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      return std::make_unique<Lwm>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
