// What a wrong name is answered with.
#include "traces/base/suggest.h"

#include <gtest/gtest.h>

namespace heddle::replay {
namespace {

const std::vector<std::string> kKnown = {"dwf", "mimd", "nrec", "pdom", "thread_blocks"};

TEST(NearestName, FindsMisspellings) {
  EXPECT_EQ(NearestName("pdm", kKnown), "pdom") << "a letter is missing";
  EXPECT_EQ(NearestName("pdomm", kKnown), "pdom") << "a letter too many";
  EXPECT_EQ(NearestName("pdon", kKnown), "pdom") << "a wrong letter";
  EXPECT_EQ(NearestName("pdmo", kKnown), "pdom") << "two letters swapped";
  EXPECT_EQ(NearestName("thred_blcks", kKnown), "thread_blocks");
}

TEST(NearestName, FindsBeginnings) {
  EXPECT_EQ(NearestName("thread", kKnown), "thread_blocks");
  EXPECT_EQ(NearestName("dwf_majority", kKnown), "dwf");
}

TEST(NearestName, DoesNotGuessWildly) {
  EXPECT_EQ(NearestName("harp", kKnown), "");
  EXPECT_EQ(NearestName("x", kKnown), "");
  EXPECT_EQ(NearestName("", kKnown), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'p'), kKnown), "");
}

TEST(UnknownNameMessage, NamesKindNameNearestAndKnown) {
  EXPECT_EQ(UnknownNameMessage("policy", "pdon", kKnown),
            "unknown policy \"pdon\": did you mean \"pdom\"? known: dwf, mimd, nrec, pdom, thread_blocks");
  EXPECT_EQ(UnknownNameMessage("policy", "harp", {"dwf"}), "unknown policy \"harp\"; known: dwf");
  EXPECT_EQ(UnknownNameMessage("policy", "harp", {}), "unknown policy \"harp\"; there are none");
}

}  // namespace
}  // namespace heddle::replay
