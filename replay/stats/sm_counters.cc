#include "replay/stats/sm_counters.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

double Percent(uint64_t part, uint64_t whole) { return 100.0 * static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

void SmCounters::Add(const SmCounters& other) {
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  predicated_off += other.predicated_off;
  joins += other.joins;
  inserted_instructions += other.inserted_instructions;
  barriers += other.barriers;
  resident_cycles += other.resident_cycles;
  scheduler_cycles += other.scheduler_cycles;
  issued += other.issued;
  stall += other.stall;
  memory += other.memory;
  idle += other.idle;
  idle_cycles += other.idle_cycles;
  for (int i = 0; i < kThreadStates; ++i) idle_threads[i] += other.idle_threads[i];
  idle_paused += other.idle_paused;
  for (int i = 0; i < kMaxLanes; ++i) issues_by_size[i] += other.issues_by_size[i];
  uniform.issues += other.uniform.issues;
  uniform.mixed_issues += other.uniform.mixed_issues;
  uniform.mixed_thread_instructions += other.uniform.mixed_thread_instructions;
  uniform.extra_issues += other.uniform.extra_issues;
}

absl::Status CheckSums(const SmCounters& counters) {
  if (counters.issued + counters.stall + counters.memory + counters.idle != counters.scheduler_cycles) {
    return absl::InternalError(absl::StrCat("scheduler cycles: issued ", counters.issued, " + stall ", counters.stall,
                                            " + memory ", counters.memory, " + idle ", counters.idle,
                                            " are not the total ", counters.scheduler_cycles));
  }
  uint64_t issues = 0;
  uint64_t threads = 0;
  for (int i = 0; i < kMaxLanes; ++i) {
    issues += counters.issues_by_size[i];
    threads += counters.issues_by_size[i] * (i + 1);
  }
  if (issues != counters.warp_instructions || threads != counters.thread_instructions) {
    return absl::InternalError(absl::StrCat("issues by size hold ", issues, " issues of ", threads, " threads, not ",
                                            counters.warp_instructions, " of ", counters.thread_instructions));
  }
  if (counters.predicated_off > counters.thread_instructions) {
    return absl::InternalError(absl::StrCat("of ", counters.thread_instructions, " thread-instructions ",
                                            counters.predicated_off, " had a false guard"));
  }
  if (counters.issued != counters.warp_instructions + counters.inserted_instructions) {
    return absl::InternalError(absl::StrCat("scheduler cycles with an issue ", counters.issued, " are not the issues ",
                                            counters.warp_instructions, " + ", counters.inserted_instructions));
  }
  const SmCounters::Uniform& uniform = counters.uniform;
  if (uniform.mixed_issues > uniform.issues || uniform.issues > counters.thread_instructions ||
      uniform.extra_issues < uniform.mixed_issues ||
      uniform.mixed_thread_instructions < uniform.mixed_issues + uniform.extra_issues) {
    return absl::InternalError(absl::StrCat("of ", uniform.issues, " issues with values of uniform registers ",
                                            uniform.mixed_issues, " have different ones, of ",
                                            uniform.mixed_thread_instructions, " threads, and take ",
                                            uniform.extra_issues, " more"));
  }
  if (counters.idle_cycles > counters.resident_cycles) {
    return absl::InternalError("more idle cycles than cycles with a resident block");
  }
  return absl::OkStatus();
}

void FillResult(const SmCounters& counters, const CounterScale& scale, uint64_t cycles, result::v1::LaunchResult& out) {
  out.set_cycles(cycles);
  out.set_warp_instructions(counters.warp_instructions);
  out.set_thread_instructions(counters.thread_instructions);
  out.set_inserted_instructions(counters.inserted_instructions);
  out.set_barriers(counters.barriers);
  if (cycles != 0) {
    out.set_ipc(static_cast<double>(counters.thread_instructions) / static_cast<double>(cycles));
  }
  if (counters.warp_instructions != 0) {
    // HARP, equation 2, per issue; and CAPRI's SIMD utilisation over issue slots. They are equal, as the lanes of
    // groups that are skipped count as lanes without a thread (docs/reference/metrics.md).
    out.set_lane_activity(Percent(counters.thread_instructions, counters.warp_instructions * scale.warp_size));
    out.set_simd_utilisation(out.lane_activity());
  }
  if (counters.resident_cycles != 0) {
    // HARP, equation 1: an issue keeps its SIMD group busy for the issue period, penalties not counted.
    out.set_depth_utilisation(Percent(counters.issued * scale.issue_cycles, counters.resident_cycles * scale.ports));
  }
  result::v1::SchedulerCycles& classes = *out.mutable_scheduler_cycles();
  classes.set_total(counters.scheduler_cycles);
  classes.set_issued(counters.issued);
  classes.set_stall(counters.stall);
  classes.set_memory(counters.memory);
  classes.set_idle(counters.idle);
  const auto threads = [&](ThreadState state) { return counters.idle_threads[static_cast<int>(state)]; };
  result::v1::IdleThreads& idle = *out.mutable_idle_threads();
  idle.set_cycles(counters.idle_cycles);
  idle.set_dependency(threads(ThreadState::kDependency));
  idle.set_barrier(threads(ThreadState::kBarrier));
  idle.set_inactive(threads(ThreadState::kInactive));
  idle.set_reconverging(threads(ThreadState::kReconverging));
  idle.set_finished(threads(ThreadState::kFinished));
  idle.set_ready(threads(ThreadState::kReady));
  if (counters.idle_paused != 0) idle.set_paused(counters.idle_paused);
  for (uint32_t n = 0; n < scale.warp_size; ++n) out.add_issues_by_size(counters.issues_by_size[n]);
  if (!scale.has_uniform_values) return;
  result::v1::UniformValues& uniform = *out.mutable_uniform_values();
  uniform.set_issues(counters.uniform.issues);
  uniform.set_mixed_issues(counters.uniform.mixed_issues);
  uniform.set_mixed_thread_instructions(counters.uniform.mixed_thread_instructions);
  uniform.set_extra_issues(counters.uniform.extra_issues);
}

void AddToTotals(const result::v1::LaunchResult& launch, uint32_t warp_size, result::v1::Totals& totals) {
  totals.set_cycles(totals.cycles() + launch.cycles());
  totals.set_warp_instructions(totals.warp_instructions() + launch.warp_instructions());
  totals.set_thread_instructions(totals.thread_instructions() + launch.thread_instructions());
  if (totals.cycles() != 0) {
    totals.set_ipc(static_cast<double>(totals.thread_instructions()) / static_cast<double>(totals.cycles()));
  }
  if (totals.warp_instructions() != 0) {
    totals.set_lane_activity(Percent(totals.thread_instructions(), totals.warp_instructions() * warp_size));
  }
}

}  // namespace heddle::replay
