// Where a parser stands in the text: the tokens that come, errors with their place, and what it may still use up.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_CURSOR_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_CURSOR_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/ptx/syntax/lexer.h"
#include "tracegen/ptx/syntax/parse.h"

namespace heddle::tracegen::ptx {

// `line` and `what` in one message, with the text at fault if there is one: cut and printable.
absl::Status SyntaxError(uint32_t line, std::string_view what, std::string_view text = {});

class Cursor {
 public:
  Cursor(std::string_view text, const ParseOptions& options, bool inline_text);

  const Token& Peek(size_t ahead = 0) const { return ahead_[ahead]; }  // 0 to 2
  Token Next();
  uint32_t line() const { return ahead_[0].line; }

  // Takes the token if it is this mark, directive or word.
  bool Accept(std::string_view mark);
  bool AcceptDot(std::string_view name);
  absl::Status Expect(std::string_view mark);
  absl::StatusOr<std::string_view> ExpectWord(std::string_view what);
  absl::StatusOr<uint64_t> ExpectInteger(std::string_view what);

  // About the next token.
  absl::Status Error(std::string_view what) const;
  // The text from `begin`, which a token had, up to the next token.
  std::string_view TextFrom(const char* begin) const;

  // Each node of the tree is counted before it is made. Errors: more than the limits let pass.
  absl::Status Count(uint64_t nodes = 1);
  const ParseLimits& limits() const { return options_.limits; }
  bool is_inline() const { return is_inline_; }

  // Comments in front of the next token that nobody has taken yet.
  std::vector<CommentText> TakeComments();

 private:
  ParseOptions options_;
  Lexer lexer_;
  bool is_inline_;
  std::array<Token, 3> ahead_;
  const char* last_end_ = nullptr;  // of the last token that was taken
  uint64_t nodes_ = 0;
};

// One level deeper, as long as it lives.
class Nesting {
 public:
  explicit Nesting(uint32_t* depth) : depth_(depth) { ++*depth_; }
  ~Nesting() { --*depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  uint32_t* depth_;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_CURSOR_H_
