#include "replay/memory/memory_result.h"

#include <string>

namespace heddle::replay {
namespace {

double Ratio(uint64_t numerator, uint64_t denominator) {
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}
double Percent(uint64_t part, uint64_t whole) { return 100 * Ratio(part, whole); }

void WriteFirstLevel(const FirstLevelCounters& counters, result::v1::CacheCounters& out) {
  WriteCache(counters.cache, counters.mshr_occupancy, out);
  out.set_read_requests(counters.requests[static_cast<int>(RequestKind::kRead)]);
  out.set_write_requests(counters.requests[static_cast<int>(RequestKind::kWrite)]);
  out.set_atomic_requests(counters.requests[static_cast<int>(RequestKind::kAtomic)]);
  out.set_request_bytes(counters.request_bytes);
}

// The bins that have something.
void WriteHistogram(const LatencyHistogram& latency,
                    google::protobuf::RepeatedPtrField<result::v1::LatencyCount>& out) {
  for (uint32_t bin = 0; bin < LatencyHistogram::kBins; ++bin) {
    if (latency.counts()[bin] == 0) continue;
    result::v1::LatencyCount& count = *out.Add();
    count.set_lowest_cycles(LatencyHistogram::LowestOf(bin));
    count.set_count(latency.counts()[bin]);
  }
}

}  // namespace

void WriteCache(const CacheCounters& counters, const std::vector<uint64_t>& mshr_occupancy,
                result::v1::CacheCounters& out) {
  out.set_accesses(counters.accesses);
  out.set_hits(counters.hits);
  out.set_pending_hits(counters.pending_hits);
  out.set_misses(counters.misses);
  out.set_evictions(counters.evictions);
  out.set_write_backs(counters.write_backs);
  out.set_wait_way(counters.reservation_fails[static_cast<int>(ReservationFail::kWay)]);
  out.set_wait_mshr(counters.reservation_fails[static_cast<int>(ReservationFail::kMshr)]);
  out.set_wait_merge(counters.reservation_fails[static_cast<int>(ReservationFail::kMerge)]);
  out.set_wait_queue(counters.reservation_fails[static_cast<int>(ReservationFail::kMissQueue)]);
  for (const uint64_t cycles : mshr_occupancy) out.add_mshr_occupancy(cycles);
  if (counters.accesses == 0) return;
  out.set_miss_rate(Percent(counters.misses, counters.accesses));
  out.set_miss_rate_with_pending_hits(Percent(counters.misses + counters.pending_hits, counters.accesses));
}

void WriteSmCounters(const SmMemoryCounters& counters, const machine::v1::Hierarchy& hierarchy,
                     result::v1::LaunchResult& result) {
  const auto level = [&](FirstLevel first_level) -> const FirstLevelCounters& {
    return counters.level[static_cast<int>(first_level)];
  };
  // Without a data cache the counters of its place still hold the requests.
  WriteFirstLevel(level(FirstLevel::kData), *result.mutable_l1_data());
  if (hierarchy.l1_texture().sets() != 0) WriteFirstLevel(level(FirstLevel::kTexture), *result.mutable_l1_texture());
  if (hierarchy.l1_constant().sets() != 0) {
    WriteFirstLevel(level(FirstLevel::kConstant), *result.mutable_l1_constant());
  }
  if (hierarchy.l1_instruction().sets() != 0) {
    WriteFirstLevel(level(FirstLevel::kInstruction), *result.mutable_l1_instruction());
  }
  result::v1::MemoryInstructions& out = *result.mutable_memory_instructions();
  out.set_data_loads(counters.data_loads);
  out.set_data_stores(counters.data_stores);
  out.set_data_atomics(counters.data_atomics);
  for (int bits = 0; bits < kTransactionSizes; ++bits) {
    if (counters.transactions[bits] == 0) continue;
    result::v1::SizeCount& size = *out.add_transactions();
    size.set_bytes(uint64_t{1} << bits);
    size.set_count(counters.transactions[bits]);
  }
  out.set_data_conflict_cycles(counters.data_conflict_cycles);
  out.set_shared_accesses(counters.shared_accesses);
  out.set_shared_parts(counters.shared_parts);
  out.set_shared_passes(counters.shared_passes);
  out.set_return_stall_cycles(counters.return_stall_cycles);
  const LatencyHistogram& latency = counters.load_to_use;
  WriteHistogram(latency, *out.mutable_load_to_use());
  out.set_load_to_use_sum(latency.sum());
  if (counters.policy.policies != 0) {
    result::v1::MemoryPolicyCounters& policy = *result.mutable_memory_policy();
    policy.set_past_misses(counters.policy.past_misses);
    policy.set_prefetches(counters.policy.prefetches);
    policy.set_prefetches_not_needed(counters.policy.prefetches_not_needed);
  }
  if (latency.count() != 0) out.set_load_to_use_mean(Ratio(latency.sum(), latency.count()));
}

void WriteNetwork(const CrossbarCounters& counters, uint64_t cycles, uint64_t inputs, uint64_t outputs, uint64_t bytes,
                  result::v1::NetworkCounters& out) {
  out.set_cycles(cycles);
  out.set_inputs(inputs);
  out.set_outputs(outputs);
  out.set_messages(counters.messages);
  out.set_flits(counters.flits);
  out.set_bytes(bytes);
  out.set_buffer_requests(counters.buffer_requests);
  out.set_input_wait(counters.input_wait);
  out.set_latency_sum(counters.latency);
  out.set_blocked_outputs(counters.blocked_outputs);
  for (size_t bits = 0; bits < counters.latency_histogram.size(); ++bits) {
    if (counters.latency_histogram[bits] == 0) continue;
    result::v1::LatencyCount& count = *out.add_latency();
    count.set_lowest_cycles(uint64_t{1} << bits);
    count.set_count(counters.latency_histogram[bits]);
  }
  if (counters.buffer_requests != 0) out.set_grant_rate(Percent(counters.flits, counters.buffer_requests));
  if (counters.messages != 0) out.set_mean_latency(Ratio(counters.latency, counters.messages));
}

void WriteL2(const L2SliceCounters& slices, uint64_t count, uint64_t cycles, const CacheCounters& cache,
             const std::vector<uint64_t>& mshr_occupancy, uint64_t line_bytes, result::v1::L2Counters& out) {
  if (!mshr_occupancy.empty()) {
    WriteCache(cache, mshr_occupancy, *out.mutable_cache());
    out.mutable_cache()->set_read_requests(slices.fetches);
    out.mutable_cache()->set_write_requests(slices.write_backs);
    out.mutable_cache()->set_request_bytes((slices.fetches + slices.write_backs) * line_bytes);
  }
  out.set_cycles(cycles);
  out.set_slices(count);
  out.set_reads(slices.reads);
  out.set_read_misses(slices.read_misses);
  out.set_writes(slices.writes);
  out.set_atomics(slices.atomics);
  out.set_atomic_passes(slices.atomic_passes);
  out.set_atomic_wait(slices.atomic_wait);
  out.set_output_wait(slices.output_wait);
  out.set_network_wait(slices.network_wait);
  out.set_dram_queue_wait(slices.dram_queue_wait);
}

void WriteDram(const DramCounters& counters, uint64_t cycles, uint64_t controllers, result::v1::DramCounters& out) {
  out.set_cycles(cycles);
  out.set_controllers(controllers);
  out.set_read_requests(counters.read_requests);
  out.set_write_requests(counters.write_requests);
  out.set_row_hits(counters.row_hits);
  out.set_activates(counters.activates);
  out.set_precharges(counters.precharges);
  out.set_reads(counters.reads);
  out.set_writes(counters.writes);
  out.set_bus_busy(counters.bus_busy);
  out.set_queue_length_sum(counters.queue_length);
  out.set_active_cycles(counters.active_cycles);
  out.set_active_banks_sum(counters.active_banks);
  out.set_read_latency_sum(counters.read_latency.sum());
  WriteHistogram(counters.read_latency, *out.mutable_read_latency());
  out.set_starvation_caps(counters.starvation_caps);
  for (int i = 0; i < kDramConstraints; ++i) {
    (*out.mutable_blocked())[std::string(NameOf(static_cast<DramConstraint>(i)))] = counters.blocked[i];
  }
  const uint64_t requests = counters.read_requests + counters.write_requests;
  if (cycles != 0) out.set_bandwidth_utilisation(Percent(counters.bus_busy, cycles * controllers));
  if (requests != 0) out.set_row_hit_rate(Percent(counters.row_hits, requests));
  if (counters.active_cycles != 0) out.set_bank_parallelism(Ratio(counters.active_banks, counters.active_cycles));
}

}  // namespace heddle::replay
