#include "tools/study/correlate/ladder.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

// The file becomes part of the program as it is.
asm(R"(
  .pushsection .rodata
  .global heddle_hardware_counters
  .global heddle_hardware_counters_end
heddle_hardware_counters:
  .incbin ")" HEDDLE_HARDWARE_COUNTERS R"("
heddle_hardware_counters_end:
  .byte 0
  .popsection
)");
extern "C" const char heddle_hardware_counters[];
extern "C" const char heddle_hardware_counters_end[];

namespace heddle::tools::correlate {
namespace {

using Json = nlohmann::json;

absl::Status Refuse(const std::string& what) { return absl::InvalidArgumentError(absl::StrCat("counters: ", what)); }

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double Number(const Json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

bool Flag(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> Texts(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const Json& one : *found) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

absl::StatusOr<CardFormula> ParseFormula(const Json& json, const std::set<std::string>& metrics) {
  CardFormula formula;
  if (json.is_string()) {
    if (json.get<std::string>() != "wrong_outputs") return Refuse(absl::StrCat("no formula ", json.dump()));
    formula.outputs = true;
    return formula;
  }
  for (const auto& [key, kind] :
       {std::pair("sum", CardFormula::Kind::kQuotient), std::pair("smallest", CardFormula::Kind::kSmallest),
        std::pair("largest", CardFormula::Kind::kLargest)}) {
    if (!json.is_object() || !json.contains(key)) continue;
    formula.kind = kind;
    formula.metrics = Texts(json, key);
  }
  if (formula.metrics.empty()) return Refuse("a formula needs sum, smallest or largest");
  formula.over = Texts(json, "over");
  formula.weight = Text(json, "weight");
  formula.scale = Number(json, "scale", 1);
  std::vector<std::string> used = formula.metrics;
  used.insert(used.end(), formula.over.begin(), formula.over.end());
  if (!formula.weight.empty()) used.push_back(formula.weight);
  for (const std::string& name : used) {
    if (!metrics.contains(name)) return Refuse(absl::StrCat(name, " is not in the list of metrics"));
  }
  return formula;
}

absl::StatusOr<Comparison> ParseComparison(const Json& json, const Ladder& ladder,
                                           const std::set<std::string>& metrics) {
  Comparison comparison;
  comparison.name = Text(json, "name");
  comparison.unit = Text(json, "unit");
  comparison.ours = Text(json, "ours");
  comparison.meaning = Text(json, "meaning");
  comparison.headline = Flag(json, "headline");
  const std::string rung = Text(json, "rung");
  const auto at = std::ranges::find(ladder.rungs, rung, &Rung::name);
  if (comparison.name.empty() || comparison.ours.empty()) return Refuse("a comparison needs name and ours");
  if (at == ladder.rungs.end()) return Refuse(absl::StrCat(comparison.name, ": there is no rung \"", rung, "\""));
  comparison.rung = static_cast<size_t>(at - ladder.rungs.begin());
  const std::string error = Text(json, "error");
  if (error != "relative" && error != "difference") return Refuse(absl::StrCat(comparison.name, ": what error?"));
  comparison.relative = error == "relative";
  if (json.contains("bar")) comparison.bar = Number(json, "bar", 0);
  comparison.bar_is_goal = Text(json, "bar_source") == "goal";
  comparison.bar_of_machine_code = Text(json, "bar_level") == "machine";
  if (!json.contains("card")) return Refuse(absl::StrCat(comparison.name, ": has no card"));
  HEDDLE_ASSIGN_OR_RETURN(comparison.card, ParseFormula(json["card"], metrics));
  return comparison;
}

}  // namespace

std::optional<size_t> Ladder::Headline(size_t rung) const {
  for (size_t i = 0; i < comparisons.size(); ++i) {
    if (comparisons[i].rung == rung && comparisons[i].headline) return i;
  }
  return std::nullopt;
}

absl::StatusOr<Ladder> ParseLadder(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Refuse("no JSON object");
  for (const char* list : {"rungs", "metrics", "comparisons"}) {
    if (!json.contains(list) || !json[list].is_array()) return Refuse(absl::StrCat("there are no ", list));
  }
  Ladder ladder;
  ladder.least_microseconds = Number(json, "least_microseconds", 0);
  ladder.divergence = {Text(json, "divergence_policy"), Text(json, "divergence_reason")};
  ladder.divergence_of_machine_code = {Text(json, "machine_divergence_policy"),
                                       Text(json, "machine_divergence_reason")};
  for (const Json& rung : json["rungs"]) {
    ladder.rungs.push_back({Text(rung, "name"), Text(rung, "title"), Text(rung, "question"), Flag(rung, "only_long")});
  }
  std::set<std::string> metrics;
  for (const Json& metric : json["metrics"]) metrics.insert(Text(metric, "name"));
  std::set<std::string> names;
  for (const Json& one : json["comparisons"]) {
    HEDDLE_ASSIGN_OR_RETURN(Comparison comparison, ParseComparison(one, ladder, metrics));
    if (!names.insert(comparison.name).second) return Refuse(absl::StrCat("two comparisons ", comparison.name));
    if (comparison.headline && ladder.Headline(comparison.rung).has_value()) {
      return Refuse(absl::StrCat("two headlines of rung ", ladder.rungs[comparison.rung].name));
    }
    ladder.comparisons.push_back(std::move(comparison));
  }
  return ladder;
}

std::string_view BuiltInLadderText() {
  return {heddle_hardware_counters, static_cast<size_t>(heddle_hardware_counters_end - heddle_hardware_counters)};
}

const absl::StatusOr<Ladder>& BuiltInLadder() {
  static const absl::StatusOr<Ladder> ladder = ParseLadder(BuiltInLadderText());
  return ladder;
}

}  // namespace heddle::tools::correlate
