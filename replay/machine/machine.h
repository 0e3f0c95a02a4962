// Machines: loading, overriding, checking.
#ifndef HEDDLE_REPLAY_MACHINE_MACHINE_H_
#define HEDDLE_REPLAY_MACHINE_MACHINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// Folder of the machine files: HEDDLE_MACHINES_DIR, else beside the installed program, else the source tree.
std::string MachinesDirectory();
// Names of the files there, without ending, ascending.
std::vector<std::string> ListMachines();

// Loads `name` from the machines folder, or a file if `name` ends in .textproto. Unknown names list the known ones;
// text errors give file, line and column. The result is checked.
absl::StatusOr<machine::v1::Machine> LoadMachine(std::string_view name);

// Applies "core.schedulers=2". Entries of lists are named, core.units.timing[INT_DIV].latency=20, or counted from 0; an
// entry that is not there is added. Unknown fields list those of that message, an error leaves the machine as it was;
// the result is not checked yet.
absl::Status Override(machine::v1::Machine& machine, std::string_view assignment);

// Why an assignment that has been applied changes nothing on this machine, as a sentence; empty if the field is read.
std::string WithoutEffect(const machine::v1::Machine& machine, std::string_view assignment);

// Refuses an impossible machine with the path of the field.
absl::Status CheckMachine(const machine::v1::Machine& machine);

// How many blocks of a launch fit on one SM, and what bounds it (timing model: threads rounded up to whole warps,
// registers rounded up to multiples of four per thread).
struct Occupancy {
  int blocks = 0;
  std::string limit;  // threads, blocks, registers, shared_memory
};
// `extra_registers`: that a thread takes beyond what the trace says. `registers`, here and below: what a thread takes,
// in place of what the trace says; 0 = as the trace says. Error if not even one block fits, naming the resource, what
// is needed and what there is.
absl::StatusOr<Occupancy> ComputeOccupancy(const machine::v1::Machine& machine, const trace::Program& program,
                                           const trace::v1::Launch& launch, uint32_t extra_registers = 0,
                                           uint32_t registers = 0);

// How many warps of a launch fit on one SM if they come one by one: their threads and registers are a warp's, shared
// memory and the number of blocks are still those of blocks. A whole block fits (ComputeOccupancy).
struct WarpOccupancy {
  int warps = 0;
  int blocks = 0;     // of which they may be
  std::string limit;  // of `blocks`: blocks or shared_memory
};
WarpOccupancy ComputeWarpOccupancy(const machine::v1::Machine& machine, const trace::Program& program,
                                   const trace::v1::Launch& launch, uint32_t registers = 0);

// Whether all warps of a thread block issue on one scheduler (machine::v1::ThesisPipeline).
bool BlocksOnOneScheduler(const machine::v1::Core& core);

// Whether L1 data cache and shared memory share storage that is split anew for every launch.
bool SplitsL1(const machine::v1::Hierarchy& memory);
// Ways of the L1 data caches in a launch of which an SM holds `blocks` blocks: what shared memory leaves of their
// common storage (machine::v1::L1Split), or all of them.
uint32_t L1Ways(const machine::v1::Machine& machine, const trace::Program& program, const trace::v1::Launch& launch,
                int blocks);

// Neighbouring SMs among which all blocks of a cluster go; the last such group of the machine may be smaller.
uint32_t ClusterGroup(const machine::v1::Machine& machine);
// Clusters of so many blocks that the machine holds at once if an SM holds `blocks_per_sm` blocks. The blocks of one
// are spread as widely as the SMs of a group allow.
uint64_t ResidentClusters(const machine::v1::Machine& machine, uint32_t cluster_blocks, uint64_t blocks_per_sm);

// How the residency depends on the number of registers. Traces are of PTX, whose register count is an estimate of what
// the machine code takes: the true residency is somewhere between these two.
inline constexpr uint64_t kRegisterUncertainty = 8;  // registers per thread
struct RegisterSensitivity {
  uint32_t registers = 0;  // per thread, as the trace says, or as given
  int blocks_fewer = 0;    // blocks per SM if a thread takes 8 registers fewer
  int blocks_more = 0;     // 8 more; 0 = not even one fits
};
RegisterSensitivity ComputeRegisterSensitivity(const machine::v1::Machine& machine, const trace::Program& program,
                                               const trace::v1::Launch& launch, uint32_t registers = 0);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MACHINE_MACHINE_H_
