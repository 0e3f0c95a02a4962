#include "tools/study/reproduce/kernel_facts.h"

#include <algorithm>
#include <vector>

#include "replay/analysis/limit_study.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tools/inputs/register_counts.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools::reproduce {
namespace {

constexpr char kOldestAssembled[] = "assembler:sm_75";

bool IsDecision(trace::v1::Terminator terminator) {
  return terminator == trace::v1::BRANCH_CONDITIONAL || terminator == trace::v1::BRANCH_WIDE ||
         terminator == trace::v1::CALL_INDIRECT;
}

// Executed branches of these launches.
absl::StatusOr<uint64_t> Branches(const trace::TraceReader& reader,
                                  const std::vector<const trace::LaunchView*>& launches) {
  replay::LimitOptions options;
  options.reconvergence = false;
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<replay::LaunchLimits> studied, replay::StudyLimits(reader, options));
  uint64_t branches = 0;
  for (const trace::LaunchView* launch : launches) {
    const auto found = std::ranges::find(studied, launch->launch.id(), &replay::LaunchLimits::launch);
    if (found == studied.end()) continue;
    for (const replay::BlockLimit& limit : found->blocks) {
      const trace::Block& block = launch->program->block(limit.block);
      if (IsDecision(block.terminator)) branches += limit.executions / block.count;
    }
  }
  return branches;
}

absl::StatusOr<std::optional<double>> ScheduleDependent(const trace::TraceReader& reader,
                                                        const std::vector<const trace::LaunchView*>& launches) {
  uint64_t changed = 0;
  for (const trace::LaunchView* launch : launches) {
    bool certified = false;
    for (const trace::v1::Certificate& certificate : reader.CertificatesOf(launch->launch.id())) {
      certified = certified || certificate.runs() != 0;
      for (const trace::v1::InstructionVariance& variance : certificate.instruction()) {
        changed += variance.decisions_changed();
      }
    }
    if (!certified) return std::optional<double>();
  }
  if (changed == 0) return std::optional<double>(0);
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t branches, Branches(reader, launches));
  constexpr double kPerCent = 100;
  // Other orders may run a branch more often than the recorded one.
  return std::optional<double>(std::min(
      kPerCent, kPerCent * static_cast<double>(changed) / static_cast<double>(std::max<uint64_t>(1, branches))));
}

ResidencyBySource Residency(const machine::v1::Machine& machine, const trace::LaunchView& launch, uint32_t registers) {
  const absl::StatusOr<replay::Occupancy> occupancy =
      replay::ComputeOccupancy(machine, *launch.program, launch.launch, 0, registers);
  return {registers, occupancy.ok() ? occupancy->blocks : 0};
}

}  // namespace

absl::StatusOr<KernelFacts> FactsOf(const trace::TraceReader& reader, const std::string& kernels,
                                    const machine::v1::Machine* baseline) {
  HEDDLE_ASSIGN_OR_RETURN(const trace::KernelPattern pattern, trace::KernelPattern::Parse(kernels));
  KernelFacts facts;
  std::vector<const trace::LaunchView*> launches;
  const trace::LaunchView* largest = nullptr;
  const auto threads = [](const trace::LaunchView& launch) { return launch.grid_blocks * launch.threads_per_block; };
  for (const trace::LaunchView& launch : reader.launches()) {
    if (!launch.launch.recorded() || !pattern.Matches(launch.program->name())) continue;
    launches.push_back(&launch);
    facts.thread_instructions += launch.totals.thread_instructions();
    if (largest == nullptr || threads(launch) > threads(*largest)) largest = &launch;
  }
  HEDDLE_ASSIGN_OR_RETURN(facts.schedule_dependent, ScheduleDependent(reader, launches));
  if (largest == nullptr || baseline == nullptr) return facts;
  facts.threads_per_block = largest->threads_per_block;
  facts.counted = Residency(*baseline, *largest, largest->program->proto().register_count());
  replay::ReplayOptions options;
  options.kernels = kernels;
  const trace::TraceReader* const traces[] = {&reader};
  if (ApplyRegisters({kOldestAssembled}, traces, options).ok()) {
    const auto assembled = options.registers.find(largest->program);
    if (assembled != options.registers.end()) {
      facts.assembled = Residency(*baseline, *largest, assembled->second.per_thread);
    }
  }
  return facts;
}

}  // namespace heddle::tools::reproduce
