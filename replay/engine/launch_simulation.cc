#include "replay/engine/launch_simulation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/core/single_pipeline/single_pipeline_core.h"
#include "replay/engine/observed_scheduler.h"
#include "replay/engine/policy_watch.h"
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

LaunchSimulation::LaunchSimulation(const LaunchRun& run, const Occupancy& occupancy)
    : run_(run),
      context_(run.launch, run.reader.header(), run.options.machine),
      blocks_(run.launch),
      memory_(run.memory),
      sm_count_(run.options.machine.sms()),
      calendar_(sm_count_ + 1) {
  residency_ = Residency(occupancy.blocks);
  const machine::v1::Machine& machine = run.options.machine;
  if (machine.memory().has_hierarchy()) service_cycles_ = kServiceCycles * ClockRatio(machine.clocks());
  served_ = memory_.served_requests();
  limit_ = residency_ < static_cast<uint64_t>(occupancy.blocks) ? "grid" : occupancy.limit;
  PreferHugePages(std::min<uint64_t>(sm_count_, blocks_.count()) * kSmBytes);
  const CheckedConfiguration& configuration = run.configuration;
  const PolicyTraits& traits = configuration.divergence.traits;
  const WarpOccupancy by_warp = ComputeWarpOccupancy(run.options.machine, *run.launch.program, run.launch.launch);
  context_.by_warp = configuration.dispatch.traits.warp_dispatch.has_value();
  context_.capacity = static_cast<int>(residency_);
  // Two iterations of a virtual block may be under way at once, and a block may be there in part.
  if (context_.by_warp) context_.capacity = std::max(2 * context_.capacity, by_warp.blocks);
  context_.policy_name = configuration.divergence.name();
  context_.scheduler_name = configuration.scheduler.name();
  context_.fetch_name = configuration.fetch.name();
  context_.any_lane = traits.lanes.any;
  context_.static_warps = traits.regrouping == Regrouping::kNever;
  if (machine.core().thesis().register_read_bypass() && (context_.static_warps || traits.mixed_pcs)) {
    --context_.pipeline_depth;
  }
  PrepareMetrics();
  context_.warp_progress = &warp_progress_.emplace(residency_ * sm_count_);
  context_.swizzle = traits.lanes.swizzled;
  context_.force_tick = run.options.force_tick;
  context_.observer = run.options.observer;
  context_.observes_states = context_.observer != nullptr && context_.observer->wants_states();
  context_.configuration_index = run.configuration_index;
  if (run.options.machine.core().front_end() == machine::v1::Core::IBUFFER) {
    buffer_setup_.emplace(context_.program, context_.steps, run.options.machine);
  }
  memory_.Transferred(run.reader.transfers().first(run.launch.transfers_before));
  memory_.BeginLaunch();
  if (series_.has_value()) memory_.BeginSampling();
  sm_at_.resize(sm_count_);
  DispatchContext dispatch_context;
  dispatch_context.blocks = blocks_.count();
  dispatch_context.sms = sm_count_;
  dispatch_context.warps_per_block = context_.rows_per_block;
  dispatch_context.blocks_per_sm = static_cast<uint32_t>(residency_);
  dispatch_context.partial_blocks_per_sm = static_cast<uint32_t>(Residency(by_warp.blocks));
  dispatch_context.rows_per_sm = static_cast<uint32_t>(by_warp.warps);
  dispatch_context.extra_dimensions = ExtraDimensions(run.launch.launch);
  const auto copies = std::make_shared<bool>();
  dispatch_context.instructions = [this, copies](uint32_t sm, uint32_t row) {
    const bool is_there = sm < sm_count_ && row < static_cast<uint32_t>(context_.max_threads / context_.warp_size);
    return is_there && sm_at_[sm] != nullptr ? sm_at_[sm]->InstructionsOfRow(row) : 0;
  };
  const auto own_copies = copies.use_count();
  WatchedPolicy* watched = nullptr;
  dispatcher_ = MakeWatched(configuration.dispatch, dispatch_context, -1, watched);
  dispatcher_asks_ = copies.use_count() > own_copies;
  occupancy_.assign(sm_count_, {0, static_cast<int>(residency_)});
  ahead_.resize(sm_count_);
  accepted_ = std::make_unique<bool[]>(sm_count_);
  if (!context_.by_warp) sent_.resize(blocks_.count());
}

void LaunchSimulation::PrepareMetrics() {
  const MetricOptions& metrics = run_.options.metrics;
  const uint32_t warp_size = run_.options.machine.core().warp_size();
  if (metrics.per_instruction) {
    context_.profile = &profile_.emplace(context_.steps.size());
    if (run_.options.machine.memory().has_hierarchy()) {
      context_.memory_profile = &memory_profile_.emplace(context_.steps.size(), warp_size);
    }
  }
  if (metrics.bin_cycles != 0) {
    next_bin_ = series_.emplace(metrics.bin_cycles, warp_size).end();
  }
  if (metrics.timeline_blocks != 0) context_.timelines = &timelines_.emplace(metrics.timeline_blocks);
}

void LaunchSimulation::MakeSm(uint32_t sm) {
  const CheckedConfiguration& configuration = run_.configuration;
  const DivergenceContext policy_context{context_.program, context_.warp_size, context_.max_threads, context_.capacity,
                                         context_.ports};
  WatchedPolicy* watched = nullptr;
  std::unique_ptr<DivergencePolicy> policy = MakeWatched(configuration.divergence, policy_context, sm, watched);
  std::vector<WatchedPolicy*> all_watched = {watched};
  std::unique_ptr<SmCore> core;
  if (buffer_setup_.has_value()) {
    auto buffer = std::make_unique<IBufferCore>(context_, *buffer_setup_, sm, std::move(policy), run_.cache, memory_);
    buffer_cores_.push_back(buffer.get());
    core = std::move(buffer);
  } else {
    core = std::make_unique<SinglePipelineCore>(context_, sm, std::move(policy), run_.cache, memory_);
  }
  std::vector<std::unique_ptr<WarpScheduler>> schedulers;
  for (int port = 0; port < context_.ports; ++port) {
    const SchedulerContext scheduler_context{core->table(),        context_.program,  context_.warp_size,
                                             context_.max_threads, context_.capacity, port,
                                             context_.ports,       &core->clock()};
    schedulers.push_back(MakeWatched(configuration.scheduler, scheduler_context, sm, watched));
    all_watched.push_back(watched);
    watches_grid_ |= schedulers.back()->watches_grid();
    if (context_.observer == nullptr || !context_.observer->wants_waits()) continue;
    schedulers.back() =
        std::make_unique<ObservedScheduler>(std::move(schedulers.back()), *core, scheduler_context, context_, sm);
  }
  core->SetSchedulers(std::move(schedulers));
  if (buffer_setup_.has_value()) {
    const FetchContext fetch_context{core->table(),          core->schedulers(),
                                     buffer_setup_->entries, buffer_setup_->fetch_when_free_slot,
                                     context_.warp_size,     context_.ports};
    buffer_cores_.back()->SetFetchPolicy(MakeWatched(configuration.fetch, fetch_context, sm, watched));
    all_watched.push_back(watched);
  }
  // An SM may be ahead of the machine. Not before the core is sure to stay.
  for (WatchedPolicy* const one : all_watched) {
    if (one != nullptr) one->clock = &core->clock();
  }
  sm_at_[sm] = core.get();
  sms_.push_back(std::move(core));
}

absl::Status LaunchSimulation::Deadlock(const std::string& found) const {
  std::vector<std::string> lines;
  for (uint32_t sm = 0; sm < sm_count_; ++sm) {
    if (sm_at_[sm] == nullptr) continue;
    if (std::string threads = sm_at_[sm]->ExplainDeadlock(); !threads.empty()) lines.push_back(std::move(threads));
    if (std::string memory = sm_at_[sm]->memory().Explain(); !memory.empty()) {
      lines.push_back(absl::StrCat("memory of SM ", sm, ": ", memory));
    }
  }
  if (std::string shared = memory_.Explain(); !shared.empty()) lines.push_back(std::move(shared));
  if (!found.empty()) lines.insert(lines.begin(), found);
  return absl::FailedPreconditionError(absl::StrJoin(lines, "\n"));
}

bool LaunchSimulation::Done() const {
  return retired_ == blocks_.count() && memory_.drained() &&
         std::all_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm->memory().drained(); });
}

inline Cycle LaunchSimulation::RunAhead(uint32_t index, Cycle now) {
  SmCore::Stretch& ahead = ahead_[index];
  if (now + 1 < ahead.until) return ahead.next;
  SmCore& sm = *sm_at_[index];
  const Cycle next = sm.NextWake(now);
  ahead = {now + 1, next, false};
  return sm.memory().isolated() ? RunAlone(index, now) : next;
}

// An SM cannot be reached from outside while no request of it is under way and it can get no block: it is full, or none
// is left. A block that it retires is dispatched for when all have come to that cycle.
Cycle LaunchSimulation::RunAlone(uint32_t index, Cycle now) {
  SmCore& sm = *sm_at_[index];
  SmCore::Stretch& ahead = ahead_[index];
  const Cycle next = ahead.next;
  const SmOccupancy& occupancy = occupancy_[index];
  if (context_.force_tick || context_.by_warp || dispatcher_asks_) return next;
  if (occupancy.resident < occupancy.capacity && !dispatcher_->done()) return next;
  if (watches_grid_ && !grid_assigned_) return next;
  Cycle limit = now + kAheadCycles;
  limit = std::min(limit, next_bin_);  // its counters are read there
  if (run_.options.max_cycles != 0) limit = std::min(limit, run_.options.max_cycles);
  if (next < limit && sm.resident() > 0) ahead = sm.RunAlone(next, limit);
  return ahead.next;
}

void LaunchSimulation::NoteServed() {
  if (memory_.served_requests() == served_) return;
  served_ = memory_.served_requests();
  served_at_ = now_;
}

// An SM that waits for a slow memory: behind the requests of others it may be its turn after any time.
bool LaunchSimulation::IsServed(const SmCore& sm) {
  if (sm.memory().drained()) return false;
  NoteServed();
  return now_ - std::max(sm.last_progress(), served_at_) <= service_cycles_;
}

absl::Status LaunchSimulation::Run() {
  room_ = residency_ * sm_count_;
  // The first round comes before cycle 0, so that the first issue is in cycle 0.
  HEDDLE_RETURN_IF_ERROR(Dispatch(0));
  std::vector<uint32_t> awake;
  Cycle next_progress = kProgressCycles;
  Cycle progress = 0;  // since when the number of issued instructions has been the same
  uint64_t issued = 0;
  while (!Done()) {
    const Cycle now = std::min(calendar_.Next(), memory_.NextEvent());
    if (now == kNever) {
      return Deadlock(
          retired_ == blocks_.count() ? "" : absl::StrCat(blocks_.count() - retired_, " thread blocks are left"));
    }
    if (run_.options.max_cycles != 0 && now >= run_.options.max_cycles) {
      return absl::DeadlineExceededError(absl::StrCat("not done after ", run_.options.max_cycles,
                                                      " cycles (the bound that was set): ", blocks_.count() - retired_,
                                                      " thread blocks are left"));
    }
    now_ = now;
    if (now >= next_bin_) EndBins(now);
    memory_.Advance(now, *this);
    calendar_.Take(now, awake);
    bool dispatch = false;
    for (const uint32_t component : awake) {
      if (component == sm_count_) {
        dispatch = true;
        continue;
      }
      SmCore& sm = *sm_at_[component];
      SmCore::Stretch& ahead = ahead_[component];
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
      if (sm.hung() && !IsServed(sm)) {
        return Deadlock(absl::StrCat("nothing was issued or completed on SM ", component, " in ",
                                     now - sm.last_progress(), " cycles:"));
      }
      for (const uint64_t position : sm.retired()) {
        dispatcher_->Retired(component, position);
        --occupancy_[component].resident;
        --resident_;
        ++room_;
        ++retired_;
        dispatch = true;
        end_ = sm.EndOfRetired(now);
      }
      if (context_.by_warp) {
        for (const uint32_t row : sm.freed_rows()) dispatcher_->WarpEnded(component, row, now + 1);
        dispatch |= !sm.freed_rows().empty();
      }
      // While the host has it in its caches. What is dispatched below wakes the SM again.
      calendar_.Wake(component, RunAhead(component, now));
    }
    if (dispatch && (context_.by_warp || (room_ > 0 && !dispatcher_->done()))) {
      HEDDLE_RETURN_IF_ERROR(Dispatch(now + 1));
    }
    // A launch ends with its last block, or when the memory has nothing under way any more.
    if (retired_ == blocks_.count()) end_ = std::max(end_, now);
    if (now >= next_progress) {
      next_progress = now + kProgressCycles;
      run_.cache.Age();
      const uint64_t instructions = ThreadInstructions();
      if (instructions != issued) {
        issued = instructions;
        progress = now;
      }
      NoteServed();
      if (now - std::max(progress, served_at_) > std::max(kHangCycles, 2 * service_cycles_)) {
        return Deadlock(absl::StrCat("nothing has issued for ", now - progress, " cycles:"));
      }
      if (run_.progress && !run_.progress(instructions)) return absl::CancelledError("stopped on request");
    }
  }
  for (const auto& sm : sms_) sm->CreditUntil(end_);
  return absl::OkStatus();
}

}  // namespace heddle::replay
