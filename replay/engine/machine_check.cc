// What makes a machine possible, and how many blocks of a launch it holds.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "replay/core/types.h"
#include "replay/engine/check_range.h"
#include "replay/engine/machine.h"
#include "replay/engine/machine_check_memory.h"

namespace heddle::replay {
namespace {

// Bounds that keep every counter and event time far from overflow; no real machine comes near.
constexpr uint64_t kMaxSms = 1024;
constexpr uint64_t kMaxSchedulers = 4;
constexpr uint64_t kMaxBlocksPerSm = 1024;
constexpr uint64_t kMaxRegisters = 1u << 24;
constexpr uint64_t kMaxSharedMemory = 1u << 30;

uint64_t DivideUp(uint64_t number, uint64_t divisor) { return (number + divisor - 1) / divisor; }
uint64_t RoundUp(uint64_t number, uint64_t multiple) { return DivideUp(number, multiple) * multiple; }

absl::Status CheckCore(const machine::v1::Core& core) {
  if (core.front_end() != machine::v1::Core::THESIS) {
    return absl::InvalidArgumentError("core.front_end: must be THESIS, the only front end there is so far");
  }
  const absl::Status ranges[] = {
      CheckRange("core.warp_size", core.warp_size(), 1, kMaxLanes),
      CheckRange("core.simd_width", core.simd_width(), 1, kMaxLanes),
      CheckRange("core.schedulers", core.schedulers(), 1, kMaxSchedulers),
      CheckRange("core.pipeline_depth", core.pipeline_depth(), 1, kMaxLatency),
      CheckRange("core.max_threads", core.max_threads(), 1, kMaxSlots),
      CheckRange("core.max_blocks", core.max_blocks(), 1, kMaxBlocksPerSm),
      CheckRange("core.registers", core.registers(), 0, kMaxRegisters, "0 means no limit"),
      CheckRange("core.shared_memory_bytes", core.shared_memory_bytes(), 0, kMaxSharedMemory),
  };
  for (const absl::Status& status : ranges) {
    if (!status.ok()) return status;
  }
  if (core.max_threads() % core.warp_size() != 0) {
    return Refuse("core.max_threads", core.max_threads(),
                  absl::StrCat("a multiple of core.warp_size = ", core.warp_size()));
  }
  return absl::OkStatus();
}

// An instruction cannot be done before all its lane groups have entered the pipeline.
absl::Status CheckLatency(const std::string& path, uint64_t cycles, uint64_t issue_cycles) {
  return CheckRange(path, cycles, issue_cycles, kMaxLatency,
                    "at least ceil(core.warp_size / core.simd_width), the cycles a warp takes to issue");
}

absl::Status CheckLatencies(const machine::v1::Machine& machine) {
  const uint64_t issue = DivideUp(machine.core().warp_size(), machine.core().simd_width());
  if (absl::Status status = CheckLatency("core.pipeline_depth", machine.core().pipeline_depth(), issue); !status.ok()) {
    return status;
  }
  for (int i = 0; i < machine.core().scripted_latency_size(); ++i) {
    const machine::v1::ScriptedLatency& scripted = machine.core().scripted_latency(i);
    const std::string path = absl::StrCat("core.scripted_latency[", i, "]");
    if (const absl::Status status = CheckLatency(path + ".cycles", scripted.cycles(), issue); !status.ok()) {
      return status;
    }
    if (scripted.last_thread() < scripted.first_thread()) {
      return Refuse(path + ".last_thread", scripted.last_thread(),
                    absl::StrCat("at least first_thread = ", scripted.first_thread()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMachine(const machine::v1::Machine& machine) {
  if (machine.name().empty()) return absl::InvalidArgumentError("name: must not be empty");
  if (absl::Status status = CheckRange("sms", machine.sms(), 1, kMaxSms); !status.ok()) return status;
  if (absl::Status status = CheckCore(machine.core()); !status.ok()) return status;
  if (absl::Status status = CheckLatencies(machine); !status.ok()) return status;
  return CheckMemory(machine);
}

absl::StatusOr<Occupancy> ComputeOccupancy(const machine::v1::Machine& machine, const trace::Program& program,
                                           const trace::v1::Launch& launch) {
  const machine::v1::Core& core = machine.core();
  const auto extent = [](uint32_t dimension) { return uint64_t{std::max<uint32_t>(dimension, 1)}; };
  const uint64_t threads = extent(launch.block().x()) * extent(launch.block().y()) * extent(launch.block().z());
  const uint64_t padded_threads = RoundUp(threads, core.warp_size());
  const uint64_t registers_per_thread = program.proto().registers_requested() != 0
                                            ? program.proto().registers_requested()
                                            : program.proto().register_count();
  const uint64_t registers = padded_threads * RoundUp(registers_per_thread, 4);
  const uint64_t shared = uint64_t{program.proto().static_shared_bytes()} + launch.dynamic_shared_bytes();

  // In the order in which a tie is named. A resource without need or without limit bounds nothing.
  struct Resource {
    const char* name;
    const char* what;
    uint64_t need, have;
    bool bounds;
  };
  const Resource resources[] = {
      {"threads", "threads (rounded up to whole warps)", padded_threads, core.max_threads(), true},
      {"blocks", "blocks", 1, core.max_blocks(), true},
      {"registers", "registers", registers, core.registers(), registers != 0 && core.registers() != 0},
      {"shared_memory", "bytes of shared memory", shared, core.shared_memory_bytes(), shared != 0},
  };
  uint64_t fit = UINT64_MAX;
  Occupancy occupancy;
  for (const Resource& resource : resources) {
    if (!resource.bounds) continue;
    const uint64_t blocks = resource.have / resource.need;
    if (blocks == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "a block of kernel ", program.name(), " (launch ", launch.id(), ") does not fit on an SM of machine ",
          machine.name(), ": it needs ", resource.need, " ", resource.what, ", the SM has ", resource.have));
    }
    if (blocks < fit) {
      fit = blocks;
      occupancy.limit = resource.name;
    }
  }
  occupancy.blocks = static_cast<int>(fit);
  return occupancy;
}

}  // namespace heddle::replay
