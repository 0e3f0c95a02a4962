// The readers of disassemblies go over their whole corpus in every build, and over thousands of damaged copies of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/machine_input.h"
#include "traces/base/random.h"

namespace heddle::tracegen::machine {
namespace {

std::vector<std::string> Corpus() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_MACHINE_CORPUS)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

TEST(MachineCorpus, EveryFileIsRight) {
  const std::vector<std::string> corpus = Corpus();
  EXPECT_GE(corpus.size(), 3u);
  for (const std::string& text : corpus) EXPECT_TRUE(ReadHostileMachineText(text)) << text;
}

TEST(MachineCorpus, DamagedCopiesDoNoHarm) {
  const std::vector<std::string> corpus = Corpus();
  Random random(20261126);
  int right = 0;
  constexpr int kCopies = 6000;
  for (int i = 0; i < kCopies; ++i) {
    std::string text = corpus[random.Below(corpus.size())];
    for (uint64_t changes = 1 + random.Below(4); changes > 0; --changes) {
      const size_t at = random.Below(text.size());
      const std::string& other = corpus[random.Below(corpus.size())];
      const size_t from = random.Below(other.size());
      switch (random.Below(4)) {
        case 0:
          text[at] = static_cast<char>(random.Below(256));
          break;
        case 1:
          text.erase(at, 1 + random.Below(12));
          break;
        case 2:
          text.insert(at, other.substr(from, 1 + random.Below(40)));
          break;
        default:
          text.replace(at, 1 + random.Below(6), other.substr(from, 1 + random.Below(6)));
          break;
      }
      if (text.empty()) text = " ";
    }
    right += ReadHostileMachineText(text) ? 1 : 0;
  }
  // Some survive, most do not.
  EXPECT_GT(right, kCopies / 300);
  EXPECT_LT(right, kCopies / 2);
}

}  // namespace
}  // namespace heddle::tracegen::machine
