#include "tools/nvcc/source_text.h"

#include <cctype>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::nvcc {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Behind the raw string whose quote is at `at`; 0 if there is none.
size_t SkipRawString(std::string_view text, size_t at) {
  size_t start = at;
  while (start > 0 && IsWord(text[start - 1])) --start;
  const std::string_view prefix = text.substr(start, at - start);
  if (prefix != "R" && prefix != "LR" && prefix != "uR" && prefix != "UR" && prefix != "u8R") return 0;
  const size_t open = text.find('(', at);
  constexpr size_t kMostDelimiter = 16;
  if (open == std::string_view::npos || open - at - 1 > kMostDelimiter) return 0;
  const std::string end = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
  const size_t close = text.find(end, open);
  return close == std::string_view::npos ? text.size() : close + end.size();
}

// Position behind the comment, string or character literal that starts at `at`; `at` itself if none does.
size_t SkipLiteral(std::string_view text, size_t at) {
  if (text.substr(at, 2) == "//") {
    const size_t end = text.find('\n', at);
    return end == std::string_view::npos ? text.size() : end;
  }
  if (text.substr(at, 2) == "/*") {
    const size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  const char quote = text[at];
  // 1'000'000 is no character literal.
  if (quote != '"' && (quote != '\'' || (at > 0 && IsWord(text[at - 1])))) return at;
  if (const size_t behind = quote == '"' ? SkipRawString(text, at) : 0; behind != 0) return behind;
  for (size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return at + 1;
}

// "<< <" at `at`: the position of its last character, else 0.
size_t SplitBracket(std::string_view text, size_t at, char bracket) {
  if (text[at] != bracket || at + 1 >= text.size()) return 0;
  size_t second = at + 1;
  while (second < text.size() && IsBlank(text[second])) ++second;
  if (second >= text.size() || text[second] != bracket) return 0;
  size_t third = second + 1;
  while (third < text.size() && IsBlank(text[third])) ++third;
  if (third >= text.size() || text[third] != bracket || third == at + 2) return 0;
  return third;
}

constexpr std::string_view kStatic = "static";

// Where "static texture<...>" starts, at `from` or behind it.
size_t FindStaticTexture(std::string_view text, size_t from) {
  for (size_t i = from; i < text.size();) {
    if (const size_t behind = SkipLiteral(text, i); behind != i) {
      i = behind;
      continue;
    }
    if (text.substr(i, kStatic.size()) == kStatic && (i == 0 || !IsWord(text[i - 1]))) {
      size_t word = i + kStatic.size();
      while (word < text.size() && IsSpace(text[word])) ++word;
      for (std::string_view name : {"texture", "surface"}) {
        if (word > i + kStatic.size() && text.substr(word, name.size()) == name && word + name.size() < text.size() &&
            (text[word + name.size()] == '<' || IsBlank(text[word + name.size()]))) {
          return i;
        }
      }
    }
    ++i;
  }
  return std::string_view::npos;
}

// The semicolon that ends what starts at `from`; the text's size if there is none.
size_t EndOfDeclaration(std::string_view text, size_t from) {
  for (size_t i = from; i < text.size();) {
    if (const size_t behind = SkipLiteral(text, i); behind != i) {
      i = behind;
      continue;
    }
    if (text[i] == ';') return i;
    ++i;
  }
  return text.size();
}

}  // namespace

std::string JoinLaunchBrackets(std::string_view text) {
  std::string result(text);
  bool open = false;  // between <<< and >>>
  for (size_t i = 0; i < result.size();) {
    if (const size_t behind = SkipLiteral(result, i); behind != i) {
      i = behind;
      continue;
    }
    if (result.compare(i, 3, open ? ">>>" : "<<<") == 0) {
      open = !open;
      i += 3;
      continue;
    }
    const char bracket = open ? '>' : '<';
    if (const size_t last = SplitBracket(result, i, bracket); last != 0) {
      for (size_t k = i; k <= last; ++k) result[k] = k < i + 3 ? bracket : ' ';
      open = !open;
      i = last + 1;
      continue;
    }
    if (result[i] == ';') open = false;
    ++i;
  }
  return result;
}

bool HasStaticTexture(std::string_view text) { return FindStaticTexture(text, 0) != std::string_view::npos; }

std::string NameStaticTextures(std::string_view text, const std::string& name) {
  std::string result;
  size_t done = 0;
  for (size_t at; (at = FindStaticTexture(text, done)) != std::string_view::npos;) {
    const size_t end = EndOfDeclaration(text, at);
    if (end == text.size()) break;
    result.append(text.substr(done, at - done));
    result.append("inline namespace " + name + " { ");
    result.append(text.substr(at + kStatic.size(), end + 1 - at - kStatic.size()));
    result.append(" }");
    done = end + 1;
  }
  return result.append(text.substr(done));
}

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (IsSpace(text[at])) {
      ++at;
    } else if (text[at] == '/') {
      const size_t behind = SkipLiteral(text, at);
      if (behind == at) return at;
      at = behind;
    } else {
      return at;
    }
  }
  return at;
}

size_t SkipSpaceBack(std::string_view text, size_t at) {
  while (at > 0 && IsSpace(text[at - 1])) --at;
  return at;
}

std::string WithoutComments(std::string_view text) {
  std::string plain(text);
  const auto blank = [&plain](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      if (plain[i] != '\n') plain[i] = ' ';
    }
  };
  bool directive = false;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\n') directive = i > 0 && text[i - 1] == '\\' && directive;
    if (text[i] == '#') directive = true;
    const size_t behind = SkipLiteral(text, i);
    if (behind == i) {
      ++i;
      continue;
    }
    if (text[i] == '/') {
      blank(i, behind);
    } else if (!directive) {
      const bool is_closed = behind > i + 1 && text[behind - 1] == text[i];
      blank(i + 1, is_closed ? behind - 1 : behind);
    }
    i = behind;
  }
  return plain;
}

namespace {

// Behind a word at `at`, and `at` itself if there is none.
size_t SkipWord(std::string_view text, size_t at) {
  while (at < text.size() && IsWord(text[at])) ++at;
  return at;
}

// Of an asm statement whose keyword ends before `at`: where its text begins and ends if operands follow, else 0 and 0.
std::pair<size_t, size_t> TextWithOperands(std::string_view text, size_t at) {
  at = SkipSpace(text, at);
  for (size_t end = SkipWord(text, at); end != at; end = SkipWord(text, at)) at = SkipSpace(text, end);  // volatile
  if (at >= text.size() || text[at] != '(') return {0, 0};
  const size_t start = SkipSpace(text, at + 1);
  at = start;
  while (at < text.size() && text[at] == '"') at = SkipSpace(text, SkipLiteral(text, at));
  return at < text.size() && at != start && text[at] == ':' ? std::pair(start, at) : std::pair<size_t, size_t>(0, 0);
}

// Whether what follows a percent sign is the name of a register: not an operand, perhaps behind a letter that says how
// it is to be written.
bool IsRegister(std::string_view name) {
  const size_t letters = name.find_first_of("0123456789");
  return !name.empty() && letters != 0 &&
         !(letters == 1 && name.find_first_not_of("0123456789", 1) == std::string_view::npos) && name.size() > 1;
}

}  // namespace

std::string DoubleRegisterPercents(std::string_view text) {
  std::string result;
  size_t copied = 0;
  for (size_t i = 0; i < text.size();) {
    if (const size_t behind = SkipLiteral(text, i); behind != i) {
      i = behind;
      continue;
    }
    const size_t end = SkipWord(text, i);
    if (end == i) {
      ++i;
      continue;
    }
    const std::string_view word = text.substr(i, end - i);
    i = end;
    if (word != "asm" && word != "__asm__" && word != "__asm") continue;
    const auto [from, to] = TextWithOperands(text, end);
    for (size_t at = from; at < to; ++at) {
      if (text[at] != '%') continue;
      if (text[at + 1] == '%') {
        ++at;
      } else if (IsRegister(text.substr(at + 1, SkipWord(text, at + 1) - at - 1))) {
        result.append(text.substr(copied, at - copied)).append("%");
        copied = at;
      }
    }
    if (to != 0) i = to;
  }
  return result.append(text.substr(copied));
}

}  // namespace heddle::nvcc
