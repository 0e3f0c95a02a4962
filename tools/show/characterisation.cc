#include "tools/show/characterisation.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/analysis/limit_study.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/machine_code.h"

namespace heddle::tools {
namespace {

using replay::LaunchLimits;
using replay::LimitOptions;

// A launch's program, by the launch's id.
const trace::Program& ProgramOf(const trace::TraceReader& reader, uint32_t launch) {
  return *reader.launches()[launch].program;
}

void CountInstructions(const trace::TraceReader& reader, const std::vector<LaunchLimits>& launches,
                       Characterisation& to) {
  using trace::v1::OpClass;
  InstructionMix mix;
  for (const LaunchLimits& launch : launches) {
    for (const replay::BlockLimit& block : launch.blocks) mix.Add(ProgramOf(reader, launch.launch), block);
  }
  to.memory = mix[OpClass::OP_LOAD] + mix[OpClass::OP_STORE] + mix[OpClass::OP_ATOMIC] + mix[OpClass::OP_TEXTURE];
  to.special = mix[OpClass::OP_SFU] + mix[OpClass::OP_FP_DIV] + mix[OpClass::OP_INT_DIV];
  to.control = mix[OpClass::OP_BRANCH] + mix[OpClass::OP_CALL] + mix[OpClass::OP_RETURN] + mix[OpClass::OP_EXIT];
  to.control += mix[OpClass::OP_CONVERGENCE];
  to.barriers = mix[OpClass::OP_BARRIER];
  to.machine.mix = mix.machine;
}

absl::Status StudyWidths(const trace::TraceReader& reader, const CharacterisationOptions& options,
                         Characterisation& to) {
  for (const uint32_t warp_size : options.warp_sizes) {
    LimitOptions limits;
    limits.warp_size = warp_size;
    limits.max_cells = 0;  // no alignment: only post-dominators
    HEDDLE_ASSIGN_OR_RETURN(const std::vector<LaunchLimits> launches, replay::StudyLimits(reader, limits));
    Characterisation::Width width{warp_size, 0, 0};
    for (const LaunchLimits& launch : launches) {
      width.issues += launch.pdom_issues;
      width.least_issues += launch.lane_activity_issues;
    }
    if (to.widths.empty()) CountInstructions(reader, launches, to);
    to.widths.push_back(width);
  }
  return absl::OkStatus();
}

absl::Status Time(const trace::TraceReader& reader, const machine::v1::Machine& machine, Characterisation& to) {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<result::v1::LaunchResult> launches, TimeLaunches(reader, machine));
  CharacterisationTiming& timing = to.timing.emplace();
  for (const result::v1::LaunchResult& launch : launches) {
    timing.Add(launch, reader.launches()[launch.launch()], machine);
  }
  return absl::OkStatus();
}

// Whose code it is, and the most registers of a program.
void AddMachineCode(const trace::Program& program, Characterisation& to) {
  const std::string words = trace::CodeInWords(program.proto());
  if (to.machine_code.empty()) {
    to.machine_code = words;
  } else if (!absl::StrContains(to.machine_code, words)) {
    absl::StrAppend(&to.machine_code, "; ", words);
  }
  const auto registers = trace::RegistersByFile(program.proto());
  for (size_t file = 0; file < registers.size(); ++file) {
    to.machine.registers[file] = std::max(to.machine.registers[file], registers[file]);
  }
}

std::optional<double> Efficiency(uint64_t thread_instructions, uint64_t issues, uint32_t warp_size) {
  if (issues == 0) return std::nullopt;
  return 100 * static_cast<double>(thread_instructions) / (static_cast<double>(issues) * warp_size);
}

}  // namespace

const Characterisation::Width* Characterisation::width(uint32_t warp_size) const {
  const auto found = std::ranges::find(widths, warp_size, &Width::warp_size);
  return found == widths.end() ? nullptr : &*found;
}

std::optional<double> Characterisation::SimdEfficiency(uint32_t warp_size) const {
  const Width* const found = width(warp_size);
  return found == nullptr ? std::nullopt : Efficiency(thread_instructions, found->issues, warp_size);
}

std::optional<double> Characterisation::LeastIssuesEfficiency(uint32_t warp_size) const {
  const Width* const found = width(warp_size);
  return found == nullptr ? std::nullopt : Efficiency(thread_instructions, found->least_issues, warp_size);
}

absl::StatusOr<Characterisation> Characterise(const trace::TraceReader& reader,
                                              const CharacterisationOptions& options) {
  Characterisation one;
  one.trace = std::filesystem::path(reader.name()).stem().string();
  one.bytes = reader.file_bytes();
  one.machine.name = one.trace;
  std::set<const trace::Program*> programs;
  for (const trace::LaunchView& view : reader.launches()) {
    if (!view.launch.recorded()) continue;
    ++one.launches;
    one.blocks += view.totals.blocks();
    one.threads += view.totals.threads();
    one.thread_instructions += view.totals.thread_instructions();
    if (!programs.insert(view.program).second) continue;
    one.static_instructions += view.program->instruction_count();
    if (view.program->proto().level() == trace::v1::LEVEL_MACHINE) AddMachineCode(*view.program, one);
  }
  HEDDLE_RETURN_IF_ERROR(StudyWidths(reader, options, one));
  if (options.machine.has_value()) {
    HEDDLE_RETURN_IF_ERROR(Time(reader, *options.machine, one));
  }
  return one;
}

std::string Classes(const Characterisation& one) {
  const std::optional<double> efficiency = one.SimdEfficiency(32);
  if (!one.timing.has_value() || !efficiency.has_value()) return "";
  std::string text = *efficiency >= 95 ? "C" : one.timing->resident_threads <= 512 ? "A" : "B";
  if (*efficiency < 87) text += ", divergent";
  if (100 * one.timing->barrier_cycles > 15 * one.timing->warp_cycles) text += ", barrier";
  if (2 * one.timing->unequal_blocks > one.timing->compared_blocks) text += ", unequal warps";
  return text;
}

}  // namespace heddle::tools
