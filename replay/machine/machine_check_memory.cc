#include "replay/machine/machine_check_memory.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "replay/machine/check_range.h"
#include "replay/memory/address_map.h"
#include "replay/memory/dram/dram_timing.h"
#include "replay/memory/network/crossbar.h"
#include "replay/memory/ports/clock_domains.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

using machine::v1::Cache;
using machine::v1::Dram;
using machine::v1::Hierarchy;
using machine::v1::Network;

// Bounds that keep state and times in hand; no real machine comes near.
constexpr uint64_t kMaxQueue = 4096;
constexpr uint64_t kMaxSets = 1u << 16;
constexpr uint64_t kMaxWays = 1024;
constexpr uint64_t kMaxLineBytes = 256;
constexpr uint64_t kMaxPorts = 1024;
constexpr uint64_t kMaxBytes = 1u << 16;
// Of one level of caches over the whole machine: lines (24 bytes of the host each). As with kMaxWaiters each number may
// be in its range and their product still exhaust the host's memory.
constexpr uint64_t kMaxLines = 1u << 24;

// The largest access of a warp to one place after coalescing, where there is no cache line that bounds it.
constexpr uint64_t kMaxSegmentBytes = 128;

const std::string kHierarchy = "memory.hierarchy";

// Collects checks of a message; the first that fails counts.
class Checks {
 public:
  explicit Checks(std::string path) : path_(std::move(path)) {}
  std::string Path(const std::string& field) const { return absl::StrCat(path_, ".", field); }
  void Range(const std::string& field, uint64_t value, uint64_t low, uint64_t high, const std::string& reason = "") {
    Add(CheckRange(Path(field), value, low, high, reason));
  }
  void PowerOfTwo(const std::string& field, uint64_t value, uint64_t low, uint64_t high) {
    Add(CheckPowerOfTwo(Path(field), value, low, high));
  }
  // Latencies of at least one cycle: a hand-over takes until the next cycle.
  void Latency(const std::string& field, uint64_t value) {
    Range(field, value, 1, kMaxLatency, "a result cannot be there in the cycle that asks for it");
  }
  void Refuse(const std::string& field, uint64_t value, const std::string& rule) {
    Add(replay::Refuse(Path(field), value, rule));
  }
  void Add(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  const absl::Status& status() const { return status_; }

 private:
  std::string path_;
  absl::Status status_;
};

absl::Status CheckFixed(const machine::v1::Machine& machine) {
  const uint64_t issue = (machine.core().warp_size() + machine.core().simd_width() - 1) / machine.core().simd_width();
  const machine::v1::FixedLatency& fixed = machine.memory().fixed();
  Checks checks("memory.fixed");
  const auto latency = [&](const char* field, uint64_t cycles) {
    checks.Range(field, cycles, issue, kMaxLatency,
                 "at least ceil(core.warp_size / core.simd_width), the cycles a warp takes to issue");
  };
  latency("global_cycles", fixed.global_cycles());
  latency("shared_cycles", fixed.shared_cycles());
  latency("local_cycles", fixed.local_cycles());
  latency("constant_cycles", fixed.constant_cycles());
  latency("param_cycles", fixed.param_cycles());
  latency("texture_cycles", fixed.texture_cycles());
  latency("atomic_cycles", fixed.atomic_cycles());
  return checks.status();
}

// Whether the host can hold a level of `copies` caches.
absl::Status CheckStorage(const std::string& path, const Cache& cache, uint64_t copies) {
  const auto check = [&](const char* fields, uint64_t product, const char* what, uint64_t bound) {
    if (product * copies <= bound) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", fields, " make ", product * copies, " ", what,
                                                   " in the ", copies, " caches of this kind: must be at most ", bound,
                                                   ", so that the simulation fits into memory"));
  };
  HEDDLE_RETURN_IF_ERROR(check("sets x ways", uint64_t{cache.sets()} * cache.ways(), "lines", kMaxLines));
  return check("mshrs x mshr_merges", uint64_t{cache.mshrs()} * cache.mshr_merges(), "accesses that may wait",
               kMaxWaiters);
}

// A cache with `sets` > 0, of which the machine has `copies`. `writes`: it sees stores.
// The L2 has its miss queue apart.
absl::Status CheckCache(const std::string& path, const Cache& cache, uint64_t copies, bool writes,
                        bool own_queue = true) {
  Checks checks(path);
  checks.PowerOfTwo("sets", cache.sets(), 1, kMaxSets);
  checks.PowerOfTwo("line_bytes", cache.line_bytes(), 32, kMaxLineBytes);
  checks.Range("ways", cache.ways(), 1, kMaxWays);
  checks.Range("mshrs", cache.mshrs(), 1, kMaxQueue);
  checks.Range("mshr_merges", cache.mshr_merges(), 1, kMaxQueue, "the access that missed included");
  // A miss may read one line and write another back, and an atomic first writes its own line back.
  const bool writes_back = cache.global_write() == Cache::WRITE_BACK || cache.local_write() == Cache::WRITE_BACK;
  if (own_queue && writes_back) {
    checks.Range("miss_queue", cache.miss_queue(), 2, kMaxQueue, "a request and a line that is written back");
  } else {
    checks.Range("miss_queue", cache.miss_queue(), own_queue ? 1 : 0, kMaxQueue);
  }
  checks.Latency("hit_cycles", cache.hit_cycles());
  checks.PowerOfTwo("banks", cache.banks(), 1, kMaxSets);
  if (!Cache::Allocate_IsValid(cache.allocate())) checks.Refuse("allocate", cache.allocate(), "ON_MISS or ON_FILL");
  if (!Cache::PendingHits_IsValid(cache.pending_hits()) || (!own_queue && cache.pending_hits() != Cache::JOIN_MSHR)) {
    checks.Refuse("pending_hits", cache.pending_hits(),
                  own_queue ? "JOIN_MSHR, OWN_MSHR or OWN_REQUEST" : "JOIN_MSHR: a slice of the L2 merges");
  }
  if (!Cache::Write_IsValid(cache.global_write()) || writes != (cache.global_write() != Cache::READ_ONLY)) {
    checks.Refuse("global_write", cache.global_write(),
                  writes ? "WRITE_EVICT, WRITE_UPDATE or WRITE_BACK" : "READ_ONLY: this cache sees no stores");
  }
  if (!Cache::Write_IsValid(cache.local_write()) || (!writes && cache.local_write() != Cache::READ_ONLY)) {
    checks.Refuse(
        "local_write", cache.local_write(),
        writes ? "a write policy, or READ_ONLY for that of global_write" : "READ_ONLY: this cache sees no stores");
  }
  checks.Add(CheckStorage(path, cache, copies));
  return checks.status();
}

// Every split must leave the L1 a way, and hold the block with the most shared memory.
absl::Status CheckL1Split(const machine::v1::Machine& machine) {
  const Hierarchy& hierarchy = machine.memory().hierarchy();
  if (!SplitsL1(hierarchy)) return absl::OkStatus();
  const machine::v1::L1Split& split = hierarchy.l1_split();
  Checks checks(absl::StrCat(kHierarchy, ".l1_split"));
  const Cache& cache = hierarchy.l1_data();
  const uint64_t way_bytes = uint64_t{cache.sets()} * cache.line_bytes();
  if (split.shared_bytes().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(checks.Path("shared_bytes"), ": must have at least one size of shared memory"));
  }
  uint64_t least = 0;
  std::string last;
  for (int i = 0; i < split.shared_bytes_size(); ++i) {
    last = absl::StrCat("shared_bytes[", i, "]");
    checks.Range(last, split.shared_bytes(i), least, kMaxSharedBytes, "sizes in ascending order");
    least = uint64_t{split.shared_bytes(i)} + 1;
  }
  const uint64_t most = *split.shared_bytes().rbegin();
  checks.Range(last, most, machine.core().shared_memory_bytes(), kMaxSharedBytes,
               "the largest holds core.shared_memory_bytes");
  checks.Range("bytes", split.bytes(), most + way_bytes, uint64_t{2} * kMaxSharedBytes,
               "a way of l1_data beside the largest shared memory");
  return checks.status();
}

absl::Status CheckFirstLevels(const machine::v1::Machine& machine) {
  const Hierarchy& hierarchy = machine.memory().hierarchy();
  Checks checks(kHierarchy);
  if (!Hierarchy::Coalescing_IsValid(hierarchy.coalescing())) {
    checks.Refuse("coalescing", hierarchy.coalescing(), "COALESCING_OFF, COMPUTE_13 or COMPUTE_20");
  }
  checks.Range("shared.banks", hierarchy.shared().banks(), 1, 1024);
  checks.Range("shared.parts", hierarchy.shared().parts(), 1, machine.core().warp_size(), "parts of a warp");
  checks.Latency("shared.latency", hierarchy.shared().latency());
  checks.Range("shared.atomic_cycles", hierarchy.shared().atomic_cycles(), 0, kMaxLatency);
  checks.Range("atomic_cycles", hierarchy.atomic_cycles(), 0, kMaxLatency);
  if (hierarchy.l1_data().sets() != 0) {
    checks.Add(CheckCache(checks.Path("l1_data"), hierarchy.l1_data(), machine.sms(), true));
  }
  if (hierarchy.l1_texture().sets() != 0) {
    checks.Add(CheckCache(checks.Path("l1_texture"), hierarchy.l1_texture(), machine.sms(), false));
  }
  if (hierarchy.l1_constant().sets() != 0) {
    checks.Add(CheckCache(checks.Path("l1_constant"), hierarchy.l1_constant(), machine.sms(), false));
  }
  if (hierarchy.l1_instruction().sets() != 0) {
    checks.Add(CheckCache(checks.Path("l1_instruction"), hierarchy.l1_instruction(), machine.sms(), false));
  }
  // What always hits, or goes past a cache that is not there, still takes its time and waits in its queue.
  const std::pair<const char*, const Cache&> levels[] = {{"l1_data", hierarchy.l1_data()},
                                                         {"l1_texture", hierarchy.l1_texture()},
                                                         {"l1_constant", hierarchy.l1_constant()},
                                                         {"l1_instruction", hierarchy.l1_instruction()}};
  for (const auto& [name, cache] : levels) {
    checks.Range(absl::StrCat(name, ".hit_cycles"), cache.hit_cycles(), 0, kMaxLatency);
    checks.Range(absl::StrCat(name, ".miss_queue"), cache.miss_queue(), 0, kMaxQueue);
  }
  if (hierarchy.all_misses_or_none()) {
    if (hierarchy.coalescing() != Hierarchy::COALESCING_OFF) {
      checks.Refuse("coalescing", hierarchy.coalescing(), "COALESCING_OFF with all_misses_or_none");
    }
    // A warp whose misses can never enter together would wait for ever.
    const std::string reason = "all_misses_or_none: every thread of a warp may miss";
    const Cache& data = hierarchy.l1_data();
    if (data.sets() == 0) checks.Refuse("l1_data.sets", 0, "at least 1 with all_misses_or_none");
    if (data.allocate() != Cache::ON_FILL) {
      checks.Refuse("l1_data.allocate", data.allocate(),
                    "ON_FILL with all_misses_or_none: the lines of a warp may need more ways than there are");
    }
    const uint64_t per_thread = machine.core().warp_size();
    checks.Range("l1_data.mshrs", data.mshrs(), per_thread, kMaxQueue, reason);
    const bool writes_back = data.global_write() == Cache::WRITE_BACK || data.local_write() == Cache::WRITE_BACK;
    checks.Range("l1_data.miss_queue", data.miss_queue(), writes_back ? 2 * per_thread : per_thread, kMaxQueue,
                 writes_back ? reason + ", and write a line back" : reason);
  }
  checks.Range("ideal_beyond_l1_cycles", hierarchy.ideal_beyond_l1_cycles(), 0, kMaxLatency);
  if (!Hierarchy::BetweenLaunches_IsValid(hierarchy.l2_between_launches())) {
    checks.Refuse("l2_between_launches", hierarchy.l2_between_launches(), "KEEP or FLUSH");
  }
  checks.Range("jitter_cycles", hierarchy.jitter_cycles(), 0, kMaxLatency);
  checks.Add(CheckL1Split(machine));
  return checks.status();
}

// The most bytes that one request of an SM reads or writes.
uint64_t LargestRequest(const Hierarchy& hierarchy) {
  uint64_t largest = hierarchy.l1_data().sets() != 0 ? hierarchy.l1_data().line_bytes() : kMaxSegmentBytes;
  for (const Cache* cache : {&hierarchy.l1_texture(), &hierarchy.l1_constant(), &hierarchy.l1_instruction()}) {
    if (cache->sets() != 0) largest = std::max<uint64_t>(largest, cache->line_bytes());
  }
  return largest;
}

absl::Status CheckNetwork(const machine::v1::Machine& machine) {
  const Hierarchy& hierarchy = machine.memory().hierarchy();
  const Network& network = hierarchy.network();
  Checks checks(kHierarchy + ".network");
  checks.Range("sms_per_port", network.sms_per_port(), 1, machine.sms());
  checks.Range("flit_bytes", network.flit_bytes(), 1, kMaxBytes);
  checks.Range("input_buffer_flits", network.input_buffer_flits(), 1, kMaxQueue);
  checks.Range("output_buffer_flits", network.output_buffer_flits(), 1, kMaxQueue);
  checks.Range("input_speedup", network.input_speedup(), 1, 16);
  checks.Range("iterations", network.iterations(), 1, 64);
  checks.Range("header_bytes", network.header_bytes(), 0, kMaxBytes);
  checks.Range("control_bytes", network.control_bytes(), 1, kMaxBytes);
  if (!Network::Allocator_IsValid(network.allocator())) {
    checks.Refuse("allocator", network.allocator(), "PIM or ISLIP");
  }
  if (!checks.status().ok()) return checks.status();
  const uint64_t bytes =
      std::max<uint64_t>(network.control_bytes(), network.header_bytes() + LargestRequest(hierarchy));
  const uint64_t flits = (bytes + network.flit_bytes() - 1) / network.flit_bytes();
  const std::string reason =
      absl::StrCat("the largest message has ", bytes, " bytes = ", flits, " flits, and has to fit");
  checks.Range("input_buffer_flits", network.input_buffer_flits(), flits, kMaxQueue, reason);
  checks.Range("output_buffer_flits", network.output_buffer_flits(), flits, kMaxQueue, reason);
  return checks.status();
}

absl::Status CheckL2(const Hierarchy& hierarchy) {
  const machine::v1::L2& l2 = hierarchy.l2();
  Checks checks(kHierarchy + ".l2");
  checks.Range("slices_per_controller", l2.slices_per_controller(), 0, 64);
  checks.Range("rop_cycles", l2.rop_cycles(), 0, kMaxLatency);
  checks.Range("dram_pipe_cycles", l2.dram_pipe_cycles(), 0, kMaxLatency);
  checks.Range("input_queue", l2.input_queue(), 1, kMaxQueue);
  checks.Range("output_queue", l2.output_queue(), 1, kMaxQueue);
  checks.Range("dram_queue", l2.dram_queue(), 2, kMaxQueue, "a miss may read one line and write another back");
  if (l2.slices_per_controller() == 0) return checks.status();
  const uint64_t slices = uint64_t{l2.slices_per_controller()} * hierarchy.dram().controllers();
  checks.Add(CheckCache(checks.Path("cache"), l2.cache(), slices, true, false));
  if (l2.cache().global_write() != Cache::WRITE_BACK || l2.cache().local_write() != Cache::READ_ONLY) {
    checks.Refuse("cache.global_write", l2.cache().global_write(), "WRITE_BACK, and cache.local_write unset");
  }
  if (LargestRequest(hierarchy) > l2.cache().line_bytes()) {
    checks.Refuse("cache.line_bytes", l2.cache().line_bytes(),
                  absl::StrCat("at least ", LargestRequest(hierarchy), ", the largest request of an SM"));
  }
  return checks.status();
}

absl::Status CheckDram(const Hierarchy& hierarchy) {
  const Dram& dram = hierarchy.dram();
  Checks checks(kHierarchy + ".dram");
  checks.Range("controllers", dram.controllers(), 1, kMaxPorts);
  if (!Dram::Scheduler_IsValid(dram.scheduler())) checks.Refuse("scheduler", dram.scheduler(), "FR_FCFS or FIFO");
  if (!Dram::BankGrouping_IsValid(dram.bank_grouping())) {
    checks.Refuse("bank_grouping", dram.bank_grouping(), "NEIGHBOURS or INTERLEAVED");
  }
  checks.Range("queue", dram.queue(), 0, kMaxQueue, "0 means no limit");
  if (!checks.status().ok()) return checks.status();
  return DramParameters::Make(dram).status();
}

// What one request reads or writes has to be in one place.
absl::Status CheckAddressMap(const Hierarchy& hierarchy) {
  const uint32_t slices = hierarchy.l2().slices_per_controller();
  HEDDLE_ASSIGN_OR_RETURN(const AddressMap map, AddressMap::Make(hierarchy.address_map(), hierarchy.dram(), slices));
  const uint64_t bytes = slices != 0 ? hierarchy.l2().cache().line_bytes() : LargestRequest(hierarchy);
  if (map.block_bytes() >= bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      kHierarchy, ".address_map: only ", map.block_bytes(), " neighbouring bytes are in the same slice, bank and row; ",
      slices != 0 ? "a line of the L2 has " : "the largest request of an SM has ", bytes));
}

// Ports of the two crossbars.
absl::Status CheckPorts(const machine::v1::Machine& machine) {
  const Hierarchy& hierarchy = machine.memory().hierarchy();
  const uint64_t speedup = hierarchy.network().input_speedup();
  const uint64_t sm_ports =
      (machine.sms() + hierarchy.network().sms_per_port() - 1) / hierarchy.network().sms_per_port();
  const uint64_t slices =
      uint64_t{hierarchy.dram().controllers()} * std::max<uint64_t>(hierarchy.l2().slices_per_controller(), 1);
  if (std::max(sm_ports, slices) * speedup <= Crossbar::kMaxPorts) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kHierarchy, ".network.input_speedup = ", speedup, ": ", sm_ports,
                                                 " ports of SMs and ", slices, " of memory partitions, with so many ",
                                                 "buffers each, are more than ", Crossbar::kMaxPorts));
}

absl::Status CheckHierarchy(const machine::v1::Machine& machine) {
  const Hierarchy& hierarchy = machine.memory().hierarchy();
  HEDDLE_RETURN_IF_ERROR(CheckFirstLevels(machine));
  if (hierarchy.ideal_beyond_l1_cycles() != 0) return absl::OkStatus();
  HEDDLE_RETURN_IF_ERROR(CheckNetwork(machine));
  HEDDLE_RETURN_IF_ERROR(CheckL2(hierarchy));
  HEDDLE_RETURN_IF_ERROR(CheckDram(hierarchy));
  HEDDLE_RETURN_IF_ERROR(CheckPorts(machine));
  return CheckAddressMap(hierarchy);
}

}  // namespace

absl::Status CheckMemory(const machine::v1::Machine& machine) {
  HEDDLE_RETURN_IF_ERROR(ClockPeriods(machine.clocks()).status());
  switch (machine.memory().kind_case()) {
    case machine::v1::Memory::kFixed:
      return CheckFixed(machine);
    case machine::v1::Memory::kHierarchy:
      return CheckHierarchy(machine);
    case machine::v1::Memory::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "memory: must say what kind it is: fixed { ... } for latencies without limit of bandwidth, or hierarchy { ... } "
      "for "
      "caches, network and DRAM");
}

}  // namespace heddle::replay
