#include "replay/seams/parameters.h"

#include <utility>
#include <vector>

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
absl::string_view AbslText(std::string_view text) { return {text.data(), text.size()}; }

[[noreturn]] void Stop(const std::string& message) { throw PolicyError(message); }

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

}  // namespace

std::string TextOf(const ParameterValue& value) {
  if (const bool* const truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const int64_t* const number = std::get_if<int64_t>(&value)) return absl::StrCat(*number);
  return std::get<std::string>(value);
}

absl::StatusOr<ParameterValue> ParseParameter(const PolicyInfo& info, const ParameterSpec& spec,
                                              std::string_view text) {
  switch (spec.type) {
    case ParameterType::kBool:
      if (text == "true" || text == "false") return ParameterValue(text == "true");
      return Refuse(info, absl::StrCat("parameter ", spec.name, " is true or false, not \"", AbslText(text), "\""));
    case ParameterType::kInteger: {
      int64_t number = 0;
      if (absl::SimpleAtoi(AbslText(text), &number) && number >= spec.minimum && number <= spec.maximum) {
        return ParameterValue(number);
      }
      return Refuse(info, absl::StrCat("parameter ", spec.name, " is an integer from ", spec.minimum, " to ",
                                       spec.maximum, spec.unit.empty() ? "" : absl::StrCat(" (", spec.unit, ")"),
                                       ", not \"", AbslText(text), "\""));
    }
    case ParameterType::kChoice:
      for (const std::string& choice : spec.choices) {
        if (text == choice) return ParameterValue(choice);
      }
      return Refuse(info, absl::StrCat("parameter ", spec.name, " is one of ", absl::StrJoin(spec.choices, ", "),
                                       ", not \"", AbslText(text), "\""));
  }
  return absl::InternalError(absl::StrCat(info.name, ": parameter ", spec.name, " has no type"));
}

absl::StatusOr<Parameters> Parameters::Parse(const PolicyInfo& info, std::string_view text) {
  absl::StatusOr<Parameters> parameters = ParseSome(info, text);
  if (!parameters.ok()) return parameters;
  for (const ParameterSpec& spec : info.parameters) {
    if (spec.ways_of.empty() || !IsRead(info, spec, *parameters)) continue;
    if (parameters->Integer(spec.ways_of) % parameters->Integer(spec.name) == 0) continue;
    return Refuse(info, absl::StrCat(spec.name, "=", parameters->Text(spec.name), " does not divide ", spec.ways_of,
                                     "=", parameters->Text(spec.ways_of), ": all sets of a table have equally many"));
  }
  return parameters;
}

absl::StatusOr<Parameters> Parameters::ParseSome(const PolicyInfo& info, std::string_view text) {
  Parameters parameters;
  parameters.policy_ = info.name;
  if (!text.empty()) {
    for (const std::string& item_text : std::vector<std::string>(absl::StrSplit(AbslText(text), ','))) {
      const std::string_view item = item_text;
      const size_t equals = item.find('=');
      const std::string_view key = item.substr(0, equals);
      if (equals == std::string_view::npos || key.empty()) {
        return Refuse(info, absl::StrCat("parameters are written key=value,key=value, not \"", AbslText(item), "\"; ",
                                         KnownParameters(info)));
      }
      const ParameterSpec* spec = info.Find(key);
      if (spec == nullptr) {
        std::vector<std::string> names;
        for (const ParameterSpec& known : info.parameters) names.push_back(known.name);
        const std::string nearest = NearestName(key, names);
        return Refuse(info, absl::StrCat("unknown parameter \"", AbslText(key), "\"",
                                         nearest.empty() ? "; " : absl::StrCat(": did you mean \"", nearest, "\"? "),
                                         KnownParameters(info)));
      }
      HEDDLE_ASSIGN_OR_RETURN(ParameterValue value, ParseParameter(info, *spec, item.substr(equals + 1)));
      if (!parameters.values_.emplace(spec->name, std::move(value)).second) {
        return Refuse(info, absl::StrCat("parameter ", spec->name, " is given twice"));
      }
    }
  }
  for (const ParameterSpec& spec : info.parameters) {
    if (parameters.values_.contains(spec.name)) continue;
    absl::StatusOr<ParameterValue> value = ParseParameter(info, spec, spec.default_value);
    if (!value.ok()) Stop(absl::StrCat("bad default in a policy's declaration: ", value.status().message()));
    parameters.values_.emplace(spec.name, *std::move(value));
  }
  return parameters;
}

bool IsRead(const PolicyInfo& info, const ParameterSpec& spec, const Parameters& parameters) {
  if (spec.only_if.empty()) return true;
  const ParameterCondition condition(spec.only_if);
  const ParameterSpec* const decides = info.Find(condition.name);
  if (decides == nullptr) Stop(absl::StrCat(info.name, ": ", spec.name, " depends on a parameter that there is not"));
  return IsRead(info, *decides, parameters) &&
         (parameters.Text(condition.name) == condition.value) == condition.is_equal;
}

std::string WithoutEffect(const PolicyInfo& info, const Parameters& parameters, std::string_view assignment) {
  const ParameterSpec* spec = info.Find(assignment.substr(0, assignment.find('=')));
  if (spec == nullptr || IsRead(info, *spec, parameters)) return "";
  // The outermost condition that does not hold is the reason.
  do spec = info.Find(ParameterCondition(spec->only_if).name);
  while (!IsRead(info, *spec, parameters));
  return absl::StrCat(AbslText(assignment), " has no effect: ", spec->name, "=", parameters.Text(spec->name));
}

const ParameterValue& Parameters::Value(std::string_view name) const {
  const auto it = values_.find(name);
  if (it == values_.end())
    Stop(absl::StrCat("policy ", policy_, " asks for parameter \"", AbslText(name), "\", which it did not declare"));
  return it->second;
}

bool Parameters::Bool(std::string_view name) const {
  const bool* const truth = std::get_if<bool>(&Value(name));
  if (truth == nullptr) Stop(absl::StrCat("parameter \"", AbslText(name), "\" is not declared as a bool"));
  return *truth;
}

int64_t Parameters::Integer(std::string_view name) const {
  const int64_t* const number = std::get_if<int64_t>(&Value(name));
  if (number == nullptr) Stop(absl::StrCat("parameter \"", AbslText(name), "\" is not declared as an integer"));
  return *number;
}

const std::string& Parameters::Choice(std::string_view name) const {
  const std::string* const choice = std::get_if<std::string>(&Value(name));
  if (choice == nullptr) Stop(absl::StrCat("parameter \"", AbslText(name), "\" is not declared as a choice"));
  return *choice;
}

}  // namespace heddle::replay
