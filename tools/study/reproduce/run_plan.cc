#include "tools/study/reproduce/run_plan.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/engine/model_version.h"
#include "replay/machine/machine.h"
#include "tools/inputs/register_counts.h"
#include "tools/inputs/trace_file.h"
#include "tools/study/sweep/equal_runs.h"
#include "tools/study/sweep/unread_fields.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools::reproduce {

namespace fs = std::filesystem;
namespace v1 = claims::v1;
using sweep::Point;

namespace {

// Noise of a machine without any, as of `heddle replay --jitter`.
constexpr uint32_t kJitterCycles = 4;

bool Has(const google::protobuf::RepeatedPtrField<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// POLICY or POLICY:KEY=VALUE,... with KEY set anew.
std::string WithParameter(const std::string& policy, const std::string& key, const std::string& value) {
  const size_t colon = policy.find(':');
  std::vector<std::string> assignments;
  if (colon != std::string::npos) assignments = absl::StrSplit(policy.substr(colon + 1), ',');
  std::erase_if(assignments, [&](const std::string& one) { return one.substr(0, one.find('=')) == key; });
  assignments.push_back(absl::StrCat(key, "=", value));
  return absl::StrCat(policy.substr(0, colon), ":", absl::StrJoin(assignments, ","));
}

}  // namespace

v1::Run WithPaperResidency(const v1::Run& run, const v1::Kernel& kernel) {
  const bool transformed = run.dispatch() != replay::Configuration().dispatch.name;
  const uint32_t blocks = transformed && kernel.paper_blocks_per_sm_transformed() != 0
                              ? kernel.paper_blocks_per_sm_transformed()
                              : kernel.paper_blocks_per_sm();
  v1::Run bound = run;
  if (blocks == 0) return bound;
  bound.add_set(absl::StrCat("core.max_blocks=", blocks));
  bound.add_set("core.registers=0");
  return bound;
}

v1::Run Vary(const v1::Run& run, const v1::Variation& variation) {
  v1::Run varied = run;
  if (variation.machine().empty() || Has(variation.machine(), run.machine())) {
    for (const std::string& assignment : variation.set()) varied.add_set(assignment);
  }
  for (const std::string& text : variation.policy()) {
    const size_t colon = text.find(':');
    const size_t equals = text.find('=');
    if (colon == std::string::npos || equals == std::string::npos) continue;
    const std::string key = text.substr(colon + 1, equals - colon - 1);
    for (std::string* policy : {varied.mutable_divergence(), varied.mutable_scheduler(), varied.mutable_dispatch(),
                                varied.mutable_fetch(), varied.mutable_memory()}) {
      if (policy->substr(0, policy->find(':')) != text.substr(0, colon)) continue;
      *policy = WithParameter(*policy, key, text.substr(equals + 1));
    }
  }
  return varied;
}

class PlanMaker {
 public:
  PlanMaker(const PaperClaims& claims, const PlanOptions& options) : claims_(claims), options_(options) {
    plan_.plan_.name = claims.paper.name();
    plan_.plan_.description = claims.paper.title();
    plan_.plan_.model_version = replay::ModelVersion();
    plan_.plan_.libraries = sweep::LoadedLibraries(options.folder);
    plan_.plan_.design = "FULL_FACTORIAL";
    plan_.plan_.settings.registers = options.registers;
    plan_.seeds_ = std::max<size_t>(1, options.jitter);
    plan_.headline_seeds_ = std::max<size_t>(plan_.seeds_, options.headline_jitter);
  }

  absl::StatusOr<RunPlan> Make() {
    for (const CheckedClaim& claim : claims_.claims) {
      HEDDLE_RETURN_IF_ERROR(Add(claim, 0, nullptr));
    }
    for (int i = 0; i < claims_.paper.variation_size(); ++i) {
      const v1::Variation& variation = claims_.paper.variation(i);
      const size_t index = static_cast<size_t>(i) + 1;
      for (const CheckedClaim& claim : claims_.claims) {
        if (!Wanted(variation, claim)) continue;
        HEDDLE_RETURN_IF_ERROR(Add(claim, index, &variation));
        if (plan_.Changes(index, variation, claim.Needs())) plan_.varies_.emplace(index, claim.claim->id());
      }
    }
    HEDDLE_RETURN_IF_ERROR(AddFacts());
    std::set<std::string> kernels;
    for (const auto& [kernel, trace] : traces_) kernels.insert(trace.kernels.begin(), trace.kernels.end());
    HEDDLE_RETURN_IF_ERROR(CheckRegisterNames(options_.registers, kernels));
    for (const auto& [trace, points] : plan_.points_) plan_.plan_.points += points.size();
    plan_.plan_.notes = unread_.Notes();
    for (std::string& note : equal_.Notes(1)) plan_.plan_.notes.push_back(std::move(note));
    return std::move(plan_);
  }

 private:
  struct KnownTrace {
    sweep::PlannedTrace planned;
    std::string pattern;  // of the kernels that count
    std::vector<std::string> kernels;
    std::string problem;
  };
  struct KnownMachine {
    machine::v1::Machine base;  // before anything is set
    machine::v1::Machine machine;
    std::string digest;
    bool noise = false;
  };

  bool Wanted(const v1::Variation& variation, const CheckedClaim& checked) const {
    const v1::Claim& claim = *checked.claim;
    if (!variation.not_swept().empty()) return false;
    if (options_.suspected.contains(claim.id()) && Has(claim.suspect(), variation.id()) &&
        ChangedReplays(variation, checked) <= options_.most_replays) {
      return true;
    }
    if (!options_.sensitivity || variation.paper_size_size() != 0) return false;
    return variation.claim().empty() || Has(variation.claim(), claim.id());
  }

  // How many replays of the claim are others under the variation.
  size_t ChangedReplays(const v1::Variation& variation, const CheckedClaim& claim) const {
    std::set<std::pair<std::string, std::string>> changed;
    for (const Need& need : claim.Needs()) {
      const v1::Run& run = claims_.runs.find(need.run)->second;
      if (run.has_limits() || IsWithoutKernel(run)) continue;
      const bool other = Vary(run, variation).SerializeAsString() != run.SerializeAsString();
      if (other || Has(variation.paper_size(), need.kernel)) changed.emplace(need.run, need.kernel);
    }
    return changed.size();
  }

  absl::Status Add(const CheckedClaim& claim, size_t index, const v1::Variation* variation) {
    for (const Need& need : claim.Needs()) {
      const v1::Run& as_read = claims_.runs.find(need.run)->second;
      if (as_read.has_limits() || IsWithoutKernel(as_read)) continue;
      const v1::Run run = variation == nullptr ? as_read : Vary(as_read, *variation);
      const size_t seeds = variation == nullptr ? plan_.Seeds(*claim.claim) : 1;
      for (size_t seed = 0; seed < seeds; ++seed) {
        const ReplayId id{index, need.run, need.kernel, seed};
        if (plan_.entries_.contains(id)) continue;
        const bool paper_size = variation != nullptr && Has(variation->paper_size(), need.kernel);
        absl::StatusOr<RunPlan::Entry> entry = MakeEntry(run, need.kernel, paper_size, seed);
        if (!entry.ok()) {
          return absl::Status(
              entry.status().code(),
              absl::StrCat("run ", need.run, variation == nullptr ? "" : absl::StrCat(", variation ", variation->id()),
                           ": ", entry.status().message()));
        }
        plan_.entries_.emplace(id, *std::move(entry));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<RunPlan::Entry> MakeEntry(const v1::Run& as_written, const std::string& kernel_name, bool paper_size,
                                           size_t seed) {
    const v1::Kernel& kernel = claims_.kernel.find(kernel_name)->second;
    const v1::Run run = options_.paper_residency ? WithPaperResidency(as_written, kernel) : as_written;
    const KnownTrace& trace = Trace(kernel, paper_size);
    if (!trace.problem.empty()) return RunPlan::Entry{"", trace.problem};
    const absl::StatusOr<const KnownMachine*> machine = Machine(run);
    if (!machine.ok()) return machine.status();

    Point point;
    point.trace = trace.planned.name;
    point.kernels = trace.pattern;
    point.machine = run.machine();
    point.divergence = run.divergence();
    point.scheduler = run.scheduler();
    point.dispatch = run.dispatch();
    point.fetch = run.fetch();
    point.memory = run.memory();
    point.set.assign(run.set().begin(), run.set().end());
    if ((*machine)->noise) {
      point.set.push_back(NoiseSetting());
      point.seed = seed + 1;
    }
    HEDDLE_ASSIGN_OR_RETURN(const replay::CheckedConfiguration configuration,
                            replay::CheckConfiguration(sweep::ConfigurationOf(point)));
    HEDDLE_RETURN_IF_ERROR(replay::CheckFrontEnd(configuration, (*machine)->machine));
    const std::string canonical = sweep::CanonicalPolicies(configuration, (*machine)->machine);
    point.key = sweep::KeyOf(trace.planned.digest, point.kernels, (*machine)->digest, canonical, point.seed,
                             plan_.plan_.settings);
    const std::string key = point.key;
    // Runs that are written alike are one replay; here it is about those that are not.
    const std::string name =
        absl::StrCat(kernel_name, " on ", point.machine, point.set.empty() ? "" : " ", absl::StrJoin(point.set, " "),
                     " under ", point.divergence, ", ", point.scheduler, ", ", point.dispatch, ", ", point.fetch,
                     point.memory == replay::Configuration().memory.name ? "" : absl::StrCat(", ", point.memory));
    const auto [unused, is_new] = plan_.points_[point.trace].emplace(key, point);
    if (is_new) {
      equal_.Add(absl::StrCat(point.trace, " ", point.kernels), name, (*machine)->base, (*machine)->machine, point.set,
                 configuration);
    }
    return RunPlan::Entry{key, ""};
  }

  const KnownTrace& Trace(const v1::Kernel& kernel, bool paper_size) {
    const auto [it, added] = traces_.try_emplace({kernel.name(), paper_size});
    KnownTrace& known = it->second;
    if (!added) return known;
    const absl::StatusOr<KernelTrace> found = paper_size ? options_.paper_traces(kernel) : options_.traces(kernel);
    if (!found.ok()) {
      known.problem = std::string(found.status().message());
      return known;
    }
    known.pattern = found->kernels;
    const auto reader = OpenTrace(found->path);
    if (!reader.ok()) {
      known.problem = std::string(reader.status().message());
      return known;
    }
    known.planned.name = found->name;
    known.planned.path = sweep::PathFrom(options_.folder, found->path);
    known.planned.digest = (*reader)->digest();
    bool matches = false;
    const absl::StatusOr<trace::KernelPattern> pattern = trace::KernelPattern::Parse(found->kernels);
    if (!pattern.ok()) {
      known.problem = std::string(pattern.status().message());
      return known;
    }
    for (const trace::LaunchView& launch : (*reader)->launches()) {
      if (!launch.launch.recorded()) continue;
      known.planned.thread_instructions += launch.totals.thread_instructions();
      matches = matches || pattern->Matches(launch.program->name());
    }
    if (!matches) {
      known.problem = absl::StrCat(found->path, ": no recorded kernel matches \"", found->kernels, "\"");
      return known;
    }
    if (plan_.plan_.FindTrace(known.planned.name) == nullptr) plan_.plan_.traces.push_back(known.planned);
    return known;
  }

  // The machine of the first baseline, or of the first replay.
  absl::StatusOr<const machine::v1::Machine*> Baseline() {
    const v1::Run* first = nullptr;
    for (const v1::Run& written : claims_.paper.run()) {
      const v1::Run& run = claims_.runs.find(written.name())->second;
      if (run.has_limits() || IsWithoutKernel(run)) continue;
      if (first == nullptr || (written.baseline() && !first->baseline())) first = &run;
    }
    if (first == nullptr) return nullptr;
    HEDDLE_ASSIGN_OR_RETURN(const KnownMachine* const known, Machine(*first));
    return &known->machine;
  }

  absl::Status AddFacts() {
    HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Machine* const baseline, Baseline());
    std::set<std::string> needed;
    for (const CheckedClaim& claim : claims_.claims) {
      for (const Need& need : claim.Needs()) needed.insert(need.kernel);
    }
    for (const v1::Kernel& kernel : claims_.paper.kernel()) {
      if (!needed.contains(kernel.name())) continue;
      KernelFacts& facts = plan_.kernels_[kernel.name()];
      const KnownTrace& trace = Trace(kernel, false);
      facts.problem = trace.problem;
      if (!trace.problem.empty()) continue;
      HEDDLE_ASSIGN_OR_RETURN(const KernelTrace found, options_.traces(kernel));
      HEDDLE_ASSIGN_OR_RETURN(const auto reader, OpenTrace(found.path));
      HEDDLE_ASSIGN_OR_RETURN(facts, FactsOf(*reader, found.kernels, kernel.worked() ? nullptr : baseline));
      facts.original = found.original;
    }
    return absl::OkStatus();
  }

  static std::string NoiseSetting() { return absl::StrCat("memory.hierarchy.jitter_cycles=", kJitterCycles); }

  absl::StatusOr<const KnownMachine*> Machine(const v1::Run& run) {
    const std::string id = absl::StrCat(run.machine(), " ", absl::StrJoin(run.set(), " "));
    const auto known = machines_.find(id);
    if (known != machines_.end()) return &known->second;
    absl::StatusOr<machine::v1::Machine> machine = replay::LoadMachine(run.machine());
    if (!machine.ok()) return machine.status();
    KnownMachine made{*machine, *machine, "", false};
    for (const std::string& assignment : run.set()) {
      HEDDLE_RETURN_IF_ERROR(replay::Override(made.machine, assignment));
    }
    if (options_.jitter != 0 && made.machine.memory().has_hierarchy()) {
      made.noise = true;
      HEDDLE_RETURN_IF_ERROR(replay::Override(made.machine, NoiseSetting()));
    }
    HEDDLE_RETURN_IF_ERROR(replay::CheckMachine(made.machine));
    unread_.Add(run.machine(), made.machine, {run.set().begin(), run.set().end()});
    made.digest = sweep::MachineDigest(made.machine);
    return &machines_.emplace(id, std::move(made)).first->second;
  }

  const PaperClaims& claims_;
  const PlanOptions& options_;
  RunPlan plan_;
  std::map<std::pair<std::string, bool>, KnownTrace> traces_;  // by kernel and whether of the paper's geometry
  std::map<std::string, KnownMachine> machines_;               // by name and settings
  sweep::UnreadFields unread_;
  sweep::EqualRuns equal_;
};

absl::StatusOr<RunPlan> RunPlan::Make(const PaperClaims& claims, const PlanOptions& options) {
  return PlanMaker(claims, options).Make();
}

absl::Status RunPlan::Write(const std::string& folder) const {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": cannot create the folder: ", error.message()));
  const sweep::SweepFolder target(folder);
  std::string lines;
  for (const auto& [trace, points] : points_) {
    for (const auto& [key, point] : points) absl::StrAppend(&lines, sweep::PointLine(point), "\n");
  }
  sweep::Plan plan = plan_;
  plan.points_digest = HexSha256(lines);
  // Until the plan is there, its digest does not fit the points, and nothing runs.
  HEDDLE_RETURN_IF_ERROR(sweep::WriteDurably(target.PointsFile(), target.PointsFile() + ".tmp", lines));
  return sweep::WriteDurably(target.PlanFile(), target.PlanFile() + ".tmp", sweep::PlanJson(plan).dump(1) + "\n");
}

absl::StatusOr<std::string> RunPlan::Key(const ReplayId& id) const {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return absl::NotFoundError("was not planned");
  if (entry->second.key.empty()) return absl::NotFoundError(entry->second.problem);
  return entry->second.key;
}

bool RunPlan::Changes(size_t variation, const v1::Variation& what, const std::set<Need>& needs) const {
  for (const Need& need : needs) {
    if (Has(what.without(), need.kernel)) return true;
    const auto varied = entries_.find({variation, need.run, need.kernel, 0});
    const auto as_read = entries_.find({0, need.run, need.kernel, 0});
    if (varied != entries_.end() && as_read != entries_.end() && varied->second.key != as_read->second.key) return true;
  }
  return false;
}

bool RunPlan::Varies(size_t variation, const v1::Claim& claim) const {
  return varies_.contains({variation, claim.id()});
}

}  // namespace heddle::tools::reproduce
