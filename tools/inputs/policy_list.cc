#include "tools/inputs/policy_list.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/warp_scheduler.h"
#include "tools/inputs/policies_elsewhere.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

using replay::Configuration;
using replay::PolicySpec;

template <typename Registry>
std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry::Get().entries()) names.push_back(name);
  return names;
}

// The policies of one list, each checked by itself.
template <typename Registry>
absl::StatusOr<std::vector<PolicySpec>> CheckedPolicies(const std::string& option, const char* kind,
                                                        const std::string& text,
                                                        std::vector<std::string>& without_effect) {
  const auto refuse = [&option](absl::Status status) {
    return absl::Status(status.code(), absl::StrCat(option, ": ", status.message()));
  };
  std::vector<PolicySpec> policies;
  if (text == "all") {
    for (const std::string& name : Names<Registry>()) policies.push_back({name, ""});
    return policies;
  }
  absl::StatusOr<std::vector<PolicySpec>> split = SplitPolicies(text);
  if (!split.ok()) return refuse(split.status());
  for (const PolicySpec& policy : *split) {
    const auto entry = Registry::Get().Find(kind, policy.name);
    if (!entry.ok()) {
      std::string elsewhere = PolicyElsewhere(policy.name);
      const std::string seam = SeamOf(policy.name);
      if (elsewhere.empty() && !seam.empty()) elsewhere = absl::StrCat("is for --", seam);
      if (elsewhere.empty()) return refuse(entry.status());
      return refuse(absl::InvalidArgumentError(absl::StrCat(policy.name, " ", elsewhere)));
    }
    const auto parameters = replay::Parameters::Parse((*entry)->info, policy.parameters);
    if (!parameters.ok()) return refuse(parameters.status());
    for (const PolicySpec& earlier : policies) {
      if (PolicyText(earlier) == PolicyText(policy)) {
        return refuse(absl::InvalidArgumentError(absl::StrCat(PolicyText(policy), " is given twice")));
      }
    }
    for (const absl::string_view assignment : absl::StrSplit(policy.parameters, ',')) {
      const std::string why =
          replay::WithoutEffect((*entry)->info, *parameters, {assignment.data(), assignment.size()});
      if (!why.empty()) without_effect.push_back(absl::StrCat(option, " ", policy.name, ": ", why));
    }
    policies.push_back(policy);
  }
  return policies;
}

}  // namespace

std::string PolicyText(const PolicySpec& policy) {
  return policy.parameters.empty() ? policy.name : absl::StrCat(policy.name, ":", policy.parameters);
}

std::string SeamOf(const std::string& name) {
  const std::pair<const char*, std::vector<std::string>> seams[] = {{"divergence", Names<replay::DivergenceRegistry>()},
                                                                    {"scheduler", Names<replay::SchedulerRegistry>()},
                                                                    {"dispatch", Names<replay::DispatchRegistry>()},
                                                                    {"fetch", Names<replay::FetchRegistry>()}};
  for (const auto& [seam, names] : seams) {
    if (std::ranges::find(names, name) != names.end()) return seam;
  }
  return "";
}

std::vector<std::string> DivergenceNames() { return Names<replay::DivergenceRegistry>(); }
std::vector<std::string> SchedulerNames() { return Names<replay::SchedulerRegistry>(); }
std::vector<std::string> DispatchNames() { return Names<replay::DispatchRegistry>(); }

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
  HEDDLE_ASSIGN_OR_RETURN(const auto divergence,
                          CheckedPolicies<replay::DivergenceRegistry>("--divergence", "divergence policy",
                                                                      lists.divergence, plan.without_effect));
  HEDDLE_ASSIGN_OR_RETURN(const auto scheduler, CheckedPolicies<replay::SchedulerRegistry>(
                                                    "--scheduler", "scheduler", lists.scheduler, plan.without_effect));
  HEDDLE_ASSIGN_OR_RETURN(const auto dispatch, CheckedPolicies<replay::DispatchRegistry>(
                                                   "--dispatch", "dispatcher", lists.dispatch, plan.without_effect));
  HEDDLE_ASSIGN_OR_RETURN(const auto fetch, CheckedPolicies<replay::FetchRegistry>("--fetch", "fetch policy",
                                                                                   lists.fetch, plan.without_effect));

  for (const PolicySpec& d : divergence) {
    for (const PolicySpec& s : scheduler) {
      for (const PolicySpec& b : dispatch) {
        for (const PolicySpec& f : fetch) {
          const Configuration configuration{d, s, b, f};
          const absl::Status status = replay::Validate(configuration, machine);
          if (status.ok()) {
            plan.runs.push_back(configuration);
          } else {
            plan.skipped.push_back({configuration, std::string(status.message())});
          }
        }
      }
    }
  }
  if (plan.runs.empty() && !plan.skipped.empty()) return absl::InvalidArgumentError(plan.skipped.front().reason);
  return plan;
}

}  // namespace heddle::tools
