#include "replay/engine/machine_time.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/launch_simulation.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

constexpr uint64_t kReportCycles = 1 << 14;
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

}  // namespace

MemoryService::MemoryService(const machine::v1::Machine& machine, const MemorySystem& memory)
    : memory_(memory), served_(memory.served_requests()) {
  if (machine.memory().has_hierarchy()) longest_ = kServiceCycles * ClockRatio(machine.clocks());
}

MachineTime::MachineTime(const ReplayOptions& options, MemorySystem& memory, ChunkCache& cache,
                         std::function<bool(uint64_t)> progress)
    : options_(options),
      memory_(memory),
      cache_(cache),
      progress_(std::move(progress)),
      service_(options.machine, memory),
      calendar_(options.machine.sms() + 1),
      owners_(options.machine.sms(), nullptr) {
  report_.next = kReportCycles;
}

void MachineTime::Remove(const LaunchSimulation& launch) {
  report_.of_ended += launch.run().launch.totals.thread_instructions();
  if (present_ == &launch) present_ = nullptr;
  std::erase(launches_, &launch);
}

absl::Status MachineTime::Deadlock(const std::string& found) {
  for (const LaunchSimulation* const launch : launches_) {
    if (present_ == nullptr || present_->left() == 0) present_ = launch;
  }
  std::vector<std::string> lines;
  if (!found.empty()) lines.push_back(found);
  for (const LaunchSimulation* const launch : launches_) launch->ExplainDeadlock(launches_.size() > 1, lines);
  if (std::string shared = memory_.Explain(); !shared.empty()) lines.push_back(std::move(shared));
  return absl::FailedPreconditionError(absl::StrJoin(lines, "\n"));
}

absl::Status MachineTime::CheckBound(Cycle now) {
  for (const LaunchSimulation* const launch : launches_) {
    if (now - launch->start() < options_.max_cycles) continue;
    present_ = launch;
    return absl::DeadlineExceededError(absl::StrCat("not done after ", options_.max_cycles,
                                                    " cycles (the bound that was set): ", launch->left(),
                                                    " thread blocks are left"));
  }
  return absl::OkStatus();
}

absl::Status MachineTime::RunCycle(Cycle now, Keeper* keeper) {
  now_ = now;
  for (LaunchSimulation* const launch : launches_) launch->EndBins(now);
  memory_.Advance(now, *this);
  calendar_.Take(now, awake_);
  const auto dispatchers = static_cast<uint32_t>(owners_.size());
  for (const uint32_t component : awake_) {
    if (component == dispatchers) {
      for (LaunchSimulation* const launch : launches_) launch->WakeDispatcher(now);
      continue;
    }
    LaunchSimulation* const launch = owners_[component];
    if (launch == nullptr) continue;  // it was woken for a launch that has given it back
    present_ = launch;
    if (launch->RunTurn(component, now)) HEDDLE_RETURN_IF_ERROR(launch->FinishTurn(component, now));
  }
  if (keeper != nullptr) HEDDLE_RETURN_IF_ERROR(keeper->EndCycle(now));
  for (LaunchSimulation* const launch : launches_) {
    present_ = launch;
    HEDDLE_RETURN_IF_ERROR(launch->RunRound(now + 1));
    launch->NoteTime(now);
  }
  return absl::OkStatus();
}

absl::Status MachineTime::Report() {
  report_.next = now_ + kReportCycles;
  cache_.Age();
  uint64_t instructions = report_.of_ended;
  for (const LaunchSimulation* const launch : launches_) instructions += launch->ThreadInstructions();
  if (instructions != report_.issued) {
    report_.issued = instructions;
    report_.progress = now_;
  }
  service_.Note(now_);
  if (now_ - std::max(report_.progress, service_.last()) > std::max(kHangCycles, 2 * service_.longest())) {
    return Deadlock(absl::StrCat("nothing has issued for ", now_ - report_.progress, " cycles:"));
  }
  return progress_ && !progress_(instructions) ? absl::CancelledError("stopped on request") : absl::OkStatus();
}

absl::Status MachineTime::Run(Keeper* keeper) {
  if (keeper == nullptr) HEDDLE_RETURN_IF_ERROR(launches_.front()->Begin());
  while (keeper == nullptr ? !(launches_.front()->Drained() && memory_.drained()) : !keeper->done()) {
    const Cycle now = std::min(calendar_.Next(), memory_.NextEvent());
    if (now == kNever) {
      uint64_t left = 0;
      for (const LaunchSimulation* const launch : launches_) left += launch->left();
      return Deadlock(left == 0 ? "" : absl::StrCat(left, " thread blocks are left"));
    }
    if (options_.max_cycles != 0) HEDDLE_RETURN_IF_ERROR(CheckBound(now));
    HEDDLE_RETURN_IF_ERROR(RunCycle(now, keeper));
    if (now >= report_.next) HEDDLE_RETURN_IF_ERROR(Report());
  }
  return absl::OkStatus();
}

}  // namespace heddle::replay
