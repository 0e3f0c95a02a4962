#include "replay/seams/policy_info.h"

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "replay/seams/parameters.h"
#include "replay/seams/policy_error.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

absl::Status Misdeclared(const PolicyInfo& info, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(info.name, ": ", what));
}

// The parameter of that name which is declared before `spec`; null if there is none.
const ParameterSpec* EarlierSpec(const PolicyInfo& info, const ParameterSpec& spec, std::string_view name) {
  const ParameterSpec* const found = info.Find(name);
  return found != nullptr && found < &spec ? found : nullptr;
}

absl::Status CheckCondition(const PolicyInfo& info, const ParameterSpec& spec) {
  const auto refuse = [&](const std::string& what) {
    return Misdeclared(info, absl::StrCat("parameter ", spec.name, ": only_if \"", spec.only_if, "\" ", what));
  };
  if (spec.only_if.find('=') == std::string::npos) return refuse("is written NAME=VALUE or NAME!=VALUE");
  const ParameterCondition condition(spec.only_if);
  const ParameterSpec* const decides = EarlierSpec(info, spec, condition.name);
  if (decides == nullptr) return refuse("names no parameter that is declared before this one");
  const absl::StatusOr<ParameterValue> value = ParseParameter(info, *decides, condition.value);
  if (!value.ok() || TextOf(*value) != condition.value) {
    return refuse(absl::StrCat("names a value that ", decides->name, " never has"));
  }
  return absl::OkStatus();
}

// What the type needs beside the default.
absl::Status CheckType(const PolicyInfo& info, const ParameterSpec& spec) {
  const auto refuse = [&](const std::string& what) {
    return Misdeclared(info, absl::StrCat("parameter ", spec.name, " ", what));
  };
  if (spec.type == ParameterType::kFraction) {
    const std::optional<DecimalNumber> lowest = DecimalNumber::Parse(spec.lowest);
    const std::optional<DecimalNumber> highest = DecimalNumber::Parse(spec.highest);
    if (!lowest.has_value() || !highest.has_value() || lowest->Text() != spec.lowest ||
        highest->Text() != spec.highest || *lowest > *highest) {
      return refuse("needs .lowest and .highest as decimal numbers, such as \"0\" and \"0.5\"");
    }
  }
  if (spec.type != ParameterType::kList && spec.type != ParameterType::kChoice) return absl::OkStatus();
  if (spec.type == ParameterType::kList) {
    if (spec.list_of != ParameterType::kInteger && spec.list_of != ParameterType::kWord &&
        spec.list_of != ParameterType::kChoice) {
      return refuse("is a list of what lists are not made of: .list_of is kInteger, kWord or kChoice");
    }
    if (spec.most_items < 1 || spec.least_items > spec.most_items) return refuse("needs .most_items, 1 or more");
  }
  for (const std::string& choice : spec.choices) {
    if (choice.empty() || choice.find_first_of("=,:+") != std::string::npos) {
      return refuse(absl::StrCat("has a choice that cannot be written: \"", choice, "\""));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWays(const PolicyInfo& info, const ParameterSpec& spec) {
  const auto refuse = [&](const std::string& what) {
    return Misdeclared(info, absl::StrCat("parameter ", spec.name, ": ways_of \"", spec.ways_of, "\" ", what));
  };
  const ParameterSpec* const entries = EarlierSpec(info, spec, spec.ways_of);
  if (entries == nullptr) return refuse("names no parameter that is declared before this one");
  if (spec.type != ParameterType::kInteger || entries->type != ParameterType::kInteger) {
    return refuse("is for integers");
  }
  if (spec.minimum < 1) return refuse("needs a minimum of 1: a table of 0 ways has no sets");
  return absl::OkStatus();
}

}  // namespace

PolicyTraits TraitsOf(const PolicyInfo& info, const Parameters& parameters) {
  PolicyTraits traits = info.traits;
  if (info.traits_by_parameters) info.traits_by_parameters(parameters, traits);
  return traits;
}

bool IsPolicyName(std::string_view name) {
  return !name.empty() && absl::ascii_islower(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
}

absl::Status CheckDeclaration(const PolicyInfo& info) {
  if (!IsPolicyName(info.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", info.name, "\" is no name for a policy: lower-case letters, digits and _, a letter first"));
  }
  for (const ParameterSpec& spec : info.parameters) {
    if (spec.name.empty() || spec.name.find_first_of("=!,:") != std::string::npos) {
      return Misdeclared(info, absl::StrCat("\"", spec.name, "\" cannot be a parameter's name"));
    }
    if (info.Find(spec.name) != &spec) {
      return Misdeclared(info, absl::StrCat("parameter ", spec.name, " is declared twice"));
    }
    if (absl::Status status = CheckType(info, spec); !status.ok()) return status;
    const auto value = ParseParameter(info, spec, spec.default_value);
    if (!value.ok()) return absl::InvalidArgumentError(absl::StrCat(value.status().message(), ", its default"));
    // Results have values in their one spelling; whoever compares them with the default has to find it.
    if (TextOf(*value) != spec.default_value) {
      return Misdeclared(info, absl::StrCat("parameter ", spec.name, ": the default \"", spec.default_value,
                                            "\" is written ", TextOf(*value)));
    }
    absl::Status status = spec.only_if.empty() ? absl::OkStatus() : CheckCondition(info, spec);
    if (status.ok() && !spec.ways_of.empty()) status = CheckWays(info, spec);
    if (!status.ok()) return status;
  }
  HEDDLE_ASSIGN_OR_RETURN(const Parameters defaults, Parameters::Parse(info, ""));
  try {  // a policy's own code
    TraitsOf(info, defaults);
  } catch (const PolicyError& error) {
    return Misdeclared(info, absl::StrCat("its traits: ", error.what()));
  }
  return absl::OkStatus();
}

void StopOnBadDeclaration(const PolicyInfo& info) {
  if (const absl::Status status = CheckDeclaration(info); !status.ok()) {
    throw PolicyError(absl::StrCat("a policy's declaration is wrong: ", status.message()));
  }
}

}  // namespace heddle::replay
