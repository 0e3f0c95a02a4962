// Cuts PTX text into tokens.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_LEXER_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_LEXER_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::tracegen::ptx {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kWord,      // an identifier or opcode: "%r1", "$L__BB0_1", "add", "_"
    kDot,       // a directive, modifier or selector, without its point: "global", "L1::evict_last"
    kNumber,    // as written: "12", "0x7fU", "0f3F800000", "1.5e-3"
    kString,    // without its quotes, escapes as written
    kMark,      // an operator or bracket of one or two characters
    kArgument,  // $0 of inline PTX: "0"
    kBad,       // what no PTX has; `text` is empty where the text ends too early
  };
  Kind kind = Kind::kEnd;
  uint32_t line = 0;
  std::string_view text;
  const char* begin = nullptr;  // in the whole text

  bool Is(std::string_view mark) const { return kind == Kind::kMark && text == mark; }
  bool IsDot(std::string_view name) const { return kind == Kind::kDot && text == name; }
  bool IsWord(std::string_view word) const { return kind == Kind::kWord && text == word; }
};

// A comment between tokens, without its marks and outer blanks.
struct CommentText {
  uint32_t line = 0;
  std::string_view text;
};

// Views lead into `text`, which has to outlive the lexer and its tokens.
class Lexer {
 public:
  // `inline_text`: of an asm statement of LLVM, where $0 is an argument and $$ a dollar.
  Lexer(std::string_view text, bool keep_comments, bool inline_text);

  Token Next();
  std::vector<CommentText>& comments() { return comments_; }  // since the last time that somebody cleared them

 private:
  void SkipBlanks();
  void SkipBlockComment();
  bool At(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  char Char(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Token Make(Token::Kind kind, size_t bytes);
  Token Word();
  Token Dot();
  Token Number();
  Token String();
  Token Dollar();
  Token Mark();
  size_t WordBytes() const;
  void AddComment(uint32_t line, std::string_view text);

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  bool keep_comments_;
  bool inline_text_;
  bool bad_comment_ = false;  // one without an end
  Token::Kind last_ = Token::Kind::kEnd;
  std::vector<CommentText> comments_;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_LEXER_H_
