#include "tracegen/ptx/syntax/lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace heddle::tracegen::ptx {
namespace {

using Kind = Token::Kind;

bool IsFollow(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view Stripped(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

}  // namespace

Lexer::Lexer(std::string_view text, bool keep_comments, bool inline_text)
    : text_(text), keep_comments_(keep_comments), inline_text_(inline_text) {
  // Programs hand over C strings, some with their end.
  while (!text_.empty() && text_.back() == '\0') text_.remove_suffix(1);
}

void Lexer::AddComment(uint32_t line, std::string_view text) {
  if (keep_comments_) comments_.push_back({line, Stripped(text)});
}

void Lexer::SkipBlockComment() {
  const uint32_t line = line_;
  const size_t begin = at_ + 2;
  const size_t end = text_.find("*/", begin);
  const std::string_view inside = text_.substr(begin, end == std::string_view::npos ? end : end - begin);
  line_ += static_cast<uint32_t>(std::count(inside.begin(), inside.end(), '\n'));
  bad_comment_ = end == std::string_view::npos;
  at_ = bad_comment_ ? text_.size() : end + 2;
  AddComment(line, inside);
}

void Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (absl::ascii_isspace(static_cast<unsigned char>(c)) || At("\\\n") || At("\\\r\n")) {
      ++at_;  // behind a backslash the line goes on
    } else if (At("//")) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      AddComment(line_, text_.substr(at_ + 2, end - at_ - 2));
      at_ = end;
    } else if (At("/*")) {
      SkipBlockComment();
    } else {
      return;
    }
  }
}

Token Lexer::Make(Kind kind, size_t bytes) {
  Token token;
  token.kind = kind;
  token.line = line_;
  token.begin = text_.data() + at_;
  token.text = text_.substr(at_, bytes);
  at_ += token.text.size();
  last_ = kind;
  return token;
}

Token Lexer::Next() {
  SkipBlanks();
  if (bad_comment_) return Make(Kind::kBad, 0);
  if (at_ >= text_.size()) return Make(Kind::kEnd, 0);
  const char c = text_[at_];
  if (absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_') return Word();
  if (c == '$') return Dollar();
  // Behind a value, a percent sign before a digit divides.
  if (c == '%' && IsFollow(Char(1)) && (!IsDigit(Char(1)) || last_ != Kind::kNumber)) return Word();
  if (c == '.' && IsFollow(Char(1))) return Dot();
  if (IsDigit(c)) return Number();
  if (c == '"') return String();
  return Mark();
}

// Bytes of the word that begins here; its first character has been looked at.
size_t Lexer::WordBytes() const {
  constexpr std::string_view kUnique = "${:uid}";  // a number that LLVM makes different for every asm statement
  size_t end = at_;
  while (end < text_.size()) {
    if (inline_text_ && text_.substr(end, kUnique.size()) == kUnique) {
      end += kUnique.size();
    } else if (end == at_ || IsFollow(text_[end])) {
      ++end;
    } else {
      break;
    }
  }
  return end - at_;
}

Token Lexer::Word() { return Make(Kind::kWord, WordBytes()); }

Token Lexer::Dollar() {
  if (!inline_text_ || Char(1) == '$' || At("${:uid}")) {
    const size_t bytes = WordBytes();
    return Make(bytes > 1 ? Kind::kWord : Kind::kBad, bytes);
  }
  // $0, ${0}, ${0:c}.
  const size_t begin = Char(1) == '{' ? 2 : 1;
  size_t digits = 0;
  while (IsDigit(Char(begin + digits))) ++digits;
  size_t bytes = begin + digits;
  if (begin == 2) {
    while (Char(bytes) == ':' || absl::ascii_isalpha(static_cast<unsigned char>(Char(bytes)))) ++bytes;
    if (Char(bytes) != '}') digits = 0;
    ++bytes;
  }
  Token token = Make(digits > 0 ? Kind::kArgument : Kind::kBad, bytes);
  if (digits > 0) token.text = token.text.substr(begin, digits);
  return token;
}

Token Lexer::Dot() {
  size_t bytes = 1;
  while (IsFollow(Char(bytes)) || (Char(bytes) == ':' && Char(bytes + 1) == ':' && IsFollow(Char(bytes + 2)))) {
    bytes += Char(bytes) == ':' ? 2 : 1;
  }
  Token token = Make(Kind::kDot, bytes);
  token.text.remove_prefix(1);
  return token;
}

Token Lexer::Number() {
  size_t bytes = 1;
  const char second = Char(1);
  const bool prefixed = Char() == '0' && absl::ascii_isalpha(static_cast<unsigned char>(second)) && second != 'e' &&
                        second != 'E' && second != 'U';
  while (IsFollow(Char(bytes))) ++bytes;
  if (!prefixed) {
    if (Char(bytes) == '.') {
      ++bytes;
      while (IsFollow(Char(bytes))) ++bytes;
    }
    const char last = Char(bytes - 1);
    if ((last == 'e' || last == 'E') && (Char(bytes) == '+' || Char(bytes) == '-')) {
      ++bytes;
      while (IsDigit(Char(bytes))) ++bytes;
    }
  }
  return Make(Kind::kNumber, bytes);
}

Token Lexer::String() {
  size_t bytes = 1;
  while (at_ + bytes < text_.size() && Char(bytes) != '"' && Char(bytes) != '\n') {
    bytes += Char(bytes) == '\\' && Char(bytes + 1) != '\n' && at_ + bytes + 1 < text_.size() ? 2 : 1;
  }
  if (Char(bytes) != '"') return Make(Kind::kBad, bytes);
  Token token = Make(Kind::kString, bytes + 1);
  token.text = token.text.substr(1, token.text.size() - 2);
  return token;
}

Token Lexer::Mark() {
  constexpr std::string_view kSingle = "{}()[]<>,;:=+-*/%!~&|^?@";
  for (const std::string_view two : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}) {
    if (At(two)) return Make(Kind::kMark, 2);
  }
  return Make(kSingle.find(Char()) == std::string_view::npos ? Kind::kBad : Kind::kMark, 1);
}

}  // namespace heddle::tracegen::ptx
