// Policies with all their parameters drawn at random, integers included: every run ends with every thread executed, or
// says which limit of a policy it has met; and both engines agree.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"

namespace heddle::replay {
namespace {

// A scheduler with parameters of the types that few policies have: the order is that of a word, turned by a list, and
// what a fraction of the warps is held behind.
class Typed final : public WarpScheduler {
 public:
  Typed(const SchedulerContext& context, const Parameters& parameters)
      : table_(context.table),
        behind_(parameters.Billionths("behind")),
        start_(Mix(parameters.Word("order").size() + static_cast<uint64_t>(parameters.Word("order").front()))),
        turns_(parameters.Integers("turns")),
        newest_(std::ranges::count(parameters.Words("by"), "newest") > 0) {}
  SlotId Pick(const SlotSet& eligible) const override {
    SlotId best = kNoSlot;
    uint64_t best_key = 0;
    eligible.ForEach([&](SlotId slot) {
      const uint64_t key = Key(slot);
      if (best == kNoSlot || key < best_key) best = slot, best_key = key;
    });
    return best;
  }
  void Issued(SlotId /*slot*/) override { ++issued_; }

 private:
  uint64_t Key(SlotId slot) const {
    const uint64_t turn = turns_.empty() ? 0 : static_cast<uint64_t>(turns_[issued_ % turns_.size()]);
    const uint64_t formed = newest_ ? ~table_.formed[slot] : table_.formed[slot];
    const bool held = Mix(table_.formed[slot] + start_) % DecimalNumber::kOne < static_cast<uint64_t>(behind_);
    return (held ? uint64_t{1} << 62 : 0) + (((formed ^ turn) + start_) & 0xffff);
  }

  const WarpTable& table_;
  const int64_t behind_;
  const uint64_t start_;
  const std::vector<int64_t> turns_;
  const bool newest_;
  uint64_t issued_ = 0;
};
HEDDLE_WARP_SCHEDULER(PolicyInfo{.name = "test_typed",
                                 .summary = "for this test",
                                 .source = "tests",
                                 .parameters = {{.name = "behind",
                                                 .type = ParameterType::kFraction,
                                                 .default_value = "0.5",
                                                 .lowest = "0",
                                                 .highest = "1"},
                                                {.name = "order", .type = ParameterType::kWord, .default_value = "a"},
                                                {.name = "turns",
                                                 .type = ParameterType::kList,
                                                 .default_value = "0+1",
                                                 .maximum = 1000,
                                                 .list_of = ParameterType::kInteger,
                                                 .most_items = 4},
                                                {.name = "by",
                                                 .type = ParameterType::kList,
                                                 .default_value = "",
                                                 .choices = {"newest", "oldest"},
                                                 .list_of = ParameterType::kChoice,
                                                 .most_items = 2}}},
                      [](const SchedulerContext& context, const Parameters& parameters) {
                        return std::make_unique<Typed>(context, parameters);
                      });

std::string DrawWord(Random& random) {
  constexpr std::string_view kLetters = "abcXYZ019_-.";
  std::string word;
  for (uint64_t letters = 1 + random.Below(8); letters > 0; --letters) word += kLetters[random.Below(kLetters.size())];
  return word;
}

std::string DrawFraction(const ParameterSpec& parameter, Random& random) {
  const int64_t lowest = DecimalNumber::Parse(parameter.lowest)->billionths();
  const int64_t highest = DecimalNumber::Parse(parameter.highest)->billionths();
  const uint64_t kind = random.Below(10);
  if (kind == 0) return parameter.lowest;
  if (kind == 1) return parameter.highest;
  const int64_t drawn = lowest + static_cast<int64_t>(random.Below(static_cast<uint64_t>(highest - lowest) + 1));
  // Billionths as a decimal number, with all of its places.
  const int64_t size = drawn < 0 ? -drawn : drawn;
  return absl::StrFormat("%s%d.%09d", drawn < 0 ? "-" : "", size / DecimalNumber::kOne, size % DecimalNumber::kOne);
}

// Small numbers, where limits bite; the bounds; the default.
std::string Draw(const ParameterSpec& parameter, Random& random) {
  switch (parameter.type) {
    case ParameterType::kFraction:
      return DrawFraction(parameter, random);
    case ParameterType::kWord:
      return DrawWord(random);
    case ParameterType::kList: {
      ParameterSpec item = parameter;
      item.type = parameter.list_of;
      item.default_value = parameter.list_of == ParameterType::kInteger ? absl::StrCat(parameter.minimum) : "x";
      std::vector<std::string> items(parameter.least_items +
                                     random.Below(parameter.most_items - parameter.least_items + 1));
      for (std::string& one : items) one = Draw(item, random);
      return absl::StrJoin(items, "+");
    }
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

// That it is worth drawing: each of its parameters changes something.
TEST(FuzzedParameters, AreReadWhateverTheirType) {
  std::vector<RandomCase> cases;
  for (const uint64_t seed : Seeds(1, 12)) cases.push_back(MakeRandomCase(MixAll({seed, 91})));
  // The orders in which these issue, of as many kinds as there are.
  const auto orders = [&](const std::vector<std::string>& texts) {
    std::set<std::string> logs;
    for (const std::string& text : texts) {
      std::string issues;
      for (const RandomCase& one : cases) {
        SortedIssueLog log;
        ReplayOptions options;
        options.machine = one.machine;
        options.machine.mutable_core()->set_schedulers(1);
        options.observer = &log;
        Configuration configuration;
        configuration.scheduler = {"test_typed", text};
        const auto results = Replay(*one.reader, {configuration}, options);
        EXPECT_TRUE(results.ok()) << results.status();
        for (const IssueEntry& issue : log.Sorted()) absl::StrAppend(&issues, issue.Text(), " ");
      }
      logs.insert(issues);
    }
    return logs.size();
  };
  EXPECT_EQ(orders({"behind=0.5", "behind=0.50", "behind=0.500000000", ""}), 1);
  EXPECT_GT(orders({"behind=0", "behind=0.3", "behind=1"}), 1);
  EXPECT_GT(orders({"order=a", "order=zz", "order=b"}), 1);
  EXPECT_GT(orders({"turns=0", "turns=0+1000+3", "turns="}), 1);
  EXPECT_GT(orders({"by=newest", "by=oldest+oldest"}), 1);
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
