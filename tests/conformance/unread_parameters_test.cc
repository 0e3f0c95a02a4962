// What the declarations of parameters say about one another (ParameterSpec::only_if, ways_of) is true.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"

namespace heddle::replay {
namespace {

// Values of a parameter at which a rule would bite.
std::vector<std::string> SomeValues(const ParameterSpec& spec) {
  switch (spec.type) {
    case ParameterType::kBool:
      return {"true", "false"};
    case ParameterType::kChoice:
      return spec.choices;
    case ParameterType::kFraction:
      return {spec.lowest, spec.default_value, spec.highest};
    case ParameterType::kWord:
      return {spec.default_value, "other"};
    case ParameterType::kList: {
      ParameterSpec item = spec;
      item.type = spec.list_of;
      item.default_value = spec.list_of == ParameterType::kInteger ? absl::StrCat(spec.minimum) : "one";
      std::vector<std::string> values = {spec.default_value};
      for (const std::string& one : SomeValues(item)) {
        for (const size_t items : {spec.least_items, spec.most_items}) {
          values.push_back(absl::StrJoin(std::vector<std::string>(items, one), "+"));
        }
      }
      return values;
    }
    case ParameterType::kInteger:
      return {absl::StrCat(spec.minimum), absl::StrCat(spec.minimum + 1), spec.default_value,
              absl::StrCat(spec.maximum)};
  }
  return {};
}

// A recording on a machine.
struct Trial {
  std::string name;
  std::shared_ptr<const trace::TraceReader> reader;
  machine::v1::Machine machine;
};

// All that a run reports, but for what was asked for.
std::string Outcome(const Trial& trial, const Configuration& configuration) {
  ReplayOptions options;
  options.machine = trial.machine;
  auto results = Replay(*trial.reader, {configuration}, options);
  if (!results.ok()) return std::string(results.status().message());
  result::v1::Result& result = results->front();
  result.clear_provenance();
  result.clear_divergence();
  result.clear_scheduler();
  result.clear_dispatch();
  result.clear_fetch();
  result.clear_memory();
  return result.DebugString();  // maps in order
}

// Programs on the single pipeline, and on instruction buffers before the caches, network and DRAM of a GTX 480.
std::vector<Trial> Trials(uint64_t programs) {
  std::vector<Trial> trials;
  const machine::v1::Machine gtx480 = LoadMachine("baws_gtx480").value();
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    for (const bool memory : {false, true}) {
      RandomCase random_case = memory ? MakeBufferCase(MixAll({seed, 78})) : MakeRandomCase(MixAll({seed, 77}));
      if (memory) {
        *random_case.machine.mutable_memory() = gtx480.memory();
        *random_case.machine.mutable_clocks() = gtx480.clocks();
      }
      trials.push_back({absl::StrCat(memory ? "memory " : "", random_case.Text()), std::move(random_case.reader),
                        random_case.machine});
    }
  }
  return trials;
}

// Real kernels on machines where rules bite that the random programs are too short for: a data cache that loses lines,
// buffers that are filled in time, a grid of two dimensions.
std::vector<Trial> SampleTrials() {
  struct Sample {
    const char* name;
    const char* machine;
    const char* set;
  };
  std::vector<Trial> trials;
  for (const Sample& sample : {Sample{"reduction", "baws_gtx480", "core.ibuffer.fetch_when=FREE_SLOT"},
                               {"bfs", "baws_gtx480", "memory.hierarchy.l1_data.sets=2"},
                               {"mandelbrot", "fermi_fixed", "sms=2"}}) {
    auto reader = trace::TraceReader::Open(absl::StrCat(HEDDLE_SAMPLES_DIR, "/", sample.name, ".htrace"));
    EXPECT_TRUE(reader.ok()) << reader.status();
    machine::v1::Machine machine = LoadMachine(sample.machine).value();
    machine.set_sms(1);
    EXPECT_TRUE(Override(machine, sample.set).ok()) << sample.set;
    trials.push_back({sample.name, *std::move(reader), machine});
  }
  return trials;
}

// Settings of the other parameters, one for each value of each, under which `spec` is, or is not, read according to the
// declaration; as text with a comma at its end. They are added to `before`, another such text.
std::set<std::string> Settings(const PolicyInfo& info, const ParameterSpec& spec, bool read,
                               const std::string& before = "") {
  std::set<std::string> settings;
  for (const ParameterSpec& other : info.parameters) {
    if (other.name == spec.name) continue;
    for (const std::string& value : SomeValues(other)) {
      const std::string text = absl::StrCat(before, other.name, "=", value);
      const absl::StatusOr<Parameters> parameters = Parameters::Parse(info, text);
      if (parameters.ok() && IsRead(info, spec, *parameters) == read) settings.insert(text + ",");
    }
  }
  return settings;
}

// A setting under which `spec` is read according to the declaration; the defaults if they do.
std::string SettingThatReads(const PolicyInfo& info, const ParameterSpec& spec) {
  if (IsRead(info, spec, *Parameters::Parse(info, ""))) return "";
  for (const ParameterSpec& decides : info.parameters) {
    if (!spec.only_if.starts_with(decides.name + "=") && !spec.only_if.starts_with(decides.name + "!=")) continue;
    const std::string before = SettingThatReads(info, decides);
    for (const std::string& value : SomeValues(decides)) {
      const std::string text = absl::StrCat(before, decides.name, "=", value);
      const absl::StatusOr<Parameters> parameters = Parameters::Parse(info, text);
      if (parameters.ok() && IsRead(info, spec, *parameters)) return text + ",";
    }
  }
  ADD_FAILURE() << info.name << ":" << spec.name << " is never read";
  return "";
}

// Calls `use` with each outcome of a trial under the values of a parameter that go.
template <typename Use>
void ForEachOutcome(const Trial& trial, Configuration configuration, PolicySpec Configuration::* part,
                    const std::string& name, const std::string& setting, const ParameterSpec& spec, const Use& use) {
  std::set<std::string> values;
  for (const std::string& value : SomeValues(spec)) {
    configuration.*part = {name, absl::StrCat(setting, spec.name, "=", value)};
    if (!values.insert(value).second || !Validate(configuration, &trial.machine).ok()) continue;
    use(Outcome(trial, configuration));
  }
}

// With what policies of the part are tried: what they go with.
Configuration BaseOf(PolicySpec Configuration::* part, const std::string& name) {
  Configuration base;
  base.*part = {name, ""};
  if (part == &Configuration::fetch) base.scheduler = {"gto", ""};   // one that has favourites
  if (!Validate(base, nullptr).ok()) base.divergence = {"dwf", ""};  // schedulers of its pool
  return base;
}

template <typename Registry>
void ExpectNoEffect(PolicySpec Configuration::* part, const std::vector<Trial>& trials, int& compared) {
  for (const auto& [name, entry] : Registry::Get().entries()) {
    const Configuration base = BaseOf(part, name);
    for (const ParameterSpec& spec : entry.info.parameters) {
      if (spec.only_if.empty()) continue;
      const std::set<std::string> settings = Settings(entry.info, spec, false);
      EXPECT_FALSE(settings.empty()) << name << ":" << spec.name << " is always read";
      for (const std::string& setting : settings) {
        for (const Trial& trial : trials) {
          std::set<std::string> outcomes;
          ForEachOutcome(trial, base, part, name, setting, spec, [&](const std::string& outcome) {
            outcomes.insert(outcome);
            ++compared;
          });
          EXPECT_LE(outcomes.size(), 1u) << name << ":" << setting << spec.name << " has an effect, " << trial.name;
        }
      }
    }
  }
}

TEST(UnreadParameters, ChangeNothing) {
  const std::vector<Trial> trials = Trials(4);
  int compared = 0;
  ExpectNoEffect<DivergenceRegistry>(&Configuration::divergence, trials, compared);
  ExpectNoEffect<SchedulerRegistry>(&Configuration::scheduler, trials, compared);
  ExpectNoEffect<DispatchRegistry>(&Configuration::dispatch, trials, compared);
  ExpectNoEffect<FetchRegistry>(&Configuration::fetch, trials, compared);
  ExpectNoEffect<MemoryRegistry>(&Configuration::memory, trials, compared);
  EXPECT_GT(compared, 500);
}

// Whether the parameter changes a run under one of the settings under which it is declared read.
bool HasEffect(const std::vector<Trial>& trials, const Configuration& base, PolicySpec Configuration::* part,
               const std::string& name, const PolicyInfo& info, const ParameterSpec& spec) {
  const std::string least = SettingThatReads(info, spec);
  std::set<std::string> settings = Settings(info, spec, true, least);
  settings.insert(least);
  for (const Trial& trial : trials) {
    for (const std::string& setting : settings) {
      std::set<std::string> outcomes;
      ForEachOutcome(trial, base, part, name, setting, spec,
                     [&outcomes](const std::string& outcome) { outcomes.insert(outcome); });
      if (outcomes.size() > 1) return true;
    }
  }
  return false;
}

template <typename Registry>
void ExpectEffect(PolicySpec Configuration::* part, const std::vector<Trial>& trials) {
  for (const auto& [name, entry] : Registry::Get().entries()) {
    for (const ParameterSpec& spec : entry.info.parameters) {
      EXPECT_TRUE(HasEffect(trials, BaseOf(part, name), part, name, entry.info, spec)) << name << ":" << spec.name;
    }
  }
}

// A parameter that changes none of these runs is not read where its declaration says so, or needs a trial of its own.
TEST(ReadParameters, ChangeSomething) {
  std::vector<Trial> trials = Trials(12);
  for (Trial& sample : SampleTrials()) trials.push_back(std::move(sample));
  ExpectEffect<DivergenceRegistry>(&Configuration::divergence, trials);
  ExpectEffect<SchedulerRegistry>(&Configuration::scheduler, trials);
  ExpectEffect<DispatchRegistry>(&Configuration::dispatch, trials);
  ExpectEffect<FetchRegistry>(&Configuration::fetch, trials);
  ExpectEffect<MemoryRegistry>(&Configuration::memory, trials);
}

TEST(UnreadParameters, AreToldWithTheReason) {
  const PolicyInfo& dwf = (*DivergenceRegistry::Get().Find("dwf"))->info;
  const auto told = [&dwf](const std::string& assignment, const std::string& others) {
    return WithoutEffect(dwf, *Parameters::Parse(dwf, others.empty() ? assignment : assignment + "," + others),
                         assignment);
  };
  EXPECT_EQ(told("pool_entries=1", ""), "pool_entries=1 has no effect: resources=unlimited");
  EXPECT_EQ(told("pool_entries=1", "resources=limited"), "");
  EXPECT_EQ(told("scope=core", ""), "");
  // The unit of a penalty that there is not, because lanes are kept.
  EXPECT_EQ(told("bank_penalty_unit=2", ""), "bank_penalty_unit=2 has no effect: lane_aware=true");
  EXPECT_EQ(told("bank_penalty_unit=2", "lane_aware=false,bank_penalty=none"),
            "bank_penalty_unit=2 has no effect: bank_penalty=none");
}

TEST(Ways, DivideTheEntriesOfTheirTable) {
  const PolicyInfo& dwf = (*DivergenceRegistry::Get().Find("dwf"))->info;
  EXPECT_EQ(std::string(Parameters::Parse(dwf, "resources=limited,lut_entries=1").status().message()),
            "dwf: lut_ways=4 does not divide lut_entries=1: all sets of a table have equally many");
  EXPECT_TRUE(Parameters::Parse(dwf, "resources=limited,lut_entries=6,lut_ways=3").ok());
  EXPECT_TRUE(Parameters::Parse(dwf, "resources=unlimited,lut_entries=1").ok()) << "there is no table";
}

}  // namespace
}  // namespace heddle::replay
