// Runs an SM's memory on a list of instructions and fetches, as a core would, and writes down what it says.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_MEMORY_DRIVER_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_MEMORY_DRIVER_H_

#include <functional>
#include <string>
#include <vector>

#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/coalescer.h"
#include "tests/replay/memory/scripted_port.h"

namespace heddle::replay {

struct DrivenAccess {
  Cycle from = 0;  // it issues then, or when the stage is free
  WarpAccess access;
  bool has_addresses = true;
  LaneAddresses addresses{};
  std::array<ThreadId, kMaxLanes> threads{};
};

struct DrivenFetch {
  Cycle from = 0;
  uint64_t address = 0;
};

// One line per call of the memory to its core, and per issue and fetch: "cycle what".
using MemoryLog = std::vector<std::string>;

class MemoryDriver : public MemoryClient {
 public:
  // `asleep`: the memory runs only when it asks for it, is woken, or the driver needs it, and in cycles for which
  // `extra` says so. Otherwise it runs in every cycle.
  struct Options {
    bool asleep = true;
    std::function<bool(Cycle)> extra = {};
    std::function<void()> check = {};  // after every cycle that ran
    Cycle most_cycles = 100000;        // gives up then
  };

  explicit MemoryDriver(ScriptedPort& port) : port_(port) {}

  // Runs to the end of everything; the number of cycles, 0 if it hung.
  Cycle Run(SmMemory& memory, const std::vector<DrivenAccess>& accesses, const std::vector<DrivenFetch>& fetches,
            const Options& options);

  void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) override;
  void StoreAcknowledged(AccessId access, Cycle at) override;
  void WaitsOffCore(AccessId access) override;
  void FetchArrived(uint32_t fetcher) override;
  void CacheEvent(const CacheNotice& notice) override;

  MemoryLog log;
  // By access: the cycle in which its last lane was done; store: acknowledged.
  std::vector<Cycle> issued;
  std::vector<Cycle> done;
  std::vector<Cycle> acknowledged;
  std::vector<LaneMask> lanes_done;
  uint64_t cycles_run = 0;

 private:
  ScriptedPort& port_;
  Cycle now_ = 0;
  std::vector<uint32_t> arrived_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_MEMORY_DRIVER_H_
