// What is counted in a launch, and the checks of it.
#include <algorithm>
#include <optional>
#include <span>

#include "absl/strings/str_cat.h"
#include "replay/engine/launch_simulation.h"
#include "replay/stats/sm_check.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/code_level.h"

namespace heddle::replay {
namespace {

// A counter of one more SM or port.
uint64_t Together(const CounterSpec& spec, uint64_t sum, uint64_t value) {
  return spec.combine == CounterSpec::Combine::kMaximum ? std::max(sum, value) : sum + value;
}

// Adds up a policy's counters over SMs and ports by the rule of each.
void Combine(const PolicyInfo& info, std::span<const uint64_t> values,
             google::protobuf::Map<std::string, uint64_t>& out) {
  for (size_t i = 0; i < info.counters.size() && i < values.size(); ++i) {
    uint64_t& sum = out[info.counters[i].name];
    sum = Together(info.counters[i], sum, values[i]);
  }
}

}  // namespace

template <typename Visit>
void LaunchSimulation::ForEachPolicy(Visit visit) const {
  const CheckedConfiguration& configuration = run_.configuration;
  std::vector<std::span<const uint64_t>> values;
  for (const auto& sm : sms_.made()) values.push_back(sm->policy().counters());
  visit(DivergencePolicy::kSeam, configuration.divergence.info(), values);
  values.clear();
  for (const auto& sm : sms_.made()) {
    for (const auto& scheduler : sm->schedulers()) values.push_back(scheduler->counters());
  }
  visit(WarpScheduler::kSeam, configuration.scheduler.info(), values);
  values.clear();
  if (dispatch_.has_value()) values.push_back(dispatch_->counters());
  visit(BlockDispatcher::kSeam, configuration.dispatch.info(), values);
  if (sms_.has_buffers()) {
    values.clear();
    for (const IBufferCore* core : sms_.buffer_cores()) values.push_back(core->fetch_policy().counters());
    visit(FetchPolicy::kSeam, configuration.fetch.info(), values);
  }
  if (!HasDataCache(run_.options.machine)) return;
  values.clear();
  for (const auto& sm : sms_.made()) values.push_back(sm->memory_policy()->counters());
  visit(MemoryPolicy::kSeam, configuration.memory.info(), values);
}

std::vector<PolicyColumn> LaunchSimulation::PolicyColumns() const {
  std::vector<PolicyColumn> columns;
  ForEachPolicy([&columns](const char* seam, const PolicyInfo& info, const auto& /*values*/) {
    for (const CounterSpec& spec : info.counters) columns.push_back({seam, spec.name, spec.unit, spec.adds_up()});
  });
  return columns;
}

std::vector<uint64_t> LaunchSimulation::PolicyValues() const {
  std::vector<uint64_t> out;
  ForEachPolicy([&out](const char* /*seam*/, const PolicyInfo& info, const auto& values) {
    for (size_t i = 0; i < info.counters.size(); ++i) {
      uint64_t& sum = out.emplace_back(0);
      for (const std::span<const uint64_t> own : values) {
        if (i < own.size()) sum = Together(info.counters[i], sum, own[i]);
      }
    }
  });
  return out;
}

LaunchCounters LaunchSimulation::CountUntil(Cycle until) {
  LaunchCounters counters;
  counters.has_stalls = sms_.has_buffers();
  for (const auto& sm : sms_.made()) {
    sm->CreditUntil(until);
    counters.sm.Add(sm->counters());
    counters.exited_threads += sm->exited_threads();
    counters.dispatched_blocks += static_cast<uint64_t>(sm->resident());
  }
  for (const IBufferCore* core : sms_.buffer_cores()) counters.stalls.Add(core->stalls());
  counters.has_memory = run_.memory.Sample(until, counters.memory);
  counters.dispatched_blocks += dispatch_->retired();
  counters.retired_blocks = dispatch_->retired();
  counters.policies = PolicyValues();
  return counters;
}

absl::Status LaunchSimulation::AddBufferTotals(const IBufferCore& core) {
  const PolicyInfo& fetch = run_.configuration.fetch.info();
  totals_.stalls.Add(core.stalls());
  result::v1::FetchCounts& counts = *totals_.policies.mutable_fetch();
  counts.set_fetches(counts.fetches() + core.fetch_counters().fetches);
  counts.set_instructions(counts.instructions() + core.fetch_counters().instructions);
  counts.set_dropped(counts.dropped() + core.fetch_counters().dropped);
  const std::span<const uint64_t> values = core.fetch_policy().counters();
  if (values.size() != fetch.counters.size()) {
    return absl::InternalError(absl::StrCat("fetch policy '", fetch.name, "' declares ", fetch.counters.size(),
                                            " counters, but has ", values.size()));
  }
  Combine(fetch, values, *totals_.policies.mutable_fetch_counter());
  return absl::OkStatus();
}

absl::Status LaunchSimulation::AddSm(const SmCore& sm, const IBufferCore* buffers, Cycle end) {
  const CheckedConfiguration& configuration = run_.configuration;
  const PolicyInfo& divergence = configuration.divergence.info();
  const PolicyInfo& scheduler = configuration.scheduler.info();
  std::optional<StallCounters> stalls;
  if (buffers != nullptr) stalls = buffers->stalls();
  HEDDLE_RETURN_IF_ERROR(CheckSm(sm.number(), end, sm.counters(), stalls));
  HEDDLE_RETURN_IF_ERROR(sm.CheckDrained());
  totals_.sm.Add(sm.counters());
  totals_.resolves_all |= (sm.policy().interests() & kEveryInstruction) != 0;
  const std::span<const uint64_t> values = sm.policy().counters();
  if (values.size() != divergence.counters.size()) {
    return absl::InternalError(absl::StrCat("divergence policy '", divergence.name, "' declares ",
                                            divergence.counters.size(), " counters, but has ", values.size()));
  }
  Combine(divergence, values, *totals_.policies.mutable_divergence_counter());
  for (const auto& port : sm.schedulers()) {
    if (port->counters().size() != scheduler.counters.size()) {
      return absl::InternalError(absl::StrCat("scheduler '", scheduler.name, "' declares ", scheduler.counters.size(),
                                              " counters, but has ", port->counters().size()));
    }
    Combine(scheduler, port->counters(), *totals_.policies.mutable_scheduler_counter());
  }
  if (buffers != nullptr) HEDDLE_RETURN_IF_ERROR(AddBufferTotals(*buffers));
  if (!HasDataCache(run_.options.machine)) return absl::OkStatus();
  const PolicyInfo& memory = configuration.memory.info();
  const std::span<const uint64_t> kept = sm.memory_policy()->counters();
  if (kept.size() != memory.counters.size()) {
    return absl::InternalError(absl::StrCat("memory policy '", memory.name, "' declares ", memory.counters.size(),
                                            " counters, but has ", kept.size()));
  }
  Combine(memory, kept, *totals_.policies.mutable_memory_counter());
  return absl::OkStatus();
}

absl::Status LaunchSimulation::AddClusterResult(result::v1::LaunchResult& result) const {
  const uint64_t clusters = blocks_.clusters().count();
  if (board_->clusters_ended() != clusters) {
    return absl::InternalError(
        absl::StrCat("of ", clusters, " clusters ", board_->clusters_ended(), " have come and gone as a whole"));
  }
  result::v1::ClusterCounters& out = *result.mutable_clusters();
  out.set_clusters(clusters);
  out.set_blocks_per_cluster(context_.cluster_blocks);
  out.set_barrier_phases(board_->phases());
  out.set_barrier_wait_cycles(board_->wait_cycles());
  out.set_remote_arrivals(board_->remote_arrivals());
  for (const auto& sm : sms_.made()) {
    out.set_remote_loads(out.remote_loads() + sm->remote_counts().loads);
    out.set_remote_stores(out.remote_stores() + sm->remote_counts().stores);
    out.set_remote_atomics(out.remote_atomics() + sm->remote_counts().atomics);
  }
  return absl::OkStatus();
}

absl::StatusOr<result::v1::LaunchResult> LaunchSimulation::Result(uint64_t sm_cycles) {
  for (size_t i = 0; i < sms_.made().size(); ++i) {
    SmCore& sm = *sms_.made()[i];
    sm.CreditUntil(end_);
    HEDDLE_RETURN_IF_ERROR(AddSm(sm, sms_.has_buffers() ? sms_.buffer_cores()[i] : nullptr, end_));
  }
  const CheckedConfiguration& configuration = run_.configuration;
  const SmCounters& counters = totals_.sm;
  result::v1::LaunchResult result = std::move(totals_.policies);
  // Counters that no SM has counted are 0.
  const auto declare = [](const PolicyInfo& info, google::protobuf::Map<std::string, uint64_t>& out) {
    for (const CounterSpec& spec : info.counters) out.try_emplace(spec.name, 0);
  };
  declare(configuration.divergence.info(), *result.mutable_divergence_counter());
  declare(configuration.scheduler.info(), *result.mutable_scheduler_counter());
  const PolicyInfo& dispatch = configuration.dispatch.info();
  if (dispatch_->counters().size() != dispatch.counters.size()) {
    return absl::InternalError(absl::StrCat("dispatcher '", dispatch.name, "' declares ", dispatch.counters.size(),
                                            " counters, but has ", dispatch_->counters().size()));
  }
  Combine(dispatch, dispatch_->counters(), *result.mutable_dispatch_counter());
  const uint64_t executed = counters.thread_instructions - counters.predicated_off + counters.joins;
  if (executed != run_.launch.totals.thread_instructions()) {
    return absl::InternalError(absl::StrCat("all SMs, when the launch ended in cycle ", end_,
                                            ": thread-instructions issued: ", executed,
                                            ", recorded: ", run_.launch.totals.thread_instructions()));
  }
  if (context_.predicated.has_value()) result.set_predicated_off(counters.predicated_off);
  // With instruction buffers a port may issue in every cycle, whatever its issues occupy behind it.
  const uint32_t issue_cycles = sms_.has_buffers() ? 1 : static_cast<uint32_t>(context_.issue_cycles);
  const CounterScale scale{static_cast<uint32_t>(context_.warp_size), issue_cycles,
                           static_cast<uint32_t>(context_.ports), context_.has_uniform_values};
  if (sms_.has_buffers()) {
    declare(configuration.fetch.info(), *result.mutable_fetch_counter());
    result.mutable_fetch();
    FillResult(totals_.stalls, result);
    if (totals_.resolves_all) result.set_without_scoreboard(true);
  }
  if (HasDataCache(run_.options.machine)) {
    declare(configuration.memory.info(), *result.mutable_memory_counter());
  }
  FillResult(counters, scale, end_ - place_.start, result);
  if (context_.cluster_blocks > 1) HEDDLE_RETURN_IF_ERROR(AddClusterResult(result));
  if (!context_.by_warp) metrics_->FillWarpProgress(result);
  const bool is_sample = run_.launch.totals.blocks() != run_.launch.grid_blocks;
  if ((is_sample || place_.beside) && result.has_warp_progress()) {
    // They tell the blocks of full machines from the last ones; of a sample, or of a part of a machine, nobody knows
    // which are which.
    result.mutable_warp_progress()->clear_dwr();
    result.mutable_warp_progress()->clear_dws();
  }
  if (metrics_->has_bins()) metrics_->EndSeries(end_, CountUntil(end_));
  HEDDLE_RETURN_IF_ERROR(metrics_->Fill(context_, run_.reader.header(), sms_.has_buffers(), end_, result));
  if (is_sample && sms_.watches_grid()) {
    // It counts by phases of the launch, the last of which begins when the whole grid is assigned: of a sample too
    // early.
    result.clear_scheduler_counter();
    if (result.has_time_series()) {
      auto& series = *result.mutable_time_series()->mutable_policy();
      series.erase(std::remove_if(series.begin(), series.end(),
                                  [](const auto& one) { return one.seam() == WarpScheduler::kSeam; }),
                   series.end());
    }
  }
  if (place_.beside) {
    run_.memory.EndBeside(place_.number, sm_cycles, result);
  } else {
    HEDDLE_RETURN_IF_ERROR(run_.memory.EndLaunch(end_, result));
  }
  result.set_launch(run_.launch.launch.id());
  result.set_kernel(run_.launch.program->name());
  if (std::string code = trace::CodeInWords(run_.launch.program->proto()); !code.empty()) {
    result.set_code(std::move(code));
  }
  result.set_blocks(blocks_.count());
  result.set_threads(blocks_.count() * run_.launch.threads_per_block);
  result.set_blocks_per_sm(residency_);
  result.set_residency_limit(limit_);
  const RegisterSensitivity sensitivity =
      ComputeRegisterSensitivity(run_.options.machine, *run_.launch.program, run_.launch.launch,
                                 RegistersGiven(run_.options, *run_.launch.program));
  result.set_registers_per_thread(sensitivity.registers);
  result.set_blocks_per_sm_fewer_registers(Residency(sensitivity.blocks_fewer));
  result.set_blocks_per_sm_more_registers(Residency(sensitivity.blocks_more));
  return result;
}

}  // namespace heddle::replay
