// The readers of disassemblies go over their whole corpus in every build, and over thousands of damaged copies of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fuzz/machine_input.h"
#include "tests/fuzz/text_corpus.h"

namespace heddle::tracegen::machine {
namespace {

TEST(MachineCorpus, EveryFileIsRight) {
  const std::vector<std::string> corpus = ReadCorpus(HEDDLE_CORPUS);
  EXPECT_GE(corpus.size(), 3u);
  for (const std::string& text : corpus) EXPECT_TRUE(ReadHostileMachineText(text)) << text;
}

TEST(MachineCorpus, DamagedCopiesDoNoHarm) {
  constexpr int kCopies = 6000;
  const int right = ReadDamagedCopies(ReadCorpus(HEDDLE_CORPUS), kCopies, ReadHostileMachineText);
  // Some survive, most do not.
  EXPECT_GT(right, kCopies / 300);
  EXPECT_LT(right, kCopies / 2);
}

}  // namespace
}  // namespace heddle::tracegen::machine
