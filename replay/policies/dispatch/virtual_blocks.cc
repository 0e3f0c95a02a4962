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

#include "replay/policies/dispatch/shared/cluster_places.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

// As many virtual blocks as fit are launched once, and keep their place on the SM to the end. A warp that has run its
// block's code takes a warp of the next block, without its siblings; the first of them to get there takes the block's
// number from a counter of the whole GPU (section 4.2.1), and the others follow into the same block. No warp begins an
// iteration while another of its virtual block is two behind it. With clusters of several blocks this holds for virtual
// clusters, whose virtual blocks take the blocks of one cluster after the other.
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
        cluster_places_(context),
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
    const Place place{sm, hw_warp / context_.warps_per_block};
    VirtualCluster& cluster = clusters_[BlockAt(place).cluster];
    cluster.ended.push_back({place, hw_warp % context_.warps_per_block, first});
    // In the order in which they ended; one that goes on may be what another one has waited for.
    for (size_t i = 0; i < cluster.ended.size();) {
      if (GoOn(cluster, cluster.ended[i], first)) {
        cluster.ended.erase(cluster.ended.begin() + static_cast<ptrdiff_t>(i));
        i = 0;
      } else {
        ++i;
      }
    }
  }

  bool done() const override { return next_ == context_.blocks; }
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kVirtualBlocks, kIterations, kLimitWaits, kLimitCycles, kHoisted, kCounters };

  enum class Order : uint8_t { kSameLane, kSlowestLane, kLowestToHighestLane };
  struct Place {
    uint32_t sm = 0;
    uint32_t number = 0;  // of the virtual block on the SM
  };
  struct Ended {
    Place place;
    uint32_t warp = 0;
    Cycle first = 0;  // when it could have gone on
  };
  struct VirtualCluster {
    uint64_t newest = 0;         // the highest iteration that a cluster has been taken for
    uint64_t first_block = 0;    // of that cluster
    std::vector<Place> members;  // by rank
    std::vector<Ended> ended;    // warps that cannot go on yet, in the order in which they ended
  };
  struct VirtualBlock {
    size_t cluster = 0;                // virtual
    uint32_t rank = 0;                 // there
    uint64_t newest = 0;               // the highest iteration that a warp has begun
    uint64_t block = 0;                // of the grid, of that iteration
    std::vector<uint32_t> order;       // of the block's warps, as they are handed out; empty with kSameLane
    uint32_t given = 0;                // of those
    std::vector<uint64_t> iteration;   // by warp
    std::vector<uint32_t> warp_index;  // by warp: which warp of its block it runs
    std::vector<bool> running;         // by warp: its iteration has begun
    std::vector<bool> gone;            // by warp: there was no block left for it
  };

  static Order OrderOf(const std::string& name) {
    if (name == "same_lane") return Order::kSameLane;
    return name == "slowest_lane" ? Order::kSlowestLane : Order::kLowestToHighestLane;
  }

  VirtualBlock& BlockAt(const Place& place) { return places_[place.sm][place.number]; }

  // Virtual blocks of one cluster per SM and cycle, SMs in turn, as whole blocks are dispatched.
  void Launch(Cycle first) {
    launched_for_ = first;
    launching_ = false;
    std::vector<bool> taken(context_.sms);
    while (!done()) {
      const std::span<const uint32_t> sms = cluster_places_.Next([&](uint32_t sm) {
        return taken[sm] ? 0u : context_.blocks_per_sm - static_cast<uint32_t>(places_[sm].size());
      });
      if (sms.empty()) return;
      launching_ = true;
      clusters_.emplace_back().first_block = next_;
      for (const uint32_t sm : sms) {
        taken[sm] = true;
        LaunchBlock(sm, first);
      }
    }
  }

  // The next block of the grid becomes the next member of the newest virtual cluster.
  void LaunchBlock(uint32_t sm, Cycle first) {
    VirtualCluster& cluster = clusters_.back();
    VirtualBlock& block = places_[sm].emplace_back();
    const auto number = static_cast<uint32_t>(places_[sm].size() - 1);
    block.cluster = clusters_.size() - 1;
    block.rank = static_cast<uint32_t>(cluster.members.size());
    cluster.members.push_back({sm, number});
    block.block = next_++;
    block.iteration.assign(context_.warps_per_block, 0);
    block.running.assign(context_.warps_per_block, false);
    block.gone.assign(context_.warps_per_block, false);
    block.warp_index.resize(context_.warps_per_block);
    std::iota(block.warp_index.begin(), block.warp_index.end(), 0);
    ++counters_[kVirtualBlocks];
    for (uint32_t warp = 0; warp < context_.warps_per_block; ++warp) {
      Give({sm, number}, warp, first, once_instructions_ + iteration_instructions_);
    }
  }

  // The warp takes what comes next in its virtual block; false if it has to wait for its siblings.
  bool GoOn(VirtualCluster& cluster, const Ended& ended, Cycle first) {
    VirtualBlock& block = BlockAt(ended.place);
    const uint64_t iteration = block.iteration[ended.warp];
    for (const Place& member : cluster.members) {
      const VirtualBlock& other = BlockAt(member);
      for (uint32_t warp = 0; warp < context_.warps_per_block; ++warp) {
        if (!other.gone[warp] && other.iteration[warp] < iteration) return false;
      }
    }
    if (first != ended.first) {
      ++counters_[kLimitWaits];
      counters_[kLimitCycles] += first - ended.first;
    }
    if (cluster.newest == iteration) {
      if (done()) {
        block.gone[ended.warp] = true;
        return true;
      }
      ++cluster.newest;
      cluster.first_block = next_;
      next_ += context_.cluster_blocks;
    }
    if (block.newest == iteration) {
      ++block.newest;
      block.block = cluster.first_block + block.rank;
      block.given = 0;
      SetOrder(ended.place);
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
    Give(ended.place, ended.warp, first + latency_, iteration_instructions_ - saved);
    return true;
  }

  // Section 4.2.2: the indices of the iteration that begins, in the order in which they are handed out.
  void SetOrder(const Place& place) {
    VirtualBlock& block = BlockAt(place);
    if (order_ == Order::kSameLane) return;
    block.order.resize(context_.warps_per_block);
    std::iota(block.order.begin(), block.order.end(), 0);
    if (order_ == Order::kLowestToHighestLane) return;
    // By the progress in the iteration that ends, least first; ties go to the lower index (our choice).
    std::vector<uint64_t> progress(context_.warps_per_block);
    for (uint32_t warp = 0; warp < context_.warps_per_block; ++warp) {
      if (!block.running[warp]) continue;  // the hardware warp's count is that of its former warp
      progress[block.warp_index[warp]] =
          context_.instructions(place.sm, place.number * context_.warps_per_block + warp);
    }
    std::stable_sort(block.order.begin(), block.order.end(),
                     [&](uint32_t a, uint32_t b) { return progress[a] < progress[b]; });
  }

  void Give(const Place& place, uint32_t warp, Cycle first, uint32_t instructions) {
    const VirtualBlock& block = BlockAt(place);
    WarpAssignment assignment;
    assignment.sm = place.sm;
    assignment.block = block.block;
    assignment.warp = block.warp_index[warp];
    assignment.hw_warp = place.number * context_.warps_per_block + warp;
    assignment.instructions = instructions;
    assignment.virtual_block = {place.number, block.iteration[warp]};
    due_.emplace(first, assignment);
  }

  const DispatchContext context_;
  const Order order_;
  const uint32_t once_instructions_;
  const uint32_t iteration_instructions_;
  const uint32_t hoisted_instructions_;
  const Cycle latency_;
  ClusterPlaces cluster_places_;
  std::vector<VirtualCluster> clusters_;
  std::vector<std::vector<VirtualBlock>> places_;  // by SM
  std::multimap<Cycle, WarpAssignment> due_;       // by the cycle from which on they may issue
  uint64_t next_ = 0;                              // block of the grid
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
