#include "replay/policies/divergence/block_wide/block_stack.h"

#include <optional>
#include <utility>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

std::vector<CounterSpec> BlockStackCounters() {
  return {
      {"branches", "branches", "conditional branches, counted once for all warps of a block that execute it together"},
      {"uniform_branches", "branches", "of these, branches at which all threads went the same way"},
      {"incompactable_branches", "branches", "branches with several ways that no compaction makes need fewer warps"},
      {"compactable_branches", "branches", "branches with several ways that compaction makes need fewer warps"},
      {"jumps", "branches", "unconditional branches at which the warps of a block waited for each other"},
      {"warps_before", "warps", "warps on the paths of conditional branches if none of them were compacted"},
      {"warps_after", "warps", "warps with which those paths were run"},
      {"sync_wait_cycles", "warp-cycles", "cycles that warps waited at branches and reconvergence points for others"},
      {"max_stack_depth", "entries", "the deepest reconvergence stack", CounterSpec::Combine::kMaximum},
      {"barrier_switches", "switches", "times a path ran because the one above it waited at a barrier"},
      {"bypass_bypass", "warps", "warps that did not wait at a conditional branch, rightly"},
      {"stall_stall", "warps", "warps that waited at a conditional branch, rightly: compaction needs them"},
      {"bypass_stall", "warps", "warps that did not wait although maximal compaction needs them"},
      {"stall_bypass", "warps", "warps that waited although compaction is as good without them"},
  };
}

std::vector<ParameterSpec> BlockStackParameters() {
  return {
      {.name = "taken_first",
       .type = ParameterType::kBool,
       .default_value = "true",
       .description = "whether the taken path of a conditional branch runs before the fall-through",
       .source = "Rhu and Erez, section 2.1: the true path runs first"},
      {.name = "wcu_cycles_per_warp",
       .type = ParameterType::kInteger,
       .default_value = "1",
       .unit = "cycles",
       .minimum = 0,
       .maximum = 1000,
       .description = "time in which the SM's compaction unit forms a warp, one after the other; 0 = all at once",
       .source = "ours: the papers give no figure; one pass of the priority encoders gives one warp"},
  };
}

void BlockStackTraits(const Parameters& parameters, PolicyTraits& traits) {
  traits.formation_cycles = static_cast<Cycle>(parameters.Integer("wcu_cycles_per_warp"));
}

BlockStackPolicy::Options BlockStackPolicy::CommonOptions(const Parameters& parameters) {
  Options options;
  options.taken_first = parameters.Bool("taken_first");
  options.wcu_cycles_per_warp = parameters.Integer("wcu_cycles_per_warp");
  return options;
}

BlockStackPolicy::BlockStackPolicy(const DivergenceContext& context, const Options& options, size_t counters)
    : options_(options),
      is_jump_(context.program.instruction_count(), 0),
      counts_(counters),
      stacks_(BlockStaticWarps(context.warp_size, context.max_threads, context.max_blocks), options.taken_first,
              counts_),
      unit_(options.wcu_cycles_per_warp) {
  for (const trace::Block& block : context.program.blocks()) {
    const Pc last = block.first + block.count - 1;
    const bool branch = context.program.instruction(last).op() == trace::v1::OP_BRANCH;
    is_jump_[last] = branch && block.terminator == trace::v1::FALL_THROUGH ? 1 : 0;
  }
}

void BlockStackPolicy::Start(StackEntryId id, const KeptWarp& warp, WarpEditor& editor) {
  if (warps_.Start(id, warp, editor)) ++stacks_.At(id).running;
}

void BlockStackPolicy::Admit(const BlockAdmission& admission, WarpEditor& editor) {
  const StackEntryId id = stacks_.Open(admission);
  StackEntry& entry = stacks_.At(id);
  const BlockStaticWarps& static_warps = stacks_.static_warps();
  KeptWarp warp;
  warp.at = admission.entry;
  for (size_t static_warp = 0; static_warp < admission.warps.size(); ++static_warp) {
    warp.lanes.mask = admission.warps[static_warp];
    if (warp.lanes.mask == 0) continue;
    for (size_t lane = 0; lane < static_warps.warp_size(); ++lane) {
      warp.lanes.thread[lane] = static_warps.ThreadAt(admission.block, static_warp, lane);
    }
    warp.index = entry.next_index++;
    ++entry.wcnt;
    Start(id, warp, editor);
  }
}

void BlockStackPolicy::Retire(BlockId block, WarpEditor& /*editor*/) { stacks_.Close(block); }

void BlockStackPolicy::Timer(uint64_t /*tag*/, WarpEditor& editor) {
  const CompactionUnit::Compacted compacted = unit_.Pop();
  --stacks_.At(compacted.entry).running;
  Start(compacted.entry, compacted.warp, editor);
}

// --- what a warp does

Verdict BlockStackPolicy::Resolve(const Resolution& resolution, WarpEditor& editor) {
  const StackEntryId id = warps_[resolution.slot].entry;
  StackEntry& entry = stacks_.At(id);
  const BlockId block = entry.block;
  ArrivedWarp arrival;
  arrival.slot = resolution.slot;
  arrival.from = resolution.from;
  arrival.groups = resolution.groups;
  arrival.lanes = resolution.lanes;
  arrival.reconvergence = resolution.reconvergence;
  arrival.conditional = resolution.conditional;
  arrival.uniform = resolution.uniform;
  arrival.from_barrier = resolution.reason == ResolveReason::kBarrier;
  if (arrival.from_barrier) ++entry.running;
  if (resolution.exited != 0) stacks_.Forget(block, *resolution.lanes, resolution.exited);
  const bool changed = entry.started ? Handle(id, arrival, editor) : HandleAhead(id, arrival, editor);
  if (changed) Settle(block, editor);
  return Verdict::kAccepted;
}

void BlockStackPolicy::End(StackEntry& entry, SlotId slot, WarpEditor& editor) {
  --entry.wcnt;
  --entry.running;
  warps_.Spare(slot, editor);
}

bool BlockStackPolicy::HandleAhead(StackEntryId id, const ArrivedWarp& arrival, WarpEditor& editor) {
  StackEntry& entry = stacks_.At(id);
  if (arrival.groups.empty()) {
    End(entry, arrival.slot, editor);
    return true;
  }
  BlockWarps::RunningWarp& warp = warps_[arrival.slot];
  if (arrival.groups.size() == 1 && !arrival.conditional && arrival.groups[0].at != entry.rpc &&
      (!options_.limit_jumps || warp.blocks_left > 1)) {
    --warp.blocks_left;
    editor.Continue(arrival.slot);
    return false;
  }
  PutOffUntilStarted(entry, arrival, editor);
  return true;
}

void BlockStackPolicy::PutOffUntilStarted(StackEntry& entry, const ArrivedWarp& arrival, WarpEditor& editor) {
  const uint32_t number = put_off_.Take();
  DeferredBlockEnd& later = put_off_[number];
  later.slot = arrival.slot;
  later.from = arrival.from;
  later.lanes = *arrival.lanes;
  later.groups.assign(arrival.groups.begin(), arrival.groups.end());
  later.reconvergence = arrival.reconvergence;
  later.conditional = arrival.conditional;
  later.uniform = arrival.uniform;
  later.since = editor.now();
  entry.deferred.push_back(number);
  --entry.running;
  editor.Park(arrival.slot);
}

bool BlockStackPolicy::Handle(StackEntryId id, const ArrivedWarp& arrival, WarpEditor& editor) {
  StackEntry& entry = stacks_.At(id);
  if (arrival.groups.empty()) {
    End(entry, arrival.slot, editor);
    return true;
  }
  const bool at_rpc = arrival.groups.size() == 1 && arrival.groups[0].at == entry.rpc;
  if (at_rpc && (!arrival.conditional || BlockStacks::Target(entry, arrival) != entry.rpc)) {
    ArriveAtRpc(entry, arrival, editor);
    return true;
  }
  const Pc pc = arrival.from.pc();
  const AtBranch decision =
      Decide({pc, arrival.conditional, is_jump_[pc] != 0, arrival.uniform, arrival.groups.size() > 1});
  if (decision != AtBranch::kGoOn) {
    ArriveAtBranch(id, arrival, decision, editor);
    return true;
  }
  if (at_rpc) {
    ArriveAtRpc(entry, arrival, editor);
    return true;
  }
  GoOn(id, arrival, editor);
  return arrival.from_barrier || arrival.deferred;
}

void BlockStackPolicy::GoOn(StackEntryId id, const ArrivedWarp& arrival, WarpEditor& editor) {
  StackEntry& entry = stacks_.At(id);
  if (!arrival.from_barrier && !arrival.deferred) {
    editor.Continue(arrival.slot);
    return;
  }
  KeptWarp warp;
  warp.at = arrival.groups[0].at;
  warp.lanes = *arrival.lanes;
  warp.lanes.mask = arrival.groups[0].lanes;
  warp.index = warps_[arrival.slot].index;
  if (arrival.from_barrier && entry.running == 1) {
    // Entries of a block that a barrier lets go together have to be put in order; Settle starts the first of them.
    entry.running = 0;
    entry.set_aside.push_back(warp);
    warps_.Spare(arrival.slot, editor);
    return;
  }
  editor.Place(arrival.slot, warp.at, warp.lanes);
}

void BlockStackPolicy::ArriveAtRpc(StackEntry& entry, const ArrivedWarp& arrival, WarpEditor& editor) {
  ++entry.waiting;
  entry.waiting_since += editor.now();
  const PathGroup& group = arrival.groups[0];
  // The threads wait in the entry below. If they stayed in this one, the next compaction of sister warps that loop on
  // would mix PCs.
  stacks_.Leave(entry, *arrival.lanes, group.lanes);
  ForEachLane(group.lanes, [&](int lane) {
    editor.SetHeld(arrival.lanes->thread[static_cast<size_t>(lane)], HeldReason::kReconverging);
  });
  End(entry, arrival.slot, editor);
}

void BlockStackPolicy::ArriveAtBranch(StackEntryId id, const ArrivedWarp& arrival, AtBranch decision,
                                      WarpEditor& editor) {
  StackEntry& entry = stacks_.At(id);
  if (!stacks_.Stage(entry, arrival)) ForkedUnseen();
  if (decision == AtBranch::kBypass) {
    --entry.wcnt;
    --entry.running;
    Bypass(id, arrival, editor);
    return;
  }
  ++entry.branch.stalled;
  ++entry.waiting;
  entry.waiting_since += editor.now();
  End(entry, arrival.slot, editor);
}

// The one that its block runs first. Threads that are at the reconvergence point already join it, unless all of the
// warp's threads are, which may then go on there.
const PathGroup* BlockStackPolicy::SideToRun(const StackEntry& entry, std::span<const PathGroup> groups) const {
  const Position target = entry.branch.target;
  if (groups.size() == 1) {
    const bool runs = groups[0].at != target || (options_.run_ahead_into_rpc && target != entry.rpc);
    return runs ? &groups[0] : nullptr;
  }
  const PathGroup* first = nullptr;
  for (const PathGroup& group : groups) {
    if (group.at == target) continue;
    const bool two_way = groups.size() == 2 && groups[0].taken != groups[1].taken;
    if (first == nullptr || (two_way && group.taken == options_.taken_first)) first = &group;
  }
  return first;
}

void BlockStackPolicy::Bypass(StackEntryId id, const ArrivedWarp& arrival, WarpEditor& editor) {
  StackEntry& entry = stacks_.At(id);
  const uint32_t index = warps_[arrival.slot].index;
  std::vector<bool>& bypassed = entry.branch.bypassed;
  if (bypassed.size() <= index) bypassed.resize(index + 1, false);
  bypassed[index] = true;
  const PathGroup* const run = SideToRun(entry, arrival.groups);
  for (const PathGroup& group : arrival.groups) {
    const bool kept = options_.keep_second_side && group.at != entry.branch.target;
    if (&group != run && !kept) continue;
    const StackEntryId path_id = stacks_.PathTo(entry, group);
    StackEntry& path = stacks_.At(path_id);
    stacks_.SetApart(path, *arrival.lanes, group.lanes);
    KeptWarp warp;
    warp.at = group.at;
    warp.lanes = *arrival.lanes;
    warp.lanes.mask = group.lanes;
    warp.index = path.next_index++;
    if (&group != run || options_.run_ahead_blocks == 0) {
      path.kept.push_back(warp);
      continue;
    }
    ++path.wcnt;
    ++path.running;
    warps_[arrival.slot] = {path_id, warp.index, options_.run_ahead_blocks};
    if (arrival.groups.size() == 1 && !arrival.deferred) {
      editor.Continue(arrival.slot);
    } else {
      editor.Place(arrival.slot, warp.at, warp.lanes);
    }
  }
  if (run == nullptr || options_.run_ahead_blocks == 0) warps_.Spare(arrival.slot, editor);
}

// --- barriers

void BlockStackPolicy::BarrierArrived(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) {
  StackEntry& entry = stacks_.At(warps_[slot].entry);
  const BlockId block = entry.block;
  --entry.running;
  if (!entry.started || entry.running != 0 || stacks_.stack(block).size() < 2) return;
  warps_.UsePort(editor.table().port[slot]);
  Settle(block, editor);
  warps_.UseAnyPort();
  if (stacks_.AnyRuns(block)) Count(kBarrierSwitches);
}

bool BlockStackPolicy::BarrierReleased(SlotId slot, uint32_t /*barrier*/, WarpEditor& /*editor*/) {
  StackEntry& entry = stacks_.At(warps_[slot].entry);
  if (entry.started && stacks_.stack(entry.block).size() > 1) return true;
  ++entry.running;
  return false;
}

// --- which entry runs

void BlockStackPolicy::Settle(BlockId block, WarpEditor& editor) {
  for (;;) {
    std::optional<BranchOutcome> executed;
    if (stacks_.Reduce(block, editor, executed)) {
      if (executed.has_value()) Executed(*executed);
      continue;
    }
    if (stacks_.AnyRuns(block)) break;
    const std::optional<StackEntryId> next = stacks_.Runnable(block);
    if (!next.has_value()) break;
    if (stacks_.At(*next).started) {
      Resume(*next, editor);
    } else {
      Activate(*next, editor);
    }
  }
  warps_.DissolveSpare(editor);
}

void BlockStackPolicy::Activate(StackEntryId id, WarpEditor& editor) {
  StackEntry& entry = stacks_.At(id);
  entry.started = true;
  for (const KeptWarp& warp : entry.kept) {
    ++entry.wcnt;
    Start(id, warp, editor);
  }
  entry.kept.clear();
  const BlockStaticWarps& static_warps = stacks_.static_warps();
  const ThreadId first_thread = static_warps.ThreadAt(entry.block, 0, 0);
  KeptWarp warp;
  warp.at = entry.next;
  for (const Lanes& lanes : unit_.Compact(entry, first_thread, static_cast<int>(static_warps.warp_size()))) {
    ++entry.wcnt;
    warp.lanes = lanes;
    warp.index = entry.next_index++;
    if (!unit_.takes_time()) {
      Start(id, warp, editor);
      continue;
    }
    ++entry.running;
    editor.StartTimer(unit_.Push(id, warp, editor.now()), 0);
  }
  if (!entry.apart.empty()) entry.apart.Reset(static_warps.static_warps(entry.block));
  if (std::exchange(entry.from_branch, false)) Count(kWarpsAfter, entry.wcnt);

  // Now the ends of basic blocks that warps have come to while they ran ahead count.
  deferred_now_.assign(entry.deferred.begin(), entry.deferred.end());
  entry.deferred.clear();
  for (const uint32_t number : deferred_now_) {
    const DeferredBlockEnd& past = put_off_[number];
    ArrivedWarp arrival;
    arrival.slot = past.slot;
    arrival.from = past.from;
    arrival.groups = past.groups;
    arrival.lanes = &past.lanes;
    arrival.reconvergence = past.reconvergence;
    arrival.conditional = past.conditional;
    arrival.uniform = past.uniform;
    arrival.deferred = true;
    Count(kSyncWaitCycles, editor.now() - past.since);
    ++entry.running;
    Handle(id, arrival, editor);
    put_off_.Free(number);
  }
}

void BlockStackPolicy::Resume(StackEntryId id, WarpEditor& editor) {
  StackEntry& entry = stacks_.At(id);
  for (const KeptWarp& warp : entry.set_aside) Start(id, warp, editor);
  entry.set_aside.clear();
}

}  // namespace heddle::replay
