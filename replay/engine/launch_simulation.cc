#include "replay/engine/launch_simulation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/memory/ports/remote_access.h"
#include "traces/base/huge_pages.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

constexpr size_t kSmBytes = size_t{5} << 18;  // what an SM takes, with its part of the memory and a share of the rest
// The most that an SM runs ahead of the others, in cycles; enough for it to pay.
constexpr Cycle kAheadCycles = 4000;

// Dimensions of grid and block beyond the first of each.
uint32_t ExtraDimensions(const trace::v1::Launch& launch) {
  uint32_t dimensions = 0;
  for (const auto& extent : {launch.grid(), launch.block()}) dimensions += (extent.y() > 1) + (extent.z() > 1);
  return dimensions;
}

}  // namespace

LaunchSimulation::LaunchSimulation(const LaunchRun& run, const Occupancy& occupancy, trace::RecordedClusters clusters,
                                   MachineTime& time, const LaunchPlace& place)
    : run_(run),
      time_(time),
      place_(place),
      context_(run.launch, run.reader.header(), run.options.machine),
      blocks_(run.launch, std::move(clusters)),
      sms_(run, context_, place.beside ? std::optional(place.number) : std::nullopt),
      ahead_(sms_.count()) {
  residency_ = Residency(occupancy.blocks);
  const machine::v1::Machine& machine = run.options.machine;
  limit_ = residency_ < static_cast<uint64_t>(occupancy.blocks) ? "grid" : occupancy.limit;
  PreferHugePages(std::min<uint64_t>(sms_.count(), blocks_.count()) * kSmBytes);
  const WarpOccupancy by_warp = ComputeWarpOccupancy(machine, *run.launch.program, run.launch.launch,
                                                     RegistersGiven(run.options, *run.launch.program));
  CompleteContext(by_warp);
  metrics_.emplace(run.options.metrics, machine, residency_ * sms_.count(), context_, PolicyColumns());
  // Blocks that are there in part keep their shared memory: so many may be, each with a warp or more.
  const int partial_blocks = context_.by_warp ? std::min(by_warp.blocks, by_warp.warps) : 0;
  context_.l1_ways =
      L1Ways(machine, *run.launch.program, run.launch.launch, std::max(occupancy.blocks, partial_blocks));
  if (!place.beside) {
    run.memory.Transferred(run.reader.transfers().first(run.launch.transfers_before));
    run.memory.BeginLaunch(context_.l1_ways);
    if (metrics_->has_bins()) run.memory.BeginSampling();
  }
  DispatchContext shape;
  shape.blocks = blocks_.count();
  shape.sms = sms_.count();
  shape.cluster_blocks = context_.cluster_blocks;
  shape.cluster_sms = context_.cluster_blocks == 1 ? sms_.count() : ClusterGroup(machine);
  shape.warps_per_block = context_.hw_warps_per_block;
  shape.blocks_per_sm = static_cast<uint32_t>(residency_);
  shape.partial_blocks_per_sm = static_cast<uint32_t>(Residency(by_warp.blocks));
  shape.hw_warps_per_sm = static_cast<uint32_t>(by_warp.warps);
  shape.extra_dimensions = ExtraDimensions(run.launch.launch);
  if (machine.memory().has_hierarchy()) shape.data_mshrs = machine.memory().hierarchy().l1_data().mshrs();
  shape.clock = &time.clock();
  dispatch_.emplace(run, context_, blocks_, std::move(shape), place.start + machine.dispatch().launch_cycles(),
                    place.beside, sms_, time.calendar());
  context_.counts_activity = dispatch_->watches_sms();
}

uint64_t LaunchSimulation::Residency(int blocks) const {
  const auto fit = static_cast<uint64_t>(blocks);
  if (!run_.options.machine.dispatch().spread_small_grids()) return fit;
  if (context_.cluster_blocks == 1) {
    return std::min(fit, std::max<uint64_t>((blocks_.count() + sms_.count() - 1) / sms_.count(), 1));
  }
  uint64_t spread = 1;
  while (spread < fit &&
         ResidentClusters(run_.options.machine, context_.cluster_blocks, spread) < blocks_.clusters().count()) {
    ++spread;
  }
  return std::min(fit, spread);
}

void LaunchSimulation::CompleteContext(const WarpOccupancy& by_warp) {
  const CheckedConfiguration& configuration = run_.configuration;
  const PolicyTraits& traits = configuration.divergence.traits;
  context_.one_port_per_block = BlocksOnOneScheduler(run_.options.machine.core());
  context_.by_warp = configuration.dispatch.traits.warp_dispatch.has_value();
  context_.capacity = static_cast<int>(residency_);
  // Two iterations of a virtual block may be under way at once, and a block may be there in part.
  if (context_.by_warp) context_.capacity = std::max(2 * context_.capacity, by_warp.blocks);
  context_.policy_name = configuration.divergence.name();
  context_.scheduler_name = configuration.scheduler.name();
  context_.fetch_name = configuration.fetch.name();
  context_.dispatch_name = configuration.dispatch.name();
  context_.any_lane = traits.lanes.any;
  context_.swizzle = traits.lanes.swizzled;
  context_.static_warps = traits.regrouping == Regrouping::kNever;
  context_.scoreboard = traits.scoreboard.scope;
  if (run_.options.machine.core().thesis().register_read_bypass() && (context_.static_warps || traits.mixed_pcs)) {
    --context_.pipeline_depth;
  }
  context_.force_tick = run_.options.force_tick;
  context_.force_regrouping = run_.options.force_regrouping;
  if (context_.cluster_blocks > 1 || context_.DenseBarrier(LaunchContext::kClusterBarrier) != context_.kNoBarrier) {
    const ClusterTiming timing(run_.options.machine.clusters());
    context_.clusters =
        &board_.emplace(context_.cluster_blocks, timing.network_cycles, static_cast<ClusterWaker&>(*this));
  }
  context_.observer = run_.options.observer;
  context_.observes_states = context_.observer != nullptr && context_.observer->wants_states();
  context_.configuration_index = run_.configuration_index;
}

absl::Status LaunchSimulation::Begin() {
  // The first round comes before the first cycle of the blocks, so that the first issue is in it.
  const Cycle first = dispatch_->due();
  if (first > place_.start) {
    time_.calendar().Wake(sms_.count(), first - 1);
  } else if (!place_.beside) {
    return dispatch_->Round(first);
  } else {
    time_.calendar().Wake(sms_.count(), first);  // also a launch without blocks has to end
  }
  return absl::OkStatus();
}

void LaunchSimulation::ExplainDeadlock(bool several, std::vector<std::string>& lines) const {
  const size_t before = lines.size();
  for (uint32_t sm = 0; sm < sms_.count(); ++sm) {
    SmCore* const core = sms_.Find(sm);
    if (core == nullptr) continue;
    if (std::string threads = core->ExplainDeadlock(); !threads.empty()) lines.push_back(std::move(threads));
    if (std::string memory = core->memory().Explain(); !memory.empty()) {
      lines.push_back(absl::StrCat("memory of SM ", sm, ": ", memory));
    }
  }
  if (!several) return;
  const std::string name = absl::StrCat("launch ", run_.launch.launch.id(), ", ", left(), " thread blocks are left");
  lines.insert(lines.begin() + static_cast<ptrdiff_t>(before), absl::StrCat(name, lines.size() > before ? ":" : ""));
}

inline Cycle LaunchSimulation::RunAhead(uint32_t index, Cycle now) {
  SmCore::RunAhead& ahead = ahead_[index];
  if (now + 1 < ahead.until) return ahead.next;
  SmCore& sm = *sms_.Find(index);
  const Cycle next = sm.NextWake(now);
  ahead = {now + 1, next, false};
  return sm.memory().isolated() ? RunAlone(index, now) : next;
}

// An SM cannot be reached from outside while no request of it is under way, it has no blocks of clusters, and it can
// get no block: it is full, or none is left. A block that it retires is dispatched for when all have come to that
// cycle.
Cycle LaunchSimulation::RunAlone(uint32_t index, Cycle now) {
  SmCore& sm = *sms_.Find(index);
  SmCore::RunAhead& ahead = ahead_[index];
  const Cycle next = ahead.next;
  if (context_.force_tick || context_.by_warp || dispatch_->asks() || context_.cluster_blocks > 1) return next;
  if (dispatch_->CanAssignTo(index)) return next;
  if (sms_.watches_grid() && !dispatch_->grid_assigned()) return next;
  Cycle limit = now + kAheadCycles;
  limit = std::min(limit, metrics_->next_bin());  // its counters are read there
  if (run_.options.max_cycles != 0) limit = std::min(limit, run_.options.max_cycles);
  if (next < limit && sm.resident() > 0) ahead = sm.RunAlone(next, limit);
  return ahead.next;
}

// An SM that waits for a slow memory: behind the requests of others it may be its turn after any time.
bool LaunchSimulation::IsServed(const SmCore& sm) {
  if (sm.memory().drained()) return false;
  MemoryService& service = time_.service();
  service.Note(time_.clock());
  return time_.clock() - std::max(sm.last_progress(), service.last()) <= service.longest();
}

// A block of its cluster that has not begun, an iteration of a virtual block, may come to any of the others.
bool LaunchSimulation::WaitsForCluster(const SmCore& sm) {
  if (context_.cluster_blocks == 1) return false;
  const auto moves = [&](const SmCore& other) {
    return &other != &sm && (time_.clock() - other.last_progress() <= SmCore::kNoProgressLimit || IsServed(other));
  };
  return sm.AnySmOfItsClusters([&](uint32_t number) {
    if (number != ClusterBoard::kNotBegun) return moves(*sms_.Find(number));
    return std::any_of(sms_.made().begin(), sms_.made().end(), [&](const auto& other) { return moves(*other); });
  });
}

absl::Status LaunchSimulation::GiveBack(uint32_t index, Cycle first) {
  dispatch_->SetOpen(index, false);
  SmCore* const sm = sms_.Find(index);
  if (sm == nullptr) return absl::OkStatus();
  sm->CreditUntil(first);
  const auto place = std::ranges::find_if(sms_.made(), [sm](const auto& one) { return one.get() == sm; });
  const IBufferCore* const buffers =
      sms_.has_buffers() ? sms_.buffer_cores()[static_cast<size_t>(place - sms_.made().begin())] : nullptr;
  HEDDLE_RETURN_IF_ERROR(AddSm(*sm, buffers, first));
  run_.memory.ReleaseSm(index, first);
  sms_.Drop(index);
  run_.shared.ForgetSm(index);
  ahead_[index] = {};
  return absl::OkStatus();
}

absl::Status LaunchSimulation::FinishTurn(uint32_t index, Cycle now) {
  SmCore& sm = *sms_.Find(index);
  ahead_[index].stopped = false;
  if (!sm.ok()) return sm.status();
  if (sm.hung() && !IsServed(sm) && !WaitsForCluster(sm)) {
    return time_.Deadlock(
        absl::StrCat("nothing was issued or completed on SM ", index, " in ", now - sm.last_progress(), " cycles:"));
  }
  for (const uint64_t position : sm.retired()) {
    dispatch_->Retired(index, position);
    news_.wants_round = true;
    end_ = sm.EndOfRetired(now);
  }
  news_.changed |= sm.resident() == 0 || !sm.retired().empty();
  if (context_.by_warp) {
    for (const uint32_t hw_warp : sm.freed_hw_warps()) dispatch_->WarpEnded(index, hw_warp, now + 1);
    news_.wants_round |= !sm.freed_hw_warps().empty();
  }
  // While the host has it in its caches. What is dispatched behind the cycle wakes the SM again.
  time_.calendar().Wake(index, RunAhead(index, now));
  return absl::OkStatus();
}

}  // namespace heddle::replay
