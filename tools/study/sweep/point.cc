#include "tools/study/sweep/point.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/model_version.h"
#include "replay/seams/policy_origin.h"
#include "tools/console/digest.h"
#include "tools/console/json.h"
#include "traces/base/sha256.h"

namespace heddle::tools::sweep {
namespace {

using Json = nlohmann::ordered_json;

template <typename Registry>
std::string Canonical(const replay::ChosenPolicy<Registry>& policy) {
  // The model's version says nothing of code that is not the tree's: two builds of it are two policies.
  const replay::PolicyCode* const code = policy.entry->origin.code;
  const auto assignment = [](std::string* out, const auto& value) {
    absl::StrAppend(out, value.first, "=", replay::TextOf(value.second));
  };
  return absl::StrCat(policy.name(), ":", absl::StrJoin(policy.parameters.values(), ",", assignment),
                      code == nullptr ? "" : absl::StrCat(" of ", code->digest()));
}

}  // namespace

Json PointJson(const Point& point) {
  Json parameters = Json::object();
  for (const auto& [name, value] : point.parameters) parameters[name] = value;
  return {{"trace", point.trace},
          {"kernels", point.kernels},
          {"machine", point.machine},
          {"divergence", point.divergence},
          {"scheduler", point.scheduler},
          {"dispatch", point.dispatch},
          {"fetch", point.fetch},
          {"memory", point.memory},
          {"set", point.set},
          {"seed", point.seed},
          {"parameters", parameters}};
}

std::string PointLine(const Point& point) {
  Json line = {{"key", point.key}};
  line.update(PointJson(point));
  return JsonLine(line);
}

absl::StatusOr<Point> ParsePoint(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::DataLossError("is no JSON object");
  Point point;
  const auto text = [&json](const char* name, std::string& value) {
    const auto it = json.find(name);
    if (it == json.end() || !it->is_string()) return false;
    value = it->get<std::string>();
    return true;
  };
  const auto set = json.find("set");
  const auto seed = json.find("seed");
  const auto parameters = json.find("parameters");
  bool good = text("key", point.key) && IsSha256(point.key) && text("trace", point.trace) &&
              text("kernels", point.kernels) && text("machine", point.machine) &&
              text("divergence", point.divergence) && text("scheduler", point.scheduler) &&
              text("dispatch", point.dispatch) && text("fetch", point.fetch) && text("memory", point.memory) &&
              set != json.end() && set->is_array() && seed != json.end() && seed->is_number_unsigned() &&
              parameters != json.end() && parameters->is_object();
  if (good) {
    for (const Json& assignment : *set) {
      good = good && assignment.is_string();
      if (good) point.set.push_back(assignment.get<std::string>());
    }
    for (const auto& [name, value] : parameters->items()) {
      good = good && value.is_string();
      if (good) point.parameters.emplace_back(name, value.get<std::string>());
    }
    point.seed = seed->get<uint64_t>();
  }
  if (!good) return absl::DataLossError("lacks a member of a point, or one is of the wrong type");
  return point;
}

replay::Configuration ConfigurationOf(const Point& point) {
  replay::Configuration configuration;
  configuration.divergence = replay::PolicySpec::FromText(point.divergence);
  configuration.scheduler = replay::PolicySpec::FromText(point.scheduler);
  configuration.dispatch = replay::PolicySpec::FromText(point.dispatch);
  configuration.fetch = replay::PolicySpec::FromText(point.fetch);
  configuration.memory = replay::PolicySpec::FromText(point.memory);
  configuration.seed = point.seed;
  return configuration;
}

std::string CanonicalPolicies(const replay::CheckedConfiguration& configuration, const machine::v1::Machine& machine) {
  std::string text =
      absl::StrCat("divergence ", Canonical(configuration.divergence), "\nscheduler ",
                   Canonical(configuration.scheduler), "\ndispatch ", Canonical(configuration.dispatch), "\n");
  if (machine.core().front_end() == machine::v1::Core::IBUFFER) {
    absl::StrAppend(&text, "fetch ", Canonical(configuration.fetch), "\n");
  }
  if (replay::HasDataCache(machine)) absl::StrAppend(&text, "memory ", Canonical(configuration.memory), "\n");
  return text;
}

std::string MachineDigest(const machine::v1::Machine& machine) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    machine.SerializeToCodedStream(&coded);
  }
  return HexSha256(bytes);
}

std::string KeyOf(absl::string_view trace_digest, absl::string_view kernels, absl::string_view machine_digest,
                  absl::string_view canonical_policies, uint64_t seed, const RunSettings& settings) {
  const replay::MetricOptions& metrics = settings.metrics;
  return HexSha256(absl::StrCat(
      absl::StrCat("model ", replay::ModelVersion(), "\ntrace ", trace_digest, "\nkernels ", kernels, "\nmachine ",
                   machine_digest, "\n"),
      canonical_policies,
      absl::StrCat("seed ", seed, "\nmax_cycles ", settings.max_cycles, "\nmetrics ",
                   static_cast<int>(metrics.per_instruction), " ", metrics.bin_cycles, " ", metrics.timeline_blocks,
                   "\n"),
      settings.launch_rule == replay::LaunchRule::kInOrder
          ? ""
          : absl::StrCat("launches ", std::string(replay::NameOf(settings.launch_rule)), "\n"),
      settings.registers.empty() ? "" : absl::StrCat("registers ", absl::StrJoin(settings.registers, "\n"), "\n")));
}

}  // namespace heddle::tools::sweep
