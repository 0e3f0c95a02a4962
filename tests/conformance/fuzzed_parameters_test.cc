// Policies with all their parameters drawn at random, integers included: every run ends with every thread executed, or
// says which limit of a policy it has met; and both engines agree.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"

namespace heddle::replay {
namespace {

// Small numbers, where limits bite; the bounds; the default.
std::string Draw(const ParameterSpec& parameter, Random& random) {
  switch (parameter.type) {
    case ParameterType::kBool:
      return random.Chance(50) ? "true" : "false";
    case ParameterType::kChoice:
      return parameter.choices[random.Below(parameter.choices.size())];
    case ParameterType::kInteger:
      break;
  }
  const uint64_t range = static_cast<uint64_t>(parameter.maximum - parameter.minimum);
  const uint64_t kind = random.Below(10);
  if (kind == 0) return parameter.default_value;
  if (kind == 1) return absl::StrCat(parameter.maximum);
  return absl::StrCat(parameter.minimum + static_cast<int64_t>(random.Below(std::min<uint64_t>(range, 12) + 1)));
}

std::string OneDivisor(const std::string& text, int64_t most, Random& random) {
  int64_t number = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &number));
  int64_t divisor = 1 + static_cast<int64_t>(random.Below(static_cast<uint64_t>(std::min(number, most))));
  while (number % divisor != 0) --divisor;
  return absl::StrCat(divisor);
}

template <typename Registry>
PolicySpec Draw(Random& random) {
  const auto& entries = Registry::Get().entries();
  auto entry = entries.begin();
  std::advance(entry, static_cast<std::ptrdiff_t>(random.Below(entries.size())));
  PolicySpec policy{entry->first, ""};
  std::map<std::string, std::string> values;
  for (const ParameterSpec& parameter : entry->second.info.parameters) {
    std::string& value = values[parameter.name] = parameter.default_value;
    if (!parameter.ways_of.empty()) {
      value = OneDivisor(values.at(parameter.ways_of), parameter.maximum, random);
    } else if (random.Chance(40)) {
      continue;  // the default
    } else {
      value = Draw(parameter, random);
    }
    absl::StrAppend(&policy.parameters, policy.parameters.empty() ? "" : ",", parameter.name, "=", value);
  }
  return policy;
}

std::string Text(const Configuration& configuration) {
  std::string text;
  for (const PolicySpec* policy : {&configuration.divergence, &configuration.scheduler, &configuration.dispatch}) {
    absl::StrAppend(&text, text.empty() ? "" : " / ", policy->name, ":", policy->parameters);
  }
  return text;
}

// The limits that a run may meet, in the words of the policies: refusals, never internal errors.
bool IsDocumentedLimit(const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status)) return false;
  for (const char* limit :
       {"Second-Level", "stack_depth is", "does not fit on an SM", "no convergence barriers to follow"}) {
    if (absl::StrContains(status.message(), limit)) return true;
  }
  return false;
}

TEST(FuzzedParameters, EveryRunEndsOrNamesTheLimitThatItMet) {
  size_t ended = 0;
  for (const uint64_t seed : Seeds(1, 150)) {
    const RandomCase random_case = MakeRandomCase(MixAll({seed, 91}));
    Random random(MixAll({seed, 92}));
    ReplayOptions options;
    options.machine = random_case.machine;
    options.max_cycles = 3'000'000;
    uint64_t thread_instructions = 0;
    for (int i = 0; i < 4; ++i) {
      Configuration configuration;
      if (i != 0) {  // the first is the plain one
        configuration.divergence = Draw<DivergenceRegistry>(random);
        configuration.scheduler = Draw<SchedulerRegistry>(random);
        if (random.Chance(30)) configuration.dispatch = Draw<DispatchRegistry>(random);
        if (!Validate(configuration, &random_case.machine).ok()) continue;
      }
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", Text(configuration), ", ", random_case.Text()));
      const auto results = Replay(*random_case.reader, {configuration}, options);
      if (!results.ok()) {
        EXPECT_TRUE(IsDocumentedLimit(results.status())) << results.status();
        continue;
      }
      const uint64_t executed = results->at(0).total().thread_instructions();
      if (i == 0) thread_instructions = executed;
      EXPECT_EQ(executed, thread_instructions);
      ++ended;
      if (configuration.dispatch.name != "thread_blocks" || random.Chance(50)) continue;
      AcceptedConfiguration checked;
      checked.configuration = configuration;
      ExpectEqual(*random_case.reader, random_case.machine, {checked});
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(ended, Programs(150));
}

}  // namespace
}  // namespace heddle::replay
