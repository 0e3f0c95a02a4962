// How many blocks of a launch an SM holds.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::replay {
namespace {

// GPGPU-Sim: registers are allocated in multiples of four per thread.
constexpr uint64_t kRegisterGranularity = 4;

uint64_t RoundUp(uint64_t number, uint64_t multiple) { return (number + multiple - 1) / multiple * multiple; }

// A resource of an SM and what one block takes of it. Without need or without limit it bounds nothing.
struct Resource {
  const char* name;
  const char* what;
  uint64_t need, have;
  bool bounds;
  const char* owner = "the SM";
};

// `given`: in place of what the trace says; 0 = none.
uint64_t RegistersPerThread(const trace::Program& program, uint32_t given) {
  if (given != 0) return given;
  const uint32_t requested = program.proto().registers_requested();
  return requested != 0 ? requested : program.proto().register_count();
}

// Bytes of shared memory that a block takes of an SM.
uint64_t SharedBytes(const machine::v1::Core& core, const trace::Program& program, const trace::v1::Launch& launch) {
  return uint64_t{program.proto().static_shared_bytes()} + launch.dynamic_shared_bytes() +
         core.shared_bytes_per_block();
}

// Threads of an SM that blocks of `padded_threads` may have. Where a block is bound to one scheduler, whole blocks
// share each scheduler's part.
uint64_t BlockThreads(const machine::v1::Core& core, uint64_t padded_threads) {
  if (!BlocksOnOneScheduler(core)) return core.max_threads();
  const uint64_t blocks = core.max_threads() / core.schedulers() / padded_threads;
  return blocks == 0 ? core.max_threads() / core.schedulers() : core.schedulers() * blocks * padded_threads;
}

// In the order in which a tie is named.
std::array<Resource, 4> Resources(const machine::v1::Core& core, const trace::Program& program,
                                  const trace::v1::Launch& launch, uint64_t registers_per_thread) {
  const auto extent = [](uint32_t dimension) { return uint64_t{std::max<uint32_t>(dimension, 1)}; };
  const uint64_t threads = extent(launch.block().x()) * extent(launch.block().y()) * extent(launch.block().z());
  const uint64_t padded_threads = RoundUp(threads, core.warp_size());
  const uint64_t registers = padded_threads * RoundUp(registers_per_thread, kRegisterGranularity);
  const uint64_t shared = SharedBytes(core, program, launch);
  return {{
      {"threads", "threads (rounded up to whole warps)", padded_threads, BlockThreads(core, padded_threads), true,
       BlocksOnOneScheduler(core) ? "a scheduler of the SM" : "the SM"},
      {"blocks", "blocks", 1, core.max_blocks(), true},
      {"registers", "registers", registers, core.registers(), registers != 0 && core.registers() != 0},
      {"shared_memory", "bytes of shared memory", shared, core.shared_memory_bytes(), shared != 0},
  }};
}

// The resource of which the fewest blocks fit, and how many.
Occupancy BlocksThatFit(const std::array<Resource, 4>& resources, const Resource*& bound) {
  uint64_t fit = UINT64_MAX;
  for (const Resource& resource : resources) {
    if (!resource.bounds || resource.have / resource.need >= fit) continue;
    fit = resource.have / resource.need;
    bound = &resource;
  }
  return {static_cast<int>(fit), bound->name};
}

// The setting with which one block fits: the number as devices have it, which is a power of two or whole warps.
std::string Remedy(const Resource& resource, const machine::v1::Core& core) {
  const absl::string_view name = resource.name;
  const bool threads = name == "threads";
  const uint64_t shares = BlocksOnOneScheduler(core) ? core.schedulers() : 1;
  const uint64_t enough = threads ? shares * RoundUp(resource.need, core.warp_size()) : std::bit_ceil(resource.need);
  const absl::string_view field = threads               ? "max_threads"
                                  : name == "blocks"    ? "max_blocks"
                                  : name == "registers" ? "registers"
                                                        : "shared_memory_bytes";
  return absl::StrCat("`--set core.", field, "=", enough, "`");
}

}  // namespace

absl::StatusOr<Occupancy> ComputeOccupancy(const machine::v1::Machine& machine, const trace::Program& program,
                                           const trace::v1::Launch& launch, uint32_t extra_registers,
                                           uint32_t registers) {
  const std::array<Resource, 4> resources =
      Resources(machine.core(), program, launch, RegistersPerThread(program, registers) + extra_registers);
  const Resource* bound = nullptr;
  Occupancy occupancy = BlocksThatFit(resources, bound);
  if (occupancy.blocks == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("a block of kernel ", trace::BriefKernelName(program.name()), " (launch ", launch.id(),
                     ") does not fit on an SM of machine ", machine.name(), ": it needs ", bound->need, " ",
                     bound->what, ", ", bound->owner, " has ", bound->have, "; replay it on a larger machine, or with ",
                     Remedy(*bound, machine.core())));
  }
  return occupancy;
}

WarpOccupancy ComputeWarpOccupancy(const machine::v1::Machine& machine, const trace::Program& program,
                                   const trace::v1::Launch& launch, uint32_t given) {
  const machine::v1::Core& core = machine.core();
  const uint64_t registers = RoundUp(RegistersPerThread(program, given), kRegisterGranularity) * core.warp_size();
  const uint64_t shared = SharedBytes(core, program, launch);
  uint64_t warps = core.max_threads() / core.warp_size();
  if (registers != 0 && core.registers() != 0) warps = std::min(warps, core.registers() / registers);
  WarpOccupancy occupancy{static_cast<int>(warps), static_cast<int>(core.max_blocks()), "blocks"};
  if (shared != 0 && core.shared_memory_bytes() / shared < core.max_blocks()) {
    occupancy.blocks = static_cast<int>(core.shared_memory_bytes() / shared);
    occupancy.limit = "shared_memory";
  }
  return occupancy;
}

bool BlocksOnOneScheduler(const machine::v1::Core& core) {
  return core.front_end() == machine::v1::Core::THESIS && core.thesis().blocks_on_one_scheduler();
}

bool SplitsL1(const machine::v1::Hierarchy& memory) {
  return memory.l1_split().bytes() != 0 && memory.l1_data().sets() != 0;
}

uint32_t L1Ways(const machine::v1::Machine& machine, const trace::Program& program, const trace::v1::Launch& launch,
                int blocks) {
  const machine::v1::Hierarchy& memory = machine.memory().hierarchy();
  const machine::v1::Cache& cache = memory.l1_data();
  if (!SplitsL1(memory)) return cache.ways();
  const machine::v1::L1Split& split = memory.l1_split();
  const uint64_t needed = static_cast<uint64_t>(blocks) * SharedBytes(machine.core(), program, launch);
  uint32_t shared = *split.shared_bytes().rbegin();
  for (const uint32_t bytes : split.shared_bytes()) {
    if (bytes < needed) continue;
    shared = bytes;
    break;
  }
  return std::min(cache.ways(), (split.bytes() - shared) / (cache.sets() * cache.line_bytes()));
}

uint32_t ClusterGroup(const machine::v1::Machine& machine) {
  const uint32_t group = machine.clusters().sms();
  return group == 0 ? machine.sms() : std::min(group, machine.sms());
}

uint64_t ResidentClusters(const machine::v1::Machine& machine, uint32_t cluster_blocks, uint64_t blocks_per_sm) {
  const uint32_t group = ClusterGroup(machine);
  uint64_t clusters = 0;
  for (uint32_t first = 0; first < machine.sms(); first += group) {
    const uint64_t sms = std::min(group, machine.sms() - first);
    const uint64_t most_on_sm = (cluster_blocks + sms - 1) / sms;
    if (blocks_per_sm >= most_on_sm) clusters += sms * blocks_per_sm / cluster_blocks;
  }
  return clusters;
}

RegisterSensitivity ComputeRegisterSensitivity(const machine::v1::Machine& machine, const trace::Program& program,
                                               const trace::v1::Launch& launch, uint32_t given) {
  const uint64_t registers = RegistersPerThread(program, given);
  const auto blocks = [&](uint64_t per_thread) {
    const std::array<Resource, 4> resources = Resources(machine.core(), program, launch, per_thread);
    const Resource* bound = nullptr;
    return BlocksThatFit(resources, bound).blocks;
  };
  return {static_cast<uint32_t>(registers), blocks(registers - std::min(registers, kRegisterUncertainty)),
          blocks(registers + kRegisterUncertainty)};
}

}  // namespace heddle::replay
