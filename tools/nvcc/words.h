// Texts of command lines and response files, cut into words.
#ifndef HEDDLE_TOOLS_NVCC_WORDS_H_
#define HEDDLE_TOOLS_NVCC_WORDS_H_

#include <string>
#include <vector>

namespace heddle::nvcc {

// Splits the text of a response file: blanks separate, quotes and backslashes protect.
std::vector<std::string> SplitWords(const std::string& text);

// "a,b c" -> a, b, c; a backslash before a comma keeps it. -Wl,..., -Wa,... and -Wp,... stay whole.
std::vector<std::string> SplitList(const std::string& text);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_WORDS_H_
