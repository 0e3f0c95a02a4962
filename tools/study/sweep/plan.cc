#include "tools/study/sweep/plan.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/configuration.h"
#include "replay/engine/model_version.h"
#include "replay/machine/machine.h"
#include "tools/console/digest.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/inputs/policies_elsewhere.h"
#include "tools/inputs/policy_list.h"
#include "tools/inputs/register_counts.h"
#include "tools/inputs/trace_file.h"
#include "tools/study/sweep/equal_runs.h"
#include "tools/study/sweep/unread_fields.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/container_writer.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools::sweep {
namespace {

namespace fs = std::filesystem;
namespace proto = heddle::sweep::v1;

constexpr std::array<const char*, 5> kKinds = {"divergence", "scheduler", "dispatch", "fetch", "memory"};

absl::Status Prefixed(const std::string& prefix, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(prefix, ": ", status.message()));
}

std::string FromSpec(const Spec& spec, const std::string& file) { return (fs::path(spec.folder) / file).string(); }

// ----------------------------------------------------------------------------------------------------------- traces

absl::Status AddTraces(const Spec& spec, const std::string& folder, Plan& plan, std::set<std::string>& kernels) {
  for (const std::string& file : spec.sweep.trace()) {
    const std::string path = FromSpec(spec, file);
    const auto reader = OpenTrace(path);
    if (!reader.ok()) return Prefixed("trace", reader.status());
    PlannedTrace trace;
    trace.name = fs::path(file).stem().string();
    if (const PlannedTrace* other = plan.FindTrace(trace.name); other != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("trace: two traces are called ", trace.name, " (", other->path, " and ", path,
                       "): points name traces by their files' names, so these must differ"));
    }
    trace.path = PathFrom(folder, path);
    trace.digest = (*reader)->digest();
    for (const trace::LaunchView& launch : (*reader)->launches()) {
      if (!launch.launch.recorded()) continue;
      trace.thread_instructions += launch.totals.thread_instructions();
      kernels.insert(launch.program->name());
    }
    plan.traces.push_back(std::move(trace));
  }
  return absl::OkStatus();
}

// By expression and trace: whether a kernel of the trace matches.
using Matches = std::map<std::pair<std::string, std::string>, bool>;

absl::StatusOr<Matches> MatchKernels(const Spec& spec, const Plan& plan) {
  Matches matches;
  for (const std::string& expression : spec.sweep.kernels()) {
    const absl::StatusOr<trace::KernelPattern> pattern = trace::KernelPattern::Parse(expression);
    if (!pattern.ok()) return absl::InvalidArgumentError(absl::StrCat("kernels: ", pattern.status().message()));
    bool any = false;
    for (const PlannedTrace& trace : plan.traces) {
      HEDDLE_ASSIGN_OR_RETURN(
          const auto reader,
          OpenTrace((fs::path(spec.folder) / spec.sweep.trace(&trace - plan.traces.data())).string()));
      bool here = false;
      for (const trace::LaunchView& launch : reader->launches()) {
        here = here || (launch.launch.recorded() && pattern->Matches(launch.program->name()));
      }
      matches[{expression, trace.name}] = here;
      any = any || here;
    }
    if (!any)
      return absl::InvalidArgumentError(
          absl::StrCat("kernels: \"", expression, "\" matches no recorded kernel of any trace"));
  }
  return matches;
}

// --------------------------------------------------------------------------------------------------------- policies

// The names behind a seam.
template <typename Registry>
absl::StatusOr<std::vector<std::string>> PoliciesOf(const google::protobuf::RepeatedPtrField<std::string>& list,
                                                    bool swept) {
  const std::string what = Registry::kSeam;
  std::vector<std::string> texts;
  std::set<std::string> canonical;
  for (const std::string& entry : list) {
    if (entry == "all") {
      for (std::string& name : Registry::Get().Names()) texts.push_back(std::move(name));
    } else {
      texts.push_back(entry);
    }
  }
  for (const std::string& text : texts) {
    const replay::PolicySpec policy = replay::PolicySpec::FromText(text);
    const auto entry = Registry::Get().Find(policy.name);
    if (!entry.ok()) {
      std::string elsewhere = PolicyElsewhere(policy.name);
      const std::string seam = SeamOf(policy.name);
      if (elsewhere.empty() && !seam.empty()) elsewhere = absl::StrCat("is for ", seam);
      if (elsewhere.empty()) return Prefixed(what, entry.status());
      return absl::InvalidArgumentError(absl::StrCat(what, ": ", policy.name, " ", elsewhere));
    }
    // Ways and entries of a table may be swept together: what they demand of each other is checked by setting.
    const replay::PolicyInfo& info = (*entry)->info;
    const auto parameters = swept ? replay::Parameters::ParseSome(info, policy.parameters)
                                  : replay::Parameters::Parse(info, policy.parameters);
    if (!parameters.ok()) return Prefixed(what, parameters.status());
    // Entries that differ only in what no rule reads are the same, unless a swept parameter makes a rule read it.
    std::string meaning = policy.name;
    for (const replay::ParameterSpec& spec : info.parameters) {
      if (!swept && !replay::IsRead(info, spec, *parameters)) continue;
      absl::StrAppend(&meaning, ",", spec.name, "=", parameters->Text(spec.name));
    }
    if (!canonical.insert(meaning).second) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": ", text, " is the same as another entry of the list"));
    }
  }
  return texts;
}

using PolicyTexts = std::array<std::vector<std::string>, kKinds.size()>;

// Which of kKinds the assignment "divergence.KEY=VALUE" is for; kKinds.size() for a field of the machine. Those of its
// memory, "memory.hierarchy.FIELD", have a message between.
size_t KindOf(const std::string& assignment) {
  const std::string name = assignment.substr(0, assignment.find('='));
  const size_t dot = name.find('.');
  const std::string kind = name.substr(0, dot);
  if (kind == "memory" && dot != std::string::npos && name.find('.', dot + 1) != std::string::npos) {
    return kKinds.size();
  }
  return static_cast<size_t>(std::find(kKinds.begin(), kKinds.end(), kind) - kKinds.begin());
}

// Behind "divergence.".
std::string WithoutKind(const std::string& assignment) { return assignment.substr(assignment.find('.') + 1); }

absl::StatusOr<PolicyTexts> AllPolicies(const proto::Sweep& sweep) {
  const bool swept = sweep.parameter_size() > 0;
  HEDDLE_ASSIGN_OR_RETURN(auto divergence, PoliciesOf<replay::DivergenceRegistry>(sweep.divergence(), swept));
  HEDDLE_ASSIGN_OR_RETURN(auto scheduler, PoliciesOf<replay::SchedulerRegistry>(sweep.scheduler(), swept));
  HEDDLE_ASSIGN_OR_RETURN(auto dispatch, PoliciesOf<replay::DispatchRegistry>(sweep.dispatch(), swept));
  HEDDLE_ASSIGN_OR_RETURN(auto fetch, PoliciesOf<replay::FetchRegistry>(sweep.fetch(), swept));
  HEDDLE_ASSIGN_OR_RETURN(auto memory, PoliciesOf<replay::MemoryRegistry>(sweep.memory(), swept));
  return PolicyTexts{divergence, scheduler, dispatch, fetch, memory};
}

// The policy with one more parameter.
std::string WithParameter(const std::string& policy, const std::string& assignment) {
  return absl::StrCat(policy, policy.find(':') == std::string::npos ? ":" : ",", assignment);
}

// --------------------------------------------------------------------------------------------------------- machines

// The policies of one setting, with the values of their parameters.
struct PolicyChoices {
  std::vector<replay::ChosenPolicy<replay::DivergenceRegistry>> divergence;
  std::vector<replay::ChosenPolicy<replay::SchedulerRegistry>> scheduler;
  std::vector<replay::ChosenPolicy<replay::DispatchRegistry>> dispatch;
  std::vector<replay::ChosenPolicy<replay::FetchRegistry>> fetch;
  std::vector<replay::ChosenPolicy<replay::MemoryRegistry>> memory;
};

// `what` tells where in the sweep they are: "with entries=8".
template <typename Registry>
absl::Status Choose(const std::vector<std::string>& texts, const std::string& what,
                    std::vector<replay::ChosenPolicy<Registry>>& chosen) {
  for (const std::string& text : texts) {
    absl::StatusOr<replay::ChosenPolicy<Registry>> policy =
        replay::ChoosePolicy<Registry>(replay::PolicySpec::FromText(text));
    if (!policy.ok()) {
      return Prefixed(absl::StrCat(Registry::kSeam, " ", what, " is impossible"), policy.status());
    }
    chosen.push_back(*std::move(policy));
  }
  return absl::OkStatus();
}

// One machine under one row of the design; the policies with the row's parameters.
struct Setting {
  PlannedMachine planned;
  machine::v1::Machine machine;
  PolicyChoices policies;
  std::vector<replay::CheckedConfiguration> configurations = {};  // of planned.policies
};

absl::StatusOr<Setting> MakeSetting(const Spec& spec, const std::vector<size_t>& row, const std::string& name,
                                    const machine::v1::Machine& base, const PolicyTexts& policies) {
  Setting setting{.planned = {}, .machine = base, .policies = {}};
  PolicyTexts texts = policies;
  setting.planned.name = name;
  for (size_t i = 0; i < row.size(); ++i) {
    const SweepParameter& parameter = spec.parameters[i];
    const ParameterLevel& level = parameter.levels[row[i]];
    setting.planned.parameters.emplace_back(parameter.name, level.name);
    for (const std::string& assignment : level.set) {
      if (const size_t kind = KindOf(assignment); kind != kKinds.size()) {
        for (std::string& text : texts[kind]) text = WithParameter(text, WithoutKind(assignment));
        continue;
      }
      if (absl::Status status = replay::Override(setting.machine, assignment); !status.ok()) {
        return Prefixed(absl::StrCat("parameter ", parameter.name, ", machine ", name), status);
      }
      setting.planned.set.push_back(assignment);
    }
  }
  const std::string with =
      absl::StrCat("with ", absl::StrJoin(setting.planned.parameters, ", ", absl::PairFormatter("=")));
  if (absl::Status status = replay::CheckMachine(setting.machine); !status.ok()) {
    return Prefixed(absl::StrCat("machine ", name, " ", with, " is impossible"), status);
  }
  HEDDLE_RETURN_IF_ERROR(Choose(texts[0], with, setting.policies.divergence));
  HEDDLE_RETURN_IF_ERROR(Choose(texts[1], with, setting.policies.scheduler));
  HEDDLE_RETURN_IF_ERROR(Choose(texts[2], with, setting.policies.dispatch));
  HEDDLE_RETURN_IF_ERROR(Choose(texts[3], with, setting.policies.fetch));
  HEDDLE_RETURN_IF_ERROR(Choose(texts[4], with, setting.policies.memory));
  setting.planned.digest = MachineDigest(setting.machine);
  return setting;
}

// Whether the parameters of a policy are good by themselves; of a policy that there is.
template <typename Registry>
absl::Status CheckParameters(const std::string& text) {
  const replay::PolicySpec policy = replay::PolicySpec::FromText(text);
  HEDDLE_ASSIGN_OR_RETURN(const auto entry, Registry::Get().Find(policy.name));
  return replay::Parameters::ParseSome(entry->info, policy.parameters).status();
}

// By kKinds.
constexpr std::array<absl::Status (*)(const std::string&), kKinds.size()> kCheckParameters = {
    CheckParameters<replay::DivergenceRegistry>, CheckParameters<replay::SchedulerRegistry>,
    CheckParameters<replay::DispatchRegistry>, CheckParameters<replay::FetchRegistry>,
    CheckParameters<replay::MemoryRegistry>};

// Checked before anything is expanded, so that the message names the parameter: a policy that lacks it, a value out of
// its range.
absl::Status CheckPolicyParameters(const Spec& spec, const PolicyTexts& policies) {
  for (const SweepParameter& parameter : spec.parameters) {
    for (const ParameterLevel& level : parameter.levels) {
      for (const std::string& assignment : level.set) {
        const size_t kind = KindOf(assignment);
        if (kind == kKinds.size()) continue;
        for (const std::string& text : policies[kind]) {
          const absl::Status good = kCheckParameters[kind](WithParameter(text, WithoutKind(assignment)));
          if (!good.ok()) return Prefixed(absl::StrCat("parameter ", parameter.name), good);
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::pair<std::string, machine::v1::Machine>> LoadNamed(const Spec& spec, const std::string& text,
                                                                       Expansion& expansion) {
  std::string name = text;
  std::string where = text;
  if (text.ends_with(".textproto")) {
    name = fs::path(text).filename().string();
    where = FromSpec(spec, text);
    for (const auto& [other, path] : expansion.machine_files) {
      if (other == name) return absl::InvalidArgumentError(absl::StrCat("machine: two files are called ", name));
    }
    expansion.machine_files.emplace_back(name, where);
  }
  auto machine = replay::LoadMachine(where);
  if (!machine.ok()) return Prefixed("machine", machine.status());
  const bool noise = std::ranges::any_of(spec.sweep.seed(), [](uint64_t seed) { return seed != 0; });
  const bool settable = std::ranges::any_of(spec.parameters, [](const SweepParameter& parameter) {
    return parameter.name.find("jitter_cycles") != std::string::npos;
  });
  if (noise && !settable && machine->memory().hierarchy().jitter_cycles() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("seed: machine ", name, " has no noise on its memory latencies, so seeds change nothing: set ",
                     "memory.hierarchy.jitter_cycles with a parameter, or leave the seeds out"));
  }
  return std::pair{name, *std::move(machine)};
}

// "baws_gtx480 core.schedulers=2 under pdom, gto, thread_blocks, fef".
std::string RunName(const PlannedMachine& machine, const PlannedMachine::Policies& policies) {
  return absl::StrCat(
      machine.name, machine.set.empty() ? "" : " ", absl::StrJoin(machine.set, " "), " under ", policies.divergence,
      ", ", policies.scheduler, ", ", policies.dispatch, ", ", policies.fetch,
      policies.memory == replay::Configuration().memory.name ? "" : absl::StrCat(", ", policies.memory));
}

// The combinations of policies that go on the setting's machine; the others are counted by reason.
void AddPolicies(Setting& setting, uint64_t points_each, std::map<std::string, uint64_t>& left_out) {
  for (const auto& divergence : setting.policies.divergence) {
    for (const auto& scheduler : setting.policies.scheduler) {
      for (const auto& dispatch : setting.policies.dispatch) {
        for (const auto& fetch : setting.policies.fetch) {
          for (const auto& memory : setting.policies.memory) {
            replay::CheckedConfiguration configuration{divergence, scheduler, dispatch, fetch, memory};
            absl::Status goes = replay::CheckPolicies(configuration);
            if (goes.ok()) goes = replay::CheckFrontEnd(configuration, setting.machine);
            if (!goes.ok()) {
              left_out[std::string(goes.message())] += points_each;
              continue;
            }
            setting.planned.policies.push_back({PolicyText(divergence.written), PolicyText(scheduler.written),
                                                PolicyText(dispatch.written), PolicyText(fetch.written),
                                                PolicyText(memory.written),
                                                CanonicalPolicies(configuration, setting.machine)});
            setting.configurations.push_back(std::move(configuration));
          }
        }
      }
    }
  }
}

}  // namespace

absl::StatusOr<Expansion> Expand(const Spec& spec, const std::string& folder) {
  Expansion expansion;
  Plan& plan = expansion.plan;
  plan.name = spec.sweep.name();
  plan.description = spec.sweep.description();
  plan.model_version = replay::ModelVersion();
  plan.libraries = LoadedLibraries(folder);
  plan.design = proto::Design_Name(spec.sweep.design());
  plan.settings.max_cycles = spec.sweep.max_cycles();
  plan.settings.metrics = {spec.sweep.per_instruction(), spec.sweep.bins(), spec.sweep.warp_phases()};
  if (!spec.sweep.launches().empty()) {
    const auto rule = replay::LaunchRuleOf(spec.sweep.launches());
    if (!rule.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("launches: no rule '", spec.sweep.launches(),
                                                     "'; there are in_order, fill_first, spatial_split"));
    }
    plan.settings.launch_rule = *rule;
  }
  if (plan.settings.launch_rule != replay::LaunchRule::kInOrder &&
      plan.settings.metrics.bin_cycles + plan.settings.metrics.timeline_blocks != 0) {
    return absl::InvalidArgumentError(absl::StrCat("launches: ", spec.sweep.launches(),
                                                   " goes with neither bins nor warp_phases, which are of one launch"));
  }
  plan.settings.registers = {spec.sweep.registers().begin(), spec.sweep.registers().end()};
  for (const SweepParameter& parameter : spec.parameters) {
    PlannedParameter& planned = plan.parameters.emplace_back();
    planned.name = parameter.name;
    for (const ParameterLevel& level : parameter.levels) planned.levels.push_back(level.name);
  }
  std::set<std::string> kernels;
  HEDDLE_RETURN_IF_ERROR(AddTraces(spec, folder, plan, kernels));
  if (kernels.empty()) return absl::InvalidArgumentError("trace: none of the traces has a recorded launch");
  HEDDLE_RETURN_IF_ERROR(CheckRegisterNames(plan.settings.registers, kernels));
  const auto policies = AllPolicies(spec.sweep);
  if (!policies.ok()) return policies.status();
  HEDDLE_RETURN_IF_ERROR(CheckPolicyParameters(spec, *policies));

  const uint64_t points_each =
      static_cast<uint64_t>(spec.sweep.trace_size()) * spec.sweep.kernels_size() * spec.sweep.seed_size();
  std::map<std::string, uint64_t> left_out;
  uint64_t points = 0;
  UnreadFields unread;
  EqualRuns equal;
  for (const std::string& text : spec.sweep.machine()) {
    HEDDLE_ASSIGN_OR_RETURN(const auto named, LoadNamed(spec, text, expansion));
    const size_t first = expansion.machines.size();
    for (const std::vector<size_t>& row : spec.rows) {
      HEDDLE_ASSIGN_OR_RETURN(auto setting, MakeSetting(spec, row, named.first, named.second, *policies));
      unread.Add(named.first, setting.machine, setting.planned.set);
      unread.AddPolicies(setting.policies.divergence);
      unread.AddPolicies(setting.policies.scheduler);
      unread.AddPolicies(setting.policies.dispatch);
      unread.AddPolicies(setting.policies.fetch);
      unread.AddPolicies(setting.policies.memory);
      AddPolicies(setting, points_each, left_out);
      for (size_t i = 0; i < setting.configurations.size(); ++i) {
        equal.Add("", RunName(setting.planned, setting.planned.policies[i]), named.second, setting.machine,
                  setting.planned.set, setting.configurations[i]);
      }
      points += setting.planned.policies.size() * points_each;
      if (points > kMostPoints) {
        return absl::InvalidArgumentError(absl::StrCat("the sweep has more than ", kMostPoints, " points: split it"));
      }
      expansion.machines.push_back(std::move(setting.planned));
      const bool screening =
          spec.sweep.design() == proto::PLACKETT_BURMAN || spec.sweep.design() == proto::PLACKETT_BURMAN_FOLDOVER;
      if (screening && expansion.machines.back().policies.size() != expansion.machines[first].policies.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("design ", plan.design, ": on machine ", named.first,
                         " some policies go with some settings of the parameters and not with others (",
                         left_out.begin()->first, "), so runs of the design would be missing"));
      }
    }
  }
  plan.left_out.assign(left_out.begin(), left_out.end());
  plan.notes = unread.Notes();
  for (std::string& note : equal.Notes(points_each)) plan.notes.push_back(std::move(note));
  if (points == 0)
    return absl::InvalidArgumentError(
        absl::StrCat("no combination of the policies goes: ", plan.left_out.front().first));
  return expansion;
}

absl::Status ForEachPoint(const Spec& spec, const Expansion& expansion,
                          const std::function<absl::Status(const Point& point)>& use) {
  HEDDLE_ASSIGN_OR_RETURN(const auto matches, MatchKernels(spec, expansion.plan));
  absl::flat_hash_map<std::string, uint64_t> numbers;  // by the key's bytes
  uint64_t number = 0;
  Point point;
  for (const PlannedTrace& trace : expansion.plan.traces) {
    point.trace = trace.name;
    for (const std::string& kernels : spec.sweep.kernels()) {
      if (!matches.at({kernels, trace.name})) continue;
      point.kernels = kernels;
      for (const PlannedMachine& machine : expansion.machines) {
        point.machine = machine.name;
        point.set = machine.set;
        point.parameters = machine.parameters;
        for (const PlannedMachine::Policies& policies : machine.policies) {
          point.divergence = policies.divergence;
          point.scheduler = policies.scheduler;
          point.dispatch = policies.dispatch;
          point.fetch = policies.fetch;
          point.memory = policies.memory;
          for (const uint64_t seed : spec.sweep.seed()) {
            point.seed = seed;
            point.key = KeyOf(trace.digest, kernels, machine.digest, policies.canonical, seed, expansion.plan.settings);
            const auto [it, added] = numbers.try_emplace(absl::HexStringToBytes(point.key), number);
            if (!added) {
              return absl::InvalidArgumentError(
                  absl::StrCat("points ", it->second, " and ", number, " are the same run (trace ", trace.name,
                               ", machine ", machine.name, ", ", policies.divergence, ", ", policies.scheduler,
                               "): two settings of the sweep mean the same"));
            }
            HEDDLE_RETURN_IF_ERROR(use(point));
            ++number;
          }
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> WritePlan(const Spec& spec, const std::string& folder) {
  HEDDLE_ASSIGN_OR_RETURN(Expansion expansion, Expand(spec, folder));
  Plan& plan = expansion.plan;
  const SweepFolder target(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": cannot create the folder: ", error.message()));

  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(target.PointsFile()));
  Sha256 digest;
  std::string lines;
  const auto flush = [&]() -> absl::Status {
    digest.Update(lines.data(), lines.size());
    const absl::Status status = file.Write(lines);
    lines.clear();
    return status;
  };
  absl::Status status = ForEachPoint(spec, expansion, [&](const Point& point) -> absl::Status {
    absl::StrAppend(&lines, PointLine(point), "\n");
    ++plan.points;
    return lines.size() < (1 << 20) ? absl::OkStatus() : flush();
  });
  if (status.ok()) status = flush();
  if (!status.ok()) return status;
  plan.points_digest = absl::BytesToHexString(digest.Finish());

  for (const auto& [name, path] : expansion.machine_files) {
    HEDDLE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
    const std::string copy = absl::StrCat(target.MachinesFolder(), "/", name);
    if (status = WriteDurably(copy, copy + ".tmp", text); !status.ok()) return status;
  }
  // Until the plan is there, its digest does not fit the points, and nothing runs.
  if (status = file.Commit(); !status.ok()) return status;
  if (status = WriteDurably(target.PlanFile(), target.PlanFile() + ".tmp", PlanJson(plan).dump(1) + "\n");
      !status.ok()) {
    return status;
  }
  return plan;
}

}  // namespace heddle::tools::sweep
