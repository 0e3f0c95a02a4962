#include "replay/policies/divergence/harp/harp_options.h"

namespace heddle::replay {

HarpOptions HarpOptionsOf(const DivergenceContext& context, const Parameters& parameters) {
  HarpOptions options;
  options.first_level = static_cast<int>(parameters.Integer("first_level"));
  options.second_level = static_cast<int>(parameters.Integer("second_level"));
  options.spill = parameters.Choice("second_level_overflow") == "spill";
  options.ready_lookup = static_cast<size_t>(parameters.Integer("ready_lookup"));
  options.waiting_lookup = static_cast<size_t>(parameters.Integer("waiting_lookup"));
  options.whole_warps = parameters.Choice("waiting_merge") == "warps";
  options.restamp = parameters.Choice("lookup_order") == "restamp";
  options.low_water = static_cast<int>(parameters.Integer("lookup_low_water"));
  options.count_first_level = parameters.Choice("low_water_counts") == "both" || options.first_level == 0;
  options.lookups_per_cycle = static_cast<int>(parameters.Integer("lookups_per_cycle"));
  options.one_port = parameters.Choice("second_level_port") == "one";
  options.lookup_delay = static_cast<Cycle>(parameters.Integer("lookup_delay"));
  options.barrier_delay = static_cast<Cycle>(parameters.Integer("barrier_delay"));
  options.first_level_delay = static_cast<Cycle>(parameters.Integer("first_level_delay"));
  options.barrier_latency = static_cast<Cycle>(parameters.Integer("barrier_latency"));
  ReconvergenceBarriers::Setup& barriers = options.barriers;
  barriers.entries = static_cast<uint32_t>(parameters.Integer("barrier_entries"));
  barriers.ways = static_cast<uint32_t>(parameters.Integer("barrier_ways"));
  barriers.match = parameters.Choice("barrier_match") == "event" ? ReconvergenceBarriers::Match::kEvent
                                                                 : ReconvergenceBarriers::Match::kPoint;
  barriers.per_warp = parameters.Choice("barriers") == "per_warp";
  barriers.warp_size = context.warp_size;
  barriers.max_threads = static_cast<uint32_t>(context.max_threads);
  barriers.instructions = context.program.instruction_count();
  return options;
}

}  // namespace heddle::replay
