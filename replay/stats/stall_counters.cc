#include "replay/stats/stall_counters.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {

void StallCounters::AddPortCycles(WarpClass closest, uint64_t count) {
  port_cycles += count;
  switch (closest) {
    case WarpClass::kStructural:
      structural += count;
      return;
    case WarpClass::kMemoryWaw:
      data_waw += count;
      [[fallthrough]];
    case WarpClass::kMemory:
      data_memory += count;
      return;
    case WarpClass::kArithmeticWaw:
      data_waw += count;
      [[fallthrough]];
    case WarpClass::kArithmetic:
      data_arithmetic += count;
      return;
    case WarpClass::kControl:
      control += count;
      return;
    case WarpClass::kFetch:
      fetch += count;
      return;
    case WarpClass::kPaused:
      paused += count;
      [[fallthrough]];
    case WarpClass::kPolicy:
      policy += count;
      return;
    case WarpClass::kBarrier:
      barrier += count;
      return;
    case WarpClass::kExit:
      exit += count;
      return;
    case WarpClass::kNone:
      empty += count;
  }
}

void StallCounters::Add(const StallCounters& other) {
  port_cycles += other.port_cycles;
  issued += other.issued;
  structural += other.structural;
  data_memory += other.data_memory;
  data_arithmetic += other.data_arithmetic;
  data_waw += other.data_waw;
  control += other.control;
  fetch += other.fetch;
  policy += other.policy;
  paused += other.paused;
  barrier += other.barrier;
  exit += other.exit;
  empty += other.empty;
  warp_cycles += other.warp_cycles;
  warp_issues += other.warp_issues;
  for (int i = 0; i < kWarpClasses; ++i) warp_class[i] += other.warp_class[i];
}

absl::Status CheckSums(const StallCounters& c) {
  const uint64_t port_sum = c.issued + c.structural + c.data_memory + c.data_arithmetic + c.control + c.fetch +
                            c.policy + c.barrier + c.exit + c.empty;
  if (port_sum != c.port_cycles) {
    return absl::InternalError(
        absl::StrCat("stall classes of the issue ports add up to ", port_sum, " of ", c.port_cycles, " cycles"));
  }
  uint64_t warp_sum = c.warp_issues;
  for (const uint64_t cycles : c.warp_class) warp_sum += cycles;
  if (warp_sum != c.warp_cycles) {
    return absl::InternalError(
        absl::StrCat("stall classes of the warps add up to ", warp_sum, " of ", c.warp_cycles, " cycles"));
  }
  if (c.warp_issues != c.issued) {
    return absl::InternalError(absl::StrCat("warps issued in ", c.warp_issues, " cycles, ports in ", c.issued));
  }
  return absl::OkStatus();
}

void FillResult(const StallCounters& c, result::v1::LaunchResult& out) {
  result::v1::StallCycles& ports = *out.mutable_stalls();
  ports.set_total(c.port_cycles);
  ports.set_issued(c.issued);
  ports.set_structural(c.structural);
  ports.set_data(c.data_memory + c.data_arithmetic);
  ports.set_data_memory(c.data_memory);
  ports.set_data_arithmetic(c.data_arithmetic);
  ports.set_data_waw(c.data_waw);
  ports.set_control(c.control);
  ports.set_fetch(c.fetch);
  ports.set_policy(c.policy);
  if (c.paused != 0) ports.set_paused(c.paused);
  ports.set_barrier(c.barrier);
  ports.set_exit(c.exit);
  ports.set_empty(c.empty);
  const auto of = [&](WarpClass one) { return c.warp_class[static_cast<size_t>(one)]; };
  const uint64_t memory = of(WarpClass::kMemory) + of(WarpClass::kMemoryWaw);
  const uint64_t arithmetic = of(WarpClass::kArithmetic) + of(WarpClass::kArithmeticWaw);
  result::v1::WarpCycles& warps = *out.mutable_warp_cycles();
  warps.set_total(c.warp_cycles);
  warps.set_issue(c.warp_issues);
  warps.set_structural(of(WarpClass::kStructural));
  warps.set_data(memory + arithmetic);
  warps.set_data_memory(memory);
  warps.set_data_arithmetic(arithmetic);
  warps.set_data_waw(of(WarpClass::kMemoryWaw) + of(WarpClass::kArithmeticWaw));
  warps.set_control(of(WarpClass::kControl));
  warps.set_fetch(of(WarpClass::kFetch));
  const uint64_t paused = of(WarpClass::kPaused);
  warps.set_policy(of(WarpClass::kPolicy) + paused);
  if (paused != 0) warps.set_paused(paused);
  warps.set_barrier(of(WarpClass::kBarrier));
  warps.set_exit(of(WarpClass::kExit));
}

}  // namespace heddle::replay
