#include "tools/nvcc/words.h"

#include <cctype>
#include <utility>

namespace heddle::nvcc {

std::vector<std::string> SplitWords(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool started = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && quote != '\'') {
      word += text[++i];
      started = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      started = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (started) words.push_back(std::move(word));
      word.clear();
      started = false;
    } else {
      word += c;
      started = true;
    }
  }
  if (started) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> SplitList(const std::string& text) {
  // What is for the linker or assembler has commas of its own.
  if (text.rfind("-Wl,", 0) == 0 || text.rfind("-Wa,", 0) == 0 || text.rfind("-Wp,", 0) == 0) return {text};
  std::string words;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      words += text[++i];
    } else {
      words += text[i] == ',' ? ' ' : text[i];
    }
  }
  return SplitWords(words);
}

}  // namespace heddle::nvcc
