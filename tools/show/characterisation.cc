#include "tools/show/characterisation.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "replay/analysis/limit_study.h"
#include "replay/engine/replay.h"
#include "replay/seams/types.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

using replay::LaunchLimits;
using replay::LimitOptions;

// Instructions of a block by what they are.
void CountClasses(const trace::Program& program, const replay::BlockLimit& limit, Characterisation& to) {
  const trace::Block& block = program.block(limit.block);
  const uint64_t runs = limit.executions / block.count;  // a block runs from its first to its last instruction
  for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
    switch (program.instruction(pc).op()) {
      case trace::v1::OP_LOAD:
      case trace::v1::OP_STORE:
      case trace::v1::OP_ATOMIC:
      case trace::v1::OP_TEXTURE:
        to.memory += runs;
        break;
      case trace::v1::OP_SFU:
      case trace::v1::OP_FP_DIV:
      case trace::v1::OP_INT_DIV:
        to.special += runs;
        break;
      case trace::v1::OP_BRANCH:
      case trace::v1::OP_CALL:
      case trace::v1::OP_RETURN:
      case trace::v1::OP_EXIT:
        to.control += runs;
        break;
      case trace::v1::OP_BARRIER:
        to.barriers += runs;
        break;
      default:
        break;
    }
  }
}

// A launch's program, by the launch's id.
const trace::Program& ProgramOf(const trace::TraceReader& reader, uint32_t launch) {
  return *reader.launches()[launch].program;
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
    if (to.widths.empty()) {
      for (const LaunchLimits& launch : launches) {
        for (const replay::BlockLimit& block : launch.blocks) CountClasses(ProgramOf(reader, launch.launch), block, to);
      }
    }
    to.widths.push_back(width);
  }
  return absl::OkStatus();
}

void AddLaunch(const result::v1::LaunchResult& launch, const trace::Program& program, uint32_t threads_per_block,
               const machine::v1::Machine& machine, CharacterisationTiming& to) {
  to.cycles += launch.cycles();
  to.warp_instructions += launch.warp_instructions();
  for (const result::v1::InstructionCounters& one : launch.instruction_profile().instruction()) {
    const auto pc = static_cast<trace::Pc>(one.pc() / replay::kInstructionBytes);
    const trace::Block& block = program.block(program.block_of(pc));
    const bool decides =
        block.terminator == trace::v1::BRANCH_CONDITIONAL || block.terminator == trace::v1::BRANCH_WIDE;
    if (decides && pc == block.first + block.count - 1) to.branches += one.issues();
    to.splits += one.splits();
    to.data_accesses += one.memory().data_accesses();
    to.transactions += one.memory().transactions();
  }
  to.warp_cycles += launch.warp_cycles().total();
  to.barrier_cycles += launch.warp_cycles().barrier();
  const result::v1::WarpProgress& progress = launch.warp_progress();
  for (const result::v1::WarpProgress::Divergence& divergence : progress.divergence()) {
    if (divergence.above_per_cent() != 10 || !divergence.has_instruction_blocks()) continue;
    to.unequal_blocks += divergence.instruction_blocks();
    to.compared_blocks += launch.blocks();
  }
  const uint64_t per_sm = (launch.blocks() + machine.sms() - 1) / machine.sms();
  to.resident_threads =
      std::max(to.resident_threads, std::min<uint64_t>(launch.blocks_per_sm(), per_sm) * threads_per_block);
}

absl::Status Time(const trace::TraceReader& reader, const machine::v1::Machine& machine, Characterisation& to) {
  replay::ReplayOptions options;
  options.machine = machine;
  options.metrics.per_instruction = true;
  const auto results = replay::Replay(reader, {replay::Configuration{}}, options);
  if (!results.ok()) return results.status();
  CharacterisationTiming& timing = to.timing.emplace();
  for (const result::v1::LaunchResult& launch : results->front().launch()) {
    const trace::LaunchView& view = reader.launches()[launch.launch()];
    AddLaunch(launch, *view.program, view.threads_per_block, machine, timing);
  }
  return absl::OkStatus();
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
  std::set<const trace::Program*> programs;
  for (const trace::LaunchView& view : reader.launches()) {
    if (!view.launch.recorded()) continue;
    ++one.launches;
    one.blocks += view.totals.blocks();
    one.threads += view.totals.threads();
    one.thread_instructions += view.totals.thread_instructions();
    if (programs.insert(view.program).second) one.static_instructions += view.program->instruction_count();
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
