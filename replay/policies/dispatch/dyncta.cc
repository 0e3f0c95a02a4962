// Dynamic CTA scheduling: as many running blocks per SM as its memory can bear (Kayiran, Jog, Kandemir and Das,
// "Neither More Nor Less", PACT 2013). docs/policies/dyncta.md has the rules.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replay/policies/dispatch/shared/cluster_places.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

class DynCta final : public BlockDispatcher {
 public:
  DynCta(const DispatchContext& context, const Parameters& parameters)
      : context_(context),
        window_(static_cast<Cycle>(parameters.Integer("window"))),
        idle_cycles_(static_cast<uint64_t>(parameters.Integer("idle_cycles"))),
        memory_low_(static_cast<uint64_t>(parameters.Integer("memory_low"))),
        memory_high_(static_cast<uint64_t>(parameters.Integer("memory_high"))),
        least_(Least(context)),
        sms_(context.sms),
        places_(context) {
    // Algorithm 1: half of the most to begin with.
    for (Sm& sm : sms_) sm.limit = std::clamp(context.blocks_per_sm / 2, least_, context.blocks_per_sm);
  }

  bool watches_sms() const override { return true; }

  void BeginRound(Cycle first) override {
    first_ = first;
    given_ = false;
    if (window_end_ == 0) window_end_ = first + window_;
    if (first >= window_end_) {
      for (uint32_t sm = 0; sm < context_.sms; ++sm) EndWindow(sm);
      while (window_end_ <= first) window_end_ += window_;
    }
    for (uint32_t sm = 0; sm < context_.sms; ++sm) Enforce(sm);
  }

  // A new block only where none is paused: a paused one goes first.
  std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) override {
    if (cluster_.empty()) {
      cluster_ = places_.Next([&](uint32_t index) -> uint32_t {
        const Sm& sm = sms_[index];
        if (accepted[index] || sm.paused != 0 || sm.blocks.size() >= sm.limit) return 0;
        return std::min(sm.limit, static_cast<uint32_t>(sms[index].capacity)) - static_cast<uint32_t>(sm.blocks.size());
      });
    }
    if (cluster_.empty()) return std::nullopt;
    const uint32_t sm = cluster_.front();
    cluster_ = cluster_.subspan(1);
    sms_[sm].blocks.push_back({next_, false});
    given_ = true;  // an SM takes one in a cycle
    return Assignment{sm, next_++};
  }

  Cycle NextFirst() const override { return given_ && !done() ? first_ + 1 : window_end_; }

  void Retired(uint32_t sm, uint64_t block) override {
    std::vector<Block>& blocks = sms_[sm].blocks;
    const auto ended = std::find_if(blocks.begin(), blocks.end(), [&](const Block& one) { return one.id == block; });
    if (ended->paused) --sms_[sm].paused;
    blocks.erase(ended);
  }

  bool done() const override { return next_ == context_.blocks; }
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kWindows, kRaised, kLowered, kPaused, kResumed, kLimitSum, kCounters };

  struct Block {
    uint64_t id = 0;
    bool paused = false;
  };
  struct Sm {
    uint32_t limit = 0;         // n
    std::vector<Block> blocks;  // in the order in which they came
    uint32_t paused = 0;
    SmActivity before;  // at the beginning of the window
  };

  // Blocks of a cluster that have to be on one SM at the same time. With clusters of one block 1, of the paper's
  // Algorithm 1.
  static uint32_t Least(const DispatchContext& context) {
    const uint32_t last_group = context.sms % context.cluster_sms;
    const uint32_t group = last_group == 0 ? context.cluster_sms : last_group;
    return std::clamp(MostOnSm(context.cluster_blocks, group), 1u, context.blocks_per_sm);
  }

  static uint64_t CyclesOf(const SmActivity& all) {
    return all.issue_cycles + all.stall_cycles + all.memory_cycles + all.data_cycles + all.idle_cycles;
  }

  // Section IV, Algorithm 1.
  void EndWindow(uint32_t index) {
    Sm& sm = sms_[index];
    const SmActivity now = context_.control->Activity(index);
    const uint64_t idle = now.idle_cycles - sm.before.idle_cycles;
    const uint64_t memory = now.memory_cycles - sm.before.memory_cycles;
    const bool ran = CyclesOf(now) != CyclesOf(sm.before);
    sm.before = now;
    if (!ran) return;
    ++counters_[kWindows];
    if (idle >= idle_cycles_ || memory < memory_low_) {
      counters_[kRaised] += sm.limit < context_.blocks_per_sm;
      sm.limit = std::min(sm.limit + 1, context_.blocks_per_sm);
    } else if (memory >= memory_high_) {
      counters_[kLowered] += sm.limit > least_;
      sm.limit = std::max(sm.limit - 1, least_);
    }
    counters_[kLimitSum] += sm.limit;
  }

  // The block that came last is paused first; of the paused ones the one that came first goes on first (our choice).
  void Enforce(uint32_t index) {
    Sm& sm = sms_[index];
    while (sm.blocks.size() - sm.paused > sm.limit) {
      const auto last =
          std::find_if(sm.blocks.rbegin(), sm.blocks.rend(), [](const Block& one) { return !one.paused; });
      Set(index, *last, true);
    }
    while (sm.paused != 0 && sm.blocks.size() - sm.paused < sm.limit) {
      Set(index, *std::find_if(sm.blocks.begin(), sm.blocks.end(), [](const Block& one) { return one.paused; }), false);
    }
  }

  void Set(uint32_t index, Block& block, bool paused) {
    block.paused = paused;
    if (paused) {
      ++sms_[index].paused;
      ++counters_[kPaused];
      context_.control->Pause(index, block.id);
    } else {
      --sms_[index].paused;
      ++counters_[kResumed];
      context_.control->Resume(index, block.id);
    }
  }

  const DispatchContext context_;
  const Cycle window_;
  const uint64_t idle_cycles_;
  const uint64_t memory_low_;
  const uint64_t memory_high_;
  const uint32_t least_;
  std::vector<Sm> sms_;
  ClusterPlaces places_;
  std::span<const uint32_t> cluster_;  // SMs of the blocks that are left of a cluster that has begun
  uint64_t next_ = 0;
  Cycle first_ = 0;
  Cycle window_end_ = 0;
  bool given_ = false;  // a block in this round
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_BLOCK_DISPATCHER(
    PolicyInfo{
        .name = "dyncta",
        .summary = "DYNCTA: runs as many of an SM's blocks as its memory can bear, and pauses the others",
        .source = "Kayiran, Jog, Kandemir and Das, PACT 2013, section IV, from memory",
        .parameters = {{.name = "window",
                        .default_value = "2048",
                        .unit = "cycles",
                        .minimum = 1,
                        .maximum = 1 << 30,
                        .description = "after so many cycles the limit of each SM is looked at",
                        .source = "section IV"},
                       {.name = "idle_cycles",
                        .default_value = "16",
                        .unit = "cycles",
                        .minimum = 0,
                        .maximum = 1 << 30,
                        .description = "t_idle: from so many idle cycles of a window on an SM gets one block more",
                        .source = "section IV"},
                       {.name = "memory_low",
                        .default_value = "128",
                        .unit = "cycles",
                        .minimum = 0,
                        .maximum = 1 << 30,
                        .description = "t_mem_l: below so many cycles in which all warps wait for memory, too",
                        .source = "section IV"},
                       {.name = "memory_high",
                        .default_value = "384",
                        .unit = "cycles",
                        .minimum = 0,
                        .maximum = 1 << 30,
                        .description = "t_mem_h: from so many such cycles on it gets one less, if it was not idle",
                        .source = "section IV"}},
        .counters = {{"windows", "windows", "of SMs that ran, after which their limit was looked at"},
                     {"raised", "windows", "of these, after which the limit was one more"},
                     {"lowered", "windows", "of these, after which the limit was one less"},
                     {"paused", "blocks", "times a block was paused"},
                     {"resumed", "blocks", "times a paused block went on"},
                     {"limit_sum", "blocks", "the limit behind each window, summed: over windows the mean limit"}},
    },
    [](const DispatchContext& context, const Parameters& parameters) {
      return std::make_unique<DynCta>(context, parameters);
    });

HEDDLE_POLICY_STORAGE("dispatch", "dyncta",
                      PolicyStorage{.source = "section IV: counters of a window of 2,048 cycles, from memory",
                                    .remark = "comparators are not storage",
                                    .items = [](const StorageContext& context, const Parameters& parameters) {
                                      const auto window = static_cast<uint64_t>(parameters.Integer("window"));
                                      const uint32_t bits = BitsFor(window + 1);
                                      return std::vector<StorageItem>{
                                          {"C_idle", 1, bits, "cycles of a window"},
                                          {"C_mem", 1, bits, "cycles of a window"},
                                          {"limit", 1, BitsFor(context.max_blocks + 1), "thread blocks"},
                                          {"paused", context.max_blocks, 1, "whether the block is"}};
                                    }});

}  // namespace
}  // namespace heddle::replay
