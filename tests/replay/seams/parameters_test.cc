// Parameters that are fractions, words and lists: what is taken, what it is, and that it comes back as it was written.
#include "replay/seams/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/seams/decimal_number.h"
#include "replay/seams/policy_error.h"

namespace heddle::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PolicyInfo Sample() {
  PolicyInfo info;
  info.name = "sample";
  info.parameters = {
      {.name = "share", .type = ParameterType::kFraction, .default_value = "0.25", .lowest = "0", .highest = "1.5"},
      {.name = "label", .type = ParameterType::kWord, .default_value = "warp-0"},
      {.name = "steps",
       .type = ParameterType::kList,
       .default_value = "1+2",
       .unit = "cycles",
       .minimum = -4,
       .maximum = 64,
       .list_of = ParameterType::kInteger,
       .most_items = 3},
      {.name = "kernels",
       .type = ParameterType::kList,
       .default_value = "",
       .list_of = ParameterType::kWord,
       .most_items = 2},
      {.name = "classes",
       .type = ParameterType::kList,
       .default_value = "load",
       .choices = {"load", "store", "atomic"},
       .list_of = ParameterType::kChoice,
       .least_items = 1,
       .most_items = 3},
  };
  return info;
}

std::string ErrorOf(const std::string& text) {
  return std::string(Parameters::Parse(Sample(), text).status().message());
}

TEST(Decimals, HaveOneSpelling) {
  const auto text = [](const std::string& written) {
    const auto number = DecimalNumber::Parse(written);
    return number.has_value() ? number->Text() : "none";
  };
  for (const char* one : {"0", "1", "0.25", "-0.5", "1000000", "-1000000", "0.000000001", "999999.999999999"}) {
    EXPECT_EQ(text(one), one);
  }
  EXPECT_EQ(text("0.250"), "0.25");
  EXPECT_EQ(text("007.10"), "7.1");
  EXPECT_EQ(text("-0"), "0");
  EXPECT_EQ(text("-0.000"), "0");
  for (const char* wrong : {"", "-", ".", ".5", "1.", "1e3", "+1", " 1", "1 ", "0x1", "1,5", "nan", "inf", "--1",
                            "0.0000000001", "1000000.000000001", "1000001", "99999999999999999999"}) {
    EXPECT_EQ(text(wrong), "none") << wrong;
  }
}

TEST(Decimals, AreTheNearestNumber) {
  EXPECT_EQ(DecimalNumber::Parse("0.1")->value(), 0.1);
  EXPECT_EQ(DecimalNumber::Parse("-2.7")->value(), -2.7);
  EXPECT_EQ(DecimalNumber::Parse("123456.789012345")->value(), 123456.789012345);
  EXPECT_LT(*DecimalNumber::Parse("0.1"), *DecimalNumber::Parse("0.100000001"));
}

TEST(TypedParameters, HaveTheirDefaults) {
  const auto parameters = Parameters::Parse(Sample(), "");
  ASSERT_TRUE(parameters.ok()) << parameters.status();
  EXPECT_EQ(parameters->Fraction("share"), 0.25);
  EXPECT_EQ(parameters->Billionths("share"), 250'000'000);
  EXPECT_EQ(parameters->Word("label"), "warp-0");
  EXPECT_THAT(parameters->Integers("steps"), ElementsAre(1, 2));
  EXPECT_THAT(parameters->Words("kernels"), IsEmpty());
  EXPECT_THAT(parameters->Words("classes"), ElementsAre("load"));
}

TEST(TypedParameters, ComeBackFromTheirText) {
  for (const char* text : {"share=0.000000001,label=a.b_C-9,steps=-4+64+0,kernels=bfs+spmv,classes=store+load",
                           "steps=,kernels=x", "share=1.5,steps=7"}) {
    const auto parameters = Parameters::Parse(Sample(), text);
    ASSERT_TRUE(parameters.ok()) << parameters.status();
    std::string again;
    for (const auto& [name, value] : parameters->values())
      again += (again.empty() ? "" : ",") + name + "=" + TextOf(value);
    const auto twice = Parameters::Parse(Sample(), again);
    ASSERT_TRUE(twice.ok()) << again << ": " << twice.status();
    EXPECT_EQ(parameters->values(), twice->values()) << again;
  }
  const auto parameters = Parameters::Parse(Sample(), "share=0.50,steps=08+1");
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(parameters->Text("share"), "0.5");
  EXPECT_EQ(parameters->Text("steps"), "8+1");
}

TEST(TypedParameters, AreRefusedWithWhatThereIs) {
  EXPECT_EQ(ErrorOf("share=1.6"),
            "sample: parameter share is a decimal number from 0 to 1.5 with up to 9 decimal places, not \"1.6\"");
  EXPECT_THAT(ErrorOf("share=-0.1"), HasSubstr("from 0 to 1.5"));
  EXPECT_THAT(ErrorOf("share="), HasSubstr("not \"\""));
  EXPECT_EQ(ErrorOf("label=a b"),
            "sample: parameter label is a word of up to 64 letters, digits, '_', '-' and '.', not \"a b\"");
  EXPECT_THAT(ErrorOf("label="), HasSubstr("is a word"));
  EXPECT_THAT(ErrorOf("label=" + std::string(65, 'x')), HasSubstr("is a word"));
  EXPECT_THAT(ErrorOf("label=a+b"), HasSubstr("is a word"));
  EXPECT_EQ(ErrorOf("steps=1+65"),
            "sample: parameter steps is a list of 0 to 3 items joined by '+', each an integer from -4 to 64 (cycles), "
            "not \"1+65\"");
  for (const char* wrong : {"1+2+3+4", "+", "1+", "+1", "1++2", "a"}) {
    EXPECT_THAT(ErrorOf(std::string("steps=") + wrong), HasSubstr("parameter steps is a list")) << wrong;
  }
  EXPECT_THAT(ErrorOf("classes="), HasSubstr("1 to 3 items joined by '+', each one of load, store, atomic"));
  EXPECT_THAT(ErrorOf("classes=load+branch"), HasSubstr("not \"load+branch\""));
  EXPECT_THAT(ErrorOf("kernels=a+b+c"), HasSubstr("0 to 2 items"));
}

TEST(TypedParameters, AskingForAnotherTypeIsAPolicyError) {
  const auto parameters = Parameters::Parse(Sample(), "");
  ASSERT_TRUE(parameters.ok());
  EXPECT_THROW(parameters->Integer("share"), PolicyError);
  EXPECT_THROW(parameters->Fraction("label"), PolicyError);
  EXPECT_THROW(parameters->Words("steps"), PolicyError);
  EXPECT_THROW(parameters->Integers("kernels"), PolicyError);
  EXPECT_THROW(parameters->Choice("classes"), PolicyError);
}

TEST(TypedParameters, DecideOthersByTheirOneSpelling) {
  PolicyInfo info = Sample();
  info.parameters.push_back({.name = "extra", .default_value = "0", .maximum = 9, .only_if = "share!=0"});
  EXPECT_TRUE(CheckDeclaration(info).ok()) << CheckDeclaration(info);
  const auto none = Parameters::Parse(info, "share=0.0");
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(WithoutEffect(info, *none, "extra=1"), "extra=1 has no effect: share=0");
  info.parameters.back().only_if = "share!=0.0";
  EXPECT_THAT(std::string(CheckDeclaration(info).message()), HasSubstr("never has"));
}

std::string WrongWith(const ParameterSpec& added) {
  PolicyInfo info = Sample();
  info.parameters.push_back(added);
  return std::string(CheckDeclaration(info).message());
}

TEST(TypedDeclarations, SayAllThatTheirTypeNeeds) {
  EXPECT_TRUE(CheckDeclaration(Sample()).ok()) << CheckDeclaration(Sample());
  EXPECT_THAT(WrongWith({.name = "x", .type = ParameterType::kFraction, .default_value = "0"}),
              HasSubstr("needs .lowest and .highest"));
  EXPECT_THAT(
      WrongWith({.name = "x", .type = ParameterType::kFraction, .default_value = "0", .lowest = "1", .highest = "0.5"}),
      HasSubstr("needs .lowest and .highest"));
  EXPECT_EQ(
      WrongWith(
          {.name = "x", .type = ParameterType::kFraction, .default_value = "0.50", .lowest = "0", .highest = "1"}),
      "sample: parameter x: the default \"0.50\" is written 0.5");
  EXPECT_THAT(WrongWith({.name = "x", .type = ParameterType::kList, .default_value = ""}), HasSubstr(".most_items"));
  EXPECT_THAT(WrongWith({.name = "x",
                         .type = ParameterType::kList,
                         .default_value = "",
                         .list_of = ParameterType::kBool,
                         .most_items = 2}),
              HasSubstr("what lists are not made of"));
  EXPECT_THAT(WrongWith({.name = "x", .type = ParameterType::kChoice, .default_value = "a+b", .choices = {"a+b"}}),
              HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace heddle::replay
