// What is counted in a launch, and the checks of it.
#include <algorithm>
#include <optional>
#include <span>

#include "absl/strings/str_cat.h"
#include "replay/engine/launch_simulation.h"
#include "replay/stats/sm_check.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

// Adds up a policy's counters over SMs and ports by the rule of each.
void Combine(const PolicyInfo& info, std::span<const uint64_t> values,
             google::protobuf::Map<std::string, uint64_t>& out) {
  for (size_t i = 0; i < info.counters.size() && i < values.size(); ++i) {
    uint64_t& sum = out[info.counters[i].name];
    sum = info.counters[i].combine == CounterSpec::Combine::kMaximum ? std::max(sum, values[i]) : sum + values[i];
  }
}

}  // namespace

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
  absl::Status status = CheckSums(result.instruction_profile(), result);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("the profile of the instructions, when the launch ended in cycle ",
                                                  end_, ": ", status.message()));
}

absl::Status LaunchSimulation::AddBufferResult(result::v1::LaunchResult& result) const {
  const PolicyInfo& fetch = run_.configuration.fetch.info();
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
  FillResult(stalls, result);
  return absl::OkStatus();
}

absl::StatusOr<result::v1::LaunchResult> LaunchSimulation::Result() {
  SmCounters counters;
  result::v1::LaunchResult result;
  const PolicyInfo& divergence = run_.configuration.divergence.info();
  const PolicyInfo& scheduler = run_.configuration.scheduler.info();
  for (const CounterSpec& spec : divergence.counters) (*result.mutable_divergence_counter())[spec.name] = 0;
  for (const CounterSpec& spec : scheduler.counters) (*result.mutable_scheduler_counter())[spec.name] = 0;
  const PolicyInfo& dispatch = run_.configuration.dispatch.info();
  if (dispatcher_->counters().size() != dispatch.counters.size()) {
    return absl::InternalError(absl::StrCat("dispatcher '", dispatch.name, "' declares ", dispatch.counters.size(),
                                            " counters, but has ", dispatcher_->counters().size()));
  }
  Combine(dispatch, dispatcher_->counters(), *result.mutable_dispatch_counter());
  for (size_t i = 0; i < sms_.size(); ++i) {
    const auto& sm = sms_[i];
    std::optional<StallCounters> stalls;
    if (buffer_setup_.has_value()) stalls = buffer_cores_[i]->stalls();
    HEDDLE_RETURN_IF_ERROR(CheckSm(sm->number(), end_, sm->counters(), stalls));
    HEDDLE_RETURN_IF_ERROR(sm->CheckDrained());
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
    return absl::InternalError(absl::StrCat("all SMs, when the launch ended in cycle ", end_,
                                            ": thread-instructions issued: ", counters.thread_instructions,
                                            ", recorded: ", run_.launch.totals.thread_instructions()));
  }
  // With instruction buffers a port may issue in every cycle, whatever its issues occupy behind it.
  const uint32_t issue_cycles = buffer_setup_.has_value() ? 1 : static_cast<uint32_t>(context_.issue_cycles);
  const CounterScale scale{static_cast<uint32_t>(context_.warp_size), issue_cycles,
                           static_cast<uint32_t>(context_.ports)};
  if (buffer_setup_.has_value()) {
    HEDDLE_RETURN_IF_ERROR(AddBufferResult(result));
  }
  FillResult(counters, scale, end_, result);
  if (!context_.by_warp) warp_progress_->Fill(*result.mutable_warp_progress());
  if (run_.launch.totals.blocks() != run_.launch.grid_blocks && result.has_warp_progress()) {
    // They tell the blocks of full machines from the last ones; of a sample nobody knows which are which.
    result.mutable_warp_progress()->clear_dwr();
    result.mutable_warp_progress()->clear_dws();
  }
  if (run_.launch.totals.blocks() != run_.launch.grid_blocks && watches_grid_) {
    // It counts by phases of the launch, the last of which begins when the whole grid is assigned: of a sample too
    // early.
    result.clear_scheduler_counter();
  }
  HEDDLE_RETURN_IF_ERROR(AddMetrics(result));
  HEDDLE_RETURN_IF_ERROR(memory_.EndLaunch(end_, result));
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

}  // namespace heddle::replay
