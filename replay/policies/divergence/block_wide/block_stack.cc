#include "replay/policies/divergence/block_wide/block_stack.h"

#include <algorithm>
#include <bit>
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
      warp_size_(context.warp_size),
      is_jump_(context.program.instruction_count(), 0),
      row_of_(static_cast<size_t>(context.max_threads)),
      blocks_(static_cast<size_t>(context.max_blocks)),
      warps_(kMaxSlots),
      counters_(counters, 0) {
  for (const trace::Block& block : context.program.blocks()) {
    const Pc last = block.first + block.count - 1;
    const bool branch = context.program.instruction(last).op() == trace::v1::OP_BRANCH;
    is_jump_[last] = branch && block.terminator == trace::v1::FALL_THROUGH ? 1 : 0;
  }
  for (size_t thread = 0; thread < row_of_.size(); ++thread) {
    row_of_[thread] = static_cast<uint32_t>(thread / static_cast<size_t>(warp_size_));
  }
}

void BlockStackPolicy::Raise(size_t counter, uint64_t value) {
  counters_[counter] = std::max(counters_[counter], value);
}

// Calls function(row of the block, lanes) for the rows that the threads in `mask` come from. Most warps are of one row.
template <typename Function>
void BlockStackPolicy::ForEachRow(const Entry& entry, const Lanes& lanes, LaneMask mask, Function function) const {
  const uint32_t first = blocks_[entry.block].first_row;
  while (mask != 0) {
    const uint32_t row = row_of_[lanes.thread[static_cast<size_t>(std::countr_zero(mask))]];
    LaneMask same = 0;
    ForEachLane(mask, [&](int lane) {
      same |= static_cast<LaneMask>(row_of_[lanes.thread[static_cast<size_t>(lane)]] == row) << lane;
    });
    function(row - first, same);
    mask &= ~same;
  }
}

// --- slots

void BlockStackPolicy::Start(EntryId id, const KeptWarp& warp, WarpEditor& editor) {
  SlotId slot = std::exchange(spare_, kNoSlot);
  if (slot != kNoSlot) {
    editor.Place(slot, warp.at, warp.lanes);
  } else {
    slot = editor.Spawn(warp.at, warp.lanes);
    if (slot == kNoSlot) return;  // the editor has reported why
    if (port_ >= 0) editor.SetPort(slot, static_cast<uint8_t>(port_));
  }
  port_ = -1;
  warps_[slot] = {id, warp.index, 0};
  ++At(id).running;
}

void BlockStackPolicy::Spare(SlotId slot, WarpEditor& editor) {
  if (spare_ != kNoSlot) editor.Dissolve(spare_);
  spare_ = slot;
}

void BlockStackPolicy::Admit(const BlockAdmission& admission, WarpEditor& editor) {
  Block& block = blocks_[admission.block];
  block.first_row = row_of_[admission.first_thread];
  block.rows = static_cast<uint32_t>(admission.rows.size());
  block.stack.clear();
  const EntryId id = NewEntry(admission.block);
  block.stack.push_back(id);
  Entry& entry = At(id);
  entry.next = admission.entry;
  entry.started = true;
  KeptWarp warp;
  warp.at = admission.entry;
  for (size_t row = 0; row < admission.rows.size(); ++row) {
    warp.lanes.mask = admission.rows[row];
    if (warp.lanes.mask == 0) continue;
    for (size_t lane = 0; lane < static_cast<size_t>(warp_size_); ++lane) {
      warp.lanes.thread[lane] =
          static_cast<ThreadId>(admission.first_thread + row * static_cast<size_t>(warp_size_) + lane);
    }
    entry.threads.Insert(row, warp.lanes.mask);
    warp.index = entry.next_index++;
    ++entry.wcnt;
    Start(id, warp, editor);
  }
  Raise(kMaxStackDepth, 1);
}

void BlockStackPolicy::Retire(BlockId block, WarpEditor& /*editor*/) {
  for (const EntryId id : blocks_[block].stack) FreeEntry(id);
  blocks_[block].stack.clear();
}

void BlockStackPolicy::Timer(uint64_t /*tag*/, WarpEditor& editor) {
  // The unit gives its warps out in the order in which they came.
  const Compacted& compacted = in_wcu_[in_wcu_first_++];
  --At(compacted.entry).running;
  Start(compacted.entry, compacted.warp, editor);
  if (2 * in_wcu_first_ >= in_wcu_.size()) {  // at once if it is empty, and never more than twice what it holds
    in_wcu_.erase(in_wcu_.begin(), in_wcu_.begin() + static_cast<ptrdiff_t>(in_wcu_first_));
    in_wcu_first_ = 0;
  }
}

// --- what a warp does

Verdict BlockStackPolicy::Resolve(const Resolution& resolution, WarpEditor& editor) {
  const EntryId id = warps_[resolution.slot].entry;
  Entry& entry = At(id);
  const BlockId block = entry.block;
  Event event;
  event.slot = resolution.slot;
  event.from = resolution.from;
  event.groups = resolution.groups;
  event.lanes = resolution.lanes;
  event.reconvergence = resolution.reconvergence;
  event.conditional = resolution.conditional;
  event.uniform = resolution.uniform;
  event.from_barrier = resolution.reason == ResolveReason::kBarrier;
  if (event.from_barrier) ++entry.running;
  if (resolution.exited != 0) Forget(block, *resolution.lanes, resolution.exited);
  const bool changed = entry.started ? Handle(id, event, editor) : HandleAhead(id, event, editor);
  if (changed) Settle(block, editor);
  return Verdict::kAccepted;
}

void BlockStackPolicy::Forget(BlockId block, const Lanes& lanes, LaneMask exited) {
  for (const EntryId id : blocks_[block].stack) {
    Entry& entry = At(id);
    ForEachRow(entry, lanes, exited, [&](size_t row, LaneMask mask) {
      entry.threads.Erase(row, mask);
      entry.apart.Erase(row, mask);
      for (const EntryId path : entry.paths) {
        At(path).threads.Erase(row, mask);
        At(path).apart.Erase(row, mask);
      }
    });
  }
}

// A warp that runs ahead of its block has come to the end of a basic block.
bool BlockStackPolicy::HandleAhead(EntryId id, const Event& event, WarpEditor& editor) {
  Entry& entry = At(id);
  if (event.groups.empty()) {
    --entry.wcnt;
    --entry.running;
    Spare(event.slot, editor);
    return true;
  }
  Warp& warp = warps_[event.slot];
  if (event.groups.size() == 1 && !event.conditional && event.groups[0].at != entry.rpc &&
      (!options_.limit_jumps || warp.blocks_left > 1)) {
    --warp.blocks_left;
    editor.Continue(event.slot);
    return false;
  }
  if (free_put_off_.empty()) {
    free_put_off_.push_back(static_cast<uint32_t>(put_off_pool_.size()));
    put_off_pool_.emplace_back();
  }
  const uint32_t number = free_put_off_.back();
  free_put_off_.pop_back();
  PutOff& later = put_off_pool_[number];
  later.slot = event.slot;
  later.from = event.from;
  later.lanes = *event.lanes;
  later.groups.assign(event.groups.begin(), event.groups.end());
  later.reconvergence = event.reconvergence;
  later.conditional = event.conditional;
  later.uniform = event.uniform;
  later.since = editor.now();
  entry.put_off.push_back(number);
  --entry.running;
  editor.Park(event.slot);
  return true;
}

// A warp of an entry that has been started has come to the end of a basic block, or goes on behind a barrier.
bool BlockStackPolicy::Handle(EntryId id, const Event& event, WarpEditor& editor) {
  Entry& entry = At(id);
  if (event.groups.empty()) {
    --entry.wcnt;
    --entry.running;
    Spare(event.slot, editor);
    return true;
  }
  const bool at_rpc = event.groups.size() == 1 && event.groups[0].at == entry.rpc;
  if (at_rpc && (!event.conditional || Target(entry, event) != entry.rpc)) {
    ArriveAtRpc(entry, event, editor);
    return true;
  }
  const Pc pc = event.from.pc();
  const AtBranch decision = Decide({pc, event.conditional, is_jump_[pc] != 0, event.uniform, event.groups.size() > 1});
  if (decision != AtBranch::kGoOn) {
    ArriveAtBranch(id, event, decision, editor);
    return true;
  }
  if (at_rpc) {
    ArriveAtRpc(entry, event, editor);
    return true;
  }
  GoOn(id, event, editor);
  return event.from_barrier || event.put_off;
}

void BlockStackPolicy::GoOn(EntryId id, const Event& event, WarpEditor& editor) {
  Entry& entry = At(id);
  if (!event.from_barrier && !event.put_off) {
    editor.Continue(event.slot);
    return;
  }
  KeptWarp warp;
  warp.at = event.groups[0].at;
  warp.lanes = *event.lanes;
  warp.lanes.mask = event.groups[0].lanes;
  warp.index = warps_[event.slot].index;
  if (event.from_barrier && entry.running == 1) {
    // Entries of a block that a barrier lets go together have to be put in order; Settle starts the first of them.
    entry.running = 0;
    entry.set_aside.push_back(warp);
    Spare(event.slot, editor);
    return;
  }
  editor.Place(event.slot, warp.at, warp.lanes);
}

void BlockStackPolicy::ArriveAtRpc(Entry& entry, const Event& event, WarpEditor& editor) {
  --entry.wcnt;
  --entry.running;
  ++entry.waiting;
  entry.waiting_since += editor.now();
  const PathGroup& group = event.groups[0];
  // The threads wait in the entry below. If they stayed in this one, the next compaction of sister warps that loop on
  // would mix PCs.
  ForEachRow(entry, *event.lanes, group.lanes, [&](size_t row, LaneMask mask) { entry.threads.Erase(row, mask); });
  ForEachLane(group.lanes, [&](int lane) {
    editor.SetHeld(event.lanes->thread[static_cast<size_t>(lane)], HeldReason::kReconverging);
  });
  Spare(event.slot, editor);
}

// The staged path to the group's position, and its number among the branch's paths.
BlockStackPolicy::EntryId BlockStackPolicy::PathTo(Entry& entry, const PathGroup& group, uint32_t& number) {
  for (number = 0; number < entry.paths.size(); ++number) {
    if (At(entry.paths[number]).next == group.at) return entry.paths[number];
  }
  const EntryId id = NewEntry(entry.block);
  Entry& path = At(id);
  path.next = group.at;
  path.rpc = group.at == entry.target ? entry.rpc : entry.target;
  path.taken = group.taken;
  path.from_branch = entry.conditional && group.at != entry.target;
  entry.paths.push_back(id);
  return id;
}

void BlockStackPolicy::ArriveAtBranch(EntryId id, const Event& event, AtBranch decision, WarpEditor& editor) {
  Entry& entry = At(id);
  const Position target = Target(entry, event);
  if (entry.paths.empty()) {
    entry.branch = event.from;
    entry.target = target;
    entry.conditional = event.conditional;
    entry.diverged = entry.forked = false;
    entry.arrivals = entry.stalled = 0;
    entry.sides.clear();
    entry.bypassed.clear();
  } else if (entry.branch != event.from || entry.target != target) {
    // All threads of the entry come to its own reconvergence point, whatever way they take.
    entry.target = entry.rpc;
    if (!entry.forked) ForkedUnseen();
    entry.forked = true;
  }
  --entry.wcnt;
  --entry.running;
  entry.diverged |= event.groups.size() > 1;
  for (const PathGroup& group : event.groups) {
    uint32_t number = 0;
    Entry& path = At(PathTo(entry, group, number));
    ForEachRow(entry, *event.lanes, group.lanes, [&](size_t row, LaneMask mask) { path.threads.Insert(row, mask); });
    path.counts.Add(group.lanes);
    entry.sides.push_back({entry.arrivals, number, group.lanes});
  }
  ++entry.arrivals;
  if (decision == AtBranch::kBypass) {
    Bypass(id, event, editor);
    return;
  }
  ++entry.stalled;
  ++entry.waiting;
  entry.waiting_since += editor.now();
  Spare(event.slot, editor);
}

// The side of a bypassed warp that runs now: the one that its block runs first. Threads that are at the reconvergence
// point already join it, unless all of the warp's threads are, which may then go on there.
const PathGroup* BlockStackPolicy::SideToRun(const Entry& entry, std::span<const PathGroup> groups) const {
  if (groups.size() == 1) {
    const bool runs = groups[0].at != entry.target || (options_.run_ahead_into_rpc && entry.target != entry.rpc);
    return runs ? &groups[0] : nullptr;
  }
  const PathGroup* first = nullptr;
  for (const PathGroup& group : groups) {
    if (group.at == entry.target) continue;
    const bool two_way = groups.size() == 2 && groups[0].taken != groups[1].taken;
    if (first == nullptr || (two_way && group.taken == options_.taken_first)) first = &group;
  }
  return first;
}

void BlockStackPolicy::Bypass(EntryId id, const Event& event, WarpEditor& editor) {
  Entry& entry = At(id);
  const uint32_t index = warps_[event.slot].index;
  if (entry.bypassed.size() <= index) entry.bypassed.resize(index + 1, false);
  entry.bypassed[index] = true;
  const PathGroup* const run = SideToRun(entry, event.groups);
  for (const PathGroup& group : event.groups) {
    const bool kept = options_.keep_second_side && group.at != entry.target;
    if (&group != run && !kept) continue;
    uint32_t number = 0;
    const EntryId path_id = PathTo(entry, group, number);
    Entry& path = At(path_id);
    ForEachRow(entry, *event.lanes, group.lanes, [&](size_t row, LaneMask mask) { path.apart.Insert(row, mask); });
    KeptWarp warp;
    warp.at = group.at;
    warp.lanes = *event.lanes;
    warp.lanes.mask = group.lanes;
    warp.index = path.next_index++;
    if (&group != run || options_.run_ahead_blocks == 0) {
      path.kept.push_back(warp);
      continue;
    }
    ++path.wcnt;
    ++path.running;
    warps_[event.slot] = {path_id, warp.index, options_.run_ahead_blocks};
    if (event.groups.size() == 1 && !event.put_off) {
      editor.Continue(event.slot);
    } else {
      editor.Place(event.slot, warp.at, warp.lanes);
    }
  }
  if (run == nullptr || options_.run_ahead_blocks == 0) Spare(event.slot, editor);
}

// --- barriers

void BlockStackPolicy::BarrierArrived(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) {
  const EntryId id = warps_[slot].entry;
  Entry& entry = At(id);
  --entry.running;
  Block& block = blocks_[entry.block];
  if (!entry.started || entry.running != 0 || block.stack.size() < 2) return;
  port_ = editor.table().port[slot];
  Settle(entry.block, editor);
  port_ = -1;
  if (AnyRuns(block)) Count(kBarrierSwitches);
}

bool BlockStackPolicy::BarrierReleased(SlotId slot, uint32_t /*barrier*/, WarpEditor& /*editor*/) {
  Entry& entry = At(warps_[slot].entry);
  if (entry.started && blocks_[entry.block].stack.size() > 1) return true;
  ++entry.running;
  return false;
}

}  // namespace heddle::replay
