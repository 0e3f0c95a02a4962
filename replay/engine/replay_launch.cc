#include "replay/engine/replay_launch.h"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/collective_check.h"
#include "replay/engine/launch_simulation.h"
#include "replay/engine/machine_code_check.h"
#include "replay/engine/policy_watch.h"
#include "replay/engine/validity.h"
#include "replay/engine/wait_check.h"
#include "replay/machine/machine.h"
#include "replay/seams/policy_error.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/clusters.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/read/recorded_clusters.h"

namespace heddle::replay {
namespace {

// Recorded shuffles and votes hold for warps of the recorded width; they stay valid where a warp is at least as wide.
absl::Status CheckWarpWidth(const LaunchRun& run) {
  const uint32_t recorded = run.reader.header().warp_width();
  const uint32_t machine = run.options.machine.core().warp_size();
  if (!run.launch.program->proto().uses_warp_operations() || recorded <= machine) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the kernel uses shuffles or votes, which were recorded for warps of ", recorded,
                   " threads; the machine's warps have ", machine, ": set core.warp_size to ", recorded, " or more"));
}

// "launch 0 (bfs) under pdom and lrr"; other policies only where they are not the usual.
std::string PlaceOf(const trace::LaunchView& launch, const CheckedConfiguration& configuration) {
  std::string place =
      absl::StrCat("launch ", launch.launch.id(), " (", trace::BriefKernelName(launch.program->name()), ") under ",
                   configuration.divergence.name(), " and ", configuration.scheduler.name());
  const Configuration usual;
  const std::string& fetch = configuration.fetch.name();
  const std::string& dispatch = configuration.dispatch.name();
  const std::string& memory = configuration.memory.name();
  if (fetch != usual.fetch.name) absl::StrAppend(&place, ", fetch ", fetch);
  if (dispatch != usual.dispatch.name) absl::StrAppend(&place, ", dispatch ", dispatch);
  if (memory != usual.memory.name) absl::StrAppend(&place, ", memory ", memory);
  return place;
}

// The launch's clusters, or blocks, that the machine holds at once. Error if it does not hold one.
absl::StatusOr<uint64_t> PlacesOf(const LaunchRun& run, const Occupancy& occupancy) {
  const uint32_t blocks = trace::Clusters(run.launch.launch).blocks();
  const machine::v1::Machine& machine = run.options.machine;
  const uint64_t places = ResidentClusters(machine, blocks, static_cast<uint64_t>(occupancy.blocks));
  if (places != 0) return places;
  return absl::FailedPreconditionError(absl::StrCat(
      "a cluster of ", blocks, " thread blocks of kernel ", trace::BriefKernelName(run.launch.program->name()),
      " (launch ", run.launch.launch.id(), ") does not fit on the ", ClusterGroup(machine), " SMs that machine ",
      machine.name(), " has for it: each holds ", occupancy.blocks, " of its blocks (by ", occupancy.limit,
      "); replay it on a larger machine, or with `--set clusters.sms=0`"));
}

absl::StatusOr<result::v1::LaunchResult> Simulate(const LaunchRun& run, const Occupancy& occupancy) {
  HEDDLE_ASSIGN_OR_RETURN(trace::RecordedClusters clusters, trace::RecordedClusters::Of(run.reader, run.launch));
  run.shared.BeginLaunch();
  RunMark mark(PlaceOf(run.launch, run.configuration));
  MachineTime time(run.options, run.memory, run.cache, run.progress);
  mark.SetClock(&time.clock());
  std::optional<LaunchSimulation> simulation;  // still there when the present call is asked for
  // Policies are whoever's code. What they throw ends the run; nothing of it is used any more.
  try {
    simulation.emplace(run, occupancy, std::move(clusters), time);
    time.Add(*simulation);
    time.GiveAll(*simulation);
    HEDDLE_RETURN_IF_ERROR(time.Run(nullptr));
    return simulation->Result();
  } catch (const PolicyError& error) {
    return absl::InternalError(error.what());
  } catch (const std::exception& exception) {
    return absl::InternalError(absl::StrCat("an exception", PresentCall(), ": ", exception.what()));
  } catch (...) {
    return absl::InternalError(absl::StrCat("an exception", PresentCall(), ", of a type that has no text"));
  }
}

}  // namespace

absl::StatusOr<Occupancy> CheckLaunch(const LaunchRun& run) {
  HEDDLE_RETURN_IF_ERROR(CheckWarpWidth(run));
  HEDDLE_RETURN_IF_ERROR(CheckLockstep(run.reader, run.launch, run.configuration, run.options));
  HEDDLE_RETURN_IF_ERROR(CheckConvergence(run.reader, run.launch, run.configuration));
  HEDDLE_RETURN_IF_ERROR(CheckCollectives(run.reader, run.launch, run.options));
  HEDDLE_RETURN_IF_ERROR(CheckControlBits(run.reader, run.launch, run.options));
  const std::optional<WarpDispatch>& warps = run.configuration.dispatch.traits.warp_dispatch;
  HEDDLE_ASSIGN_OR_RETURN(Occupancy occupancy,
                          ComputeOccupancy(run.options.machine, *run.launch.program, run.launch.launch,
                                           warps.has_value() ? warps->extra_registers : 0,
                                           RegistersGiven(run.options, *run.launch.program)));
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t places, PlacesOf(run, occupancy));
  HEDDLE_RETURN_IF_ERROR(CheckGridWaits(run.launch, places));
  HEDDLE_RETURN_IF_ERROR(CheckWarpLocks(run.reader, run.launch, run.configuration, run.options));
  return occupancy;
}

absl::StatusOr<result::v1::LaunchResult> ReplayLaunch(const LaunchRun& run) {
  HEDDLE_ASSIGN_OR_RETURN(const Occupancy occupancy, CheckLaunch(run));
  return Simulate(run, occupancy);
}

std::unique_ptr<SharedState> MakeSharedState(const CheckedConfiguration& configuration,
                                             const machine::v1::Machine& machine) {
  StateShape shape;
  shape.warp_size = static_cast<int>(machine.core().warp_size());
  shape.max_threads = static_cast<int>(machine.core().max_threads());
  shape.ports = static_cast<int>(machine.core().schedulers());
  shape.sms = machine.sms();
  return std::make_unique<SharedState>(shape, StateOutlivesLaunch(configuration));
}

absl::Status AtRun(const absl::Status& error, const trace::LaunchView& launch,
                   const CheckedConfiguration& configuration) {
  return absl::Status(error.code(), absl::StrCat(PlaceOf(launch, configuration), ": ", error.message()));
}

}  // namespace heddle::replay
