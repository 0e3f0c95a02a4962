#include "tools/exchange/gpgpusim/config_file.h"

#include <cctype>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

std::string Place(const std::string& file, size_t line) {
  return absl::StrCat(file, file.empty() ? "" : ", ", "line ", line);
}

struct Token {
  std::string text;
  bool quoted = false;
  size_t line = 0;
};

// Blanks and line ends separate tokens outside double quotes; within, they are one blank.
absl::StatusOr<std::vector<Token>> Tokens(const std::string& text, const std::string& file) {
  std::vector<Token> tokens;
  bool in_quotes = false;
  size_t line_number = 0;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    ++line_number;
    const std::string line(whole.substr(0, whole.find('#')));
    bool in_token = false;  // tokens without quotes end with the line
    for (const char c : line) {
      const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (c == '"' && (in_quotes || !in_token)) {
        in_quotes = !in_quotes;
        in_token = false;
        if (in_quotes) tokens.push_back({"", true, line_number});
      } else if (in_quotes) {
        std::string& value = tokens.back().text;
        if (!blank) value += c;
        if (blank && !value.empty() && value.back() != ' ') value += ' ';
      } else if (blank) {
        in_token = false;
      } else {
        if (!in_token) tokens.push_back({"", false, line_number});
        in_token = true;
        tokens.back().text += c;
      }
    }
    if (in_quotes && !tokens.back().text.empty() && tokens.back().text.back() != ' ') tokens.back().text += ' ';
  }
  if (in_quotes) {
    return absl::InvalidArgumentError(absl::StrCat(Place(file, tokens.back().line), ": the quote is not closed"));
  }
  for (Token& token : tokens) token.text = std::string(absl::StripAsciiWhitespace(token.text));
  return tokens;
}

// "-1" is a value.
bool IsName(const Token& token) {
  return !token.quoted && token.text.size() > 1 && token.text[0] == '-' &&
         (absl::ascii_isalpha(static_cast<unsigned char>(token.text[1])) || token.text[1] == '_');
}

}  // namespace

absl::StatusOr<std::vector<ConfigOption>> ParseOptions(const std::string& text, const std::string& file) {
  HEDDLE_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokens(text, file));
  std::vector<ConfigOption> options;
  bool takes_value = false;
  for (Token& token : tokens) {
    if (IsName(token)) {
      options.push_back({std::move(token.text), "", Place(file, token.line)});
      takes_value = true;
    } else if (takes_value) {
      options.back().value = std::move(token.text);
      takes_value = false;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(Place(file, token.line), ": \"", token.text, "\" is the value of no option",
                       options.empty() ? std::string() : absl::StrCat(" (", options.back().name, " has one already)")));
    }
  }
  return options;
}

absl::StatusOr<std::vector<ConfigOption>> ParseNetworkFile(const std::string& text, const std::string& file) {
  std::vector<ConfigOption> settings;
  size_t line_number = 0;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    ++line_number;
    const std::string line(whole.substr(0, whole.find("//")));
    for (const absl::string_view piece : absl::StrSplit(line, ';')) {
      const absl::string_view statement = absl::StripAsciiWhitespace(piece);
      if (statement.empty()) continue;
      const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(statement, absl::MaxSplits('=', 1));
      const absl::string_view key = absl::StripAsciiWhitespace(parts.first);
      const absl::string_view value = absl::StripAsciiWhitespace(parts.second);
      if (key.empty() || value.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat(Place(file, line_number), ": \"", statement, "\" is not of the form key = value;"));
      }
      settings.push_back({std::string(key), std::string(value), Place(file, line_number)});
    }
  }
  return settings;
}

}  // namespace heddle::tools
