#include "tools/study/reproduce/measurements.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/analysis/limit_study.h"
#include "replay/engine/model_version.h"
#include "replay/machine/machine.h"
#include "tools/console/json.h"
#include "tools/inputs/policy_cost.h"
#include "tools/inputs/policy_list.h"
#include "tools/inputs/result_files.h"
#include "tools/inputs/trace_file.h"
#include "tools/study/reproduce/metrics.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"
#include "traces/format/program/program.h"

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;

absl::StatusOr<machine::v1::Machine> MachineOf(const v1::Run& run) {
  absl::StatusOr<machine::v1::Machine> machine = replay::LoadMachine(run.machine());
  for (const std::string& assignment : run.set()) {
    if (!machine.ok()) break;
    HEDDLE_RETURN_IF_ERROR(replay::Override(*machine, assignment));
  }
  return machine;
}

// A program that does nothing with these needs: the rule of residency asks for nothing else.
absl::StatusOr<trace::Program> ProgramWith(const v1::Residency& needs) {
  trace::v1::KernelProgram program;
  program.set_name("residency");
  program.add_instruction()->set_op(trace::v1::OP_EXIT);
  program.mutable_instruction(0)->set_mnemonic("exit");
  trace::v1::BasicBlock& block = *program.add_block();
  block.set_instruction_count(1);
  block.set_terminator(trace::v1::EXIT);
  trace::v1::Function& function = *program.add_function();
  function.set_name("residency");
  function.set_block_count(1);
  program.set_register_count(needs.registers());
  program.set_static_shared_bytes(needs.shared_bytes());
  return trace::Program::Create(std::move(program));
}

}  // namespace

MetricSource Measurements::Source(size_t variation, size_t seed) {
  return [this, variation, seed](const std::string& path, const std::string& run, const std::string& kernel) {
    return Get(path, {variation, run, kernel, seed});
  };
}

absl::StatusOr<double> Measurements::Get(const std::string& path, const ReplayId& id) {
  const v1::Run& run = claims_.runs.find(id.run)->second;
  if (id.variation != 0) {
    const v1::Variation& variation = claims_.paper.variation(static_cast<int>(id.variation) - 1);
    for (const std::string& name : variation.without()) {
      if (name == id.kernel) return absl::NotFoundError(absl::StrCat(name, " is left out"));
    }
  }
  if (run.has_limits() || IsWithoutKernel(run)) {
    const std::string name = absl::StrCat(id.run, " ", id.kernel);
    auto known = computed_.find(name);
    if (known == computed_.end()) {
      absl::StatusOr<Numbers> numbers = run.has_limits() ? Limits(run, id.kernel)
                                        : run.has_cost() ? Cost(run)
                                                         : Residency(run);
      known = computed_.emplace(name, std::move(numbers)).first;
    }
    if (!known->second.ok()) return known->second.status();
    const auto number = known->second->find(path);
    if (number == known->second->end()) return absl::NotFoundError(absl::StrCat("no ", path, " was computed"));
    return number->second;
  }
  HEDDLE_ASSIGN_OR_RETURN(const std::string key, plan_.Key(id));
  auto known = results_.find(key);
  if (known == results_.end()) {
    absl::StatusOr<std::vector<result::v1::Result>> read = ReadResults({folder_.ResultFile(key)});
    absl::StatusOr<result::v1::Result> result = absl::NotFoundError("has not been run");
    if (read.ok()) {
      result = std::move(read->front());
    } else if (const absl::StatusOr<std::string> reason = folder_.FailureReason(key); reason.ok()) {
      result = absl::NotFoundError(*reason);
    }
    known = results_.emplace(key, std::move(result)).first;
  }
  if (!known->second.ok()) return known->second.status();
  return MetricOf(*known->second, path);
}

// Computing takes as long as a replay, so it is kept beside the results: analysis/KEY.json.
absl::StatusOr<Measurements::Numbers> Measurements::Limits(const v1::Run& run, const std::string& name) {
  HEDDLE_ASSIGN_OR_RETURN(const KernelTrace found, traces_(claims_.kernel.find(name)->second));
  HEDDLE_ASSIGN_OR_RETURN(const auto reader, OpenTrace(found.path));
  replay::LimitOptions options;
  options.warp_size = run.limits().warp_size();
  options.first_threads = run.limits().first_threads();
  options.reconvergence = !run.limits().only_regrouping();
  const std::string key = absl::StrCat(reader->digest(), "-", options.warp_size, "-", options.first_threads, "-",
                                       options.reconvergence ? "all" : "regrouping");
  const std::string file = absl::StrCat(folder_.path(), "/analysis/", key, ".json");
  nlohmann::ordered_json launches;
  const std::string version = replay::ModelVersion();
  if (const absl::StatusOr<std::string> text = sweep::ReadWholeFile(file); text.ok()) {
    launches = nlohmann::ordered_json::parse(*text, nullptr, false);
  }
  if (!launches.is_object() || launches.value("model_version", "") != version || !launches.contains("launch")) {
    HEDDLE_ASSIGN_OR_RETURN(const auto studied, replay::StudyLimits(*reader, options));
    launches = {{"model_version", version}, {"launch", nlohmann::ordered_json::array()}};
    for (const replay::LaunchLimits& launch : studied) {
      launches["launch"].push_back({{"kernel", launch.kernel},
                                    {"thread_instructions", launch.thread_instructions},
                                    {"lane_activity_issues", launch.lane_activity_issues},
                                    {"studied_instructions", launch.studied_instructions},
                                    {"nrec_issues", launch.nrec_issues},
                                    {"pdom_issues", launch.pdom_issues},
                                    {"optimal_issues", launch.optimal_issues}});
    }
    HEDDLE_RETURN_IF_ERROR(sweep::WriteDurably(file, file + ".tmp", JsonLine(launches) + "\n"));
  }
  HEDDLE_ASSIGN_OR_RETURN(const trace::KernelPattern pattern, trace::KernelPattern::Parse(found.kernels));
  Numbers numbers;
  for (const nlohmann::ordered_json& launch : launches["launch"]) {
    if (!pattern.Matches(launch.value("kernel", ""))) continue;
    for (const auto& [field, value] : launch.items()) {
      if (value.is_number()) numbers[field] += value.get<double>();
    }
  }
  return numbers;
}

absl::StatusOr<Measurements::Numbers> Measurements::Cost(const v1::Run& run) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Machine machine, MachineOf(run));
  double bits = 0;
  for (const std::string& policy : run.cost().policy()) {
    HEDDLE_ASSIGN_OR_RETURN(const uint64_t storage, PolicyStorageBits(policy, machine));
    bits += static_cast<double>(storage);
  }
  return Numbers{{"bits", bits}};
}

absl::StatusOr<Measurements::Numbers> Measurements::Residency(const v1::Run& run) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Machine machine, MachineOf(run));
  HEDDLE_ASSIGN_OR_RETURN(const trace::Program program, ProgramWith(run.residency()));
  trace::v1::Launch launch;
  launch.mutable_grid()->set_x(1);
  launch.mutable_block()->set_x(run.residency().threads());
  HEDDLE_ASSIGN_OR_RETURN(const replay::Occupancy occupancy, replay::ComputeOccupancy(machine, program, launch));
  return Numbers{{"blocks_per_sm", static_cast<double>(occupancy.blocks)},
                 {"blocks", static_cast<double>(occupancy.blocks) * machine.sms()}};
}

}  // namespace heddle::tools::reproduce
