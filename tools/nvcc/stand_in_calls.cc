#include "tools/nvcc/stand_in_calls.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "tools/nvcc/source_text.h"

namespace heddle::nvcc {
namespace {

const StandInLibrary* LibraryOf(std::string_view word) {
  const StandInLibrary* found =
      std::find_if(std::begin(kStandInLibraries), std::end(kStandInLibraries), [&](const StandInLibrary& library) {
        if (!word.starts_with(library.prefix) || word.size() == library.prefix.size()) return false;
        const char next = word[library.prefix.size()];
        return next == '_' || std::isupper(static_cast<unsigned char>(next)) != 0;
      });
  return found == std::end(kStandInLibraries) ? nullptr : found;
}

// Calls `visit` with each word's place and length.
template <typename Visit>
void ForEachWord(std::string_view text, const Visit& visit) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsWord(text[end])) ++end;
    if (end != i) visit(i, end - i);
    i = std::max(end, i + 1);
  }
}

// Whether the word there is one that a call has: "(" follows, and no type, as in a definition, nor #define stands
// before.
bool IsCall(std::string_view text, size_t at, size_t length) {
  const size_t after = SkipSpace(text, at + length);
  if (after == text.size() || text[after] != '(') return false;
  const size_t before = SkipSpaceBack(text, at);
  if (before == 0 || !(IsWord(text[before - 1]) || text[before - 1] == '*')) return true;
  size_t start = before;
  while (start > 0 && IsWord(text[start - 1])) --start;
  const std::string_view word = text.substr(start, before - start);
  return word == "return" || word == "else" || word == "do";
}

}  // namespace

std::set<std::string, std::less<>> WordsOf(std::string_view text) {
  std::set<std::string, std::less<>> words;
  ForEachWord(text, [&](size_t at, size_t length) { words.emplace(text.substr(at, length)); });
  return words;
}

std::set<std::string, std::less<>> StandInWords(const std::string& headers) {
  namespace fs = std::filesystem;
  std::set<std::string, std::less<>> words;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(headers, ignored)) {
    const std::string name = fs::relative(entry.path(), headers, ignored).string();
    const bool declares = std::any_of(std::begin(kStandInLibraries), std::end(kStandInLibraries),
                                      [&](const StandInLibrary& library) { return name.starts_with(library.prefix); });
    if (!declares) continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    words.merge(WordsOf(text.str()));
  }
  return words;
}

std::vector<std::string> CallsWithoutStandIn(const std::string& path, std::string_view text,
                                             const std::set<std::string, std::less<>>& declared) {
  const std::string plain = WithoutComments(text);
  std::set<std::string, std::less<>> own;  // what is named like a function here without being called
  ForEachWord(plain, [&](size_t at, size_t length) {
    const std::string_view word = std::string_view(plain).substr(at, length);
    if (LibraryOf(word) != nullptr && !IsCall(plain, at, length)) own.emplace(word);
  });
  std::vector<std::string> found;
  ForEachWord(plain, [&](size_t at, size_t length) {
    const std::string word = plain.substr(at, length);
    const StandInLibrary* library = LibraryOf(word);
    if (library == nullptr || declared.contains(word) || own.contains(word) || !IsCall(plain, at, length)) return;
    own.insert(word);  // told once
    const auto line = 1 + std::count(plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    found.push_back(path + ":" + std::to_string(line) + ": " + word + ": this function of " +
                    std::string(library->name) + " has no stand-in; those that have are declared in its headers");
  });
  return found;
}

bool IsStandInLibrary(std::string_view word) {
  return word.starts_with("-l") &&
         std::any_of(std::begin(kStandInLibraries), std::end(kStandInLibraries),
                     [&](const StandInLibrary& library) { return word.substr(2).starts_with(library.prefix); });
}

}  // namespace heddle::nvcc
