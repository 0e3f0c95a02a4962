#include "replay/engine/launch_simulation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/memory/ports/remote_access.h"
#include "traces/base/huge_pages.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

constexpr uint64_t kProgressCycles = 1 << 14;
constexpr size_t kSmBytes = size_t{5} << 18;  // what an SM takes, with its part of the memory and a share of the rest
// The most that an SM runs ahead of the others, in cycles; enough for it to pay.
constexpr Cycle kAheadCycles = 4000;
// A machine with fixed latencies that issues nothing for so long hangs: every latency is at most 10^5 cycles.
constexpr Cycle kHangCycles = Cycle{1} << 23;
// A DRAM that has requests answers one within so many cycles of its clock: that takes a column access per byte of a
// line at most, each of at most 10^4 cycles. What goes through the network takes far less of its own.
constexpr Cycle kServiceCycles = Cycle{1} << 22;

// How often the fastest clock ticks in a cycle of the slowest, rounded up.
Cycle ClockRatio(const machine::v1::Clocks& clocks) {
  const auto [slow, fast] = std::minmax({clocks.core_mhz(), clocks.network_mhz(), clocks.l2_mhz(), clocks.dram_mhz()});
  return slow == 0 ? 1 : (fast + slow - 1) / slow;
}

// Dimensions of grid and block beyond the first of each.
uint32_t ExtraDimensions(const trace::v1::Launch& launch) {
  uint32_t dimensions = 0;
  for (const auto& extent : {launch.grid(), launch.block()}) dimensions += (extent.y() > 1) + (extent.z() > 1);
  return dimensions;
}

}  // namespace

MemoryService::MemoryService(const machine::v1::Machine& machine, const MemorySystem& memory)
    : memory_(memory), served_(memory.served_requests()) {
  if (machine.memory().has_hierarchy()) longest_ = kServiceCycles * ClockRatio(machine.clocks());
}

LaunchSimulation::LaunchSimulation(const LaunchRun& run, const Occupancy& occupancy, trace::RecordedClusters clusters)
    : run_(run),
      context_(run.launch, run.reader.header(), run.options.machine),
      blocks_(run.launch, std::move(clusters)),
      memory_(run.memory),
      service_(run.options.machine, run.memory),
      sms_(run, context_),
      ahead_(sms_.count()),
      calendar_(sms_.count() + 1) {
  residency_ = Residency(occupancy.blocks);
  const machine::v1::Machine& machine = run.options.machine;
  limit_ = residency_ < static_cast<uint64_t>(occupancy.blocks) ? "grid" : occupancy.limit;
  PreferHugePages(std::min<uint64_t>(sms_.count(), blocks_.count()) * kSmBytes);
  const WarpOccupancy by_warp = ComputeWarpOccupancy(machine, *run.launch.program, run.launch.launch,
                                                     RegistersGiven(run.options, *run.launch.program));
  CompleteContext(by_warp);
  metrics_.emplace(run.options.metrics, machine, residency_ * sms_.count(), context_, PolicyColumns());
  memory_.Transferred(run.reader.transfers().first(run.launch.transfers_before));
  // Blocks that are there in part keep their shared memory: so many may be, each with a warp or more.
  const int partial_blocks = context_.by_warp ? std::min(by_warp.blocks, by_warp.warps) : 0;
  context_.l1_ways =
      L1Ways(machine, *run.launch.program, run.launch.launch, std::max(occupancy.blocks, partial_blocks));
  memory_.BeginLaunch(context_.l1_ways);
  if (metrics_->has_bins()) memory_.BeginSampling();
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
  shape.clock = &now_;
  dispatch_.emplace(run, context_, blocks_, std::move(shape), machine.dispatch().launch_cycles(), sms_, calendar_);
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
    context_.clusters = &board_.emplace(context_.cluster_blocks, timing.network_cycles, *this);
  }
  context_.observer = run_.options.observer;
  context_.observes_states = context_.observer != nullptr && context_.observer->wants_states();
  context_.configuration_index = run_.configuration_index;
}

absl::Status LaunchSimulation::Deadlock(const std::string& found) const {
  std::vector<std::string> lines;
  for (uint32_t sm = 0; sm < sms_.count(); ++sm) {
    SmCore* const core = sms_.Find(sm);
    if (core == nullptr) continue;
    if (std::string threads = core->ExplainDeadlock(); !threads.empty()) lines.push_back(std::move(threads));
    if (std::string memory = core->memory().Explain(); !memory.empty()) {
      lines.push_back(absl::StrCat("memory of SM ", sm, ": ", memory));
    }
  }
  if (std::string shared = memory_.Explain(); !shared.empty()) lines.push_back(std::move(shared));
  if (!found.empty()) lines.insert(lines.begin(), found);
  return absl::FailedPreconditionError(absl::StrJoin(lines, "\n"));
}

bool LaunchSimulation::Done() const {
  return dispatch_->left() == 0 && memory_.drained() &&
         std::all_of(sms_.made().begin(), sms_.made().end(), [](const auto& sm) { return sm->memory().drained(); });
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
  service_.Note(now_);
  return now_ - std::max(sm.last_progress(), service_.last()) <= service_.longest();
}

// A block of its cluster that has not begun, an iteration of a virtual block, may come to any of the others.
bool LaunchSimulation::WaitsForCluster(const SmCore& sm) {
  if (context_.cluster_blocks == 1) return false;
  const auto moves = [&](const SmCore& other) {
    return &other != &sm && (now_ - other.last_progress() <= SmCore::kNoProgressLimit || IsServed(other));
  };
  return sm.AnySmOfItsClusters([&](uint32_t number) {
    if (number != ClusterBoard::kNotBegun) return moves(*sms_.Find(number));
    return std::any_of(sms_.made().begin(), sms_.made().end(), [&](const auto& other) { return moves(*other); });
  });
}

absl::Status LaunchSimulation::Run() {
  // The first round comes before the first cycle of the blocks, so that the first issue is in it.
  const Cycle begin = run_.options.machine.dispatch().launch_cycles();
  if (begin == 0) {
    HEDDLE_RETURN_IF_ERROR(dispatch_->Round(0));
  } else {
    calendar_.Wake(sms_.count(), begin - 1);
  }
  std::vector<uint32_t> awake;
  Cycle next_progress = kProgressCycles;
  Cycle progress = 0;  // since when the number of issued instructions has been the same
  uint64_t issued = 0;
  while (!Done()) {
    const Cycle now = std::min(calendar_.Next(), memory_.NextEvent());
    if (now == kNever) {
      return Deadlock(dispatch_->left() == 0 ? "" : absl::StrCat(dispatch_->left(), " thread blocks are left"));
    }
    if (run_.options.max_cycles != 0 && now >= run_.options.max_cycles) {
      return absl::DeadlineExceededError(absl::StrCat("not done after ", run_.options.max_cycles,
                                                      " cycles (the bound that was set): ", dispatch_->left(),
                                                      " thread blocks are left"));
    }
    now_ = now;
    if (now >= metrics_->next_bin()) metrics_->EndBins(now, [this](Cycle until) { return CountUntil(until); });
    memory_.Advance(now, *this);
    calendar_.Take(now, awake);
    bool dispatch = false;
    for (const uint32_t component : awake) {
      if (component == sms_.count()) {
        const Cycle due = dispatch_->due();  // the calendar may wake too early
        if (now + 1 >= due) {
          dispatch = true;
        } else if (due != kNever) {
          calendar_.Wake(component, due - 1);
        }
        continue;
      }
      SmCore& sm = *sms_.Find(component);
      SmCore::RunAhead& ahead = ahead_[component];
      if (now >= ahead.until) {
        if (const Cycle wake = sm.RunTurn(now); wake != now) {
          calendar_.Wake(component, wake);
          continue;
        }
      } else if (!ahead.stopped || now != ahead.next) {  // it has run this cycle, and nothing came of it
        calendar_.Wake(component, ahead.next);
        continue;
      }
      ahead.stopped = false;
      if (!sm.ok()) return sm.status();
      if (sm.hung() && !IsServed(sm) && !WaitsForCluster(sm)) {
        return Deadlock(absl::StrCat("nothing was issued or completed on SM ", component, " in ",
                                     now - sm.last_progress(), " cycles:"));
      }
      for (const uint64_t position : sm.retired()) {
        dispatch_->Retired(component, position);
        dispatch = true;
        end_ = sm.EndOfRetired(now);
      }
      if (context_.by_warp) {
        for (const uint32_t hw_warp : sm.freed_hw_warps()) dispatch_->WarpEnded(component, hw_warp, now + 1);
        dispatch |= !sm.freed_hw_warps().empty();
      }
      // While the host has it in its caches. What is dispatched below wakes the SM again.
      calendar_.Wake(component, RunAhead(component, now));
    }
    if (dispatch && dispatch_->WantsRound()) {
      HEDDLE_RETURN_IF_ERROR(dispatch_->Round(now + 1));
    }
    // A launch ends with its last block, or when the memory has nothing under way any more.
    if (dispatch_->left() == 0) end_ = std::max(end_, now);
    if (now >= next_progress) {
      next_progress = now + kProgressCycles;
      run_.cache.Age();
      const uint64_t instructions = ThreadInstructions();
      if (instructions != issued) {
        issued = instructions;
        progress = now;
      }
      service_.Note(now_);
      if (now - std::max(progress, service_.last()) > std::max(kHangCycles, 2 * service_.longest())) {
        return Deadlock(absl::StrCat("nothing has issued for ", now - progress, " cycles:"));
      }
      if (run_.progress && !run_.progress(instructions)) return absl::CancelledError("stopped on request");
    }
  }
  for (const auto& sm : sms_.made()) sm->CreditUntil(end_);
  return absl::OkStatus();
}

}  // namespace heddle::replay
