// `heddle policies`: what the registry knows, for people and for programs.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/replay.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/warp_scheduler.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/heddle/policy_cost.h"
#include "tools/inputs/policies_elsewhere.h"
#include "tools/inputs/policy_library.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using replay::CounterSpec;
using replay::ParameterSpec;
using replay::ParameterType;
using replay::PolicyInfo;

// The policies behind one seam.
struct Seam {
  const char* key;     // in JSON
  const char* title;   // of the section
  const char* option;  // of `heddle replay`
  std::vector<const PolicyInfo*> policies;
};

template <typename Registry>
std::vector<const PolicyInfo*> Infos() {
  std::vector<const PolicyInfo*> infos;
  for (const auto& [name, entry] : Registry::Get().entries()) infos.push_back(&entry.info);
  return infos;
}

std::vector<Seam> Seams() {
  return {{"divergence", "Divergence policies", "--divergence", Infos<replay::DivergenceRegistry>()},
          {"scheduler", "Schedulers", "--scheduler", Infos<replay::SchedulerRegistry>()},
          {"dispatch", "Dispatchers", "--dispatch", Infos<replay::DispatchRegistry>()},
          {"fetch", "Fetch policies", "--fetch", Infos<replay::FetchRegistry>()},
          {"memory", "Memory policies", "--memory", Infos<replay::MemoryRegistry>()}};
}

// Two policies behind different seams that do not go together, with the reason; defaults for all parameters and for the
// third. The name behind the seam that is not concerned is empty.
struct RefusedPair {
  std::string divergence, scheduler, dispatch, reason;

  bool Concerns(const std::string& seam, const std::string& name) const {
    return (seam == "divergence" && divergence == name) || (seam == "scheduler" && scheduler == name) ||
           (seam == "dispatch" && dispatch == name);
  }
};

std::vector<RefusedPair> RefusedPairs() {
  std::vector<RefusedPair> pairs;
  const auto check = [&pairs](const std::string& divergence, const std::string& scheduler,
                              const std::string& dispatch) {
    replay::Configuration configuration;
    if (!divergence.empty()) configuration.divergence = {divergence, ""};
    if (!scheduler.empty()) configuration.scheduler = {scheduler, ""};
    if (!dispatch.empty()) configuration.dispatch = {dispatch, ""};
    const absl::Status status = replay::Validate(configuration);
    if (!status.ok()) pairs.push_back({divergence, scheduler, dispatch, std::string(status.message())});
  };
  const std::vector<std::string> divergences = replay::DivergenceRegistry::Get().Names();
  const auto& schedulers = replay::SchedulerRegistry::Get().entries();
  for (const std::string& divergence : divergences) {
    for (const auto& [scheduler, entry] : schedulers) check(divergence, scheduler, "");
  }
  for (const std::string& dispatch : replay::DispatchRegistry::Get().Names()) {
    for (const std::string& divergence : divergences) check(divergence, "", dispatch);
    // Schedulers that the default divergence policy does not go with are refused for that.
    for (const auto& [scheduler, entry] : schedulers) {
      if (entry.info.traits.needs_regrouping.empty()) check("", scheduler, dispatch);
    }
  }
  return pairs;
}

const char* TypeName(ParameterType type) {
  switch (type) {
    case ParameterType::kBool:
      return "bool";
    case ParameterType::kInteger:
      return "integer";
    case ParameterType::kChoice:
      return "choice";
    case ParameterType::kFraction:
      return "fraction";
    case ParameterType::kWord:
      return "word";
    case ParameterType::kList:
      return "list";
  }
  return "";
}

std::string Range(const ParameterSpec& parameter) {
  switch (parameter.type) {
    case ParameterType::kBool:
      return "true, false";
    case ParameterType::kInteger:
      return absl::StrCat(parameter.minimum, " to ", parameter.maximum);
    case ParameterType::kChoice:
      return absl::StrJoin(parameter.choices, ", ");
    case ParameterType::kFraction:
      return absl::StrCat(parameter.lowest, " to ", parameter.highest, " with decimal places");
    case ParameterType::kWord:
    case ParameterType::kList:
      return replay::ValuesOf(parameter);
  }
  return "";
}

// ------------------------------------------------------------------------------------------------------------- JSON

Json ParameterJson(const ParameterSpec& parameter) {
  Json json = {{"name", parameter.name}, {"type", TypeName(parameter.type)}};
  switch (parameter.type) {
    case ParameterType::kBool:
      json["default"] = parameter.default_value == "true";
      break;
    case ParameterType::kInteger: {
      int64_t number = 0;
      json["default"] = absl::SimpleAtoi(parameter.default_value, &number) ? Json(number) : Json();
      json["minimum"] = parameter.minimum;
      json["maximum"] = parameter.maximum;
      break;
    }
    case ParameterType::kChoice:
      json["default"] = parameter.default_value;
      json["choices"] = parameter.choices;
      break;
    case ParameterType::kFraction:  // as text: the digits are kept, and can be given back
      json["default"] = parameter.default_value;
      json["minimum"] = parameter.lowest;
      json["maximum"] = parameter.highest;
      break;
    case ParameterType::kWord:
      json["default"] = parameter.default_value;
      break;
    case ParameterType::kList:
      json["default"] = parameter.default_value;
      json["list_of"] = TypeName(parameter.list_of);
      json["least_items"] = parameter.least_items;
      json["most_items"] = parameter.most_items;
      if (parameter.list_of == ParameterType::kInteger) {
        json["minimum"] = parameter.minimum;
        json["maximum"] = parameter.maximum;
      } else if (parameter.list_of == ParameterType::kChoice) {
        json["choices"] = parameter.choices;
      }
      break;
  }
  json["unit"] = parameter.unit;
  json["only_if"] = parameter.only_if;
  json["ways_of"] = parameter.ways_of;
  json["description"] = parameter.description;
  json["source"] = parameter.source;
  return json;
}

Json PolicyJson(const PolicyInfo& info) {
  Json json = {{"name", info.name}, {"summary", info.summary}, {"source", info.source}};
  json["parameters"] = Json::array();
  for (const ParameterSpec& parameter : info.parameters) json["parameters"].push_back(ParameterJson(parameter));
  json["counters"] = Json::array();
  for (const CounterSpec& counter : info.counters) {
    json["counters"].push_back({{"name", counter.name},
                                {"unit", counter.unit},
                                {"description", counter.description},
                                {"combine", counter.combine == CounterSpec::Combine::kSum ? "sum" : "maximum"},
                                {"kind", counter.kind == CounterSpec::Kind::kGauge ? "gauge" : "count"}});
  }
  return json;
}

// ------------------------------------------------------------------------------------------------------------- text

std::string List(const std::vector<Seam>& seams) {
  std::string text;
  for (const Seam& seam : seams) {
    absl::StrAppend(&text, seam.title, " (", seam.option, ")\n");
    Table table(
        {{"name", Table::Align::kLeft}, {"what it does", Table::Align::kLeft}, {"source", Table::Align::kLeft}});
    for (const PolicyInfo* info : seam.policies) table.AddRow({info->name, info->summary, info->source});
    absl::StrAppend(&text, table.Text(2), "\n");
  }
  const std::vector<RefusedPair> pairs = RefusedPairs();
  if (!pairs.empty()) {
    // What one policy does not go with takes one line.
    Table table({{"policy", Table::Align::kLeft}, {"not with", Table::Align::kLeft}});
    const auto add = [&](const std::string& seam, const std::string& name) {
      std::vector<std::string> others;
      for (const RefusedPair& pair : pairs) {
        if (!pair.Concerns(seam, name)) continue;
        if (seam == "scheduler" && !pair.dispatch.empty()) continue;  // on the dispatcher's line
        others.push_back(pair.divergence.empty() ? pair.scheduler : pair.divergence);
      }
      if (!others.empty()) table.AddRow({name, absl::StrJoin(others, ", ")});
    };
    for (const std::string& scheduler : replay::SchedulerRegistry::Get().Names()) add("scheduler", scheduler);
    for (const std::string& dispatch : replay::DispatchRegistry::Get().Names()) add("dispatch", dispatch);
    absl::StrAppend(&text, "Pairs that are refused (`heddle policies NAME` gives the reason)\n", table.Text(2), "\n");
  }
  return text + "`heddle policies NAME` shows the parameters and counters of one.\n";
}

std::string Details(const Seam& seam, const PolicyInfo& info) {
  std::string text =
      absl::StrCat(info.name, " (", seam.option, ")\n  ", info.summary, "\n  Source: ", info.source, "\n\n");
  if (info.parameters.empty()) {
    text += "No parameters.\n";
  } else {
    absl::StrAppend(&text, "Parameters (", seam.option, " ", info.name, ":KEY=VALUE,KEY=VALUE)\n");
    for (const ParameterSpec& parameter : info.parameters) {
      absl::StrAppend(&text, "  ", parameter.name, ": ", Range(parameter),
                      parameter.unit.empty() ? "" : absl::StrCat(" ", parameter.unit), "; default ",
                      parameter.default_value,
                      parameter.only_if.empty() ? "" : absl::StrCat("; read only if ", parameter.only_if),
                      parameter.ways_of.empty() ? "" : absl::StrCat("; divides ", parameter.ways_of), "\n      ",
                      parameter.description, "\n      Source: ", parameter.source, "\n");
    }
  }
  text += '\n';
  if (info.counters.empty()) {
    text += "No counters of its own.\n";
  } else {
    const bool gauges = std::any_of(info.counters.begin(), info.counters.end(),
                                    [](const auto& one) { return one.kind == CounterSpec::Kind::kGauge; });
    text += "Counters (in results; over SMs and ports they are summed, or the largest is taken)\n";
    if (gauges)
      text += "A gauge is what there is at a time: a result has it as a launch ends, --bins as each bin ends.\n";
    Table table({{"name", Table::Align::kLeft},
                 {"unit", Table::Align::kLeft},
                 {"combined", Table::Align::kLeft},
                 {"meaning", Table::Align::kLeft}});
    for (const CounterSpec& counter : info.counters) {
      table.AddRow({counter.name, counter.unit.empty() ? "-" : counter.unit,
                    absl::StrCat(counter.combine == CounterSpec::Combine::kSum ? "sum" : "maximum",
                                 counter.kind == CounterSpec::Kind::kGauge ? ", gauge" : ""),
                    counter.description});
    }
    text += table.Text(2);
  }
  Table refused({{"not with", Table::Align::kLeft}, {"why", Table::Align::kLeft}});
  bool any = false;
  for (const RefusedPair& pair : RefusedPairs()) {
    if (!pair.Concerns(seam.key, info.name)) continue;
    std::vector<std::string> others;
    for (const std::string& other : {pair.divergence, pair.scheduler, pair.dispatch}) {
      if (!other.empty() && other != info.name) others.push_back(other);
    }
    refused.AddRow({absl::StrJoin(others, ", "), pair.reason});
    any = true;
  }
  if (any) absl::StrAppend(&text, "\nRefused pairs\n", refused.Text(2));
  return text;
}

// All policies, or everything about those called `name`.
int ShowPolicies(const std::string& name, bool json) {
  std::vector<Seam> seams = Seams();
  std::vector<std::string> known;
  for (const Seam& seam : seams) {
    for (const PolicyInfo* info : seam.policies) known.push_back(info->name);
  }
  if (!name.empty()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string elsewhere = PolicyElsewhere(name);
      if (!elsewhere.empty()) return ReportError(kWrongUsage, absl::StrCat(name, " ", elsewhere));
      return ReportError(kWrongUsage, UnknownNameMessage("policy", name, known));
    }
    for (Seam& seam : seams) {
      std::erase_if(seam.policies, [&name](const PolicyInfo* info) { return info->name != name; });
    }
  }

  std::string text;
  if (json) {
    Json document = {{"schema", 1}};
    for (const Seam& seam : seams) {
      document[seam.key] = Json::array();
      for (const PolicyInfo* info : seam.policies) document[seam.key].push_back(PolicyJson(*info));
    }
    document["refused_pairs"] = Json::array();
    for (const RefusedPair& pair : RefusedPairs()) {
      if (!name.empty() && pair.divergence != name && pair.scheduler != name && pair.dispatch != name) continue;
      Json json_pair;
      if (!pair.divergence.empty()) json_pair["divergence"] = pair.divergence;
      if (!pair.scheduler.empty()) json_pair["scheduler"] = pair.scheduler;
      if (!pair.dispatch.empty()) json_pair["dispatch"] = pair.dispatch;
      json_pair["reason"] = pair.reason;
      document["refused_pairs"].push_back(std::move(json_pair));
    }
    text = JsonLine(document) + "\n";
  } else if (name.empty()) {
    text = List(seams);
  } else {
    for (const Seam& seam : seams) {
      for (const PolicyInfo* info : seam.policies)
        absl::StrAppend(&text, text.empty() ? "" : "\n", Details(seam, *info));
    }
  }
  const absl::Status written = WriteStandardOutput(text);
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

class Policies final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("NAME", name_, "Everything about this policy");
    CLI::Option& cost = *command.add_flag(
        "--cost", cost_,
        "The storage of NAME in hardware, as its paper tabulates it; parameters and lists as for replay:\n"
        "dwf:resources=limited,dmaj");
    command.add_option("--machine", cost_machine_, "Machine whose core --cost is for")
        ->capture_default_str()
        ->needs(&cost);
    AddPolicyLibraryOption(command, libraries_);
    command.add_flag("--json", json_, "Print JSON");
  }

  int Run() override {
    if (const absl::Status loaded = LoadPolicyLibraries(libraries_); !loaded.ok()) {
      return ReportError(kWrongUsage, loaded);
    }
    return cost_ ? ShowPolicyCost(name_, cost_machine_, json_) : ShowPolicies(name_, json_);
  }

 private:
  std::string name_;
  bool cost_ = false;
  std::string cost_machine_ = "fermi_fixed";
  std::vector<std::string> libraries_;
  bool json_ = false;
};

HEDDLE_COMMAND(Policies, .name = "policies", .place = 10,
               .summary = "What there is behind the seams, with parameters and sources");

}  // namespace
}  // namespace heddle::tools
