#include "tests/reference/reference_statistics.h"

namespace heddle::replay {

namespace {

void Add(const ReferenceCycleClasses& own, ReferenceCycleClasses& sum) {
  sum.total += own.total;
  for (int i = 0; i < kReferenceClasses; ++i) sum.cycles[i] += own.cycles[i];
  sum.data_memory += own.data_memory;
  sum.data_arithmetic += own.data_arithmetic;
  sum.data_waw += own.data_waw;
  sum.paused += own.paused;
}

}  // namespace

void Add(const ReferenceStatistics& own, ReferenceStatistics& sum) {
  sum.warp_instructions += own.warp_instructions;
  sum.thread_instructions += own.thread_instructions;
  sum.predicated_off += own.predicated_off;
  sum.inserted_instructions += own.inserted_instructions;
  sum.uniform_issues += own.uniform_issues;
  sum.mixed_issues += own.mixed_issues;
  sum.mixed_thread_instructions += own.mixed_thread_instructions;
  sum.extra_issues += own.extra_issues;
  sum.barriers += own.barriers;
  sum.scheduler_total += own.scheduler_total;
  sum.scheduler_issued += own.scheduler_issued;
  sum.scheduler_stall += own.scheduler_stall;
  sum.scheduler_memory += own.scheduler_memory;
  sum.scheduler_idle += own.scheduler_idle;
  sum.idle_cycles += own.idle_cycles;
  sum.idle_dependency += own.idle_dependency;
  sum.idle_barrier += own.idle_barrier;
  sum.idle_inactive += own.idle_inactive;
  sum.idle_reconverging += own.idle_reconverging;
  sum.idle_finished += own.idle_finished;
  sum.idle_ready += own.idle_ready;
  sum.idle_paused += own.idle_paused;
  sum.port_cycles += own.port_cycles;
  sum.busy_port_cycles += own.busy_port_cycles;
  Add(own.stalls, sum.stalls);
  Add(own.warp_cycles, sum.warp_cycles);
  sum.fetches += own.fetches;
  sum.fetched_instructions += own.fetched_instructions;
  sum.dropped_instructions += own.dropped_instructions;
  for (const auto& [size, count] : own.issues_by_size) sum.issues_by_size[size] += count;
}

void FillResult(const ReferenceStatistics& statistics, int warp_size, result::v1::LaunchResult& result) {
  const ReferenceStatistics& s = statistics;
  result.set_cycles(s.cycles);
  result.set_warp_instructions(s.warp_instructions);
  result.set_thread_instructions(s.thread_instructions);
  if (s.cycles > 0) result.set_ipc(static_cast<double>(s.thread_instructions) / static_cast<double>(s.cycles));
  if (s.warp_instructions > 0) {
    const double lanes = static_cast<double>(s.warp_instructions) * warp_size;
    result.set_lane_activity(100.0 * static_cast<double>(s.thread_instructions) / lanes);
    result.set_simd_utilisation(100.0 * static_cast<double>(s.thread_instructions) / lanes);
  }
  if (s.port_cycles > 0) {
    result.set_depth_utilisation(100.0 * static_cast<double>(s.busy_port_cycles) / static_cast<double>(s.port_cycles));
  }
  result.set_barriers(s.barriers);
  result.set_inserted_instructions(s.inserted_instructions);
  result::v1::SchedulerCycles& scheduler = *result.mutable_scheduler_cycles();
  scheduler.set_total(s.scheduler_total);
  scheduler.set_issued(s.scheduler_issued);
  scheduler.set_stall(s.scheduler_stall);
  scheduler.set_memory(s.scheduler_memory);
  scheduler.set_idle(s.scheduler_idle);
  result::v1::IdleThreads& idle = *result.mutable_idle_threads();
  idle.set_cycles(s.idle_cycles);
  idle.set_dependency(s.idle_dependency);
  idle.set_barrier(s.idle_barrier);
  idle.set_inactive(s.idle_inactive);
  idle.set_reconverging(s.idle_reconverging);
  idle.set_finished(s.idle_finished);
  idle.set_ready(s.idle_ready);
  if (s.idle_paused != 0) idle.set_paused(s.idle_paused);
  for (int size = 1; size <= warp_size; ++size) {
    const auto it = s.issues_by_size.find(static_cast<uint64_t>(size));
    result.add_issues_by_size(it == s.issues_by_size.end() ? 0 : it->second);
  }
  for (const auto& [name, value] : s.divergence_counters) (*result.mutable_divergence_counter())[name] = value;
  for (const auto& [name, value] : s.scheduler_counters) (*result.mutable_scheduler_counter())[name] = value;
}

namespace {

template <typename Message>
void FillClasses(const ReferenceCycleClasses& classes, Message& out) {
  out.set_total(classes.total);
  out.set_structural(classes.cycles[kReferenceStructural]);
  out.set_data(classes.cycles[kReferenceData]);
  out.set_data_memory(classes.data_memory);
  out.set_data_arithmetic(classes.data_arithmetic);
  out.set_data_waw(classes.data_waw);
  out.set_control(classes.cycles[kReferenceControl]);
  out.set_fetch(classes.cycles[kReferenceFetch]);
  out.set_policy(classes.cycles[kReferencePolicy]);
  if (classes.paused != 0) out.set_paused(classes.paused);
  out.set_barrier(classes.cycles[kReferenceBarrier]);
  out.set_exit(classes.cycles[kReferenceExit]);
}

}  // namespace

void FillUniformValues(const ReferenceStatistics& statistics, result::v1::LaunchResult& result) {
  result::v1::UniformValues& uniform = *result.mutable_uniform_values();
  uniform.set_issues(statistics.uniform_issues);
  uniform.set_mixed_issues(statistics.mixed_issues);
  uniform.set_mixed_thread_instructions(statistics.mixed_thread_instructions);
  uniform.set_extra_issues(statistics.extra_issues);
}

void FillBufferResult(const ReferenceStatistics& statistics, result::v1::LaunchResult& result) {
  FillClasses(statistics.stalls, *result.mutable_stalls());
  result.mutable_stalls()->set_issued(statistics.stalls.cycles[kReferenceIssue]);
  result.mutable_stalls()->set_empty(statistics.stalls.cycles[kReferenceEmpty]);
  FillClasses(statistics.warp_cycles, *result.mutable_warp_cycles());
  result.mutable_warp_cycles()->set_issue(statistics.warp_cycles.cycles[kReferenceIssue]);
  result.mutable_fetch()->set_fetches(statistics.fetches);
  result.mutable_fetch()->set_instructions(statistics.fetched_instructions);
  result.mutable_fetch()->set_dropped(statistics.dropped_instructions);
  if (statistics.without_scoreboard) result.set_without_scoreboard(true);
  for (const auto& [name, value] : statistics.fetch_counters) (*result.mutable_fetch_counter())[name] = value;
}

result::v1::Totals TotalOf(const std::vector<result::v1::LaunchResult>& launches, int warp_size) {
  result::v1::Totals total;
  for (const result::v1::LaunchResult& launch : launches) {
    total.set_cycles(total.cycles() + launch.cycles());
    total.set_warp_instructions(total.warp_instructions() + launch.warp_instructions());
    total.set_thread_instructions(total.thread_instructions() + launch.thread_instructions());
  }
  const double threads = static_cast<double>(total.thread_instructions());
  if (total.cycles() > 0) total.set_ipc(threads / static_cast<double>(total.cycles()));
  if (total.warp_instructions() > 0) {
    total.set_lane_activity(100.0 * threads / (static_cast<double>(total.warp_instructions()) * warp_size));
  }
  return total;
}

}  // namespace heddle::replay
