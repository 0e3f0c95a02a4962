// DWF: dynamic warp formation. A warp exists for one instruction; when it is done, its threads are regrouped with any
// waiting threads that have the same next PC (Fung, chapter 4). The PC-warp table and the warp pool have no limits
// (Fung, Figures 6.2 and 6.6), or with resources=limited their sizes (Table 7.1). Which warp of the pool issues next is
// the scheduler's choice: dtime, dpc, dmaj, dmin, dpdpri, or any other.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/policies/divergence/dynamic_warps/dwf_counters.h"
#include "replay/policies/divergence/dynamic_warps/pc_warp_table.h"
#include "replay/policies/divergence/dynamic_warps/register_banks.h"
#include "replay/policies/divergence/dynamic_warps/warp_pool.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

class Dwf final : public DivergencePolicy {
 public:
  Dwf(const DivergenceContext& context, const Parameters& parameters)
      : warp_size_(context.warp_size),
        lane_aware_(parameters.Bool("lane_aware")),
        scope_is_core_(parameters.Choice("scope") == "core"),
        pools_(context.one_port_per_block ? static_cast<uint32_t>(context.ports) : 1),
        barrier_regroup_(parameters.Bool("barrier_regroup")),
        is_barrier_(context.program.instruction_count(), 0),
        banks_(PenaltyOf(parameters), static_cast<int>(parameters.Integer("bank_penalty_unit")), context.warp_size),
        pool_(Limited(parameters) ? static_cast<uint64_t>(parameters.Integer("pool_entries")) : 0,
              context.program.instruction_count(), counters_),
        pc_warps_(TableOf(context, parameters)) {
    for (Pc pc = 0; pc < context.program.instruction_count(); ++pc) {
      is_barrier_[pc] = context.program.instruction(pc).op() == trace::v1::OP_BARRIER ? 1 : 0;
    }
  }

  uint32_t interests() const override { return kEveryInstruction | kIssue | kBarriers; }

  // The threads enter the pool as static warps.
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    ThreadId first = admission.first_thread;
    for (const LaneMask mask : admission.warps) {
      Lanes lanes;
      lanes.mask = mask;
      for (int lane = 0; lane < warp_size_; ++lane) lanes.thread[lane] = static_cast<ThreadId>(first + lane);
      // Warps that are full from the start are no conflict.
      if (mask != 0) Insert(admission.entry, admission.block, lanes, /*counts_splits=*/false, editor);
      first = static_cast<ThreadId>(first + warp_size_);
    }
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
        Insert(group.at, block, lanes, /*counts_splits=*/true, editor);
      }
    }
    return Verdict::kAccepted;
  }

  // Issue takes the warp out of the pool: it is not filled any more.
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override {
    if (!pool_.Contains(slot)) return Verdict::kAccepted;
    const Pc pc = editor.table().position[slot].pc();
    pool_.Leave(slot, pc, editor.now());
    pc_warps_.Remove(slot, pc);
    if (const SlotId next = pool_.TakeSpilled(); next != kNoSlot) {
      editor.Offer(next);
      pool_.Enter(next, editor.table().position[next].pc(), editor.now());
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

  int IssuePenalty(SlotId slot, const WarpTable& table) const override { return banks_.ExtraCycles(table.lanes[slot]); }

  std::span<const uint64_t> counters() const override { return counters_.values(); }

 private:
  static bool Limited(const Parameters& parameters) { return parameters.Choice("resources") == "limited"; }

  static PcWarpTable::Setup TableOf(const DivergenceContext& context, const Parameters& parameters) {
    PcWarpTable::Setup setup;
    setup.scopes = static_cast<uint32_t>(std::max(context.max_blocks, context.ports));
    setup.instructions = context.program.instruction_count();
    setup.entries = Limited(parameters) ? static_cast<uint32_t>(parameters.Integer("lut_entries")) : 0;
    setup.ways = static_cast<uint32_t>(parameters.Integer("lut_ways"));
    return setup;
  }

  static RegisterBanks::Penalty PenaltyOf(const Parameters& parameters) {
    const std::string& penalty = parameters.Choice("bank_penalty");
    if (parameters.Bool("lane_aware") || penalty == "none") return RegisterBanks::Penalty::kNone;
    return penalty == "m" ? RegisterBanks::Penalty::kCount : RegisterBanks::Penalty::kCountMinusOne;
  }

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
      Insert(at, block, lanes, /*counts_splits=*/true, editor);
    }
  }

  // Rules R1 and R2 of the thesis's section 4.2: join the warp that is being filled at this PC; threads whose lanes are
  // taken there start a new one, which is filled from now on.
  void Insert(Position at, BlockId block, const Lanes& lanes, bool counts_splits, WarpEditor& editor) {
    const uint32_t scope = scope_is_core_ && is_barrier_[at.pc()] == 0 ? block % pools_ : block;
    const WarpTable& table = editor.table();
    const SlotId slot = pc_warps_.Find(scope, at, table);
    if (slot == kNoSlot) {
      if (pc_warps_.AnyLeftBehind(at.pc())) counters_.Count(kLostMerges);
      NewWarp(at, scope, lanes, editor);
      return;
    }
    pc_warps_.Use(slot, at.pc());
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
      counters_.Count(kMerges);
      counters_.Count(kThreadsMerged, static_cast<uint64_t>(std::popcount(joining.mask)));
    }
    if (rest.mask != 0) {
      if (counts_splits) counters_.Count(kConflictSplits);
      pc_warps_.Close(slot, at.pc());
      NewWarp(at, scope, rest, editor);
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

  // A warp that is filled from now on; if the pool is full, one that waits beside it.
  void NewWarp(Position at, uint32_t scope, const Lanes& lanes, WarpEditor& editor) {
    const bool spills = pool_.full();
    const SlotId slot = spills ? editor.SpawnParked(at, lanes, HeldReason::kReady) : editor.Spawn(at, lanes);
    if (slot == kNoSlot) return;  // the editor has reported why
    counters_.Count(kWarpsFormed);
    if (spills) {
      pool_.Spill(slot);
      return;
    }
    pool_.Enter(slot, at.pc(), editor.now());
    if (pc_warps_.Insert(scope, slot, at.pc())) counters_.Count(kTableEvictions);
  }

  const int warp_size_;
  const bool lane_aware_;
  const bool scope_is_core_;
  const uint32_t pools_;  // among which blocks are divided: one, or one per scheduler that has its own blocks
  const bool barrier_regroup_;
  std::vector<uint8_t> is_barrier_;  // by PC
  DwfCounters counters_;
  const RegisterBanks banks_;
  WarpPool pool_;
  PcWarpTable pc_warps_;
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
