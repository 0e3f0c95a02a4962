// How --divergence, --scheduler and --dispatch become runs.
#include "tools/inputs/policy_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> texts;
  const auto policies = SplitPolicies(text);
  if (!policies.ok()) return {std::string(policies.status().message())};
  for (const replay::PolicySpec& policy : *policies) texts.push_back(policy.name + "|" + policy.parameters);
  return texts;
}

TEST(SplitPolicies, CommasSeparatePolicies) {
  EXPECT_THAT(Split("pdom"), ElementsAre("pdom|"));
  EXPECT_THAT(Split("nrec,pdom,dwf"), ElementsAre("nrec|", "pdom|", "dwf|"));
}

TEST(SplitPolicies, APieceWithEqualsAndWithoutColonIsAFurtherParameter) {
  EXPECT_THAT(Split("capri:capt_entries=8,history=1bS"), ElementsAre("capri|capt_entries=8,history=1bS"));
  EXPECT_THAT(Split("nrec,capri:capt_entries=8,history=1bS,pdom"),
              ElementsAre("nrec|", "capri|capt_entries=8,history=1bS", "pdom|"));
  EXPECT_THAT(Split("dwf:a=1,b=2,dwf:a=2,b=3"), ElementsAre("dwf|a=1,b=2", "dwf|a=2,b=3"));
}

TEST(SplitPolicies, AValueMayHoldColonsBehindTheFirst) {
  EXPECT_THAT(Split("two_level:sets=6:0:1"), ElementsAre("two_level|sets=6:0:1"));
}

TEST(SplitPolicies, SaysWhereAParameterHasNoPolicy) {
  EXPECT_THAT(Split("a=1"), ElementsAre(HasSubstr("\"a=1\" belongs to no policy: parameters are written NAME:a=1")));
  EXPECT_THAT(Split("dwf,a=1"), ElementsAre(HasSubstr("are written dwf:a=1")));
  EXPECT_THAT(Split("dwf:"), ElementsAre(HasSubstr("no parameters after the colon")));
  EXPECT_THAT(Split("dwf,,pdom"), ElementsAre(HasSubstr("empty name")));
  EXPECT_THAT(Split(""), ElementsAre(HasSubstr("empty name")));
  EXPECT_THAT(Split(",pdom"), ElementsAre(HasSubstr("empty name")));
}

std::string RunText(const replay::CheckedConfiguration& run) {
  return PolicyText(run.divergence.written) + "/" + PolicyText(run.scheduler.written);
}

std::vector<std::string> Runs(const PolicyLists& lists) {
  std::vector<std::string> texts;
  const auto plan = PlanRuns(lists);
  if (!plan.ok()) return {std::string(plan.status().message())};
  for (const replay::CheckedConfiguration& run : plan->runs) texts.push_back(RunText(run));
  return texts;
}

TEST(PlanRuns, MakesTheProductWithTheSchedulerFastest) {
  EXPECT_THAT(Runs({.divergence = "nrec,pdom", .scheduler = "lrr,gto"}),
              ElementsAre("nrec/lrr", "nrec/gto", "pdom/lrr", "pdom/gto"));
}

TEST(PlanRuns, DefaultsToOneRun) { EXPECT_THAT(Runs({}), ElementsAre("pdom/lrr")); }

TEST(PlanRuns, SkipsPairsThatDoNotGoTogetherAndSaysWhy) {
  const auto plan = PlanRuns({.divergence = "pdom,dwf", .scheduler = "lrr,dmaj"});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> runs;
  for (const auto& run : plan->runs) runs.push_back(RunText(run));
  EXPECT_THAT(runs, ElementsAre("pdom/lrr", "dwf/lrr", "dwf/dmaj"));
  ASSERT_EQ(plan->skipped.size(), 1u);
  EXPECT_EQ(RunText(plan->skipped[0].configuration), "pdom/dmaj");
  EXPECT_THAT(plan->skipped[0].reason, AllOf(HasSubstr("dmaj"), HasSubstr("pdom"), Not(IsEmpty())));
}

TEST(PlanRuns, APairThatDoesNotGoTogetherIsAnErrorByItself) {
  EXPECT_THAT(Runs({.divergence = "pdom", .scheduler = "dmaj"}),
              ElementsAre(AllOf(HasSubstr("dmaj"), HasSubstr("pdom"))));
  EXPECT_THAT(Runs({.divergence = "pdom,nrec", .scheduler = "dmaj"}), ElementsAre(HasSubstr("dmaj")))
      << "also if the whole product is refused";
}

TEST(PlanRuns, UnknownNamesAndParametersAreNeverSkipped) {
  EXPECT_THAT(Runs({.divergence = "pdom,pdon"}),
              ElementsAre(AllOf(HasSubstr("--divergence: "), HasSubstr("\"pdon\""), HasSubstr("did you mean \"pdom\"?"),
                                HasSubstr("nrec"))));
  EXPECT_THAT(Runs({.scheduler = "gtoo"}), ElementsAre(AllOf(HasSubstr("--scheduler: "), HasSubstr("\"gto\""))));
  EXPECT_THAT(Runs({.dispatch = "x"}), ElementsAre(AllOf(HasSubstr("--dispatch: "), HasSubstr("thread_blocks"))));
  EXPECT_THAT(Runs({.divergence = "pdom,dwf:lane_awre=true"}),
              ElementsAre(AllOf(HasSubstr("lane_awre"), HasSubstr("lane_aware"))));
  EXPECT_THAT(Runs({.divergence = "dwf:lane_aware=perhaps"}), ElementsAre(HasSubstr("perhaps")));
}

TEST(PlanRuns, APolicyGivenTwiceIsAMistake) {
  EXPECT_THAT(Runs({.divergence = "pdom,dwf,pdom"}), ElementsAre(HasSubstr("pdom is given twice")));
  EXPECT_THAT(Runs({.divergence = "dwf:lane_aware=true,dwf:lane_aware=false"}),
              ElementsAre("dwf:lane_aware=true/lrr", "dwf:lane_aware=false/lrr"));
}

TEST(PlanRuns, AllStandsForEveryRegisteredPolicy) {
  const auto plan = PlanRuns({.divergence = "all", .scheduler = "all", .dispatch = "all"});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->runs.size() + plan->skipped.size(), replay::DivergenceRegistry::Get().Names().size() *
                                                          replay::SchedulerRegistry::Get().Names().size() *
                                                          replay::DispatchRegistry::Get().Names().size());
  for (const SkippedRun& skipped : plan->skipped) EXPECT_FALSE(skipped.reason.empty());
}

// Names of the papers that are analyses, presets, or not there say where to look.
TEST(PlanRuns, NamesThatAreElsewhereSayWhere) {
  PolicyLists lists;
  for (const char* name : {"oracle_lane_activity", "oracle_reconvergence"}) {
    lists.divergence = name;
    const auto plan = PlanRuns(lists);
    ASSERT_FALSE(plan.ok());
    EXPECT_THAT(std::string(plan.status().message()), testing::HasSubstr("heddle trace limits")) << name;
  }
  lists.divergence = "pdom";
  for (const char* name : {"pro", "daws", "bows"}) {
    lists.scheduler = name;
    const auto plan = PlanRuns(lists);
    ASSERT_FALSE(plan.ok());
    EXPECT_THAT(std::string(plan.status().message()), testing::HasSubstr("is not there")) << name;
  }
}

}  // namespace
}  // namespace heddle::tools
