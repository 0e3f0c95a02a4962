#include "tests/conformance/small_hierarchy.h"

#include <algorithm>

#include "tests/random/random.h"
#include "tests/replay/memory/back_end_driver.h"

namespace heddle::replay {
namespace {

using machine::v1::Cache;
using machine::v1::Hierarchy;
using machine::v1::Network;

void MakeCache(Random& random, uint32_t line_bytes, Cache& cache) {
  cache.Clear();
  cache.set_sets(random.OneOf({1u, 1u, 2u}));
  cache.set_line_bytes(line_bytes);
  cache.set_ways(random.OneOf({1u, 1u, 2u}));
  cache.set_mshrs(random.OneOf({1u, 1u, 2u, 4u}));
  cache.set_mshr_merges(random.OneOf({1u, 1u, 2u, 8u}));
  cache.set_miss_queue(1);
  cache.set_hit_cycles(random.OneOf({1u, 1u, 3u}));
  cache.set_banks(1);
  cache.set_allocate(random.OneOf({Cache::ON_MISS, Cache::ON_FILL}));
  cache.set_pending_hits(random.OneOf({Cache::JOIN_MSHR, Cache::OWN_MSHR, Cache::OWN_REQUEST}));
}

void MakeFirstLevels(Random& random, uint32_t warp_size, Hierarchy& memory) {
  memory.set_coalescing(random.OneOf({Hierarchy::COALESCING_OFF, Hierarchy::COMPUTE_13, Hierarchy::COMPUTE_20}));
  memory.mutable_shared()->set_banks(random.OneOf({1u, 4u, 32u}));
  memory.mutable_shared()->set_parts(1);
  memory.mutable_shared()->set_latency(random.OneOf({1u, 8u}));
  memory.set_returns_per_cycle(random.OneOf({0u, 1u, 1u, 2u}));
  Cache& data = *memory.mutable_l1_data();
  MakeCache(random, random.OneOf({32u, 128u}), data);
  data.set_banks(random.OneOf({1u, 1u, 4u}));
  data.set_global_write(random.OneOf({Cache::WRITE_EVICT, Cache::WRITE_UPDATE, Cache::WRITE_BACK}));
  data.set_local_write(random.OneOf({Cache::READ_ONLY, Cache::WRITE_EVICT, Cache::WRITE_BACK}));
  const bool writes_back = data.global_write() == Cache::WRITE_BACK || data.local_write() == Cache::WRITE_BACK;
  if (writes_back) data.set_miss_queue(2);
  if (random.Chance(15)) data.set_sets(0);
  MakeCache(random, random.OneOf({32u, 128u}), *memory.mutable_l1_texture());
  MakeCache(random, 64, *memory.mutable_l1_constant());
  MakeCache(random, random.OneOf({32u, 64u, 128u}), *memory.mutable_l1_instruction());
  if (random.Chance(15)) {
    memory.set_all_misses_or_none(true);
    memory.set_coalescing(Hierarchy::COALESCING_OFF);
    data.set_sets(1);
    data.set_allocate(Cache::ON_FILL);
    data.set_mshrs(warp_size);
    data.set_miss_queue(2 * warp_size);
  }
}

void MakeNetwork(Random& random, uint32_t sms, Hierarchy& memory) {
  Network& network = *memory.mutable_network();
  network.set_sms_per_port(static_cast<uint32_t>(random.In(1, sms)));
  network.set_flit_bytes(random.OneOf({16u, 32u, 256u}));
  const uint32_t flits = (network.header_bytes() + 128 + network.flit_bytes() - 1) / network.flit_bytes();
  network.set_input_buffer_flits(flits + static_cast<uint32_t>(random.Below(2)));
  network.set_output_buffer_flits(flits + static_cast<uint32_t>(random.Below(2)));
  network.set_input_speedup(static_cast<uint32_t>(random.In(1, 2)));
  network.set_allocator(random.OneOf({Network::PIM, Network::ISLIP}));
  network.set_iterations(static_cast<uint32_t>(random.In(1, 2)));
  network.set_fifo_inputs(random.Chance(30));
  network.set_seed(random.Below(1000));
}

void MakePartitions(Random& random, Hierarchy& memory) {
  machine::v1::L2& l2 = *memory.mutable_l2();
  l2.set_slices_per_controller(random.OneOf({0u, 1u, 1u, 2u}));
  Cache& cache = *l2.mutable_cache();
  MakeCache(random, 128, cache);
  cache.clear_pending_hits();
  cache.set_global_write(Cache::WRITE_BACK);
  l2.set_rop_cycles(random.OneOf({0u, 1u, 30u}));
  l2.set_dram_pipe_cycles(random.OneOf({0u, 1u, 30u}));
  l2.set_input_queue(1);
  l2.set_output_queue(static_cast<uint32_t>(random.In(1, 2)));
  l2.set_dram_queue(2);
  machine::v1::Dram& dram = *memory.mutable_dram();
  dram.set_controllers(static_cast<uint32_t>(random.In(1, 3)));
  dram.set_scheduler(random.OneOf({machine::v1::Dram::FR_FCFS, machine::v1::Dram::FIFO}));
  dram.set_queue(random.OneOf({0u, 1u, 2u}));
}

}  // namespace

void SetSmallHierarchy(uint64_t seed, machine::v1::Machine& machine) {
  Random random(MixAll({seed, 97}));
  // What goes with fixed latencies only.
  machine.mutable_core()->clear_scripted_latency();
  machine.mutable_core()->set_pipeline_depth(std::max(machine.core().pipeline_depth(), 3u));
  *machine.mutable_memory() = BackEndMachine().memory();
  Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  MakeFirstLevels(random, machine.core().warp_size(), memory);
  MakeNetwork(random, machine.sms(), memory);
  MakePartitions(random, memory);
  if (random.Chance(10)) memory.set_ideal_beyond_l1_cycles(static_cast<uint32_t>(random.In(1, 100)));
  if (random.Chance(20)) memory.set_jitter_cycles(static_cast<uint32_t>(random.In(1, 20)));
  if (random.Chance(50)) return;
  for (const auto set : {&machine::v1::Clocks::set_core_mhz, &machine::v1::Clocks::set_network_mhz,
                         &machine::v1::Clocks::set_l2_mhz, &machine::v1::Clocks::set_dram_mhz}) {
    (machine.mutable_clocks()->*set)(100 * static_cast<uint32_t>(random.In(1, 8)));
  }
}

RandomCase MakeCacheCase(uint64_t seed) {
  RandomCase random_case = seed % 2 == 0 ? MakeRandomCase(seed) : MakeBufferCase(seed);
  SetSmallHierarchy(seed, random_case.machine);
  machine::v1::Cache& data = *random_case.machine.mutable_memory()->mutable_hierarchy()->mutable_l1_data();
  data.set_sets(std::max(data.sets(), 1u));
  // Prefetches leave an MSHR and a place in the queue.
  if (seed % 4 < 2) data.set_mshrs(std::max(data.mshrs(), 4u));
  if (seed % 4 < 2) data.set_miss_queue(std::max(data.miss_queue(), 4u));
  return random_case;
}

}  // namespace heddle::replay
