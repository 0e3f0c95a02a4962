// What the declarations of parameters say about one another (ParameterSpec::only_if, ways_of) is true.
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "replay/dispatch/block_dispatcher.h"
#include "replay/divergence/divergence_policy.h"
#include "replay/engine/policy_registry.h"
#include "replay/engine/replay.h"
#include "replay/fetch/fetch_policy.h"
#include "replay/schedule/warp_scheduler.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/replay/reference/random.h"

namespace heddle::replay {
namespace {

// Values of a parameter at which a rule would bite.
std::vector<std::string> SomeValues(const ParameterSpec& spec) {
  switch (spec.type) {
    case ParameterType::kBool:
      return {"true", "false"};
    case ParameterType::kChoice:
      return spec.choices;
    case ParameterType::kInteger:
      return {absl::StrCat(spec.minimum), absl::StrCat(spec.minimum + 1), spec.default_value,
              absl::StrCat(spec.maximum)};
  }
  return {};
}

// All that a run reports, but for what was asked for.
std::string Outcome(const RandomCase& random_case, const Configuration& configuration) {
  ReplayOptions options;
  options.machine = random_case.machine;
  auto results = Replay(*random_case.reader, {configuration}, options);
  if (!results.ok()) return std::string(results.status().message());
  result::v1::Result& result = results->front();
  result.clear_provenance();
  result.clear_divergence();
  result.clear_scheduler();
  result.clear_dispatch();
  return result.DebugString();  // maps in order
}

// Settings of the other parameters, one for each value of each, under which the declaration says that `spec` is not
// read; as text with a comma at its end.
std::set<std::string> SettingsWithout(const PolicyInfo& info, const ParameterSpec& spec) {
  std::set<std::string> settings;
  for (const ParameterSpec& other : info.parameters) {
    if (other.name == spec.name) continue;
    for (const std::string& value : SomeValues(other)) {
      const std::string text = absl::StrCat(other.name, "=", value);
      const absl::StatusOr<Parameters> parameters = Parameters::Parse(info, text);
      if (parameters.ok() && !IsRead(info, spec, *parameters)) settings.insert(text + ",");
    }
  }
  return settings;
}

template <typename Registry>
void ExpectNoEffect(PolicySpec Configuration::* part, const Configuration& base, int& compared) {
  for (const auto& [name, entry] : Registry::Get().entries()) {
    for (const ParameterSpec& spec : entry.info.parameters) {
      if (spec.only_if.empty()) continue;
      const std::set<std::string> settings = SettingsWithout(entry.info, spec);
      EXPECT_FALSE(settings.empty()) << name << ":" << spec.name << " is always read";
      for (const std::string& setting : settings) {
        for (uint64_t seed = 1; seed <= 6; ++seed) {
          const RandomCase random_case = MakeRandomCase(MixAll({seed, 77}));
          std::set<std::string> outcomes;
          for (const std::string& value : SomeValues(spec)) {
            Configuration configuration = base;
            configuration.*part = {name, absl::StrCat(setting, spec.name, "=", value)};
            if (!Validate(configuration, &random_case.machine).ok()) continue;  // ways that do not divide
            outcomes.insert(Outcome(random_case, configuration));
            ++compared;
          }
          EXPECT_LE(outcomes.size(), 1u) << name << ":" << setting << spec.name << " has an effect, seed " << seed;
        }
      }
    }
  }
}

TEST(UnreadParameters, ChangeNothing) {
  int compared = 0;
  Configuration pool;  // schedulers of dwf's pool need it
  pool.divergence = {"dwf", ""};
  ExpectNoEffect<DivergenceRegistry>(&Configuration::divergence, Configuration{}, compared);
  ExpectNoEffect<SchedulerRegistry>(&Configuration::scheduler, pool, compared);
  ExpectNoEffect<DispatchRegistry>(&Configuration::dispatch, Configuration{}, compared);
  EXPECT_GT(compared, 500);
}

TEST(UnreadParameters, AreToldWithTheReason) {
  const PolicyInfo& dwf = (*DivergenceRegistry::Get().Find("divergence policy", "dwf"))->info;
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
  const PolicyInfo& dwf = (*DivergenceRegistry::Get().Find("divergence policy", "dwf"))->info;
  EXPECT_EQ(std::string(Parameters::Parse(dwf, "resources=limited,lut_entries=1").status().message()),
            "dwf: lut_ways=4 does not divide lut_entries=1: all sets of a table have equally many");
  EXPECT_TRUE(Parameters::Parse(dwf, "resources=limited,lut_entries=6,lut_ways=3").ok());
  EXPECT_TRUE(Parameters::Parse(dwf, "resources=unlimited,lut_entries=1").ok()) << "there is no table";
}

template <typename Registry>
void ExpectEarlierNames() {
  for (const auto& [name, entry] : Registry::Get().entries()) {
    std::set<std::string> earlier;
    for (const ParameterSpec& spec : entry.info.parameters) {
      SCOPED_TRACE(absl::StrCat(name, ":", spec.name));
      if (!spec.only_if.empty()) {
        const size_t end = spec.only_if.find_first_of("!=");
        ASSERT_NE(end, std::string::npos);
        EXPECT_TRUE(earlier.contains(spec.only_if.substr(0, end)));
      }
      EXPECT_TRUE(spec.ways_of.empty() || earlier.contains(spec.ways_of));
      earlier.insert(spec.name);
    }
  }
}

// So that no two depend on each other.
TEST(Declarations, NameEarlierParameters) {
  ExpectEarlierNames<DivergenceRegistry>();
  ExpectEarlierNames<SchedulerRegistry>();
  ExpectEarlierNames<DispatchRegistry>();
  ExpectEarlierNames<FetchRegistry>();
}

}  // namespace
}  // namespace heddle::replay
