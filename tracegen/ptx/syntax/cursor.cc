#include "tracegen/ptx/syntax/cursor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tracegen/ptx/syntax/constant.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

constexpr size_t kMostText = 120;

// On one line, blanks made one.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, 4 * kMostText)) {
    const bool blank = absl::ascii_isspace(static_cast<unsigned char>(c));
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return Printable(CutText(line, kMostText));
}

}  // namespace

absl::Status SyntaxError(uint32_t line, std::string_view what, std::string_view text) {
  std::string message = absl::StrCat("PTX line ", line, ": ", absl::string_view(what.data(), what.size()));
  if (!text.empty()) absl::StrAppend(&message, ": '", OneLine(text), "'");
  return absl::InvalidArgumentError(message);
}

Cursor::Cursor(std::string_view text, const ParseOptions& options, bool inline_text)
    : options_(options), lexer_(text, options.keep_comments, inline_text), is_inline_(inline_text) {
  for (Token& token : ahead_) token = lexer_.Next();
}

Token Cursor::Next() {
  Token token = ahead_[0];
  // The end and what is wrong stay where they are.
  if (token.kind == Token::Kind::kEnd || token.kind == Token::Kind::kBad) return token;
  last_end_ = token.text.data() + token.text.size();
  ahead_[0] = ahead_[1];
  ahead_[1] = ahead_[2];
  if (ahead_[1].kind != Token::Kind::kEnd && ahead_[1].kind != Token::Kind::kBad) ahead_[2] = lexer_.Next();
  return token;
}

std::vector<CommentText> Cursor::TakeComments() {
  // The lexer is some tokens ahead.
  std::vector<CommentText>& all = lexer_.comments();
  const auto end = std::find_if(all.begin(), all.end(),
                                [&](const CommentText& comment) { return comment.text.data() >= Peek().begin; });
  std::vector<CommentText> taken(all.begin(), end);
  all.erase(all.begin(), end);
  return taken;
}

bool Cursor::Accept(std::string_view mark) {
  if (!Peek().Is(mark)) return false;
  Next();
  return true;
}

bool Cursor::AcceptDot(std::string_view name) {
  if (!Peek().IsDot(name)) return false;
  Next();
  return true;
}

absl::Status Cursor::Expect(std::string_view mark) {
  if (Accept(mark)) return absl::OkStatus();
  // The text of an asm statement, or a scope in it, may end without its last semicolon.
  if (is_inline_ && mark == ";" && (Peek().kind == Token::Kind::kEnd || Peek().Is("}"))) return absl::OkStatus();
  return Error(absl::StrCat("'", absl::string_view(mark.data(), mark.size()), "' was expected"));
}

absl::StatusOr<std::string_view> Cursor::ExpectWord(std::string_view what) {
  if (Peek().kind == Token::Kind::kWord) return Next().text;
  return Error(absl::StrCat(absl::string_view(what.data(), what.size()), " was expected"));
}

absl::StatusOr<uint64_t> Cursor::ExpectInteger(std::string_view what) {
  uint64_t value = 0;
  if (Peek().kind != Token::Kind::kNumber || !ParseInteger(Peek().text, &value)) {
    return Error(absl::StrCat(absl::string_view(what.data(), what.size()), " was expected"));
  }
  Next();
  return value;
}

absl::Status Cursor::Error(std::string_view what) const {
  const Token& token = Peek();
  if (token.kind == Token::Kind::kEnd || (token.kind == Token::Kind::kBad && token.text.empty())) {
    return SyntaxError(token.line, absl::StrCat(absl::string_view(what.data(), what.size()), ", but the text ends"));
  }
  // The rest of the line says more than one token.
  std::string_view text(token.begin, token.text.size() + (token.text.data() - token.begin));
  return SyntaxError(token.line, what, text);
}

std::string_view Cursor::TextFrom(const char* begin) const {
  return last_end_ == nullptr || last_end_ < begin ? std::string_view()
                                                   : std::string_view(begin, static_cast<size_t>(last_end_ - begin));
}

absl::Status Cursor::Count(uint64_t nodes) {
  nodes_ += nodes;
  if (nodes_ <= options_.limits.nodes) return absl::OkStatus();
  return SyntaxError(line(), absl::StrCat("more than ", options_.limits.nodes, " statements, operands and values"));
}

}  // namespace heddle::tracegen::ptx
