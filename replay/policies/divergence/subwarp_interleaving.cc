// Subwarp interleaving (Damani et al., GPU Subwarp Interleaving, HPCA 2022): one path of a diverged warp is active;
// when it waits for memory, another one takes over. Rules and sources: docs/policies/subwarp_interleaving.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/policies/divergence/splits/split_stack.h"
#include "replay/seams/issue_view.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

class SubwarpInterleaving final : public SplitStackPolicy {
 public:
  SubwarpInterleaving(const DivergenceContext& context, const Options& options, const Parameters& parameters)
      : SplitStackPolicy(context, options, kCounters),
        halves_needed_(HalvesOf(parameters.Choice("select"))),
        yields_(parameters.Bool("yield")),
        most_subwarps_(static_cast<size_t>(parameters.Integer("subwarps"))),
        switch_cycles_(static_cast<Cycle>(parameters.Integer("switch_cycles"))),
        subwarps_(kMaxSlots),
        warps_(static_cast<size_t>(context.max_threads / context.warp_size) + 1) {}

  uint32_t interests() const override { return kBarriers | kLongLatency | (yields_ ? kIssue : 0u); }
  void SetIssueView(const IssueView& view) override { view_ = &view; }

  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    SplitStackPolicy::Admit(admission, editor);
    const WarpTable& table = editor.table();
    const uint32_t first = admission.first_thread / static_cast<uint32_t>(warp_size_);
    table.offered.ForEach([&](SlotId slot) {
      const uint32_t hw_warp = table.group[slot];
      if (hw_warp < first || hw_warp >= first + admission.warps.size()) return;
      subwarps_[slot] = Subwarp();
      warps_[hw_warp] = {slot, table.port[slot], true};
    });
  }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    const SlotId slot = resolution.slot;
    const uint32_t hw_warp = editor.table().group[slot];
    const uint8_t port = editor.table().port[slot];
    WarpStack& stack = WarpOf(slot, editor.table());
    const bool yields = subwarps_[slot].yields && resolution.reason == ResolveReason::kStop;
    if (const size_t index = IndexOf(stack, slot); yields && index < stack.size()) {
      stack[index].turn = ++turns_;
      ++counters_[kYields];
    }
    counters_[kWakeups] += subwarps_[slot].state == State::kStalled;  // it was held by a load that ended its block
    subwarps_[slot] = Subwarp();
    const Verdict verdict = SplitStackPolicy::Resolve(resolution, editor);
    if (yields) {
      // Who goes on in its place was selected just now, unless nobody else was ready any more.
      const size_t index = IndexOf(stack, slot);
      if (index < stack.size() && stack[index].turn != turns_) Prepare(stack[index], editor);
    }
    Settle(stack, yields, editor);
    Note(hw_warp, stack, port);
    if (resolution.exited != 0) Look(port, editor);
    return verdict;
  }

  void BarrierArrived(SlotId slot, uint32_t barrier, WarpEditor& editor) override {
    const uint32_t hw_warp = editor.table().group[slot];
    const uint8_t port = editor.table().port[slot];
    WarpStack& stack = WarpOf(slot, editor.table());
    SplitStackPolicy::BarrierArrived(slot, barrier, editor);
    Settle(stack, /*takes_time=*/false, editor);
    Note(hw_warp, stack, port);
    Look(port, editor);
  }

  // Marks a load behind which the subwarp is to give way.
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override {
    const WarpTable& table = editor.table();
    const WarpStack& stack = WarpOf(slot, table);
    if (stack.size() <= 1) return Verdict::kAccepted;
    const Position at = table.position[slot];
    const trace::Block& block = program_.block(program_.block_of(at.pc()));
    if (!LoadsFromAfar(at.pc()) || at.pc() + 1 == block.first + block.count) return Verdict::kAccepted;
    if (Candidate(stack) == stack.size()) return Verdict::kAccepted;
    subwarps_[slot].yields = true;
    editor.SetStop(slot, Position(at.pc() + 1, at.depth()));
    return Verdict::kAccepted;
  }

  void LongLatency(SlotId slot, WarpEditor& editor) override {
    subwarps_[slot].waits = true;
    Look(editor.table().port[slot], editor);
  }

  // A stalled subwarp is ready again. If its instruction held it, it has gone on by itself, and stops here.
  void LongLatencyEnded(SlotId slot, WarpEditor& editor) override {
    const WarpTable& table = editor.table();
    WarpStack& stack = WarpOf(slot, table);
    const size_t index = IndexOf(stack, slot);
    if (index == stack.size()) return;
    Subwarp& subwarp = subwarps_[slot];
    subwarp.waits = false;
    const bool stalled = subwarp.state == State::kStalled;
    counters_[kWakeups] += stalled;
    if (!stalled && !AnotherIsActive(stack, index)) return;
    if (table.state[slot] == SlotState::kOffered) editor.Park(slot);
    if (table.state[slot] != SlotState::kParked) {
      subwarp.state = State::kActive;  // it waits for others now
      return;
    }
    subwarp.state = State::kReady;
    editor.Park(slot, HeldReason::kInactive);
    Settle(stack, /*takes_time=*/true, editor);
    Note(table.group[slot], stack, table.port[slot]);
    Look(table.port[slot], editor);
  }

  // A subwarp that was selected may issue.
  void Timer(uint64_t tag, WarpEditor& editor) override {
    const auto slot = static_cast<SlotId>(tag & 0xffff);
    if (subwarps_[slot].state != State::kSelected || editor.table().formed[slot] != tag >> 16) return;
    subwarps_[slot].state = State::kActive;
    editor.Offer(slot);
  }

 protected:
  enum Counter : size_t { kStalls = kStackCounters, kWakeups, kYields, kCounters };

  // A path that has no slot yet, if it is its turn.
  size_t Next(const WarpStack& stack) const override {
    if (Active(stack) < stack.size()) return stack.size();
    const size_t next = Candidate(stack);
    return next < stack.size() && stack[next].slot == kNoSlot ? next : stack.size();
  }

 private:
  enum class State : uint8_t {
    kActive,
    kSelected,  // active, but still being switched to
    kReady,     // parked
    kStalled,   // parked, or held by its instruction
  };
  struct Subwarp {
    State state = State::kActive;
    bool yields = false;  // it is to give way where it stops
    bool waits = false;   // for memory beyond the core, so that the end of that will be told
  };
  // A warp of threads of a block.
  struct Warp {
    SlotId slot = kNoSlot;  // of its active subwarp; else of another one
    uint8_t port = 0;
    bool live = false;
  };

  static size_t HalvesOf(const std::string& select) { return select == "all" ? 2 : select == "half" ? 1 : 0; }

  bool LoadsFromAfar(Pc pc) const {
    const trace::v1::Instruction& instruction = program_.instruction(pc);
    const bool loads = instruction.op() == trace::v1::OP_LOAD || instruction.op() == trace::v1::OP_TEXTURE ||
                       instruction.op() == trace::v1::OP_ATOMIC;
    return loads &&
           (instruction.space() == trace::v1::SPACE_GLOBAL || instruction.space() == trace::v1::SPACE_LOCAL ||
            instruction.space() == trace::v1::SPACE_GENERIC || instruction.space() == trace::v1::SPACE_TEXTURE);
  }

  bool IsActive(const Entry& entry) const {
    if (!Runs(entry)) return false;
    const State state = subwarps_[entry.slot].state;
    return state == State::kActive || state == State::kSelected;
  }
  size_t Active(const WarpStack& stack) const {
    size_t found = 0;
    while (found < stack.size() && !IsActive(stack[found])) ++found;
    return found;
  }
  bool AnotherIsActive(const WarpStack& stack, size_t index) const {
    for (size_t i = 0; i < stack.size(); ++i) {
      if (i != index && IsActive(stack[i])) return true;
    }
    return false;
  }

  // The ready subwarp that gave way longest ago, the topmost of several; the stack's size if none is ready.
  size_t Candidate(const WarpStack& stack) const {
    size_t found = stack.size();
    size_t begun = 0;
    for (size_t i = stack.size(); i-- > 0;) {
      const Entry& entry = stack[i];
      if (!Runs(entry)) continue;
      ++begun;
      const bool ready = subwarps_[entry.slot].state == State::kReady;
      if (ready && (found == stack.size() || entry.turn < stack[found].turn)) found = i;
    }
    if (begun >= most_subwarps_) return found;
    ForEachStartable(stack, [&](size_t index, const Entry& entry) {
      if (found == stack.size() || entry.turn < stack[found].turn) found = index;
      return false;
    });
    return found;
  }

  // If no subwarp of the warp is active, one that is ready and has a slot becomes so: Next has had its say.
  void Settle(WarpStack& stack, bool takes_time, WarpEditor& editor) {
    if (Active(stack) < stack.size()) return;
    const size_t next = Candidate(stack);
    if (next == stack.size()) return;
    if (stack[next].slot == kNoSlot) {
      StartMore(stack, SlotOf(stack), editor);
      if (takes_time && stack[next].slot != kNoSlot) Prepare(stack[next], editor);
    } else {
      Select(stack[next], takes_time, editor);
    }
  }
  // Some slot of the warp.
  static SlotId SlotOf(const WarpStack& stack) {
    for (const Entry& entry : stack) {
      if (entry.slot != kNoSlot) return entry.slot;
    }
    return kNoSlot;
  }

  // A ready subwarp with a slot becomes active.
  void Select(Entry& entry, bool takes_time, WarpEditor& editor) {
    if (takes_time && switch_cycles_ != 0) {
      Prepare(entry, editor);
    } else {
      subwarps_[entry.slot].state = State::kActive;
      editor.Offer(entry.slot);
    }
  }
  // A subwarp that is active from now on issues when the switch is over.
  void Prepare(const Entry& entry, WarpEditor& editor) {
    if (switch_cycles_ == 0) return;
    subwarps_[entry.slot].state = State::kSelected;
    editor.Park(entry.slot, HeldReason::kReady);
    editor.StartTimer(editor.now() + switch_cycles_, uint64_t{entry.slot} | editor.table().formed[entry.slot] << 16);
  }

  // The warp has changed.
  void Note(uint32_t hw_warp, const WarpStack& stack, uint8_t port) {
    const size_t active = Active(stack);
    warps_[hw_warp] = {active < stack.size() ? stack[active].slot : SlotOf(stack), port, !stack.empty()};
  }

  bool StandsStill(const Warp& warp) const {
    if (subwarps_[warp.slot].state == State::kSelected) return false;
    const Lack lack = view_->LackOf(warp.slot);
    return lack == Lack::kFarMemory || lack == Lack::kBarrier;
  }
  bool EnoughStandStill(uint8_t port) const {
    size_t live = 0;
    size_t still = 0;
    for (const Warp& warp : warps_) {
      if (!warp.live || warp.slot == kNoSlot || warp.port != port) continue;
      ++live;
      still += StandsStill(warp);
    }
    return 2 * still >= halves_needed_ * live;
  }

  // Something of the port's warps has begun to wait: warps whose active subwarp stalls switch, as long as enough stand
  // still.
  void Look(uint8_t port, WarpEditor& editor) {
    const WarpTable& table = editor.table();
    for (uint32_t hw_warp = 0; hw_warp < warps_.size(); ++hw_warp) {
      const Warp& warp = warps_[hw_warp];
      if (!warp.live || warp.slot == kNoSlot || warp.port != port) continue;
      WarpStack& stack = WarpOf(warp.slot, table);
      const size_t active = Active(stack);
      if (stack.size() <= 1 || active == stack.size() || Candidate(stack) == stack.size()) continue;
      const Subwarp& subwarp = subwarps_[stack[active].slot];
      if (subwarp.state == State::kSelected || !subwarp.waits) continue;
      if (view_->LackOf(stack[active].slot) != Lack::kFarMemory) continue;
      if (!EnoughStandStill(port)) return;
      Stall(stack, active, editor);
      Settle(stack, /*takes_time=*/true, editor);
      Note(hw_warp, stack, port);
    }
  }
  // The active subwarp gives way.
  void Stall(WarpStack& stack, size_t active, WarpEditor& editor) {
    ++counters_[kStalls];
    stack[active].turn = ++turns_;
    const SlotId slot = stack[active].slot;
    subwarps_[slot].state = State::kStalled;
    if (editor.table().state[slot] == SlotState::kOffered) editor.Park(slot, HeldReason::kDependency);
  }

  const size_t halves_needed_;  // of the port's warps, that have to stand still
  const bool yields_;
  const size_t most_subwarps_;
  const Cycle switch_cycles_;
  const IssueView* view_ = nullptr;
  std::vector<Subwarp> subwarps_;  // by slot
  std::vector<Warp> warps_;        // by hardware warp
  uint64_t turns_ = 0;
};

ScoreboardRule ScoreboardOf(const Parameters& parameters) {
  const std::string& scoreboard = parameters.Choice("scoreboard");
  if (scoreboard == "warp") return {};
  if (scoreboard == "thread") return {.scope = ScoreboardScope::kThread};
  return {.scope = ScoreboardScope::kSubWarp, .per_warp = static_cast<uint32_t>(parameters.Integer("subwarps"))};
}

constexpr char kPaper[] = "Damani et al., HPCA 2022";

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "subwarp_interleaving",
        .summary = "One path of a diverged warp is active; when it waits for memory, another one takes over",
        .source = "Damani, Stephenson, Rangan, Johnson, Kulkarni and Keckler, GPU Subwarp Interleaving, HPCA 2022",
        .traits = {.regrouping = Regrouping::kNever},
        .traits_by_parameters = [](const Parameters& parameters,
                                   PolicyTraits& traits) { traits.scoreboard = ScoreboardOf(parameters); },
        .parameters =
            {
                TakenFirstParameter(),
                ReconvergenceParameter("post_dominator", false),
                {.name = "select",
                 .type = ParameterType::kChoice,
                 .default_value = "half",
                 .choices = {"any", "half", "all"},
                 .description = "how many warps of the scheduler have to stand still before a subwarp that waits for "
                                "memory beyond the core gives way: one, half of them, or all",
                 .source = "the paper's N > 0, N >= 0.5 and N = 1"},
                {.name = "yield",
                 .type = ParameterType::kBool,
                 .default_value = "true",
                 .description = "whether a subwarp also gives way behind each load from beyond the core, before it "
                                "needs the data",
                 .source = kPaper},
                {.name = "subwarps",
                 .type = ParameterType::kInteger,
                 .default_value = "32",
                 .unit = "subwarps",
                 .minimum = 1,
                 .maximum = 64,
                 .description = "entries of a warp's thread status table: subwarps that have begun and not ended",
                 .source = kPaper},
                {.name = "switch_cycles",
                 .type = ParameterType::kInteger,
                 .default_value = "6",
                 .unit = "cycles",
                 .minimum = 0,
                 .maximum = 1000,
                 .description = "from the selection of a subwarp to its first issue, if the one before has stalled or "
                                "given way",
                 .source = kPaper},
                {.name = "scoreboard",
                 .type = ParameterType::kChoice,
                 .default_value = "sub_warp",
                 .choices = {"warp", "sub_warp", "thread"},
                 .description = "whose scoreboards are: of all threads of a warp, of a subwarp, or of a thread",
                 .source = "sub_warp: the paper; the others are for comparison"},
            },
        .counters = StackCounterSpecs({{"subwarp_stalls", "switches", "times a subwarp that waited gave way"},
                                       {"subwarp_wakeups", "subwarps", "stalled subwarps whose data came"},
                                       {"subwarp_yields", "switches", "times a subwarp gave way behind a load"}}),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      SplitStackPolicy::Options options;
      options.taken_first = parameters.Bool("taken_first");
      options.reconvergence = ReconvergenceOf(parameters);
      return std::make_unique<SubwarpInterleaving>(context, options, parameters);
    });

HEDDLE_POLICY_STORAGE(
    "divergence", "subwarp_interleaving",
    PolicyStorage{.source = "the fields of the paper's thread status table; their sizes are ours",
                  .remark = "without the threads' program counters, which independent thread scheduling has anyway",
                  .items = [](const StorageContext& core, const Parameters& parameters) -> std::vector<StorageItem> {
                    constexpr uint32_t kStates = 4;
                    constexpr uint32_t kAwaited = 256;  // registers that an instruction can name
                    const auto subwarps = static_cast<uint64_t>(parameters.Integer("subwarps"));
                    return {{"thread status table", subwarps * core.warps(),
                             core.warp_size + BitsFor(kStates) + BitsFor(kAwaited),
                             "threads, state, register that it waits for"}};
                  }});

}  // namespace
}  // namespace heddle::replay
