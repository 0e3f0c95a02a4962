// The parser of PTX goes over its whole corpus in every build, and over thousands of damaged copies of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fuzz/ptx_input.h"
#include "tests/fuzz/text_corpus.h"

namespace heddle::tracegen::ptx {
namespace {

TEST(PtxCorpus, EveryFileIsRight) {
  const std::vector<std::string> corpus = ReadCorpus(HEDDLE_CORPUS);
  EXPECT_GE(corpus.size(), 3u);
  for (const std::string& text : corpus) EXPECT_TRUE(ReadHostilePtx(text)) << text;
}

TEST(PtxCorpus, DamagedCopiesDoNoHarm) {
  constexpr int kCopies = 6000;
  const int right = ReadDamagedCopies(ReadCorpus(HEDDLE_CORPUS), kCopies, ReadHostilePtx);
  // Some survive, most do not.
  EXPECT_GT(right, kCopies / 300);
  EXPECT_LT(right, kCopies / 2);
}

}  // namespace
}  // namespace heddle::tracegen::ptx
