// VTW: virtual thread blocks, whose warps go on with the next block of the grid one by one (Anantpur and Govindarajan,
// "Taming warp divergence", section 4).
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/seams/block_dispatcher.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

enum Counter { kVirtualBlocks, kIterations, kLimitWaits, kLimitCycles, kHoisted, kCounters };

// As many virtual blocks as fit are launched once, and keep their place on the SM to the end. A warp that has run its
// block's code takes a warp of the next block, without its siblings; the first of them to get there takes the block's
// number from a counter of the whole GPU (section 4.2.1), and the others follow into the same block. No warp begins an
// iteration while another of its virtual block is two behind it.
class VirtualBlockDispatcher final : public BlockDispatcher {
 public:
  VirtualBlockDispatcher(const DispatchContext& context, const Parameters& parameters)
      : context_(context),
        order_(OrderOf(parameters.Choice("index"))),
        once_instructions_(static_cast<uint32_t>(parameters.Integer("once_instructions"))),
        iteration_instructions_(
            static_cast<uint32_t>(parameters.Integer("iteration_instructions") +
                                  parameters.Integer("dimension_instructions") * context.extra_dimensions)),
        hoisted_instructions_(static_cast<uint32_t>(parameters.Integer("hoisted_instructions"))),
        latency_(static_cast<Cycle>(parameters.Integer("next_block_latency"))),
        places_(context.sms) {}

  std::optional<WarpAssignment> NextWarp(Cycle first) override {
    if (!done() && first != launched_for_) Launch(first);
    if (due_.empty() || due_.begin()->first > first) return std::nullopt;
    const WarpAssignment assignment = due_.begin()->second;
    due_.erase(due_.begin());
    const uint32_t warp = assignment.hw_warp % context_.warps_per_block;
    places_[assignment.sm][assignment.hw_warp / context_.warps_per_block].running[warp] = true;
    return assignment;
  }

  Cycle NextFirst() const override {
    const Cycle next = launching_ && !done() ? launched_for_ + 1 : kNever;
    return due_.empty() ? next : std::min(next, due_.begin()->first);
  }

  void WarpEnded(uint32_t sm, uint32_t hw_warp, Cycle first) override {
    VirtualBlock& block = places_[sm][hw_warp / context_.warps_per_block];
    const uint32_t warp = hw_warp % context_.warps_per_block;
    block.ended.push_back({warp, first});
    // In the order in which they ended; one that goes on may be what another one has waited for.
    for (size_t i = 0; i < block.ended.size();) {
      if (GoOn(sm, hw_warp / context_.warps_per_block, block.ended[i], first)) {
        block.ended.erase(block.ended.begin() + static_cast<ptrdiff_t>(i));
        i = 0;
      } else {
        ++i;
      }
    }
  }

  bool done() const override { return next_ == context_.blocks; }
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum class Order : uint8_t { kSameLane, kSlowestLane, kLowestToHighestLane };
  struct Ended {
    uint32_t warp = 0;
    Cycle first = 0;  // when it could have gone on
  };
  struct VirtualBlock {
    uint64_t newest = 0;               // the highest iteration that a block has been taken for
    uint64_t block = 0;                // of the grid, of that iteration
    std::vector<uint32_t> order;       // of the block's warps, as they are handed out; empty with kSameLane
    uint32_t given = 0;                // of those
    std::vector<uint64_t> iteration;   // by warp
    std::vector<uint32_t> warp_index;  // by warp: which warp of its block it runs
    std::vector<bool> running;         // by warp: its iteration has begun
    std::vector<bool> gone;            // by warp: there was no block left for it
    std::vector<Ended> ended;          // warps that cannot go on yet, in the order in which they ended
  };

  static Order OrderOf(const std::string& name) {
    if (name == "same_lane") return Order::kSameLane;
    return name == "slowest_lane" ? Order::kSlowestLane : Order::kLowestToHighestLane;
  }

  // One virtual block per SM and cycle, SMs in turn, as whole blocks are dispatched.
  void Launch(Cycle first) {
    launched_for_ = first;
    launching_ = false;
    const uint32_t start = turn_;
    for (uint32_t i = 0; i < context_.sms && !done(); ++i) {
      const uint32_t sm = (start + i) % context_.sms;
      if (places_[sm].size() >= context_.blocks_per_sm) continue;
      launching_ = true;
      turn_ = (sm + 1) % context_.sms;
      VirtualBlock& block = places_[sm].emplace_back();
      block.block = next_++;
      block.iteration.assign(context_.warps_per_block, 0);
      block.running.assign(context_.warps_per_block, false);
      block.gone.assign(context_.warps_per_block, false);
      block.warp_index.resize(context_.warps_per_block);
      std::iota(block.warp_index.begin(), block.warp_index.end(), 0);
      ++counters_[kVirtualBlocks];
      for (uint32_t warp = 0; warp < context_.warps_per_block; ++warp) {
        Give(sm, static_cast<uint32_t>(places_[sm].size() - 1), warp, first,
             once_instructions_ + iteration_instructions_);
      }
    }
  }

  // The warp takes what comes next in its virtual block; false if it has to wait for its siblings.
  bool GoOn(uint32_t sm, uint32_t place, const Ended& ended, Cycle first) {
    VirtualBlock& block = places_[sm][place];
    const uint64_t iteration = block.iteration[ended.warp];
    for (uint32_t warp = 0; warp < context_.warps_per_block; ++warp) {
      if (!block.gone[warp] && block.iteration[warp] < iteration) return false;
    }
    if (first != ended.first) {
      ++counters_[kLimitWaits];
      counters_[kLimitCycles] += first - ended.first;
    }
    if (block.newest == iteration) {
      if (done()) {
        block.gone[ended.warp] = true;
        return true;
      }
      ++block.newest;
      block.block = next_++;
      block.given = 0;
      SetOrder(sm, place);
    }
    ++block.iteration[ended.warp];
    block.running[ended.warp] = false;
    if (order_ != Order::kSameLane) block.warp_index[ended.warp] = block.order[block.given];
    ++block.given;
    ++counters_[kIterations];
    // What has been computed in front of the loop is in the recording of every block. It makes up for instructions of
    // the wrapper; recorded ones are not left out.
    const uint32_t saved = std::min(hoisted_instructions_, iteration_instructions_);
    counters_[kHoisted] += saved;
    Give(sm, place, ended.warp, first + latency_, iteration_instructions_ - saved);
    return true;
  }

  // Section 4.2.2: the indices of the iteration that begins, in the order in which they are handed out.
  void SetOrder(uint32_t sm, uint32_t place) {
    VirtualBlock& block = places_[sm][place];
    if (order_ == Order::kSameLane) return;
    block.order.resize(context_.warps_per_block);
    std::iota(block.order.begin(), block.order.end(), 0);
    if (order_ == Order::kLowestToHighestLane) return;
    // By the progress in the iteration that ends, least first; ties go to the lower index (our choice).
    std::vector<uint64_t> progress(context_.warps_per_block);
    for (uint32_t warp = 0; warp < context_.warps_per_block; ++warp) {
      if (!block.running[warp]) continue;  // the hardware warp's count is that of its former warp
      progress[block.warp_index[warp]] = context_.instructions(sm, place * context_.warps_per_block + warp);
    }
    std::stable_sort(block.order.begin(), block.order.end(),
                     [&](uint32_t a, uint32_t b) { return progress[a] < progress[b]; });
  }

  void Give(uint32_t sm, uint32_t place, uint32_t warp, Cycle first, uint32_t instructions) {
    const VirtualBlock& block = places_[sm][place];
    WarpAssignment assignment;
    assignment.sm = sm;
    assignment.block = block.block;
    assignment.warp = block.warp_index[warp];
    assignment.hw_warp = place * context_.warps_per_block + warp;
    assignment.instructions = instructions;
    assignment.virtual_block = {place, block.iteration[warp]};
    due_.emplace(first, assignment);
  }

  const DispatchContext context_;
  const Order order_;
  const uint32_t once_instructions_;
  const uint32_t iteration_instructions_;
  const uint32_t hoisted_instructions_;
  const Cycle latency_;
  std::vector<std::vector<VirtualBlock>> places_;  // by SM
  std::multimap<Cycle, WarpAssignment> due_;       // by the cycle from which on they may issue
  uint64_t next_ = 0;                              // block of the grid
  uint32_t turn_ = 0;                              // SM to launch on first
  Cycle launched_for_ = kNever;
  bool launching_ = false;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_BLOCK_DISPATCHER(
    PolicyInfo{
        .name = "virtual_blocks",
        .summary = "Virtual thread blocks (VTW): a warp that ends goes on with the next block without its siblings",
        .source = "Anantpur and Govindarajan (VTW), section 4",
        .traits_by_parameters =
            [](const Parameters& parameters, PolicyTraits& traits) {
              traits.warp_dispatch = {.waits_for_siblings = true,
                                      .extra_registers = static_cast<uint32_t>(parameters.Integer("extra_registers"))};
            },
        .parameters =
            {{.name = "index",
              .type = ParameterType::kChoice,
              .default_value = "same_lane",
              .choices = {"same_lane", "slowest_lane", "lowest_to_highest_lane"},
              .description =
                  "which warp of the next block a warp takes: that of its own place; the index of the sibling "
                  "that has issued least; or the lowest that is left",
              .source = "section 4.2.2"},
             {.name = "extra_registers",
              .default_value = "4",
              .unit = "registers per thread",
              .minimum = 0,
              .maximum = 255,
              .description = "that the transformed kernel takes beyond the recorded one; they bound the residency",
              .source = "the mean of the ten kernels of table 7 is 3.6; heddle capture --virtual-blocks measures"},
             {.name = "once_instructions",
              .default_value = "6",
              .unit = "instructions",
              .minimum = 0,
              .maximum = 1000,
              .description = "of the wrapper, per warp: variables and first indices (block 2 of figure 2)",
              .source = "our estimate; heddle capture --virtual-blocks measures"},
             {.name = "iteration_instructions",
              .default_value = "4",
              .unit = "instructions",
              .minimum = 0,
              .maximum = 1000,
              .description =
                  "of the wrapper, per warp and iteration: next indices, comparison, branch (blocks 3 and 5)",
              .source = "our estimate; heddle capture --virtual-blocks measures"},
             {.name = "dimension_instructions",
              .default_value = "3",
              .unit = "instructions",
              .minimum = 0,
              .maximum = 1000,
              .description = "the same, more for every dimension of grid and block beyond the first",
              .source = "our estimate: a division, a product, a difference"},
             {.name = "hoisted_instructions",
              .default_value = "0",
              .unit = "instructions",
              .minimum = 0,
              .maximum = 1000,
              .description =
                  "of the kernel, per warp, that do not depend on the block and are executed in front of the "
                  "loop: in later iterations as many instructions of the wrapper are not issued",
              .source = "section 4.3.1; heddle capture --virtual-blocks measures"},
             {.name = "next_block_latency",
              .default_value = "20",
              .unit = "cycles",
              .minimum = 0,
              .maximum = 100000,
              .description = "from the end of a warp to its next iteration: the counter of the whole GPU answers",
              .source = "our estimate; the paper gives none"}},
        .counters = {{"virtual_blocks", "blocks", "virtual blocks that were launched"},
                     {"iterations", "warps", "times a warp went on with another block"},
                     {"iteration_limit_waits", "warps", "of those, after waiting for a sibling two iterations behind"},
                     {"iteration_limit_cycles", "cycles", "of warps in these waits"},
                     {"hoisted_instructions", "instructions",
                      "of the wrapper, not issued because as many of the recorded ones were in front of the loop"}},
    },
    [](const DispatchContext& context, const Parameters& parameters) {
      return std::make_unique<VirtualBlockDispatcher>(context, parameters);
    });

HEDDLE_POLICY_STORAGE(
    "dispatch", "virtual_blocks",
    PolicyStorage{.source = "Anantpur and Govindarajan (VTW), section 4.5: 44 bytes, and 48 more for slowest_lane",
                  .remark = "the counter of the last block is one for the whole GPU; the paper counts it with every SM",
                  .items = [](const StorageContext& context, const Parameters& parameters) {
                    std::vector<StorageItem> items = {
                        {"virtual to logical block", context.max_blocks, 32, "logical block"},
                        {"indices to assign", context.max_blocks, 8, "warps, per virtual block"},
                        {"last assigned block", 1, 32, "logical block"}};
                    if (parameters.Choice("index") == "slowest_lane") {
                      items.push_back({"warps by progress", context.warps(), 8, "sorted warps"});
                    } else if (parameters.Choice("index") == "lowest_to_highest_lane") {
                      items.push_back({"lowest unassigned warp", 1, 8, "warp"});
                    }
                    return items;
                  }});

}  // namespace
}  // namespace heddle::replay
