// DWF: dynamic warp formation. A warp exists for one instruction; when it is done, its threads are regrouped with any
// waiting threads that have the same next PC (Fung, chapter 4). The PC-warp table and the warp pool have no limits
// (Fung, Figures 6.2 and 6.6), or with resources=limited their sizes (Table 7.1). Which warp of the pool issues next is
// the scheduler's choice: dtime, dpc, dmaj, dmin, dpdpri, or any other.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/policies/divergence/shared/formation_lookup.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/policy_storage.h"
#include "replay/seams/slot_queue.h"

namespace heddle::replay {
namespace {

constexpr int kPoolClasses = 9;      // of the histogram of the pool's occupancy
constexpr uint64_t kPoolClass = 16;  // warps

enum Counter {
  kWarpsFormed,
  kMerges,
  kThreadsMerged,
  kConflictSplits,
  kMaxPool,
  kMaxDistinctPcs,
  kSpills,
  kMaxSpilled,
  kTableEvictions,
  kLostMerges,
  kLongestInPool,
  kPoolCycles,
  kCounters = kPoolCycles + kPoolClasses
};

enum class BankPenalty { kNone, kCount, kCountMinusOne };

class Dwf final : public DivergencePolicy {
 public:
  Dwf(const DivergenceContext& context, const Parameters& parameters)
      : warp_size_(context.warp_size),
        lane_aware_(parameters.Bool("lane_aware")),
        scope_is_core_(parameters.Choice("scope") == "core"),
        barrier_regroup_(parameters.Bool("barrier_regroup")),
        bank_penalty_(PenaltyFrom(parameters.Choice("bank_penalty"))),
        bank_penalty_unit_(static_cast<int>(parameters.Integer("bank_penalty_unit"))),
        pool_entries_(Limited(parameters) ? static_cast<uint64_t>(parameters.Integer("pool_entries")) : 0),
        lookup_(Limited(parameters) ? static_cast<uint32_t>(parameters.Integer("lut_entries")) : 0,
                static_cast<uint32_t>(parameters.Integer("lut_ways"))),
        instructions_(context.program.instruction_count()),
        filling_(static_cast<size_t>(context.max_blocks) * instructions_, kNoSlot),
        next_filling_(kMaxSlots, kNoSlot),
        place_(kMaxSlots, kNowhere),
        pooled_(kMaxSlots, 0),
        pooled_since_(kMaxSlots, 0),
        left_behind_(kMaxSlots, 0),
        pooled_at_(instructions_, 0),
        left_behind_at_(instructions_, 0),
        is_barrier_(instructions_, 0) {
    for (Pc pc = 0; pc < instructions_; ++pc) {
      is_barrier_[pc] = context.program.instruction(pc).op() == trace::v1::OP_BARRIER ? 1 : 0;
    }
  }

  uint32_t interests() const override { return kEveryInstruction | kIssue | kBarriers; }

  // The threads enter the pool as static warps.
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    const uint64_t splits = counters_[kConflictSplits];
    ThreadId first = admission.first_thread;
    for (const LaneMask mask : admission.rows) {
      Lanes lanes;
      lanes.mask = mask;
      for (int lane = 0; lane < warp_size_; ++lane) lanes.thread[lane] = static_cast<ThreadId>(first + lane);
      if (mask != 0) Insert(admission.entry, admission.block, lanes, editor);
      first = static_cast<ThreadId>(first + warp_size_);
    }
    counters_[kConflictSplits] = splits;  // warps that are full from the start are no conflict
  }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (!barrier_regroup_ && is_barrier_[resolution.from.pc()] != 0 && resolution.groups.size() == 1) {
      editor.Continue(resolution.slot);  // with the priority that its release gave it
      return Verdict::kAccepted;
    }
    Lanes lanes = *resolution.lanes;
    const BlockId block = editor.table().block[resolution.slot];
    editor.Dissolve(resolution.slot);
    // The lower PC first (our order; the thesis leaves it open).
    for (const PathGroup& group : resolution.groups) {
      lanes.mask = group.lanes;
      if (scope_is_core_ && is_barrier_[group.at.pc()] != 0) {
        InsertByBlock(group.at, lanes, editor);
      } else {
        Insert(group.at, block, lanes, editor);
      }
    }
    return Verdict::kAccepted;
  }

  // Issue takes the warp out of the pool: it is not filled any more.
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override {
    if (pooled_[slot] == 0) return Verdict::kAccepted;
    const Pc pc = editor.table().position[slot].pc();
    pooled_[slot] = 0;
    CountPool(editor.now());
    --pool_;
    Raise(kLongestInPool, editor.now() - pooled_since_[slot]);
    if (--pooled_at_[pc] == 0) --distinct_pcs_;
    if (left_behind_[slot] != 0) {
      left_behind_[slot] = 0;
      --left_behind_at_[pc];
    }
    if (place_[slot] != kNowhere) StopFilling(slot, pc);
    if (const SlotId next = spilled_.front(); next != kNoSlot) {
      spilled_.Erase(next);
      --spilled_count_;
      editor.Offer(next);
      EnterPool(next, editor);
    }
    return Verdict::kAccepted;
  }

  // Warps at a barrier keep their threads in a queue beside the pool, and issue before the pool's warps once they are
  // released; GPGPU-Sim 2.x does so, the thesis is silent.
  bool BarrierReleased(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) override {
    if (barrier_regroup_) return true;
    editor.SetPriority(slot, 1);
    return false;
  }

  // Without lane awareness, threads of one home lane compete for its register bank (Fung, section 5.1.1).
  int IssuePenalty(SlotId slot, const WarpTable& table) const override {
    if (lane_aware_ || bank_penalty_ == BankPenalty::kNone) return 0;
    std::array<uint8_t, kMaxLanes> threads_of_bank{};
    int most = 0;
    const Lanes& lanes = table.lanes[slot];
    for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
      most = std::max<int>(most, ++threads_of_bank[lanes.thread[std::countr_zero(left)] % warp_size_]);
    }
    if (most <= 1) return 0;
    return (bank_penalty_ == BankPenalty::kCount ? most : most - 1) * bank_penalty_unit_;
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  static constexpr uint32_t kNowhere = ~uint32_t{0};

  static bool Limited(const Parameters& parameters) { return parameters.Choice("resources") == "limited"; }

  // Credits the cycles since the last change of the pool's occupancy.
  void CountPool(Cycle now) {
    const uint64_t place = std::min<uint64_t>(pool_ / kPoolClass, kPoolClasses - 1);
    counters_[kPoolCycles + place] += now - pool_counted_;
    pool_counted_ = now;
  }

  static BankPenalty PenaltyFrom(std::string_view text) {
    if (text == "m") return BankPenalty::kCount;
    return text == "m_minus_1" ? BankPenalty::kCountMinusOne : BankPenalty::kNone;
  }

  void Raise(Counter counter, uint64_t value) { counters_[counter] = std::max(counters_[counter], value); }

  // Warps that mix blocks must not arrive at a barrier, which counts the threads of one block.
  void InsertByBlock(Position at, Lanes lanes, WarpEditor& editor) {
    LaneMask left = lanes.mask;
    while (left != 0) {
      const BlockId block = editor.block_of(lanes.thread[std::countr_zero(left)]);
      lanes.mask = 0;
      for (LaneMask rest = left; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        if (editor.block_of(lanes.thread[lane]) == block) lanes.mask |= LaneMask{1} << lane;
      }
      left &= ~lanes.mask;
      Insert(at, block, lanes, editor);
    }
  }

  // Rules R1 and R2 of the thesis's section 4.2: join the warp that is being filled at this PC; threads whose lanes are
  // taken there start a new one, which is filled from now on.
  void Insert(Position at, BlockId block, const Lanes& lanes, WarpEditor& editor) {
    const bool shared = scope_is_core_ && is_barrier_[at.pc()] == 0;
    const uint32_t place = (shared ? 0 : block) * instructions_ + at.pc();
    const WarpTable& table = editor.table();
    SlotId slot = filling_[place];
    while (slot != kNoSlot && table.position[slot] != at) slot = next_filling_[slot];
    if (slot == kNoSlot) {
      if (left_behind_at_[at.pc()] != 0) ++counters_[kLostMerges];
      NewWarp(at, place, lanes, editor);
      return;
    }
    lookup_.Use(at.pc(), slot);
    Lanes joining = lanes;
    Lanes rest = lanes;
    if (lane_aware_) {
      joining.mask = lanes.mask & ~table.lanes[slot].mask;
      rest.mask = lanes.mask & table.lanes[slot].mask;
    } else {
      FillAnyLane(lanes, table.lanes[slot].mask, joining, rest);
    }
    if (joining.mask != 0) {
      editor.Join(slot, joining);
      ++counters_[kMerges];
      counters_[kThreadsMerged] += static_cast<uint64_t>(std::popcount(joining.mask));
    }
    if (rest.mask != 0) {
      ++counters_[kConflictSplits];
      StopFilling(slot, at.pc());
      NewWarp(at, place, rest, editor);
    }
  }

  // Moves threads into lanes that are free beside `taken`: the lane they are in if it is free, else the lowest.
  void FillAnyLane(const Lanes& lanes, LaneMask taken, Lanes& joining, Lanes& rest) const {
    joining.mask = lanes.mask & ~taken;
    rest.mask = 0;
    const LaneMask all = warp_size_ == kMaxLanes ? ~LaneMask{0} : (LaneMask{1} << warp_size_) - 1;
    for (LaneMask left = lanes.mask & taken; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const LaneMask open = all & ~taken & ~joining.mask;
      if (open == 0) {
        rest.mask |= LaneMask{1} << lane;
        continue;
      }
      const int target = std::countr_zero(open);
      joining.mask |= LaneMask{1} << target;
      joining.thread[target] = lanes.thread[lane];
    }
  }

  // A warp that finds the pool full waits beside it, as it is, until a warp has left (the thesis leaves spilling to
  // future work; that the warp comes back at once, and is filled no more, is ours).
  void Spill(Position at, const Lanes& lanes, WarpEditor& editor) {
    const SlotId slot = editor.SpawnParked(at, lanes, HeldReason::kReady);
    if (slot == kNoSlot) return;
    ++counters_[kWarpsFormed];
    ++counters_[kSpills];
    spilled_.PushBack(slot);
    Raise(kMaxSpilled, ++spilled_count_);
  }

  void EnterPool(SlotId slot, WarpEditor& editor) {
    const Pc pc = editor.table().position[slot].pc();
    pooled_[slot] = 1;
    pooled_since_[slot] = editor.now();
    CountPool(editor.now());
    Raise(kMaxPool, ++pool_);
    if (pooled_at_[pc]++ == 0) Raise(kMaxDistinctPcs, ++distinct_pcs_);
  }

  void NewWarp(Position at, uint32_t place, const Lanes& lanes, WarpEditor& editor) {
    if (pool_entries_ != 0 && pool_ >= pool_entries_) {
      Spill(at, lanes, editor);
      return;
    }
    const SlotId slot = editor.Spawn(at, lanes);
    if (slot == kNoSlot) return;  // the editor has reported why
    ++counters_[kWarpsFormed];
    EnterPool(slot, editor);
    place_[slot] = place;
    next_filling_[slot] = filling_[place];
    filling_[place] = slot;
    // The warp that loses its entry stays in the pool as it is.
    if (const SlotId victim = lookup_.Insert(at.pc(), slot); victim != kNoSlot) {
      ++counters_[kTableEvictions];
      const Pc pc = editor.table().position[victim].pc();
      left_behind_[victim] = 1;
      ++left_behind_at_[pc];
      StopFilling(victim, pc);
    }
  }

  void StopFilling(SlotId slot, Pc pc) {
    lookup_.Erase(pc, slot);
    SlotId* link = &filling_[place_[slot]];
    while (*link != slot) link = &next_filling_[*link];
    *link = next_filling_[slot];
    place_[slot] = kNowhere;
  }

  int warp_size_;
  bool lane_aware_;
  bool scope_is_core_;
  bool barrier_regroup_;
  BankPenalty bank_penalty_;
  int bank_penalty_unit_;
  uint64_t pool_entries_;  // 0: no limit
  SlotQueue spilled_;      // parked warps that found the pool full
  uint64_t spilled_count_ = 0;
  FormationLookup lookup_;
  uint32_t instructions_;
  // The PC-warp table: per block and PC the warps that are being filled, one per call depth, linked by next_filling_.
  std::vector<SlotId> filling_;
  std::vector<SlotId> next_filling_;      // by slot
  std::vector<uint32_t> place_;           // by slot: its index in filling_; kNowhere if it is not being filled
  std::vector<uint8_t> pooled_;           // by slot
  std::vector<Cycle> pooled_since_;       // by slot: when it entered the pool
  std::vector<uint8_t> left_behind_;      // by slot: in the pool, but its entry of the table has gone to another warp
  std::vector<uint32_t> pooled_at_;       // by PC: warps in the pool
  std::vector<uint32_t> left_behind_at_;  // by PC: of these, those left behind
  std::vector<uint8_t> is_barrier_;       // by PC
  uint64_t pool_ = 0;
  uint64_t distinct_pcs_ = 0;
  Cycle pool_counted_ = 0;  // the histogram has the cycles before this one
  std::array<uint64_t, kCounters> counters_{};
};

std::vector<CounterSpec> Counters() {
  constexpr auto kMaximum = CounterSpec::Combine::kMaximum;
  std::vector<CounterSpec> counters = {
      {"warps_formed", "warps", "warps that entered the pool"},
      {"merges", "merges", "times threads joined a warp that was waiting in the pool"},
      {"threads_merged", "threads", "threads that joined a warp that was waiting in the pool"},
      {"conflict_splits", "warps", "warps begun because the lanes of the one being filled were taken"},
      {"max_pool_warps", "warps", "most warps waiting in the pool of an SM", kMaximum},
      {"max_distinct_pcs", "instructions", "most different PCs in the pool of an SM", kMaximum},
      {"spills", "warps", "warps that found the pool full and waited beside it"},
      {"max_spilled", "warps", "most warps beside the pool of an SM", kMaximum},
      {"table_evictions", "warps", "warps that lost their entry of the PC-warp table to another PC"},
      {"lost_merges", "warps", "warps begun although one that had lost its entry was waiting at the PC"},
      {"longest_in_pool", "cycles", "the longest that a warp waited in the pool: starvation shows here", kMaximum},
  };
  for (uint64_t from = 0; from < kPoolClasses * kPoolClass; from += kPoolClass) {
    const bool last = from + kPoolClass == kPoolClasses * kPoolClass;
    const std::string range = last ? absl::StrCat("from_", from) : absl::StrCat(from, "_to_", from + kPoolClass - 1);
    counters.push_back({absl::StrCat("pool_", range), "cycles",
                        absl::StrCat("of SMs with ", from,
                                     last ? " warps or more" : absl::StrCat(" to ", from + kPoolClass - 1, " warps"),
                                     " in the pool, up to the last issue (Fung, Figure 6.10)")});
  }
  return counters;
}

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "dwf",
        .summary = "Regroups threads with equal PCs into new warps after every instruction",
        .source = "Fung, chapter 4",
        .traits = {.regrouping = Regrouping::kEveryInstruction},
        .traits_by_parameters =
            [](const Parameters& parameters, PolicyTraits& traits) {
              traits.lanes = {.any = !parameters.Bool("lane_aware"),
                              .swizzled = parameters.Choice("swizzle") == "even_odd"};
            },
        .parameters =
            {
                {.name = "lane_aware",
                 .type = ParameterType::kBool,
                 .default_value = "true",
                 .description = "whether a thread keeps to its home lane; if not, see bank_penalty",
                 .source = "Fung, section 4.1"},
                {.name = "swizzle",
                 .type = ParameterType::kChoice,
                 .default_value = "even_odd",
                 .choices = {"even_odd", "none"},
                 .description = "even_odd: odd static warps swap neighbouring home lanes",
                 .source = "Fung, section 4.1"},
                {.name = "scope",
                 .type = ParameterType::kChoice,
                 .default_value = "block",
                 .choices = {"block", "core"},
                 .description = "whether threads of different blocks of an SM may share a warp",
                 .source = "Fung runs one block per core"},
                {.name = "barrier_regroup",
                 .type = ParameterType::kBool,
                 .default_value = "false",
                 .description = "whether threads are regrouped behind a barrier, instead of going on first and as they "
                                "arrived",
                 .source = "GPGPU-Sim 2.x, dwf.cc; the thesis is silent"},
                {.name = "bank_penalty",
                 .type = ParameterType::kChoice,
                 .default_value = "m",
                 .choices = {"m", "m_minus_1", "none"},
                 .only_if = "lane_aware=false",
                 .description = "lane_aware=false: an issue whose m threads share a register bank, m > 1, costs m or "
                                "m - 1 extra units; none: ideal ports",
                 .source = "Fung, section 5.1.1"},
                {.name = "bank_penalty_unit",
                 .type = ParameterType::kInteger,
                 .default_value = "1",
                 .unit = "cycles",
                 .minimum = 1,
                 .maximum = 64,
                 .only_if = "bank_penalty!=none",
                 .description = "cycles per unit of bank_penalty",
                 .source = "Fung, section 5.1.1"},
                {.name = "resources",
                 .type = ParameterType::kChoice,
                 .default_value = "unlimited",
                 .choices = {"unlimited", "limited"},
                 .description = "limited: the PC-warp table and the pool have the sizes of the next parameters",
                 .source = "Fung, Figures 6.2 and 6.6: unlimited; Table 7.1: limited"},
                {.name = "lut_entries",
                 .type = ParameterType::kInteger,
                 .default_value = "64",
                 .unit = "warps",
                 .minimum = 1,
                 .maximum = 4096,
                 .only_if = "resources=limited",
                 .description = "entries of the PC-warp table; a warp that loses its entry takes no more threads",
                 .source = "Fung, Table 7.1"},
                {.name = "lut_ways",
                 .type = ParameterType::kInteger,
                 .default_value = "4",
                 .unit = "warps",
                 .minimum = 1,
                 .maximum = 4096,
                 .only_if = "resources=limited",
                 .ways_of = "lut_entries",
                 .description = "entries of a set of the PC-warp table",
                 .source = "Fung, Table 7.1"},
                {.name = "pool_entries",
                 .type = ParameterType::kInteger,
                 .default_value = "128",
                 .unit = "warps",
                 .minimum = 1,
                 .maximum = 4096,
                 .only_if = "resources=limited",
                 .description = "entries of the warp pool; warps that find it full wait beside it",
                 .source = "Fung, Table 7.1; the thesis leaves spilling to future work"},
            },
        .counters = Counters(),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      return std::make_unique<Dwf>(context, parameters);
    });

HEDDLE_POLICY_STORAGE(
    "divergence", "dwf",
    PolicyStorage{
        .source = "Fung, Table 7.1; with the scheduler dmaj:heap=hardware it is all of the table",
        .remark =
            "the sizes of the table are those of 7 bits of scheduler data in an entry of the pool; its text has 10",
        .items = [](const StorageContext& context, const Parameters& parameters) -> std::vector<StorageItem> {
          const bool limited = parameters.Choice("resources") == "limited";
          const auto entries = [&](const char* name) {
            return limited ? static_cast<uint64_t>(parameters.Integer(name)) : uint64_t{0};
          };
          const uint64_t width = context.warp_size;
          const uint64_t threads = width * BitsFor(context.max_threads);
          const uint64_t index = BitsFor(entries("pool_entries"));
          return {{"warp update registers", 2, threads + 24 + width, "threads, PC (24), requested lanes"},
                  {"PC-warp table", entries("lut_entries"), 24 + width + index, "PC (24), occupied lanes, index"},
                  {"warp pool", entries("pool_entries"), threads + 24 + index, "threads, PC (24), scheduler data"},
                  {"warp allocator", entries("pool_entries"), index, "index"}};
        }});

}  // namespace
}  // namespace heddle::replay
