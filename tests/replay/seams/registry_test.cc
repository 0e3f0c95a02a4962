// Every policy file is registered, declares itself fully, and says what is wrong with its parameters.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/engine/configuration.h"
#include "replay/machine/machine.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/policy_error.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::set<std::string> PolicyFiles(const std::string& seam) {
  std::set<std::string> names;
  const std::filesystem::path folder = std::filesystem::path(HEDDLE_SOURCE_DIR) / "replay" / "policies" / seam;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cc") names.insert(entry.path().stem().string());
  }
  return names;
}

template <typename Registry>
std::set<std::string> Registered() {
  std::set<std::string> names;
  for (const auto& [name, entry] : Registry::Get().entries()) names.insert(name);
  return names;
}

template <typename Registry>
std::vector<PolicyInfo> Infos() {
  std::vector<PolicyInfo> infos;
  for (const auto& [name, entry] : Registry::Get().entries()) infos.push_back(entry.info);
  return infos;
}

std::vector<PolicyInfo> AllInfos() {
  std::vector<PolicyInfo> all = Infos<DivergenceRegistry>();
  for (const PolicyInfo& info : Infos<SchedulerRegistry>()) all.push_back(info);
  for (const PolicyInfo& info : Infos<DispatchRegistry>()) all.push_back(info);
  return all;
}

TEST(Registry, HoldsEveryPolicyFileUnderItsFileName) {
  EXPECT_FALSE(PolicyFiles("divergence").empty());
  EXPECT_EQ(Registered<DivergenceRegistry>(), PolicyFiles("divergence"));
  EXPECT_EQ(Registered<SchedulerRegistry>(), PolicyFiles("schedule"));
  EXPECT_EQ(Registered<DispatchRegistry>(), PolicyFiles("dispatch"));
}

TEST(Registry, PoliciesDeclareThemselvesFully) {
  for (const PolicyInfo& info : AllInfos()) {
    SCOPED_TRACE(info.name);
    EXPECT_FALSE(info.summary.empty());
    EXPECT_FALSE(info.source.empty());
    std::set<std::string> names;
    for (const ParameterSpec& parameter : info.parameters) {
      SCOPED_TRACE(parameter.name);
      EXPECT_TRUE(names.insert(parameter.name).second) << "declared twice";
      EXPECT_FALSE(parameter.description.empty());
      EXPECT_FALSE(parameter.source.empty());
      EXPECT_EQ(parameter.type == ParameterType::kChoice, !parameter.choices.empty());
      if (parameter.type == ParameterType::kInteger) {
        EXPECT_LE(parameter.minimum, parameter.maximum);
      }
    }
    names.clear();
    for (const CounterSpec& counter : info.counters) {
      EXPECT_TRUE(names.insert(counter.name).second) << counter.name << " is declared twice";
      EXPECT_FALSE(counter.unit.empty()) << counter.name;
      EXPECT_FALSE(counter.description.empty()) << counter.name;
    }
    // The defaults have to parse: a bad one stops the program here.
    EXPECT_TRUE(Parameters::Parse(info, "").ok());
  }
}

TEST(Registry, AnUnknownNameListsTheKnownOnesAndTheNearest) {
  const auto found = DivergenceRegistry::Get().Find("pdmo");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(found.status().message()),
              AllOf(HasSubstr("unknown divergence policy \"pdmo\""), HasSubstr("did you mean \"pdom\"?"),
                    HasSubstr("dwf"), HasSubstr("mimd"), HasSubstr("nrec")));
}

// What a policy says of machines on which it decides as another one does.
TEST(Registry, PoliciesThatComeDownToOthersNameThemAndAField) {
  const auto check = [](const auto& registry, const PolicyInfo& info) {
    for (const SamePolicy& same : info.same_as) {
      SCOPED_TRACE(info.name);
      EXPECT_TRUE(registry.entries().contains(same.policy)) << same.policy;
      machine::v1::Machine machine = *LoadMachine("baws_gtx480");
      EXPECT_TRUE(Override(machine, same.machine).ok()) << same.machine;
    }
  };
  for (const PolicyInfo& info : Infos<DivergenceRegistry>()) check(DivergenceRegistry::Get(), info);
  for (const PolicyInfo& info : Infos<SchedulerRegistry>()) check(SchedulerRegistry::Get(), info);
  for (const PolicyInfo& info : Infos<DispatchRegistry>()) check(DispatchRegistry::Get(), info);
  for (const PolicyInfo& info : Infos<FetchRegistry>()) check(FetchRegistry::Get(), info);
}

// --- parameters

PolicyInfo Sample() {
  PolicyInfo info;
  info.name = "sample";
  info.parameters = {
      {.name = "fast", .type = ParameterType::kBool, .default_value = "true"},
      {.name = "entries",
       .type = ParameterType::kInteger,
       .default_value = "8",
       .unit = "entries",
       .minimum = 1,
       .maximum = 64},
      {.name = "order", .type = ParameterType::kChoice, .default_value = "up", .choices = {"up", "down"}},
  };
  return info;
}

std::string ErrorOf(const std::string& text) {
  const auto parameters = Parameters::Parse(Sample(), text);
  if (parameters.ok()) return "";
  EXPECT_EQ(parameters.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(parameters.status().message());
}

TEST(ParameterText, FillsInDefaults) {
  const auto parameters = Parameters::Parse(Sample(), "");
  ASSERT_TRUE(parameters.ok());
  EXPECT_TRUE(parameters->Bool("fast"));
  EXPECT_EQ(parameters->Integer("entries"), 8);
  EXPECT_EQ(parameters->Choice("order"), "up");
}

TEST(ParameterText, TakesValuesInAnyOrder) {
  const auto parameters = Parameters::Parse(Sample(), "order=down,entries=64,fast=false");
  ASSERT_TRUE(parameters.ok());
  EXPECT_FALSE(parameters->Bool("fast"));
  EXPECT_EQ(parameters->Integer("entries"), 64);
  EXPECT_EQ(parameters->Choice("order"), "down");
}

TEST(ParameterText, KeepsEveryValueInOneSpellingForResults) {
  const auto parameters = Parameters::Parse(Sample(), "entries=007");
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(parameters->Text("entries"), "7");
  EXPECT_EQ(parameters->Text("fast"), "true");
  EXPECT_EQ(parameters->Text("order"), "up");
  EXPECT_THAT(parameters->values(), testing::ElementsAre(testing::Pair("entries", ParameterValue(int64_t{7})),
                                                         testing::Pair("fast", ParameterValue(true)),
                                                         testing::Pair("order", ParameterValue(std::string("up")))));
}

TEST(ParameterText, AnUnknownKeyListsTheKnownOnesWithTheirDefaults) {
  EXPECT_EQ(ErrorOf("entrys=3"),
            "sample: unknown parameter \"entrys\": did you mean \"entries\"? known, with their defaults: fast=true, "
            "entries=8, order=up");
  PolicyInfo bare;
  bare.name = "bare";
  EXPECT_EQ(std::string(Parameters::Parse(bare, "x=1").status().message()),
            "bare: unknown parameter \"x\"; bare has no parameters");
}

TEST(ParameterText, IsRefusedWhereAValueDoesNotFit) {
  EXPECT_EQ(ErrorOf("entries=65"), "sample: parameter entries is an integer from 1 to 64 (entries), not \"65\"");
  EXPECT_EQ(ErrorOf("entries=0"), "sample: parameter entries is an integer from 1 to 64 (entries), not \"0\"");
  EXPECT_EQ(ErrorOf("entries=8x"), "sample: parameter entries is an integer from 1 to 64 (entries), not \"8x\"");
  EXPECT_EQ(ErrorOf("entries="), "sample: parameter entries is an integer from 1 to 64 (entries), not \"\"");
  EXPECT_EQ(ErrorOf("entries=99999999999999999999"),
            "sample: parameter entries is an integer from 1 to 64 (entries), not \"99999999999999999999\"");
  EXPECT_EQ(ErrorOf("fast=yes"), "sample: parameter fast is true or false, not \"yes\"");
  EXPECT_EQ(ErrorOf("order=sideways"), "sample: parameter order is one of up, down, not \"sideways\"");
}

TEST(ParameterText, IsRefusedIfMalformedOrDoubled) {
  EXPECT_THAT(ErrorOf("fast"), HasSubstr("parameters are written key=value,key=value, not \"fast\""));
  EXPECT_THAT(ErrorOf("=3"), HasSubstr("not \"=3\""));
  EXPECT_THAT(ErrorOf("fast=true,"), HasSubstr("not \"\""));
  EXPECT_THAT(ErrorOf("fast=true,,entries=2"), HasSubstr("not \"\""));
  EXPECT_EQ(ErrorOf("entries=2,entries=2"), "sample: parameter entries is given twice");
}

TEST(ParameterText, AskingForWhatWasNotDeclaredIsAPolicyError) {
  const auto parameters = Parameters::Parse(Sample(), "");
  ASSERT_TRUE(parameters.ok());
  const auto error = [](auto ask) -> std::string {
    try {
      ask();
    } catch (const PolicyError& wrong) {
      return wrong.what();
    }
    return "none";
  };
  EXPECT_EQ(error([&] { parameters->Bool("slow"); }),
            "policy sample asks for parameter \"slow\", which it did not declare");
  EXPECT_EQ(error([&] { parameters->Bool("entries"); }), "parameter \"entries\" is not declared as a bool");
  EXPECT_EQ(error([&] { parameters->Integer("order"); }), "parameter \"order\" is not declared as an integer");
  EXPECT_EQ(error([&] { parameters->Choice("entries"); }),
            "parameter \"entries\" is not declared as a choice or a word");
}

// --- declarations that contradict themselves

std::string WrongWith(const ParameterSpec& added) {
  PolicyInfo info = Sample();
  info.parameters.push_back(added);
  return std::string(CheckDeclaration(info).message());
}

TEST(Declaration, NamesParametersThatAreDeclaredBefore) {
  EXPECT_EQ(WrongWith({.name = "x", .default_value = "0", .only_if = "order=down"}), "");
  EXPECT_EQ(WrongWith({.name = "x", .default_value = "0", .only_if = "fast!=true"}), "");
  EXPECT_EQ(WrongWith({.name = "x", .default_value = "0", .only_if = "order"}),
            "sample: parameter x: only_if \"order\" is written NAME=VALUE or NAME!=VALUE");
  for (const char* name : {"x", "later", ""}) {
    EXPECT_THAT(WrongWith({.name = "x", .default_value = "0", .only_if = absl::StrCat(name, "=1")}),
                AllOf(HasSubstr("sample: parameter x: "), HasSubstr("names no parameter that is declared before")));
  }
  for (const char* condition : {"order=sideways", "fast=1", "entries=65", "entries=08", "order=", "order=!=up"}) {
    EXPECT_THAT(WrongWith({.name = "x", .default_value = "0", .only_if = condition}),
                AllOf(HasSubstr("sample: parameter x: "), HasSubstr("never has")));
  }
  PolicyInfo forward = Sample();
  forward.parameters[0].only_if = "order=up";
  EXPECT_THAT(std::string(CheckDeclaration(forward).message()), HasSubstr("sample: parameter fast: only_if"));
}

TEST(Declaration, HasANameThatCanBeGivenInACommand) {
  PolicyInfo info = Sample();
  EXPECT_EQ(CheckDeclaration(info), absl::OkStatus());
  for (const char* name : {"", "Bad", "two words", "a:b", "1st", "_x", "a,b", "a=b"}) {
    info.name = name;
    EXPECT_EQ(CheckDeclaration(info).message(),
              absl::StrCat("\"", name, "\" is no name for a policy: lower-case letters, digits and _, a letter first"));
  }
}

TEST(Declaration, GivesTablesAtLeastOneWay) {
  const auto ways = [](int64_t minimum, const std::string& table) {
    return ParameterSpec{.name = "ways", .default_value = "4", .minimum = minimum, .maximum = 64, .ways_of = table};
  };
  EXPECT_EQ(WrongWith(ways(1, "entries")), "");
  EXPECT_EQ(WrongWith(ways(0, "entries")),
            "sample: parameter ways: ways_of \"entries\" needs a minimum of 1: a table of 0 ways has no sets");
  EXPECT_THAT(WrongWith(ways(1, "order")), HasSubstr("is for integers"));
  EXPECT_THAT(WrongWith(ways(1, "ways")), HasSubstr("names no parameter that is declared before"));
}

TEST(Declaration, HasDefaultsThatFit) {
  EXPECT_EQ(WrongWith({.name = "x", .default_value = "1"}),
            "sample: parameter x is an integer from 0 to 0, not \"1\", its default");
  EXPECT_THAT(WrongWith({.name = "x", .type = ParameterType::kBool}), HasSubstr("not \"\", its default"));
  EXPECT_EQ(WrongWith({.name = "order", .default_value = "0"}), "sample: parameter order is declared twice");
  EXPECT_EQ(WrongWith({.name = "a=b", .default_value = "0"}), "sample: \"a=b\" cannot be a parameter's name");
}

TEST(Declaration, AWrongOneIsRefusedWhenItIsRegistered) {
  PolicyInfo info = Sample();
  info.parameters[1].minimum = 9;
  try {
    SchedulerRegistry::Get().Register(info, nullptr);
    FAIL() << "it was taken";
  } catch (const PolicyError& wrong) {
    EXPECT_THAT(wrong.what(),
                HasSubstr("a policy's declaration is wrong: sample: parameter entries is an integer from 9 to 64"));
  }
}

// --- traits that depend on parameters

TEST(Traits, LaneRuleAndSwizzleOfDwfFollowItsParameters) {
  const auto lanes = [](const char* name, const char* text) {
    return ChoosePolicy<DivergenceRegistry>({name, text})->traits.lanes;
  };
  EXPECT_FALSE(lanes("dwf", "").any);
  EXPECT_TRUE(lanes("dwf", "lane_aware=false").any);
  EXPECT_TRUE(lanes("dwf", "").swizzled);
  EXPECT_FALSE(lanes("dwf", "swizzle=none").swizzled);
  EXPECT_TRUE(lanes("mimd", "").any);
  EXPECT_FALSE(lanes("pdom", "").any);
  EXPECT_FALSE(lanes("pdom", "").swizzled);
}

TEST(Traits, RegistersOfVirtualBlocksAndTimeToFormWarpsFollowParameters) {
  const auto blocks = ChoosePolicy<DispatchRegistry>({"virtual_blocks", "extra_registers=7"});
  ASSERT_TRUE(blocks.ok());
  ASSERT_TRUE(blocks->traits.warp_dispatch.has_value());
  EXPECT_EQ(blocks->traits.warp_dispatch->extra_registers, 7u);
  EXPECT_EQ(ChoosePolicy<DivergenceRegistry>({"tbc", "wcu_cycles_per_warp=3"})->traits.formation_cycles, 3u);
}

TEST(Traits, AskingForWhatWasNotDeclaredIsAWrongDeclaration) {
  PolicyInfo info = Sample();
  info.traits_by_parameters = [](const Parameters& parameters, PolicyTraits& traits) {
    traits.lanes.any = parameters.Bool("slow");
  };
  EXPECT_EQ(CheckDeclaration(info).message(),
            "sample: its traits: policy sample asks for parameter \"slow\", which it did not declare");
}

}  // namespace
}  // namespace heddle::replay
