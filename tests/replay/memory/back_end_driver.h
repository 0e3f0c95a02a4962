// Drives a memory back end as SMs would, without SMs: requests in, replies with their times out.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_BACK_END_DRIVER_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_BACK_END_DRIVER_H_

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/memory/ports/back_end.h"

namespace heddle::replay {

// A machine with the memory of a GTX 480 as GPGPU-Sim 3.2.2 configures it, but one clock, and no ROP and DRAM
// pipelines: the tests add what they are about. Two SMs.
machine::v1::Machine BackEndMachine();

// A request that an SM sends as soon as it can, from core cycle `from` on, after those before it in its list.
struct ScriptedRequest {
  uint32_t sm = 0;
  Cycle from = 0;
  MemoryRequest request;
};
MemoryRequest Read(uint64_t address, uint32_t bytes = 128);
MemoryRequest Write(uint64_t address, uint32_t bytes = 128);
MemoryRequest Atomic(uint64_t address, uint8_t passes, uint32_t bytes = 4);

struct Reply {
  uint32_t sm = 0;
  uint32_t request = 0;  // its place in the script
  Cycle sent = 0;
  Cycle taken = 0;
  bool operator==(const Reply&) const = default;
};

// Runs one launch. An SM sends at most one request and takes at most one reply per cycle, replies first. `run_all`: in
// every cycle, else only when the memory or the script asks for it, as the engine does. Replies are in the order of the
// cycles, then of the SMs. Fails the test if the launch does not end in `limit` cycles.
struct DrivenLaunch {
  std::vector<Reply> replies;
  result::v1::LaunchResult result;
  Cycle end = 0;
  uint64_t cycles_run = 0;
  absl::Status status;
};
DrivenLaunch Drive(MemoryBackEnd& memory, uint32_t sms, const std::vector<ScriptedRequest>& script,
                   bool run_all = false, uint64_t launch = 0, Cycle limit = 1'000'000);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_BACK_END_DRIVER_H_
