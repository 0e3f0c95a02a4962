#include "replay/engine/replay_launch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/core/ibuffer_core.h"
#include "replay/core/launch_context.h"
#include "replay/core/sm_core.h"
#include "replay/core/thesis_core.h"
#include "replay/dispatch/block_dispatcher.h"
#include "replay/engine/calendar.h"
#include "replay/engine/machine.h"
#include "replay/memory/memory_profile.h"
#include "replay/memory/memory_system.h"
#include "replay/stats/instruction_profile.h"
#include "replay/stats/time_series.h"
#include "replay/stats/warp_timeline.h"

namespace heddle::replay {
namespace {

constexpr uint64_t kProgressCycles = 1 << 14;
// The most that an SM runs ahead of the others, in cycles; enough for it to pay.
constexpr Cycle kAheadCycles = 4000;
// A machine that issues nothing for so long hangs: every latency is at most 10^5 cycles, and the requests that can be
// under way at once keep a memory busy for far less.
constexpr Cycle kHangCycles = Cycle{1} << 23;

// Blocks of a launch by their position among the recorded ones.
class RecordedBlocks {
 public:
  explicit RecordedBlocks(const trace::LaunchView& launch) {
    for (uint32_t chunk = 0; chunk < launch.chunks.size(); ++chunk) {
      if (launch.chunks[chunk].part() != 0) continue;
      chunk_.push_back(chunk);
      first_.push_back(count_);
      count_ += launch.chunks[chunk].block_count();
    }
  }
  uint64_t count() const { return count_; }
  RecordedBlock At(uint64_t position) const {
    const size_t i = static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), position) - first_.begin()) - 1;
    return {chunk_[i], static_cast<uint32_t>(position - first_[i])};
  }

 private:
  std::vector<uint32_t> chunk_;
  std::vector<uint64_t> first_;  // position of the chunk's first block
  uint64_t count_ = 0;
};

// Dimensions of grid and block beyond the first of each.
uint32_t ExtraDimensions(const trace::v1::Launch& launch) {
  uint32_t dimensions = 0;
  for (const auto& extent : {launch.grid(), launch.block()}) dimensions += (extent.y() > 1) + (extent.z() > 1);
  return dimensions;
}

// The SMs, the memory and the dispatcher of a run, and the time they share.
class LaunchSimulation : public SmWaker {
 public:
  LaunchSimulation(const LaunchRun& run, const Occupancy& occupancy)
      : run_(run),
        context_(run.launch, run.reader.header(), run.options.machine),
        blocks_(run.launch),
        memory_(run.memory),
        sm_count_(run.options.machine.sms()),
        calendar_(sm_count_ + 1) {
    residency_ = Residency(occupancy.blocks);
    limit_ = residency_ < static_cast<uint64_t>(occupancy.blocks) ? "grid" : occupancy.limit;
    const CheckedConfiguration& configuration = run.configuration;
    const PolicyInfo& info = configuration.divergence->info;
    const PolicyInfo& dispatch = configuration.dispatch->info;
    const WarpOccupancy by_warp = ComputeWarpOccupancy(run.options.machine, *run.launch.program, run.launch.launch);
    context_.by_warp = dispatch.traits.by_warp;
    context_.capacity = static_cast<int>(residency_);
    // Two iterations of a virtual block may be under way at once, and a block may be there in part.
    if (context_.by_warp) context_.capacity = std::max(2 * context_.capacity, by_warp.blocks);
    context_.policy_name = info.name;
    context_.any_lane = MaySitInAnyLane(info, configuration.divergence_parameters);
    context_.static_warps = info.traits.static_warps;
    PrepareMetrics();
    context_.warp_progress = &warp_progress_.emplace(residency_ * sm_count_);
    context_.swizzle = SwizzlesHomeLanes(info, configuration.divergence_parameters);
    context_.force_tick = run.options.force_tick;
    context_.observer = run.options.observer;
    context_.configuration_index = run.configuration_index;
    if (run.options.machine.core().front_end() == machine::v1::Core::IBUFFER) {
      buffer_setup_.emplace(context_.program, context_.steps, run.options.machine);
    }
    memory_.BeginLaunch();
    MakeSms();
    DispatchContext dispatch_context;
    dispatch_context.blocks = blocks_.count();
    dispatch_context.sms = sm_count_;
    dispatch_context.warps_per_block = context_.rows_per_block;
    dispatch_context.blocks_per_sm = static_cast<uint32_t>(residency_);
    dispatch_context.partial_blocks_per_sm = static_cast<uint32_t>(Residency(by_warp.blocks));
    dispatch_context.rows_per_sm = static_cast<uint32_t>(by_warp.warps);
    dispatch_context.extra_dimensions = ExtraDimensions(run.launch.launch);
    dispatch_context.instructions = [this](uint32_t sm, uint32_t row) { return sms_[sm]->InstructionsOfRow(row); };
    dispatcher_ = configuration.dispatch->make(dispatch_context, configuration.dispatch_parameters);
    occupancy_.assign(sm_count_, {0, static_cast<int>(residency_)});
    ahead_.resize(sm_count_);
    accepted_ = std::make_unique<bool[]>(sm_count_);
  }

  absl::Status Run();
  absl::StatusOr<result::v1::LaunchResult> Result();

  void WakeSm(uint32_t sm) override { calendar_.Wake(sm, now_); }

 private:
  // The statistics that only some runs collect.
  void PrepareMetrics() {
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
  // What all SMs and the memory have counted in the cycles before `until`: all of them have been run, and nothing in
  // it.
  LaunchCounters CountUntil(Cycle until);
  // Ends the bins that end at or before `now`, in which nothing has run yet.
  void EndBins(Cycle now);
  // Writes the statistics that were asked for.
  absl::Status AddMetrics(result::v1::LaunchResult& result);

  void MakeSms() {
    const CheckedConfiguration& configuration = run_.configuration;
    for (uint32_t sm = 0; sm < sm_count_; ++sm) {
      const DivergenceContext policy_context{context_.program, context_.warp_size, context_.max_threads,
                                             context_.capacity, context_.ports};
      std::unique_ptr<DivergencePolicy> policy =
          configuration.divergence->make(policy_context, configuration.divergence_parameters);
      std::unique_ptr<SmCore> core;
      if (buffer_setup_.has_value()) {
        auto buffer =
            std::make_unique<IBufferCore>(context_, *buffer_setup_, sm, std::move(policy), run_.cache, memory_);
        buffer_cores_.push_back(buffer.get());
        core = std::move(buffer);
      } else {
        core = std::make_unique<ThesisCore>(context_, sm, std::move(policy), run_.cache, memory_);
      }
      std::vector<std::unique_ptr<WarpScheduler>> schedulers;
      for (int port = 0; port < context_.ports; ++port) {
        const SchedulerContext scheduler_context{core->table(),        context_.program,  context_.warp_size,
                                                 context_.max_threads, context_.capacity, port,
                                                 context_.ports,       &core->clock()};
        schedulers.push_back(configuration.scheduler->make(scheduler_context, configuration.scheduler_parameters));
      }
      core->SetSchedulers(std::move(schedulers));
      if (buffer_setup_.has_value()) {
        const FetchContext fetch_context{core->table(),          core->schedulers(),
                                         buffer_setup_->entries, buffer_setup_->fetch_when_free_slot,
                                         context_.warp_size,     context_.ports};
        buffer_cores_.back()->SetFetchPolicy(configuration.fetch->make(fetch_context, configuration.fetch_parameters));
      }
      sms_.push_back(std::move(core));
    }
  }

  // What only the front end with instruction buffers counts.
  absl::Status AddBufferResult(const SmCounters& counters, result::v1::LaunchResult& result) const;
  // Blocks per SM where the resources of an SM allow `blocks`: GPGPU-Sim spreads a grid that is smaller than what the
  // machine holds over all SMs.
  uint64_t Residency(int blocks) const {
    const uint64_t fit = static_cast<uint64_t>(blocks);
    if (!run_.options.machine.dispatch().spread_small_grids()) return fit;
    return std::min(fit, std::max<uint64_t>((blocks_.count() + sm_count_ - 1) / sm_count_, 1));
  }

  absl::StatusOr<BlockArrival> ArrivalOf(uint64_t position);
  // A round of dispatch after the cycle before `first`: of whole blocks, or of warps.
  absl::Status Dispatch(Cycle first);
  // Runs an SM that has run cycle `now` on alone, as long as nothing outside it can matter to it: that keeps what it
  // works on in the host's caches. Returns the next cycle in which the SM is to be looked at.
  Cycle RunAhead(uint32_t sm, Cycle now);
  absl::Status DispatchBlocks(Cycle first);
  absl::Status DispatchWarps(Cycle first);
  // What every waiting thread, resource and queue waits for. `found`: how the hang was noticed.
  absl::Status Deadlock(const std::string& found) const;
  // All blocks have retired, and nothing is under way in the memory.
  bool Done() const;
  uint64_t ThreadInstructions() const {
    uint64_t sum = 0;
    for (const auto& sm : sms_) sum += sm->counters().thread_instructions;
    return sum;
  }

  const LaunchRun& run_;
  LaunchContext context_;
  const RecordedBlocks blocks_;
  MemorySystem& memory_;
  const uint32_t sm_count_;
  Calendar calendar_;  // component sm_count_ is the dispatcher
  uint64_t residency_ = 0;
  std::string limit_;
  std::optional<BufferSetup> buffer_setup_;  // of machines with instruction buffers
  std::optional<WarpProgressTotals> warp_progress_;
  std::optional<InstructionProfile> profile_;
  std::optional<MemoryProfile> memory_profile_;
  std::optional<WarpTimelines> timelines_;
  std::optional<TimeSeries> series_;
  Cycle next_bin_ = kNever;  // the present bin ends before this cycle
  std::vector<std::unique_ptr<SmCore>> sms_;
  std::vector<IBufferCore*> buffer_cores_;  // the same, if they have buffers
  std::unique_ptr<BlockDispatcher> dispatcher_;
  std::vector<SmOccupancy> occupancy_;
  std::vector<SmCore::Stretch> ahead_;  // by SM: what it has run beyond the time of the others
  std::unique_ptr<bool[]> accepted_;
  bool grid_assigned_ = false;
  uint64_t room_ = 0;  // blocks that would still fit
  uint64_t resident_ = 0;
  uint64_t retired_ = 0;
  Cycle now_ = 0;
  Cycle end_ = 0;
};

absl::StatusOr<BlockArrival> LaunchSimulation::ArrivalOf(uint64_t position) {
  BlockArrival arrival;
  arrival.position = position;
  arrival.recorded = blocks_.At(position);
  absl::StatusOr<const trace::DecodedChunk*> chunk = run_.cache.Peek(run_.launch.chunks[arrival.recorded.chunk]);
  if (!chunk.ok()) return chunk.status();
  arrival.linear_index = (*chunk)->blocks[arrival.recorded.place];
  return arrival;
}

absl::Status LaunchSimulation::Dispatch(Cycle first) {
  const absl::Status status = context_.by_warp ? DispatchWarps(first) : DispatchBlocks(first);
  if (!grid_assigned_ && dispatcher_->done()) {
    grid_assigned_ = true;
    for (const auto& sm : sms_) sm->GridAssigned();
  }
  return status;
}

absl::Status LaunchSimulation::DispatchBlocks(Cycle first) {
  const std::span<const bool> accepted(accepted_.get(), sm_count_);
  std::fill_n(accepted_.get(), sm_count_, false);
  while (room_ > 0) {
    const std::optional<Assignment> assignment = dispatcher_->Next(occupancy_, accepted);
    if (!assignment.has_value()) break;
    const uint32_t sm = assignment->sm;
    if (sm >= sm_count_ || accepted_[sm] || occupancy_[sm].resident >= occupancy_[sm].capacity ||
        assignment->block >= blocks_.count()) {
      return absl::InternalError(absl::StrCat("the dispatcher sent block ", assignment->block, " to SM ", sm,
                                              ", which has no room or has taken a block in this cycle"));
    }
    const absl::StatusOr<BlockArrival> arrival = ArrivalOf(assignment->block);
    if (!arrival.ok()) return arrival.status();
    accepted_[sm] = true;
    ++occupancy_[sm].resident;
    ++resident_;
    --room_;
    sms_[sm]->Admit(*arrival, first);
    if (!sms_[sm]->ok()) return sms_[sm]->status();
    calendar_.Wake(sm, first);
  }
  if (dispatcher_->done()) return absl::OkStatus();
  if (resident_ == 0) {
    return absl::InternalError(absl::StrCat("the dispatcher leaves ", blocks_.count() - retired_,
                                            " thread blocks undone though every SM has room"));
  }
  if (room_ > 0) calendar_.Wake(sm_count_, first);
  return absl::OkStatus();
}

absl::Status LaunchSimulation::DispatchWarps(Cycle first) {
  while (const std::optional<WarpAssignment> assignment = dispatcher_->NextWarp(first)) {
    const uint32_t sm = assignment->sm;
    if (sm >= sm_count_ || assignment->block >= blocks_.count() || assignment->warp >= context_.rows_per_block ||
        !sms_[sm]->RowIsFree(assignment->row)) {
      return absl::InternalError(absl::StrCat("the dispatcher sent warp ", assignment->warp, " of block ",
                                              assignment->block, " to row ", assignment->row, " of SM ", sm,
                                              ": there is no such warp or no such free row"));
    }
    const absl::StatusOr<BlockArrival> arrival = ArrivalOf(assignment->block);
    if (!arrival.ok()) return arrival.status();
    WarpArrival warp;
    warp.block = *arrival;
    warp.warp = assignment->warp;
    warp.row = assignment->row;
    warp.instructions = assignment->instructions;
    if (assignment->virtual_block.has_value()) {
      warp.virtual_block = {assignment->virtual_block->place, assignment->virtual_block->iteration};
    }
    sms_[sm]->AdmitWarp(warp, first);
    if (!sms_[sm]->ok()) return sms_[sm]->status();
    calendar_.Wake(sm, first);
  }
  if (const Cycle next = dispatcher_->NextFirst(); next != kNever) calendar_.Wake(sm_count_, std::max(next - 1, first));
  return absl::OkStatus();
}

absl::Status LaunchSimulation::Deadlock(const std::string& found) const {
  std::vector<std::string> lines;
  for (uint32_t sm = 0; sm < sm_count_; ++sm) {
    if (std::string threads = sms_[sm]->ExplainDeadlock(); !threads.empty()) lines.push_back(std::move(threads));
    if (std::string memory = sms_[sm]->memory().Explain(); !memory.empty()) {
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

// An SM cannot be reached from outside while no request of it is under way and it can get no block: it is full, or none
// is left. A block that it retires is dispatched for when all have come to that cycle.
Cycle LaunchSimulation::RunAhead(uint32_t index, Cycle now) {
  SmCore::Stretch& ahead = ahead_[index];
  if (now + 1 < ahead.until) return ahead.next;
  SmCore& sm = *sms_[index];
  const Cycle next = sm.NextWake(now);
  ahead = {now + 1, next, false};
  const SmOccupancy& occupancy = occupancy_[index];
  if (context_.force_tick || context_.by_warp) return next;
  if (occupancy.resident < occupancy.capacity && !dispatcher_->done()) return next;
  if (run_.configuration.scheduler->info.traits.hears_grid_assigned && !grid_assigned_) return next;
  Cycle limit = now + kAheadCycles;
  limit = std::min(limit, next_bin_);  // its counters are read there
  if (run_.options.max_cycles != 0) limit = std::min(limit, run_.options.max_cycles);
  if (next < limit && sm.resident() > 0 && sm.memory().isolated()) ahead = sm.RunAlone(next, limit);
  return ahead.next;
}

absl::Status LaunchSimulation::Run() {
  room_ = residency_ * sm_count_;
  // The first round comes before cycle 0, so that the first issue is in cycle 0.
  if (absl::Status status = Dispatch(0); !status.ok()) return status;
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
      SmCore& sm = *sms_[component];
      SmCore::Stretch& ahead = ahead_[component];
      if (now >= ahead.until) {
        sm.RunCycle(now);
      } else if (!ahead.stopped || now != ahead.next) {
        continue;  // it has run this cycle, and nothing came of it
      }
      ahead.stopped = false;
      if (!sm.ok()) return sm.status();
      if (sm.hung()) {
        return Deadlock(absl::StrCat("nothing was issued or completed on SM ", component, " in ",
                                     SmCore::kNoProgressLimit, " cycles:"));
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
      if (!context_.by_warp) continue;
      for (const uint32_t row : sm.freed_rows()) dispatcher_->WarpEnded(component, row, now + 1);
      dispatch |= !sm.freed_rows().empty();
    }
    if (dispatch && (context_.by_warp || (room_ > 0 && !dispatcher_->done()))) {
      if (absl::Status status = Dispatch(now + 1); !status.ok()) return status;
    }
    for (const uint32_t component : awake) {
      if (component != sm_count_) calendar_.Wake(component, RunAhead(component, now));
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
      if (now - progress > kHangCycles) {
        return Deadlock(absl::StrCat("nothing has issued for ", now - progress, " cycles:"));
      }
      if (run_.progress && !run_.progress(instructions)) return absl::CancelledError("stopped on request");
    }
  }
  for (const auto& sm : sms_) sm->CreditUntil(end_);
  return absl::OkStatus();
}

LaunchCounters LaunchSimulation::CountUntil(Cycle until) {
  LaunchCounters counters;
  counters.has_stalls = buffer_setup_.has_value();
  for (const auto& sm : sms_) {
    sm->CreditUntil(until);
    counters.sm.Add(sm->counters());
    counters.exited_threads += sm->exited_threads();
    counters.dispatched_blocks += static_cast<uint64_t>(sm->resident());
  }
  for (const IBufferCore* core : buffer_cores_) counters.stalls.Add(core->stalls());
  counters.has_memory = memory_.Sample(until, counters.memory);
  counters.dispatched_blocks += retired_;
  counters.retired_blocks = retired_;
  return counters;
}

void LaunchSimulation::EndBins(Cycle now) {
  for (; next_bin_ <= now; next_bin_ = series_->end()) series_->EndBin(CountUntil(next_bin_));
}

absl::Status LaunchSimulation::AddMetrics(result::v1::LaunchResult& result) {
  if (timelines_.has_value()) timelines_->Fill(result);
  if (series_.has_value()) {
    series_->Finish(end_, CountUntil(end_));
    series_->Fill(*result.mutable_time_series());
  }
  if (!profile_.has_value()) return absl::OkStatus();
  profile_->Fill(context_.program, run_.reader.header(), static_cast<uint32_t>(context_.warp_size),
                 buffer_setup_.has_value(), memory_profile_.has_value() ? &*memory_profile_ : nullptr,
                 *result.mutable_instruction_profile());
  return CheckSums(result.instruction_profile(), result);
}

// Adds up a policy's counters over SMs and ports by the rule of each.
void Combine(const PolicyInfo& info, std::span<const uint64_t> values,
             google::protobuf::Map<std::string, uint64_t>& out) {
  for (size_t i = 0; i < info.counters.size() && i < values.size(); ++i) {
    uint64_t& sum = out[info.counters[i].name];
    sum = info.counters[i].combine == CounterSpec::Combine::kMaximum ? std::max(sum, values[i]) : sum + values[i];
  }
}

absl::Status LaunchSimulation::AddBufferResult(const SmCounters& counters, result::v1::LaunchResult& result) const {
  const PolicyInfo& fetch = run_.configuration.fetch->info;
  for (const CounterSpec& spec : fetch.counters) (*result.mutable_fetch_counter())[spec.name] = 0;
  StallCounters stalls;
  result::v1::FetchCounts& counts = *result.mutable_fetch();
  for (const IBufferCore* core : buffer_cores_) {
    stalls.Add(core->stalls());
    counts.set_fetches(counts.fetches() + core->fetch_counters().fetches);
    counts.set_instructions(counts.instructions() + core->fetch_counters().instructions);
    counts.set_dropped(counts.dropped() + core->fetch_counters().dropped);
    const std::span<const uint64_t> values = core->fetch_policy().counters();
    if (values.size() != fetch.counters.size()) {
      return absl::InternalError(absl::StrCat("fetch policy '", fetch.name, "' declares ", fetch.counters.size(),
                                              " counters, but has ", values.size()));
    }
    Combine(fetch, values, *result.mutable_fetch_counter());
  }
  if (absl::Status status = CheckSums(stalls); !status.ok()) return status;
  if (stalls.port_cycles != counters.scheduler_cycles || stalls.issued != counters.issued ||
      stalls.structural != counters.stall) {
    return absl::InternalError(absl::StrCat("the stall classes count ", stalls.port_cycles, " port cycles, ",
                                            stalls.issued, " issues and ", stalls.structural,
                                            " structural stalls, the scheduler cycles ", counters.scheduler_cycles,
                                            ", ", counters.issued, " and ", counters.stall));
  }
  FillResult(stalls, result);
  return absl::OkStatus();
}

absl::StatusOr<result::v1::LaunchResult> LaunchSimulation::Result() {
  SmCounters counters;
  result::v1::LaunchResult result;
  const PolicyInfo& divergence = run_.configuration.divergence->info;
  const PolicyInfo& scheduler = run_.configuration.scheduler->info;
  for (const CounterSpec& spec : divergence.counters) (*result.mutable_divergence_counter())[spec.name] = 0;
  for (const CounterSpec& spec : scheduler.counters) (*result.mutable_scheduler_counter())[spec.name] = 0;
  const PolicyInfo& dispatch = run_.configuration.dispatch->info;
  if (dispatcher_->counters().size() != dispatch.counters.size()) {
    return absl::InternalError(absl::StrCat("dispatcher '", dispatch.name, "' declares ", dispatch.counters.size(),
                                            " counters, but has ", dispatcher_->counters().size()));
  }
  Combine(dispatch, dispatcher_->counters(), *result.mutable_dispatch_counter());
  for (const auto& sm : sms_) {
    if (absl::Status status = CheckSums(sm->counters()); !status.ok()) return status;
    if (absl::Status status = sm->CheckDrained(); !status.ok()) return status;
    counters.Add(sm->counters());
    const std::span<const uint64_t> values = sm->policy().counters();
    if (values.size() != divergence.counters.size()) {
      return absl::InternalError(absl::StrCat("divergence policy '", divergence.name, "' declares ",
                                              divergence.counters.size(), " counters, but has ", values.size()));
    }
    Combine(divergence, values, *result.mutable_divergence_counter());
    for (const auto& port : sm->schedulers()) {
      if (port->counters().size() != scheduler.counters.size()) {
        return absl::InternalError(absl::StrCat("scheduler '", scheduler.name, "' declares ", scheduler.counters.size(),
                                                " counters, but has ", port->counters().size()));
      }
      Combine(scheduler, port->counters(), *result.mutable_scheduler_counter());
    }
  }
  if (counters.thread_instructions != run_.launch.totals.thread_instructions()) {
    return absl::InternalError(absl::StrCat("thread-instructions issued: ", counters.thread_instructions,
                                            ", recorded: ", run_.launch.totals.thread_instructions()));
  }
  // With instruction buffers a port may issue in every cycle, whatever its issues occupy behind it.
  const uint32_t issue_cycles = buffer_setup_.has_value() ? 1 : static_cast<uint32_t>(context_.issue_cycles);
  const CounterScale scale{static_cast<uint32_t>(context_.warp_size), issue_cycles,
                           static_cast<uint32_t>(context_.ports)};
  if (buffer_setup_.has_value()) {
    if (absl::Status status = AddBufferResult(counters, result); !status.ok()) return status;
  }
  FillResult(counters, scale, end_, result);
  if (!context_.by_warp) warp_progress_->Fill(*result.mutable_warp_progress());
  if (absl::Status status = AddMetrics(result); !status.ok()) return status;
  if (absl::Status status = memory_.EndLaunch(end_, result); !status.ok()) return status;
  result.set_launch(run_.launch.launch.id());
  result.set_kernel(run_.launch.program->name());
  result.set_blocks(blocks_.count());
  result.set_threads(blocks_.count() * run_.launch.threads_per_block);
  result.set_blocks_per_sm(residency_);
  result.set_residency_limit(limit_);
  const RegisterSensitivity sensitivity =
      ComputeRegisterSensitivity(run_.options.machine, *run_.launch.program, run_.launch.launch);
  result.set_registers_per_thread(sensitivity.registers);
  result.set_blocks_per_sm_fewer_registers(Residency(sensitivity.blocks_fewer));
  result.set_blocks_per_sm_more_registers(Residency(sensitivity.blocks_more));
  return result;
}

// Recorded shuffles and votes hold for warps of the recorded width; they stay valid where a warp is at least as wide
// (decisions.md B).
absl::Status CheckWarpWidth(const LaunchRun& run) {
  const uint32_t recorded = run.reader.header().warp_width();
  const uint32_t machine = run.options.machine.core().warp_size();
  if (!run.launch.program->proto().uses_warp_operations() || recorded <= machine) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the kernel uses shuffles or votes, which were recorded for warps of ", recorded,
                   " threads; the machine's warps have ", machine, ": set core.warp_size to ", recorded, " or more"));
}

}  // namespace

absl::StatusOr<result::v1::LaunchResult> ReplayLaunch(const LaunchRun& run) {
  if (absl::Status status = CheckWarpWidth(run); !status.ok()) return status;
  const std::string& extra = run.configuration.dispatch->info.traits.extra_registers_parameter;
  const int64_t extra_registers = extra.empty() ? 0 : run.configuration.dispatch_parameters.Integer(extra);
  absl::StatusOr<Occupancy> occupancy = ComputeOccupancy(run.options.machine, *run.launch.program, run.launch.launch,
                                                         static_cast<uint32_t>(extra_registers));
  if (!occupancy.ok()) return occupancy.status();
  LaunchSimulation simulation(run, *occupancy);
  if (absl::Status status = simulation.Run(); !status.ok()) return status;
  return simulation.Result();
}

}  // namespace heddle::replay
