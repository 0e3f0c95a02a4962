// What makes a machine possible.
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "replay/machine/check_range.h"
#include "replay/machine/machine.h"
#include "replay/machine/machine_check_core.h"
#include "replay/machine/machine_check_memory.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

// Keeps every counter far from overflow; no real machine comes near.
constexpr uint64_t kMaxSms = 1024;
// Warps of all SMs: some 900 bytes of the host each.
constexpr uint64_t kMaxWarps = 1u << 20;
constexpr uint64_t kMaxNetworkBytes = 4096;

// The front end with a single pipeline in front of a memory hierarchy has a memory stage; with fixed latencies there is
// no pipeline, and instructions complete independently of one another.
absl::Status CheckPipelineWithMemoryStage(const machine::v1::Core& core) {
  if (core.scripted_latency_size() != 0) {
    return absl::InvalidArgumentError(
        "core.scripted_latency: only with memory.fixed, there is no such thing in a pipeline");
  }
  return CheckRange("core.pipeline_depth", core.pipeline_depth(), core.thesis().register_read_bypass() ? 4 : 3,
                    kMaxLatency, "issue, the memory stage, and write-back come one after another");
}

}  // namespace

absl::Status CheckMachine(const machine::v1::Machine& machine) {
  if (machine.name().empty()) return absl::InvalidArgumentError("name: must not be empty");
  HEDDLE_RETURN_IF_ERROR(CheckRange("sms", machine.sms(), 1, kMaxSms));
  HEDDLE_RETURN_IF_ERROR(CheckCore(machine.core()));
  const uint64_t warps = uint64_t{machine.sms()} * (machine.core().max_threads() / machine.core().warp_size());
  if (warps > kMaxWarps) {
    return Refuse(
        "sms", machine.sms(),
        absl::StrCat("at most ", kMaxWarps * machine.sms() / warps,
                     " with core.max_threads / core.warp_size warps each, so that the simulation fits into memory"));
  }
  if (machine.core().front_end() == machine::v1::Core::THESIS && machine.memory().has_hierarchy()) {
    HEDDLE_RETURN_IF_ERROR(CheckPipelineWithMemoryStage(machine.core()));
  }
  const machine::v1::Clusters& clusters = machine.clusters();
  HEDDLE_RETURN_IF_ERROR(
      CheckRange("dispatch.blocks_per_cycle", machine.dispatch().blocks_per_cycle(), 0, kMaxLatency));
  HEDDLE_RETURN_IF_ERROR(CheckRange("dispatch.launch_cycles", machine.dispatch().launch_cycles(), 0, kMaxLatency));
  HEDDLE_RETURN_IF_ERROR(CheckRange("clusters.sms", clusters.sms(), 0, kMaxSms, "0 means all SMs"));
  HEDDLE_RETURN_IF_ERROR(CheckRange("clusters.network_cycles", clusters.network_cycles(), 0, kMaxLatency));
  HEDDLE_RETURN_IF_ERROR(CheckRange("clusters.network_bytes", clusters.network_bytes(), 0, kMaxNetworkBytes));
  return CheckMemory(machine);
}

}  // namespace heddle::replay
