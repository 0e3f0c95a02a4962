#include "tools/inputs/policy_list.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/inputs/policies_elsewhere.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

using replay::PolicySpec;

template <typename Registry>
using Choices = std::vector<replay::ChosenPolicy<Registry>>;

// Why there is no policy of that name behind the seam.
template <typename Registry>
absl::Status NoSuchPolicy(const std::string& name) {
  std::string elsewhere = PolicyElsewhere(name);
  const std::string seam = SeamOf(name);
  if (elsewhere.empty() && !seam.empty()) elsewhere = absl::StrCat("is for --", seam);
  if (elsewhere.empty()) return Registry::Get().Find(name).status();
  return absl::InvalidArgumentError(absl::StrCat(name, " ", elsewhere));
}

// The policies of one list, each checked by itself.
template <typename Registry>
absl::StatusOr<Choices<Registry>> CheckedPolicies(const std::string& text, std::vector<std::string>& without_effect) {
  const std::string option = absl::StrCat("--", Registry::kSeam);
  const auto refuse = [&option](const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat(option, ": ", status.message()));
  };
  std::vector<PolicySpec> written;
  if (text == "all") {
    for (const std::string& name : Registry::Get().Names()) written.push_back({name, ""});
  } else {
    absl::StatusOr<std::vector<PolicySpec>> split = SplitPolicies(text);
    if (!split.ok()) return refuse(split.status());
    written = *std::move(split);
  }
  Choices<Registry> policies;
  for (const PolicySpec& spec : written) {
    if (!Registry::Get().entries().contains(spec.name)) return refuse(NoSuchPolicy<Registry>(spec.name));
    absl::StatusOr<replay::ChosenPolicy<Registry>> policy = replay::ChoosePolicy<Registry>(spec);
    if (!policy.ok()) return refuse(policy.status());
    for (const auto& earlier : policies) {
      if (PolicyText(earlier.written) == PolicyText(spec)) {
        return refuse(absl::InvalidArgumentError(absl::StrCat(PolicyText(spec), " is given twice")));
      }
    }
    for (const absl::string_view assignment : absl::StrSplit(spec.parameters, ',')) {
      const std::string why =
          replay::WithoutEffect(policy->info(), policy->parameters, {assignment.data(), assignment.size()});
      if (!why.empty()) without_effect.push_back(absl::StrCat(option, " ", spec.name, ": ", why));
    }
    policies.push_back(*std::move(policy));
  }
  return policies;
}

// Whether the policies go together, and with the machine if one is given.
absl::Status Check(const replay::CheckedConfiguration& configuration, const machine::v1::Machine* machine) {
  HEDDLE_RETURN_IF_ERROR(replay::CheckPolicies(configuration));
  return machine == nullptr ? absl::OkStatus() : replay::CheckFrontEnd(configuration, *machine);
}

}  // namespace

std::string PolicyText(const PolicySpec& policy) {
  return policy.parameters.empty() ? policy.name : absl::StrCat(policy.name, ":", policy.parameters);
}

std::string SeamOf(const std::string& name) {
  std::string seam;
  const auto look = [&](const auto& registry) {
    if (seam.empty() && registry.entries().contains(name)) seam = registry.kSeam;
  };
  look(replay::DivergenceRegistry::Get());
  look(replay::SchedulerRegistry::Get());
  look(replay::DispatchRegistry::Get());
  look(replay::FetchRegistry::Get());
  look(replay::MemoryRegistry::Get());
  return seam;
}

absl::StatusOr<std::vector<PolicySpec>> SplitPolicies(const std::string& text) {
  std::vector<PolicySpec> policies;
  const std::vector<std::string> pieces = absl::StrSplit(text, ',');
  for (const std::string& piece : pieces) {
    const size_t colon = piece.find(':');
    const bool is_parameter = colon == std::string::npos && piece.find('=') != std::string::npos;
    if (is_parameter) {
      if (policies.empty() || policies.back().parameters.empty()) {
        const std::string name = policies.empty() ? "NAME" : policies.back().name;
        return absl::InvalidArgumentError(
            absl::StrCat("\"", piece, "\" belongs to no policy: parameters are written ", name, ":", piece));
      }
      absl::StrAppend(&policies.back().parameters, ",", piece);
      continue;
    }
    PolicySpec policy{piece.substr(0, colon), colon == std::string::npos ? "" : piece.substr(colon + 1)};
    if (policy.name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" has an empty name in its list of policies"));
    }
    if (colon != std::string::npos && policy.parameters.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("\"", piece, "\" has no parameters after the colon"));
    }
    policies.push_back(std::move(policy));
  }
  return policies;
}

absl::StatusOr<RunPlan> PlanRuns(const PolicyLists& lists, const machine::v1::Machine* machine) {
  RunPlan plan;
  std::vector<std::string>& unread = plan.without_effect;
  HEDDLE_ASSIGN_OR_RETURN(const auto divergence, CheckedPolicies<replay::DivergenceRegistry>(lists.divergence, unread));
  HEDDLE_ASSIGN_OR_RETURN(const auto scheduler, CheckedPolicies<replay::SchedulerRegistry>(lists.scheduler, unread));
  HEDDLE_ASSIGN_OR_RETURN(const auto dispatch, CheckedPolicies<replay::DispatchRegistry>(lists.dispatch, unread));
  HEDDLE_ASSIGN_OR_RETURN(const auto fetch, CheckedPolicies<replay::FetchRegistry>(lists.fetch, unread));
  HEDDLE_ASSIGN_OR_RETURN(const auto memory, CheckedPolicies<replay::MemoryRegistry>(lists.memory, unread));

  for (const auto& d : divergence) {
    for (const auto& s : scheduler) {
      for (const auto& b : dispatch) {
        for (const auto& f : fetch) {
          for (const auto& m : memory) {
            replay::CheckedConfiguration configuration{d, s, b, f, m};
            const absl::Status status = Check(configuration, machine);
            if (status.ok()) {
              plan.runs.push_back(std::move(configuration));
            } else {
              plan.skipped.push_back({std::move(configuration), std::string(status.message())});
            }
          }
        }
      }
    }
  }
  if (plan.runs.empty() && !plan.skipped.empty()) return absl::InvalidArgumentError(plan.skipped.front().reason);
  return plan;
}

}  // namespace heddle::tools
