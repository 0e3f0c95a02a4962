// The counters of network, L2 and DRAM in a result.
#include <vector>

#include "replay/memory/memory_result.h"
#include "replay/memory/partitioned_back_end.h"

namespace heddle::replay {

void PartitionedBackEnd::WriteResult(result::v1::LaunchResult& result) {
  ClockDomains& clocks = time_->clocks;
  const uint64_t ports = reply_taken_.size();
  const PortCounters& sent = port_counters_;
  WriteNetwork(
      parts_->up.counters(), clocks.Soonest(Domain::kNetwork), ports, map_.slices(),
      sent.reads * control_bytes_ + (sent.writes + sent.atomics) * header_bytes_ + sent.write_bytes + sent.atomic_bytes,
      *result.mutable_network_to_memory());
  WriteNetwork(
      parts_->down.counters(), clocks.Soonest(Domain::kNetwork), map_.slices(), ports,
      sent.writes * control_bytes_ + (sent.reads + sent.atomics) * header_bytes_ + sent.read_bytes + sent.atomic_bytes,
      *result.mutable_network_to_sms());

  const Edge l2_cycles = clocks.Soonest(Domain::kL2);
  L2SliceCounters slices;
  CacheCounters cache;
  std::vector<uint64_t> occupancy;
  for (const L2Slice& slice : parts_->slices) {
    slices.Add(slice.counters());
    if (!slice.has_cache()) continue;
    cache.Add(slice.cache()->counters());
    const std::vector<uint64_t> one = slice.cache()->mshrs().Occupancy(l2_cycles);
    occupancy.resize(one.size());
    for (size_t used = 0; used < one.size(); ++used) occupancy[used] += one[used];
  }
  WriteL2(slices, map_.slices(), l2_cycles, cache, occupancy, machine_.memory().hierarchy().l2().cache().line_bytes(),
          *result.mutable_l2());

  DramCounters dram;
  for (const DramController& controller : parts_->controllers) dram.Add(controller.counters());
  WriteDram(dram, clocks.Soonest(Domain::kDram), map_.controllers(), *result.mutable_dram());
}

void PartitionedBackEnd::AddSample(MemorySample& out) const {
  for (const L2Slice& slice : parts_->slices) {
    if (!slice.has_cache()) continue;
    out.l2_accesses += slice.cache()->counters().accesses;
    out.l2_misses += slice.cache()->counters().misses;
  }
  for (const DramController& controller : parts_->controllers) {
    const DramCounters& counters = controller.counters();
    out.dram_requests += counters.read_requests + counters.write_requests;
    out.dram_bus_busy += counters.bus_busy;
  }
}

}  // namespace heddle::replay
