#include "replay/seams/policy_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/seams/policy_error.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::replay {
namespace {

// Debian's Abseil has a string_view of its own.
absl::string_view Text(std::string_view text) { return {text.data(), text.size()}; }

[[noreturn]] void Stop(const std::string& message) { throw PolicyError(message); }

const ParameterSpec* FindSpec(const PolicyInfo& info, std::string_view key) {
  for (const ParameterSpec& spec : info.parameters) {
    if (spec.name == key) return &spec;
  }
  return nullptr;
}

// "lane_aware=true, scope=block": what can be written, with the defaults.
std::string KnownParameters(const PolicyInfo& info) {
  if (info.parameters.empty()) return absl::StrCat(info.name, " has no parameters");
  return absl::StrCat("known, with their defaults: ",
                      absl::StrJoin(info.parameters, ", ", [](std::string* out, const ParameterSpec& spec) {
                        absl::StrAppend(out, spec.name, "=", spec.default_value);
                      }));
}

absl::Status Refuse(const PolicyInfo& info, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(info.name, ": ", what));
}

// The value in its one canonical spelling, or why it is refused.
absl::StatusOr<std::string> Canonical(const PolicyInfo& info, const ParameterSpec& spec, std::string_view value) {
  switch (spec.type) {
    case ParameterType::kBool:
      if (value == "true" || value == "false") return std::string(value);
      return Refuse(info, absl::StrCat("parameter ", spec.name, " is true or false, not \"", Text(value), "\""));
    case ParameterType::kInteger: {
      int64_t number = 0;
      if (absl::SimpleAtoi(Text(value), &number) && number >= spec.minimum && number <= spec.maximum) {
        return absl::StrCat(number);
      }
      return Refuse(info, absl::StrCat("parameter ", spec.name, " is an integer from ", spec.minimum, " to ",
                                       spec.maximum, spec.unit.empty() ? "" : absl::StrCat(" (", spec.unit, ")"),
                                       ", not \"", Text(value), "\""));
    }
    case ParameterType::kChoice:
      for (const std::string& choice : spec.choices) {
        if (value == choice) return choice;
      }
      return Refuse(info, absl::StrCat("parameter ", spec.name, " is one of ", absl::StrJoin(spec.choices, ", "),
                                       ", not \"", Text(value), "\""));
  }
  return absl::InternalError(absl::StrCat(info.name, ": parameter ", spec.name, " has no type"));
}

// ParameterSpec::only_if, taken apart; a text without "=" never comes here (CheckDeclaration).
struct Condition {
  explicit Condition(std::string_view text) {
    const size_t equals = text.find('=');
    is_equal = equals == 0 || text[equals - 1] != '!';
    name = text.substr(0, is_equal ? equals : equals - 1);
    value = text.substr(equals + 1);
  }
  std::string_view name;
  std::string_view value;
  bool is_equal = true;
};

// The parameter of that name which is declared before `spec`; null if there is none.
const ParameterSpec* EarlierSpec(const PolicyInfo& info, const ParameterSpec& spec, std::string_view name) {
  const ParameterSpec* const found = FindSpec(info, name);
  return found != nullptr && found < &spec ? found : nullptr;
}

absl::Status CheckCondition(const PolicyInfo& info, const ParameterSpec& spec) {
  const auto refuse = [&](const std::string& what) {
    return Refuse(info, absl::StrCat("parameter ", spec.name, ": only_if \"", spec.only_if, "\" ", what));
  };
  if (spec.only_if.find('=') == std::string::npos) return refuse("is written NAME=VALUE or NAME!=VALUE");
  const Condition condition(spec.only_if);
  const ParameterSpec* const decides = EarlierSpec(info, spec, condition.name);
  if (decides == nullptr) return refuse("names no parameter that is declared before this one");
  const absl::StatusOr<std::string> value = Canonical(info, *decides, condition.value);
  if (!value.ok() || *value != condition.value) {
    return refuse(absl::StrCat("names a value that ", decides->name, " never has"));
  }
  return absl::OkStatus();
}

absl::Status CheckWays(const PolicyInfo& info, const ParameterSpec& spec) {
  const auto refuse = [&](const std::string& what) {
    return Refuse(info, absl::StrCat("parameter ", spec.name, ": ways_of \"", spec.ways_of, "\" ", what));
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
      return Refuse(info, absl::StrCat("\"", spec.name, "\" cannot be a parameter's name"));
    }
    if (FindSpec(info, spec.name) != &spec) {
      return Refuse(info, absl::StrCat("parameter ", spec.name, " is declared twice"));
    }
    if (const auto value = Canonical(info, spec, spec.default_value); !value.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(value.status().message(), ", its default"));
    }
    absl::Status status = spec.only_if.empty() ? absl::OkStatus() : CheckCondition(info, spec);
    if (status.ok() && !spec.ways_of.empty()) status = CheckWays(info, spec);
    if (!status.ok()) return status;
  }
  const std::pair<const std::string&, ParameterType> named[] = {
      {info.traits.lane_aware_parameter, ParameterType::kBool},
      {info.traits.swizzle_parameter, ParameterType::kChoice},
      {info.traits.delay_parameter, ParameterType::kInteger},
      {info.traits.extra_registers_parameter, ParameterType::kInteger}};
  for (const auto& [name, type] : named) {
    if (name.empty()) continue;
    const ParameterSpec* const spec = FindSpec(info, name);
    if (spec == nullptr || spec->type != type) {
      return Refuse(
          info, absl::StrCat("its traits name parameter \"", name, "\", which is not declared, or is of another type"));
    }
  }
  return Parameters::Parse(info, "").status();
}

void StopOnBadDeclaration(const PolicyInfo& info) {
  if (const absl::Status status = CheckDeclaration(info); !status.ok()) {
    Stop(absl::StrCat("a policy's declaration is wrong: ", status.message()));
  }
}

absl::StatusOr<Parameters> Parameters::Parse(const PolicyInfo& info, std::string_view text) {
  absl::StatusOr<Parameters> parameters = ParseSome(info, text);
  if (!parameters.ok()) return parameters;
  for (const ParameterSpec& spec : info.parameters) {
    if (spec.ways_of.empty() || !IsRead(info, spec, *parameters)) continue;
    if (parameters->Integer(spec.ways_of) % parameters->Integer(spec.name) == 0) continue;
    return Refuse(info, absl::StrCat(spec.name, "=", parameters->Value(spec.name), " does not divide ", spec.ways_of,
                                     "=", parameters->Value(spec.ways_of), ": all sets of a table have equally many"));
  }
  return parameters;
}

absl::StatusOr<Parameters> Parameters::ParseSome(const PolicyInfo& info, std::string_view text) {
  Parameters parameters;
  parameters.policy_ = info.name;
  if (!text.empty()) {
    for (const std::string& item_text : std::vector<std::string>(absl::StrSplit(Text(text), ','))) {
      const std::string_view item = item_text;
      const size_t equals = item.find('=');
      const std::string_view key = item.substr(0, equals);
      if (equals == std::string_view::npos || key.empty()) {
        return Refuse(info, absl::StrCat("parameters are written key=value,key=value, not \"", Text(item), "\"; ",
                                         KnownParameters(info)));
      }
      const ParameterSpec* spec = FindSpec(info, key);
      if (spec == nullptr) {
        std::vector<std::string> names;
        for (const ParameterSpec& known : info.parameters) names.push_back(known.name);
        const std::string nearest = NearestName(key, names);
        return Refuse(info, absl::StrCat("unknown parameter \"", Text(key), "\"",
                                         nearest.empty() ? "; " : absl::StrCat(": did you mean \"", nearest, "\"? "),
                                         KnownParameters(info)));
      }
      HEDDLE_ASSIGN_OR_RETURN(std::string value, Canonical(info, *spec, item.substr(equals + 1)));
      if (!parameters.values_.emplace(spec->name, std::move(value)).second) {
        return Refuse(info, absl::StrCat("parameter ", spec->name, " is given twice"));
      }
    }
  }
  for (const ParameterSpec& spec : info.parameters) {
    if (parameters.values_.contains(spec.name)) continue;
    absl::StatusOr<std::string> value = Canonical(info, spec, spec.default_value);
    if (!value.ok()) Stop(absl::StrCat("bad default in a policy's declaration: ", value.status().message()));
    parameters.values_.emplace(spec.name, *std::move(value));
  }
  return parameters;
}

bool IsRead(const PolicyInfo& info, const ParameterSpec& spec, const Parameters& parameters) {
  if (spec.only_if.empty()) return true;
  const Condition condition(spec.only_if);
  const ParameterSpec* const decides = FindSpec(info, condition.name);
  if (decides == nullptr) Stop(absl::StrCat(info.name, ": ", spec.name, " depends on a parameter that there is not"));
  return IsRead(info, *decides, parameters) &&
         (parameters.values().find(condition.name)->second == condition.value) == condition.is_equal;
}

std::string WithoutEffect(const PolicyInfo& info, const Parameters& parameters, std::string_view assignment) {
  const ParameterSpec* spec = FindSpec(info, assignment.substr(0, assignment.find('=')));
  if (spec == nullptr || IsRead(info, *spec, parameters)) return "";
  // The outermost condition that does not hold is the reason.
  do spec = FindSpec(info, Condition(spec->only_if).name);
  while (!IsRead(info, *spec, parameters));
  return absl::StrCat(Text(assignment), " has no effect: ", spec->name, "=",
                      parameters.values().find(spec->name)->second);
}

const std::string& Parameters::Value(std::string_view name) const {
  const auto it = values_.find(name);
  if (it == values_.end())
    Stop(absl::StrCat("policy ", policy_, " asks for parameter \"", Text(name), "\", which it did not declare"));
  return it->second;
}

bool Parameters::Bool(std::string_view name) const {
  const std::string& value = Value(name);
  if (value != "true" && value != "false")
    Stop(absl::StrCat("parameter \"", Text(name), "\" is not declared as a bool"));
  return value == "true";
}

int64_t Parameters::Integer(std::string_view name) const {
  int64_t number = 0;
  if (!absl::SimpleAtoi(Value(name), &number)) {
    Stop(absl::StrCat("parameter \"", Text(name), "\" is not declared as an integer"));
  }
  return number;
}

const std::string& Parameters::Choice(std::string_view name) const { return Value(name); }

bool MaySitInAnyLane(const PolicyInfo& info, const Parameters& parameters) {
  const std::string& name = info.traits.lane_aware_parameter;
  return info.traits.any_lane || (!name.empty() && !parameters.Bool(name));
}

bool SwizzlesHomeLanes(const PolicyInfo& info, const Parameters& parameters) {
  const std::string& name = info.traits.swizzle_parameter;
  return !name.empty() && parameters.Choice(name) == "even_odd";
}

absl::Status UnknownPolicyError(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
  return absl::InvalidArgumentError(UnknownNameMessage(kind, name, known));
}

void StopOnDuplicatePolicy(const std::string& name) {
  Stop(absl::StrCat("two files register the policy name \"", name, "\""));
}

void StopOnNoPolicy(const std::string& name) { Stop(absl::StrCat("the factory of policy ", name, " returned null")); }

}  // namespace heddle::replay
