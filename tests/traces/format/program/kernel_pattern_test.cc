#include "traces/format/program/kernel_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heddle::trace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

bool Matches(const std::string& expression, const std::string& name) {
  const absl::StatusOr<KernelPattern> pattern = KernelPattern::Parse(expression);
  EXPECT_TRUE(pattern.ok()) << pattern.status();
  return pattern.ok() && pattern->Matches(name);
}

TEST(KernelPatternTest, ANameContainsAMatch) {
  EXPECT_TRUE(Matches("level", "bfs_level(int*)"));
  EXPECT_FALSE(Matches("levels", "bfs_level(int*)"));
  EXPECT_TRUE(Matches("^bfs", "bfs_level(int*)"));
  EXPECT_FALSE(Matches("^level", "bfs_level(int*)"));
  EXPECT_TRUE(Matches("^(bfs|spmv)_[a-z]+[(]", "spmv_csr(float*)"));
  EXPECT_TRUE(Matches("[[:digit:]]{2}$", "reduce32"));
  EXPECT_FALSE(Matches("[[:digit:]]{3}$", "reduce32"));
}

TEST(KernelPatternTest, NothingMatchesEverything) {
  EXPECT_TRUE(Matches("", "bfs"));
  EXPECT_TRUE(KernelPattern().Matches(""));
}

TEST(KernelPatternTest, NamesAreBytes) {
  EXPECT_TRUE(Matches("^.b$",
                      "\xff"
                      "b"));
  EXPECT_TRUE(Matches("größe", "größe_level"));
}

TEST(KernelPatternTest, SaysWhatIsWrong) {
  EXPECT_THAT(KernelPattern::Parse("bfs[").status().message(),
              AllOf(HasSubstr("\"bfs[\": not a regular expression: "), HasSubstr("missing ]")));
  EXPECT_THAT(KernelPattern::Parse("(a").status().message(), HasSubstr("missing )"));
}

// RE2 would take them for ordinary characters.
TEST(KernelPatternTest, ClassesOfEquivalentCharactersAreRefused) {
  for (const char* expression : {"[[=a=]]", "[[.a.]]", "x[^b[=a=]]", "[]c[.a.]]", "[[:digit:][=a=]]"}) {
    EXPECT_THAT(KernelPattern::Parse(expression).status().message(),
                AllOf(HasSubstr(expression), HasSubstr("not supported")));
  }
  EXPECT_TRUE(Matches("[.=]", "a=b"));
  EXPECT_TRUE(Matches("[a=[]", "["));
  EXPECT_TRUE(Matches("\\[=", "a[=b"));
  EXPECT_TRUE(Matches("[[:digit:]=.]", "="));
  EXPECT_TRUE(Matches("[]][.]", "]."));
}

// A matcher that tries one possibility after the other takes 2^60 steps for these.
TEST(KernelPatternTest, NoExpressionTakesForEver) {
  const std::string name(60, 'a');
  EXPECT_FALSE(Matches("^(a|a)*b$", name));
  EXPECT_FALSE(Matches("^(.*)*x$", name));
  EXPECT_FALSE(Matches("(a*)*(a*)*(a*)*b", std::string(100'000, 'a')));
}

TEST(KernelPatternTest, TooLargeOnesAreRefusedBriefly) {
  EXPECT_THAT(KernelPattern::Parse(std::string(10'000'000, 'a')).status().message(),
              AllOf(HasSubstr("..."), SizeIs(testing::Lt(300u))));
  EXPECT_FALSE(KernelPattern::Parse(std::string(100'000, '(')).ok());
  EXPECT_FALSE(KernelPattern::Parse("((((a{1000}){1000}){1000}){1000})").ok());
}

}  // namespace
}  // namespace heddle::trace
