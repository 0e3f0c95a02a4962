#include "replay/seams/parameters.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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

std::string UnitOf(const ParameterSpec& spec) { return spec.unit.empty() ? "" : absl::StrCat(" (", spec.unit, ")"); }

bool IsWord(std::string_view text) {
  return !text.empty() && text.size() <= kMostLetters && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  });
}

// The value of a type other than a list; nothing if the text is none.
std::optional<ParameterValue> ItemFrom(ParameterType type, const ParameterSpec& spec, std::string_view text) {
  switch (type) {
    case ParameterType::kBool:
      if (text == "true" || text == "false") return ParameterValue(text == "true");
      return std::nullopt;
    case ParameterType::kInteger: {
      int64_t number = 0;
      const bool good = absl::SimpleAtoi(AbslText(text), &number) && number >= spec.minimum && number <= spec.maximum;
      return good ? std::optional<ParameterValue>(number) : std::nullopt;
    }
    case ParameterType::kChoice:
      if (std::find(spec.choices.begin(), spec.choices.end(), text) == spec.choices.end()) return std::nullopt;
      return ParameterValue(std::string(text));
    case ParameterType::kWord:
      return IsWord(text) ? std::optional<ParameterValue>(std::string(text)) : std::nullopt;
    case ParameterType::kFraction: {
      const std::optional<DecimalNumber> number = DecimalNumber::Parse(text);
      const std::optional<DecimalNumber> lowest = DecimalNumber::Parse(spec.lowest);
      const std::optional<DecimalNumber> highest = DecimalNumber::Parse(spec.highest);
      if (!number.has_value() || !lowest.has_value() || !highest.has_value()) return std::nullopt;
      return *number < *lowest || *number > *highest ? std::nullopt : std::optional<ParameterValue>(*number);
    }
    case ParameterType::kList:
      break;
  }
  return std::nullopt;
}

std::optional<ParameterValue> ListFrom(const ParameterSpec& spec, std::string_view text) {
  std::vector<int64_t> numbers;
  std::vector<std::string> words;
  std::vector<std::string> items;
  if (!text.empty()) items = absl::StrSplit(AbslText(text), '+');
  if (items.size() < spec.least_items || items.size() > spec.most_items) return std::nullopt;
  for (const std::string& one : items) {
    std::optional<ParameterValue> item = ItemFrom(spec.list_of, spec, one);
    if (!item.has_value()) return std::nullopt;
    if (spec.list_of == ParameterType::kInteger) {
      numbers.push_back(std::get<int64_t>(*item));
    } else {
      words.push_back(std::get<std::string>(*std::move(item)));
    }
  }
  if (spec.list_of == ParameterType::kInteger) return ParameterValue(std::move(numbers));
  return ParameterValue(std::move(words));
}

}  // namespace

std::string TextOf(const ParameterValue& value) {
  if (const bool* const truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const int64_t* const number = std::get_if<int64_t>(&value)) return absl::StrCat(*number);
  if (const DecimalNumber* const number = std::get_if<DecimalNumber>(&value)) return number->Text();
  if (const auto* const numbers = std::get_if<std::vector<int64_t>>(&value)) return absl::StrJoin(*numbers, "+");
  if (const auto* const words = std::get_if<std::vector<std::string>>(&value)) return absl::StrJoin(*words, "+");
  return std::get<std::string>(value);
}

std::string ValuesOf(const ParameterSpec& spec) {
  switch (spec.type) {
    case ParameterType::kBool:
      return "true or false";
    case ParameterType::kInteger:
      return absl::StrCat("an integer from ", spec.minimum, " to ", spec.maximum, UnitOf(spec));
    case ParameterType::kChoice:
      return absl::StrCat("one of ", absl::StrJoin(spec.choices, ", "));
    case ParameterType::kFraction:
      return absl::StrCat("a decimal number from ", spec.lowest, " to ", spec.highest, " with up to 9 decimal places",
                          UnitOf(spec));
    case ParameterType::kWord:
      return absl::StrCat("a word of up to ", kMostLetters, " letters, digits, '_', '-' and '.'");
    case ParameterType::kList: {
      ParameterSpec item = spec;
      item.type = spec.list_of;
      const std::string count = spec.least_items == spec.most_items
                                    ? absl::StrCat(spec.most_items)
                                    : absl::StrCat(spec.least_items, " to ", spec.most_items);
      return absl::StrCat("a list of ", count, " items joined by '+', each ", ValuesOf(item));
    }
  }
  return "";
}

absl::StatusOr<ParameterValue> ParseParameter(const PolicyInfo& info, const ParameterSpec& spec,
                                              std::string_view text) {
  std::optional<ParameterValue> value =
      spec.type == ParameterType::kList ? ListFrom(spec, text) : ItemFrom(spec.type, spec, text);
  if (value.has_value()) return *std::move(value);
  return Refuse(info, absl::StrCat("parameter ", spec.name, " is ", ValuesOf(spec), ", not \"", AbslText(text), "\""));
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
  if (choice == nullptr) Stop(absl::StrCat("parameter \"", AbslText(name), "\" is not declared as a choice or a word"));
  return *choice;
}

DecimalNumber Parameters::Decimal(std::string_view name) const {
  const DecimalNumber* const number = std::get_if<DecimalNumber>(&Value(name));
  if (number == nullptr) Stop(absl::StrCat("parameter \"", AbslText(name), "\" is not declared as a fraction"));
  return *number;
}

const std::vector<int64_t>& Parameters::Integers(std::string_view name) const {
  const auto* const numbers = std::get_if<std::vector<int64_t>>(&Value(name));
  if (numbers == nullptr)
    Stop(absl::StrCat("parameter \"", AbslText(name), "\" is not declared as a list of integers"));
  return *numbers;
}

const std::vector<std::string>& Parameters::Words(std::string_view name) const {
  const auto* const words = std::get_if<std::vector<std::string>>(&Value(name));
  if (words == nullptr) Stop(absl::StrCat("parameter \"", AbslText(name), "\" is not declared as a list of words"));
  return *words;
}

}  // namespace heddle::replay
