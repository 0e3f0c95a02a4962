// HARP: the two levels of warps that may issue, and the moves between tables.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "replay/policies/divergence/harp/harp.h"

namespace heddle::replay {

HarpPolicy::HarpPolicy(const DivergenceContext& context, const Parameters& parameters)
    : warp_size_(context.warp_size),
      first_level_(static_cast<int>(parameters.Integer("first_level"))),
      second_level_(static_cast<int>(parameters.Integer("second_level"))),
      spill_(parameters.Choice("second_level_overflow") == "spill"),
      ready_lookup_(static_cast<size_t>(parameters.Integer("ready_lookup"))),
      waiting_lookup_(static_cast<size_t>(parameters.Integer("waiting_lookup"))),
      whole_warps_(parameters.Choice("waiting_merge") == "warps"),
      restamp_(parameters.Choice("lookup_order") == "restamp"),
      low_water_(static_cast<int>(parameters.Integer("lookup_low_water"))),
      count_first_level_(parameters.Choice("low_water_counts") == "both" || first_level_ == 0),
      lookups_per_cycle_(static_cast<int>(parameters.Integer("lookups_per_cycle"))),
      one_port_(parameters.Choice("second_level_port") == "one"),
      lookup_delay_(static_cast<Cycle>(parameters.Integer("lookup_delay"))),
      barrier_delay_(static_cast<Cycle>(parameters.Integer("barrier_delay"))),
      first_level_delay_(static_cast<Cycle>(parameters.Integer("first_level_delay"))),
      barrier_latency_(static_cast<Cycle>(parameters.Integer("barrier_latency"))),
      ports_(context.ports),
      shares_(kMaxSlots),
      accepted_(kMaxSlots, 0),
      waits_for_memory_(context.program.instruction_count(), 0) {
  ReconvergenceBarriers::Setup setup;
  setup.entries = static_cast<uint32_t>(parameters.Integer("barrier_entries"));
  setup.ways = static_cast<uint32_t>(parameters.Integer("barrier_ways"));
  setup.match = parameters.Choice("barrier_match") == "event" ? ReconvergenceBarriers::Match::kEvent
                                                              : ReconvergenceBarriers::Match::kPoint;
  setup.per_warp = parameters.Choice("barriers") == "per_warp";
  setup.warp_size = warp_size_;
  setup.max_threads = static_cast<uint32_t>(context.max_threads);
  setup.instructions = context.program.instruction_count();
  for (int port = 0; port < ports_; ++port) {
    tables_.emplace_back(setup);
    tables_.back().waiting.resize(waiting_lookup_);
  }
  for (const trace::Block& block : context.program.blocks()) {
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const trace::v1::MemorySpace space = context.program.instruction(pc).space();
      const bool decides =
          pc + 1 == block.first + block.count && block.terminator != trace::v1::Terminator::FALL_THROUGH;
      const bool global = space == trace::v1::SPACE_GLOBAL || space == trace::v1::SPACE_GENERIC;
      waits_for_memory_[pc] = global && !decides ? 1 : 0;
    }
  }
}

void HarpPolicy::Admit(const BlockAdmission& admission, WarpEditor& editor) {
  const uint8_t port = static_cast<uint8_t>(admission.block % ports_);
  HarpTables& tables = tables_[port];
  const size_t first_row = admission.first_thread / static_cast<size_t>(warp_size_);
  const size_t rows = admission.rows.size();
  const size_t own_row = static_cast<size_t>(admission.block / ports_) * rows;  // among the scheduler's
  ++tables.resident;
  for (size_t row = 0; row < rows; ++row) {
    tables.barriers.SetRow(first_row + row, static_cast<uint32_t>((own_row + row) % tables.barriers.sets()));
    Lanes lanes;
    lanes.mask = admission.rows[row];
    for (int lane = 0; lane < warp_size_; ++lane) {
      lanes.thread[lane] =
          static_cast<ThreadId>((first_row + row) * static_cast<size_t>(warp_size_) + static_cast<size_t>(lane));
    }
    if (lanes.mask != 0) SpawnReady(port, admission.entry, lanes, editor);
  }
  TrackLow(tables, editor.now());
}

void HarpPolicy::Retire(BlockId block, WarpEditor& editor) {
  HarpTables& tables = tables_[static_cast<size_t>(block % ports_)];
  --tables.resident;
  TrackLow(tables, editor.now());
}

std::string HarpPolicy::Explain(const WarpTable& /*table*/) const {
  std::string text;
  for (size_t port = 0; port < tables_.size(); ++port) {
    const std::string barriers = tables_[port].barriers.Text();
    if (barriers.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", tables_.size() == 1 ? "" : absl::StrCat("scheduler ", port, ": "),
                    barriers);
  }
  return text;
}

void HarpPolicy::Timer(uint64_t tag, WarpEditor& editor) {
  const uint32_t which = static_cast<uint32_t>(tag);
  switch (static_cast<Event>(tag >> 32)) {
    case Event::kTransitions:
      Transitions(static_cast<uint8_t>(which), editor);
      return;
    case Event::kArrival: {
      const SlotId slot = static_cast<SlotId>(which);
      HarpTables& tables = tables_[editor.table().port[slot]];
      --tables.arriving;
      MakeReady(tables, slot, editor);
      TrackLow(tables, editor.now());
      return;
    }
    case Event::kFirstLevel:
      editor.Offer(static_cast<SlotId>(which));
      return;
    case Event::kCommit:
      ApplyPostponed(which, editor);
      return;
  }
}

// --- first and second level

Verdict HarpPolicy::AcceptIssue(SlotId slot, WarpEditor& editor) {
  if (accepted_[slot] != 0) return Verdict::kAccepted;  // the memory system had no room
  accepted_[slot] = 1;
  const uint8_t port = editor.table().port[slot];
  HarpTables& tables = tables_[port];
  --tables.first_level;
  while (tables.second_ready != 0 && tables.first_level < first_level_) {
    const SlotId next = tables.second_level.front();
    tables.second_level.Erase(next);
    --tables.second_ready;
    EnterFirstLevel(tables, next, editor);
  }
  if (waits_for_memory_[editor.table().position[slot].pc()] != 0) EnterWaitingLookup(tables, slot, editor);
  CheckSecondLevel(tables, editor);
  TrackLow(tables, editor.now());
  return Verdict::kAccepted;
}

void HarpPolicy::EnterFirstLevel(HarpTables& tables, SlotId slot, WarpEditor& editor) {
  Raise(kMaxFirstLevel, static_cast<uint64_t>(++tables.first_level));
  if (first_level_ == 0 || first_level_delay_ == 0) {
    editor.Offer(slot);
    return;
  }
  editor.Park(slot, HeldReason::kReady);
  editor.StartTimer(editor.now() + first_level_delay_, Tag(Event::kFirstLevel, slot));
}

void HarpPolicy::MakeReady(HarpTables& tables, SlotId slot, WarpEditor& editor) {
  if (MayEnterFirstLevel(tables)) {
    EnterFirstLevel(tables, slot, editor);
    return;
  }
  if (editor.table().held[slot] != HeldReason::kReady) editor.Park(slot, HeldReason::kReady);
  tables.second_level.PushBack(slot);
  ++tables.second_ready;
}

void HarpPolicy::GoOn(HarpTables& tables, SlotId slot, WarpEditor& editor) {
  if (MayEnterFirstLevel(tables) && (first_level_ == 0 || first_level_delay_ == 0)) {
    Raise(kMaxFirstLevel, static_cast<uint64_t>(++tables.first_level));
    editor.Continue(slot);
    return;
  }
  editor.ContinueParked(slot, HeldReason::kReady);
  MakeReady(tables, slot, editor);
}

SlotId HarpPolicy::SpawnParked(uint8_t port, Position at, const Lanes& lanes, HeldReason reason, WarpEditor& editor) {
  const SlotId slot = editor.SpawnParked(at, lanes, reason);
  if (slot == kNoSlot) return kNoSlot;  // the editor has reported why
  editor.SetPort(slot, port);
  ++tables_[port].warps;
  CheckSecondLevel(tables_[port], editor);
  return slot;
}

void HarpPolicy::SpawnReady(uint8_t port, Position at, const Lanes& lanes, WarpEditor& editor) {
  const SlotId slot = SpawnParked(port, at, lanes, HeldReason::kReady, editor);
  if (slot != kNoSlot) MakeReady(tables_[port], slot, editor);
}

void HarpPolicy::Dissolve(uint8_t port, SlotId slot, WarpEditor& editor) {
  --tables_[port].warps;
  editor.Dissolve(slot);
}

void HarpPolicy::CheckSecondLevel(const HarpTables& tables, WarpEditor& editor) {
  const int used =
      tables.warps - tables.first_level - static_cast<int>(tables.ready_lookup.size()) - tables.waiting_warps;
  Raise(kMaxSecondLevel, static_cast<uint64_t>(std::max(used, 0)));
  if (used <= second_level_) return;
  ++counters_[kSecondLevelOverflows];
  if (!spill_) {
    editor.MeetLimit(absl::StrCat("the Second-Level table needs ", used, " entries, but second_level is ",
                                  second_level_, "; make it larger, or set second_level_overflow=spill"));
  }
}

void HarpPolicy::TrackLow(HarpTables& tables, Cycle now) {
  const bool low = tables.resident > 0 && ReadyWarps(tables) < low_water_;
  if (low == tables.low) return;
  if (tables.low) counters_[kLowCycles] += now - tables.low_since;
  tables.low = low;
  tables.low_since = now;
}

// --- moves into the second level

void HarpPolicy::EnterSecondLevel(uint8_t port, const RevivedWarp& warp, WarpEditor& editor) {
  const SlotId slot = SpawnParked(port, warp.at, warp.lanes, HeldReason::kReady, editor);
  if (slot != kNoSlot) MoveIn(tables_[port], slot, barrier_delay_, editor);
}

void HarpPolicy::MoveIn(HarpTables& tables, SlotId slot, Cycle delay, WarpEditor& editor) {
  CheckSecondLevel(tables, editor);
  if (delay == 0) {
    MakeReady(tables, slot, editor);
    return;
  }
  editor.Park(slot, HeldReason::kReady);
  ++tables.arriving;
  editor.StartTimer(editor.now() + delay, Tag(Event::kArrival, slot));
}

void HarpPolicy::Watch(uint8_t port, WarpEditor& editor) {
  if (tables_[port].watched) return;
  tables_[port].watched = true;
  editor.StartTimer(editor.now(), Tag(Event::kTransitions, port));
}

void HarpPolicy::Transitions(uint8_t port, WarpEditor& editor) {
  HarpTables& tables = tables_[port];
  tables.watched = false;
  bool port_free = true;
  if (!tables.revived.empty()) {
    const RevivedWarp warp = tables.revived.front();
    tables.revived.erase(tables.revived.begin());
    EnterSecondLevel(port, warp, editor);
    port_free = false;
  }
  std::vector<SlotId>& lookup = tables.ready_lookup;
  for (int i = 0; i < lookups_per_cycle_ && (port_free || !one_port_); ++i) {
    if (lookup.empty() || ReadyWarps(tables) >= low_water_) break;
    const SlotId slot = lookup.front();
    lookup.erase(lookup.begin());
    MoveIn(tables, slot, lookup_delay_, editor);
    port_free = false;
  }
  TrackLow(tables, editor.now());
  if (lookup.empty() && tables.revived.empty()) return;
  tables.watched = true;
  editor.StartTimer(editor.now() + 1, Tag(Event::kTransitions, port));
}

}  // namespace heddle::replay
