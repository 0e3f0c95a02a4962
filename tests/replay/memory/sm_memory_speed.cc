// Nanoseconds per warp instruction of an SM's memory alone, with a network that answers at once. Run by hand:
//   sm_memory_speed
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>

#include "replay/memory/sm/hierarchy_sm.h"
#include "traces/base/ring.h"

namespace heddle::replay {
namespace {

using machine::v1::Cache;

// Answers after 200 cycles, without limits.
class EndlessPort : public NetworkPort {
 public:
  bool HasRoom(const MemoryRequest& /*request*/) override { return true; }
  void Send(const MemoryRequest& request) override { replies_.push_back({now + 200, request}); }
  const MemoryRequest* Reply() const override {
    return replies_.empty() || replies_.front().first > now ? nullptr : &replies_.front().second;
  }
  void TakeReply() override { replies_.pop_front(); }
  Cycle Next() const { return replies_.empty() ? kNever : std::max(now + 1, replies_.front().first); }

  Cycle now = 0;

 private:
  Ring<std::pair<Cycle, MemoryRequest>> replies_{1024};
};

class Sink : public MemoryClient {
 public:
  void LanesDone(AccessId, LaneMask lanes, Cycle at, bool) override { sum += lanes + at; }
  void StoreAcknowledged(AccessId, Cycle) override {}
  void WaitsOffCore(AccessId) override {}
  void FetchArrived(uint32_t) override {}
  void CacheEvent(const CacheNotice&) override {}
  uint64_t sum = 0;
};

machine::v1::Machine Gtx480() {
  machine::v1::Machine machine;
  machine.set_sms(15);
  machine::v1::Core& core = *machine.mutable_core();
  core.set_front_end(machine::v1::Core::IBUFFER);
  core.set_warp_size(32);
  core.set_simd_width(32);
  core.set_max_threads(1536);
  core.mutable_units()->set_memory_issue_latency(1);
  core.mutable_units()->set_memory_initiation_interval(1);
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.set_coalescing(machine::v1::Hierarchy::COMPUTE_20);
  memory.mutable_shared()->set_banks(32);
  memory.mutable_shared()->set_parts(1);
  memory.mutable_shared()->set_broadcast(true);
  memory.mutable_shared()->set_latency(20);
  Cache& data = *memory.mutable_l1_data();
  data.set_sets(32);
  data.set_line_bytes(128);
  data.set_ways(4);
  data.set_mshrs(32);
  data.set_mshr_merges(8);
  data.set_miss_queue(8);
  data.set_hit_cycles(20);
  data.set_global_write(Cache::WRITE_EVICT);
  data.set_local_write(Cache::WRITE_BACK);
  return machine;
}

void Measure(const char* name, const machine::v1::Machine& machine, trace::v1::OpClass op, trace::v1::MemorySpace space,
             const std::function<uint64_t(uint64_t, int)>& address) {
  constexpr uint64_t kInstructions = 400000;
  EndlessPort port;
  Sink sink;
  const AddressWindows windows;
  HierarchySm memory(machine, windows, 0, port, sink);
  std::vector<LaneAddresses> addresses(1024);
  for (uint64_t index = 0; index < addresses.size(); ++index) {
    for (int lane = 0; lane < 32; ++lane) addresses[index][lane] = address(index, lane);
  }
  WarpAccess access{.op = op, .space = space, .bytes = 4, .lanes = 0xffffffff};
  const std::clock_t start = std::clock();
  uint64_t done = 0;
  while (done < kInstructions || !memory.drained()) {
    memory.RunCycle(port.now);
    if (memory.StageFree() && done < kInstructions) {
      access.addresses = &addresses[done++ % addresses.size()];
      memory.Submit(access, port.now);
    }
    port.now = std::min(memory.NextWake(port.now), port.Next());
    if (port.now == kNever) break;
  }
  const double nanoseconds = 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const SmMemoryCounters counters = memory.Counters(port.now);
  std::printf("%-24s %7.1f ns per instruction, %6.1f per line access, %5.2f line accesses per instruction (%lu)\n",
              name, nanoseconds / kInstructions,
              nanoseconds / static_cast<double>(std::max<uint64_t>(1, counters.level[0].cache.accesses)),
              static_cast<double>(counters.level[0].cache.accesses) / kInstructions, sink.sum & 1);
}

void MeasureAll() {
  const machine::v1::Machine machine = Gtx480();
  using trace::v1::OP_LOAD;
  using trace::v1::SPACE_GLOBAL;
  std::mt19937_64 random(1);
  Measure("hits, one line", machine, OP_LOAD, SPACE_GLOBAL,
          [](uint64_t index, int lane) { return index % 64 * 128 + static_cast<uint64_t>(lane) * 4; });
  machine::v1::Machine turns = machine;
  turns.mutable_memory()->mutable_hierarchy()->set_returns_per_cycle(1);
  Measure("hits, one line, in turns", turns, OP_LOAD, SPACE_GLOBAL,
          [](uint64_t index, int lane) { return index % 64 * 128 + static_cast<uint64_t>(lane) * 4; });
  Measure("misses, one line", machine, OP_LOAD, SPACE_GLOBAL,
          [](uint64_t index, int lane) { return index * 128 + static_cast<uint64_t>(lane) * 4; });
  Measure("stores, one line", machine, trace::v1::OP_STORE, SPACE_GLOBAL,
          [](uint64_t index, int lane) { return index * 128 + static_cast<uint64_t>(lane) * 4; });
  Measure("random gather", machine, OP_LOAD, SPACE_GLOBAL,
          [&](uint64_t /*index*/, int /*lane*/) { return random() % (1 << 26) * 4; });
  Measure("shared, no conflict", machine, OP_LOAD, trace::v1::SPACE_SHARED,
          [](uint64_t /*index*/, int lane) { return static_cast<uint64_t>(lane) * 4; });
  Measure("shared, random", machine, OP_LOAD, trace::v1::SPACE_SHARED,
          [&](uint64_t /*index*/, int /*lane*/) { return random() % 4096 * 4; });
}

}  // namespace
}  // namespace heddle::replay

int main() { heddle::replay::MeasureAll(); }
