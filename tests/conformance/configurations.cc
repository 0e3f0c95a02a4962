#include "tests/conformance/configurations.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "replay/engine/configuration.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/policy_origin.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

// "key=value" for each change of one parameter.
std::vector<std::string> Variations(const PolicyInfo& info) {
  std::vector<std::string> variations;
  for (const ParameterSpec& parameter : info.parameters) {
    if (parameter.type == ParameterType::kBool) {
      variations.push_back(parameter.name + (parameter.default_value == "true" ? "=false" : "=true"));
    } else if (parameter.type == ParameterType::kChoice) {
      for (const std::string& choice : parameter.choices) {
        if (choice != parameter.default_value) variations.push_back(parameter.name + "=" + choice);
      }
    } else if (parameter.type == ParameterType::kFraction) {
      for (const std::string& end : {parameter.lowest, parameter.highest}) {
        if (end != parameter.default_value) variations.push_back(parameter.name + "=" + end);
      }
    }
  }
  return variations;
}

std::vector<std::string> Words(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return {};
  return absl::StrSplit(text, ',', absl::SkipEmpty());
}

// HEDDLE_CONFORMANCE_LIBRARIES: shared libraries with further policies, which are in the registries before any test
// looks.
[[maybe_unused]] const bool libraries_are_loaded = [] {
  for (const std::string& library : Words("HEDDLE_CONFORMANCE_LIBRARIES")) {
    const auto loaded = LoadPolicyLibrary(library);
    if (loaded.ok()) continue;
    std::fprintf(stderr, "HEDDLE_CONFORMANCE_LIBRARIES: %s\n", std::string(loaded.status().message()).c_str());
    std::exit(EXIT_FAILURE);
  }
  return true;
}();

const std::vector<std::string>& Only() {
  static const std::vector<std::string>& only = *new std::vector<std::string>(Words("HEDDLE_CONFORMANCE_ONLY"));
  return only;
}

bool Has(const Configuration& configuration, const std::string& name) {
  return name == configuration.divergence.name || name == configuration.scheduler.name ||
         name == configuration.dispatch.name || name == configuration.fetch.name || name == configuration.memory.name;
}

// Whether the configuration is among those that HEDDLE_CONFORMANCE_ONLY asks for: all, or those of the named policies.
bool IsWanted(const Configuration& configuration) {
  return Only().empty() || std::ranges::any_of(Only(), [&](const auto& name) { return Has(configuration, name); });
}

template <typename Registry>
std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry::Get().entries()) names.push_back(name);
  return names;
}

// Policies of HEDDLE_CONFORMANCE_ONLY that something was run and checked with.
std::set<std::string>& Checked() {
  static std::set<std::string>& checked = *new std::set<std::string>();
  return checked;
}

// Tests of nothing pass: whoever asks for some policies learns if there was none, or if this program did nothing with
// one.
class WantedPolicies : public testing::Environment {
 public:
  void SetUp() override {
    const std::vector<std::string> kinds[] = {Names<DivergenceRegistry>(), Names<SchedulerRegistry>(),
                                              Names<DispatchRegistry>(), Names<FetchRegistry>(),
                                              Names<MemoryRegistry>()};
    for (const std::string& name : Only()) {
      if (std::ranges::any_of(kinds, [&](const auto& names) { return std::ranges::count(names, name) != 0; })) continue;
      FAIL() << "HEDDLE_CONFORMANCE_ONLY: there is no policy \"" << name
             << "\"; divergence: " << absl::StrJoin(kinds[0], ", ") << "; scheduler: " << absl::StrJoin(kinds[1], ", ")
             << "; dispatch: " << absl::StrJoin(kinds[2], ", ") << "; fetch: " << absl::StrJoin(kinds[3], ", ")
             << "; memory: " << absl::StrJoin(kinds[4], ", ");
    }
  }
  void TearDown() override {
    for (const std::string& name : Only()) {
      EXPECT_TRUE(Checked().contains(name))
          << "HEDDLE_CONFORMANCE_ONLY: nothing was run with " << name << ", so that nothing is known of it";
    }
  }
};
[[maybe_unused]] const testing::Environment* const wanted_policies =
    testing::AddGlobalTestEnvironment(new WantedPolicies);

uint64_t FromEnvironment(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void Add(const Configuration& configuration, AllConfigurations& all) {
  if (!IsWanted(configuration)) return;
  const absl::StatusOr<CheckedConfiguration> accepted = CheckConfiguration(configuration);
  if (!accepted.ok()) {
    all.refused.push_back({configuration, std::string(accepted.status().message())});
    return;
  }
  const PolicyTraits& traits = accepted->divergence.traits;
  if (traits.follows_convergence_barriers) return;
  AcceptedConfiguration checked;
  checked.configuration = configuration;
  checked.mixed_pcs = traits.mixed_pcs;
  checked.regroups = traits.regrouping >= Regrouping::kPartialWarps;
  checked.any_lane = traits.lanes.any;
  checked.swizzled = traits.lanes.swizzled;
  checked.mixes_blocks =
      accepted->divergence.info().Find("scope") != nullptr && accepted->divergence.parameters.Text("scope") != "block";
  const std::optional<WarpDispatch>& warps = accepted->dispatch.traits.warp_dispatch;
  checked.by_warp = warps.has_value();
  checked.may_not_fit = warps.has_value() && warps->extra_registers != 0;
  checked.default_parameters = configuration.divergence.parameters.empty() &&
                               configuration.scheduler.parameters.empty() &&
                               configuration.dispatch.parameters.empty() && configuration.fetch.parameters.empty() &&
                               configuration.memory.parameters.empty();
  all.accepted.push_back(checked);
}

}  // namespace

std::string AcceptedConfiguration::Text() const {
  const auto text = [](const PolicySpec& spec) {
    return spec.parameters.empty() ? spec.name : spec.name + ":" + spec.parameters;
  };
  const Configuration usual;
  std::string all = text(configuration.divergence) + " / " + text(configuration.scheduler);
  if (text(configuration.dispatch) != text(usual.dispatch)) all += ", dispatch " + text(configuration.dispatch);
  if (text(configuration.fetch) != text(usual.fetch)) all += ", fetch " + text(configuration.fetch);
  if (text(configuration.memory) != text(usual.memory)) all += ", memory " + text(configuration.memory);
  return all;
}

namespace {

// "" for the default parameters, or the variations of these.
std::vector<std::string> ParametersOf(const PolicyInfo& info, bool varied) {
  return varied ? Variations(info) : std::vector<std::string>{""};
}

// Adds the configuration; with the first divergence policy that goes with the others if its own does not.
void AddWithSomeDivergence(const Configuration& configuration, AllConfigurations& all) {
  Configuration other = configuration;
  if (!CheckConfiguration(configuration).ok()) {
    for (const std::string& divergence : Names<DivergenceRegistry>()) {
      other.divergence = {divergence, ""};
      if (CheckConfiguration(other).ok()) return Add(other, all);
    }
  }
  Add(configuration, all);
}

// Adds the policies of a further seam, with default parameters or with variations of these, next to every divergence
// policy and next to every scheduler.
template <typename Registry>
void AddSeam(PolicySpec Configuration::* part, bool varied, AllConfigurations& all) {
  const std::string usual = (Configuration().*part).name;
  for (const auto& [name, entry] : Registry::Get().entries()) {
    for (const std::string& parameters : ParametersOf(entry.info, varied)) {
      if (name == usual && parameters.empty()) continue;  // that is among the pairs
      Configuration configuration;
      configuration.*part = {name, parameters};
      for (const std::string& divergence : Names<DivergenceRegistry>()) {
        configuration.divergence = {divergence, ""};
        Add(configuration, all);
      }
      configuration.divergence = Configuration().divergence;
      for (const std::string& scheduler : Names<SchedulerRegistry>()) {
        if (scheduler == Configuration().scheduler.name) continue;
        configuration.scheduler = {scheduler, ""};
        AddWithSomeDivergence(configuration, all);
      }
    }
  }
}

// Adds the policies of two further seams next to one another, with default parameters or with variations of one of the
// two.
template <typename FirstRegistry, typename SecondRegistry>
void AddTwoSeams(PolicySpec Configuration::* first, PolicySpec Configuration::* second, bool varied,
                 AllConfigurations& all) {
  const auto add = [&](const PolicySpec& one, const PolicySpec& other) {
    if (one.name == (Configuration().*first).name || other.name == (Configuration().*second).name) return;
    Configuration configuration;
    configuration.*first = one;
    configuration.*second = other;
    Add(configuration, all);
  };
  for (const auto& [name, entry] : FirstRegistry::Get().entries()) {
    for (const auto& [other_name, other] : SecondRegistry::Get().entries()) {
      for (const std::string& parameters : ParametersOf(entry.info, varied)) add({name, parameters}, {other_name, ""});
      if (!varied) continue;
      for (const std::string& parameters : Variations(other.info)) add({name, ""}, {other_name, parameters});
    }
  }
}

void AddOtherSeams(Seams seams, bool varied, AllConfigurations& all) {
  if (seams == Seams::kPairs) return;
  AddSeam<DispatchRegistry>(&Configuration::dispatch, varied, all);
  AddSeam<FetchRegistry>(&Configuration::fetch, varied, all);
  AddTwoSeams<DispatchRegistry, FetchRegistry>(&Configuration::dispatch, &Configuration::fetch, varied, all);
}

}  // namespace

AllConfigurations DefaultConfigurations(Seams seams) {
  AllConfigurations all;
  for (const auto& [divergence, unused_policy] : DivergenceRegistry::Get().entries()) {
    for (const auto& [scheduler, unused_scheduler] : SchedulerRegistry::Get().entries()) {
      Configuration configuration;
      configuration.divergence = {divergence, ""};
      configuration.scheduler = {scheduler, ""};
      Add(configuration, all);
    }
  }
  AddOtherSeams(seams, false, all);
  return all;
}

AllConfigurations VariedConfigurations(Seams seams) {
  AllConfigurations all;
  for (const auto& [divergence, policy] : DivergenceRegistry::Get().entries()) {
    for (const auto& [scheduler, entry] : SchedulerRegistry::Get().entries()) {
      for (const std::string& variation : Variations(policy.info)) {
        Configuration configuration;
        configuration.divergence = {divergence, variation};
        configuration.scheduler = {scheduler, ""};
        Add(configuration, all);
      }
      for (const std::string& variation : Variations(entry.info)) {
        Configuration configuration;
        configuration.divergence = {divergence, ""};
        configuration.scheduler = {scheduler, variation};
        Add(configuration, all);
      }
    }
  }
  AddOtherSeams(seams, true, all);
  return all;
}

AllConfigurations MemoryConfigurations(bool varied) {
  AllConfigurations all;
  AddSeam<MemoryRegistry>(&Configuration::memory, varied, all);
  AddTwoSeams<MemoryRegistry, DispatchRegistry>(&Configuration::memory, &Configuration::dispatch, varied, all);
  AddTwoSeams<MemoryRegistry, FetchRegistry>(&Configuration::memory, &Configuration::fetch, varied, all);
  return all;
}

bool OnlySomeAreWanted() { return !Only().empty(); }

void NoteChecked(const Configuration& configuration) {
  for (const std::string& name : Only()) {
    if (Has(configuration, name)) Checked().insert(name);
  }
}

std::vector<AcceptedConfiguration> DrawConfigurations(Random& random, const machine::v1::Machine& machine,
                                                      size_t count) {
  static const std::vector<AcceptedConfiguration>& normal =
      *new std::vector<AcceptedConfiguration>(DefaultConfigurations(Seams::kAll).accepted);
  static const std::vector<AcceptedConfiguration>& varied =
      *new std::vector<AcceptedConfiguration>(VariedConfigurations(Seams::kAll).accepted);
  std::vector<AcceptedConfiguration> drawn;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<AcceptedConfiguration>& first = random.Chance(60) ? normal : varied;
    const std::vector<AcceptedConfiguration>& from = first.empty() ? normal : first;
    if (from.empty()) break;
    const AcceptedConfiguration& one = from[random.Below(from.size())];
    if (Validate(one.configuration, &machine).ok()) drawn.push_back(one);
  }
  return drawn;
}

std::vector<AcceptedConfiguration> NextOf(const std::vector<AcceptedConfiguration>& all, size_t count, size_t& next) {
  std::vector<AcceptedConfiguration> some;
  for (size_t i = 0; i < std::min(count, all.size()); ++i) some.push_back(all[next++ % all.size()]);
  return some;
}

std::vector<AcceptedConfiguration> TakeForMachine(std::deque<AcceptedConfiguration>& queue, size_t count,
                                                  const machine::v1::Machine& machine) {
  std::vector<AcceptedConfiguration> taken;
  for (size_t i = 0; i < queue.size() && taken.size() < count;) {
    if (Validate(queue[i].configuration, &machine).ok()) {
      taken.push_back(queue[i]);
      queue.erase(queue.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  queue.insert(queue.end(), taken.begin(), taken.end());
  return taken;
}

std::vector<AcceptedConfiguration> ForMachine(const std::vector<AcceptedConfiguration>& all,
                                              const machine::v1::Machine& machine) {
  std::vector<AcceptedConfiguration> kept;
  for (const AcceptedConfiguration& one : all) {
    if (Validate(one.configuration, &machine).ok()) kept.push_back(one);
  }
  return kept;
}

std::vector<AcceptedConfiguration> Shuffled(std::vector<AcceptedConfiguration> all) {
  Random random(1);
  for (size_t left = all.size(); left > 1; --left) std::swap(all[left - 1], all[random.Below(left)]);
  return all;
}

uint64_t Programs(uint64_t full) {
  constexpr uint64_t kFull = 200;
  constexpr uint64_t kUsual = 60;
  return std::max<uint64_t>(1, full * FromEnvironment("HEDDLE_CONFORMANCE_PROGRAMS", kUsual) / kFull);
}

uint64_t Slice() { return FromEnvironment("HEDDLE_CONFORMANCE_SLICE", 0); }

std::ranges::iota_view<uint64_t, uint64_t> Seeds(uint64_t first, uint64_t full) {
  const uint64_t programs = Programs(full);
  return {first + Slice() * programs, first + (Slice() + 1) * programs};
}

}  // namespace heddle::replay
