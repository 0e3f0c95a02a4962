#include "tests/conformance/configurations.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_split.h"
#include "replay/schedule/warp_scheduler.h"

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
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) continue;
    std::fprintf(stderr, "HEDDLE_CONFORMANCE_LIBRARIES: %s\n", dlerror());
    std::exit(EXIT_FAILURE);
  }
  return true;
}();

// Whether the configuration is among those that HEDDLE_CONFORMANCE_ONLY asks for: all, or those of the named policies.
bool IsWanted(const Configuration& configuration) {
  static const std::vector<std::string>& only = *new std::vector<std::string>(Words("HEDDLE_CONFORMANCE_ONLY"));
  return only.empty() || std::ranges::any_of(only, [&](const std::string& name) {
           return name == configuration.divergence.name || name == configuration.scheduler.name;
         });
}

uint64_t FromEnvironment(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void Add(const Configuration& configuration, AllConfigurations& all) {
  if (!IsWanted(configuration)) return;
  if (const absl::Status status = Validate(configuration); !status.ok()) {
    all.refused.push_back({configuration, std::string(status.message())});
    return;
  }
  const PolicyInfo& info = DivergenceRegistry::Get().entries().at(configuration.divergence.name).info;
  const auto parameters = Parameters::Parse(info, configuration.divergence.parameters);
  AcceptedConfiguration checked;
  checked.configuration = configuration;
  checked.mixed_pcs = info.traits.mixed_pcs;
  checked.regroups = info.traits.regroups_every_instruction || info.traits.fills_partial_warps;
  checked.any_lane = MaySitInAnyLane(info, *parameters);
  checked.swizzled = SwizzlesHomeLanes(info, *parameters);
  const auto scope = parameters->values().find("scope");
  checked.mixes_blocks = scope != parameters->values().end() && scope->second != "block";
  checked.default_parameters =
      configuration.divergence.parameters.empty() && configuration.scheduler.parameters.empty();
  all.accepted.push_back(checked);
}

}  // namespace

std::string AcceptedConfiguration::Text() const {
  const auto text = [](const PolicySpec& spec) {
    return spec.parameters.empty() ? spec.name : spec.name + ":" + spec.parameters;
  };
  return text(configuration.divergence) + " / " + text(configuration.scheduler);
}

AllConfigurations DefaultConfigurations() {
  AllConfigurations all;
  for (const auto& [divergence, unused_policy] : DivergenceRegistry::Get().entries()) {
    for (const auto& [scheduler, unused_scheduler] : SchedulerRegistry::Get().entries()) {
      Configuration configuration;
      configuration.divergence = {divergence, ""};
      configuration.scheduler = {scheduler, ""};
      Add(configuration, all);
    }
  }
  return all;
}

AllConfigurations VariedConfigurations() {
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
  return all;
}

std::vector<AcceptedConfiguration> ForMachine(const std::vector<AcceptedConfiguration>& all,
                                              const machine::v1::Machine& machine) {
  std::vector<AcceptedConfiguration> kept;
  for (const AcceptedConfiguration& one : all) {
    if (Validate(one.configuration, &machine).ok()) kept.push_back(one);
  }
  return kept;
}

uint64_t Programs(uint64_t normal) {
  constexpr uint64_t kUsual = 200;
  return std::max<uint64_t>(1, normal * FromEnvironment("HEDDLE_CONFORMANCE_PROGRAMS", kUsual) / kUsual);
}

uint64_t FirstSeed() { return FromEnvironment("HEDDLE_CONFORMANCE_FIRST", 1); }

}  // namespace heddle::replay
