#include "tests/fuzz/text_corpus.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "traces/base/random.h"

namespace heddle {

std::vector<std::string> ReadCorpus(const std::string& folder) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

int ReadDamagedCopies(const std::vector<std::string>& corpus, int copies, bool (*read)(const std::string&)) {
  Random random(20261126);
  int right = 0;
  for (int i = 0; i < copies; ++i) {
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
    right += read(text) ? 1 : 0;
  }
  return right;
}

}  // namespace heddle
