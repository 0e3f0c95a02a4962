#include "tracegen/ptx/syntax/constant.h"

#include <bit>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "tracegen/ptx/syntax/cursor.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

using Kind = Constant::Kind;

Constant Integer(uint64_t bits, bool is_unsigned) { return {Kind::kInteger, is_unsigned, false, bits}; }
Constant Float(double value) { return {Kind::kFloat64, false, false, std::bit_cast<uint64_t>(value)}; }

double AsDouble(const Constant& value) {
  if (value.kind == Kind::kFloat64) return std::bit_cast<double>(value.bits);
  if (value.kind == Kind::kFloat32) return std::bit_cast<float>(static_cast<uint32_t>(value.bits));
  return value.is_unsigned ? static_cast<double>(value.bits) : static_cast<double>(static_cast<int64_t>(value.bits));
}

bool IsTrue(const Constant& value) { return value.kind == Kind::kInteger ? value.bits != 0 : AsDouble(value) != 0; }

bool HexDigits(absl::string_view text, size_t count, uint64_t* bits) {
  return text.size() == count && absl::SimpleHexAtoi(text, bits) && absl::ascii_isxdigit(text[0]);
}

// How strongly a binary operator binds; 0 if it is none. The conditional binds least of all.
int Strength(const Token& token) {
  if (token.kind != Token::Kind::kMark) return 0;
  static constexpr std::pair<std::string_view, int> kOperators[] = {
      {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {"<=", 7},
      {">", 7},  {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
  };
  for (const auto& [text, strength] : kOperators) {
    if (token.text == text) return strength;
  }
  return 0;
}

class Expression {
 public:
  explicit Expression(Cursor& cursor) : cursor_(cursor) {}

  absl::StatusOr<Constant> Conditional() {
    HEDDLE_RETURN_IF_ERROR(Check());
    const Nesting nesting(&depth_);
    HEDDLE_ASSIGN_OR_RETURN(Constant condition, Binary(1));
    if (!cursor_.Accept("?")) return condition;
    HEDDLE_ASSIGN_OR_RETURN(const Constant yes, Conditional());
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect(":"));
    HEDDLE_ASSIGN_OR_RETURN(const Constant no, Conditional());
    return IsTrue(condition) ? yes : no;
  }

  absl::StatusOr<Constant> Binary(int least) {
    HEDDLE_ASSIGN_OR_RETURN(Constant left, Unary());
    while (true) {
      const int strength = Strength(cursor_.Peek());
      if (strength == 0 || strength < least) return left;
      const Token op = cursor_.Next();
      HEDDLE_ASSIGN_OR_RETURN(const Constant right, Binary(strength + 1));
      HEDDLE_ASSIGN_OR_RETURN(left, Apply(op, left, right));
    }
  }

 private:
  // Errors: nested too deeply.
  absl::Status Check() const {
    if (depth_ < cursor_.limits().nesting) return absl::OkStatus();
    return cursor_.Error("an expression that nests too deeply");
  }

  absl::StatusOr<Constant> Unary() {
    HEDDLE_RETURN_IF_ERROR(Check());
    const Nesting nesting(&depth_);
    if (cursor_.Accept("+")) return Unary();
    if (cursor_.Accept("-")) {
      HEDDLE_ASSIGN_OR_RETURN(Constant value, Unary());
      if (value.kind == Kind::kInteger) return Integer(~value.bits + 1, value.is_unsigned);
      value.bits ^= uint64_t{1} << (value.kind == Kind::kFloat32 ? 31 : 63);
      return value;
    }
    if (cursor_.Accept("~")) {
      HEDDLE_ASSIGN_OR_RETURN(const Constant value, Unary());
      if (value.kind != Kind::kInteger) return cursor_.Error("'~' of a number that is no integer");
      return Integer(~value.bits, value.is_unsigned);
    }
    if (cursor_.Accept("!")) {
      HEDDLE_ASSIGN_OR_RETURN(const Constant value, Unary());
      return Integer(IsTrue(value) ? 0 : 1, false);
    }
    if (cursor_.Peek().Is("(")) return Parenthesised();
    return Literal();
  }

  absl::StatusOr<Constant> Parenthesised() {
    cursor_.Next();
    // (.s64) and (.u64) are casts.
    if (cursor_.Peek().IsDot("s64") || cursor_.Peek().IsDot("u64")) {
      const bool is_unsigned = cursor_.Next().text == "u64";
      HEDDLE_RETURN_IF_ERROR(cursor_.Expect(")"));
      HEDDLE_ASSIGN_OR_RETURN(const Constant value, Unary());
      return value.kind == Kind::kInteger ? Integer(value.bits, is_unsigned) : Truncated(value, is_unsigned);
    }
    HEDDLE_ASSIGN_OR_RETURN(Constant value, Conditional());
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect(")"));
    value.is_warp_size = false;
    return value;
  }

  static Constant Truncated(const Constant& value, bool is_unsigned) {
    const double number = AsDouble(value);
    // Beyond the range the nearest number; not a number gives zero.
    if (!(number > -0x1p63)) return Integer(is_unsigned || number != number ? 0 : uint64_t{1} << 63, is_unsigned);
    if (is_unsigned)
      return Integer(number >= 0x1p64 ? ~uint64_t{0} : number < 0 ? 0 : static_cast<uint64_t>(number), true);
    return Integer(number >= 0x1p63 ? ~uint64_t{0} >> 1 : static_cast<uint64_t>(static_cast<int64_t>(number)), false);
  }

  absl::StatusOr<Constant> Literal() {
    const Token& token = cursor_.Peek();
    if (token.IsWord("WARP_SZ")) {
      cursor_.Next();
      return Constant{Kind::kInteger, false, true, 32};
    }
    if (token.kind != Token::Kind::kNumber) return cursor_.Error("a number was expected");
    const absl::string_view text(token.text.data(), token.text.size());
    Constant value;
    if (absl::StartsWithIgnoreCase(text, "0f") || absl::StartsWithIgnoreCase(text, "0d")) {
      value.kind = text[1] == 'f' || text[1] == 'F' ? Kind::kFloat32 : Kind::kFloat64;
      if (!HexDigits(text.substr(2), value.kind == Kind::kFloat32 ? 8 : 16, &value.bits)) {
        return cursor_.Error("a number with a wrong count of digits");
      }
    } else if (ParseInteger(token.text, &value.bits)) {
      value.is_unsigned = text.back() == 'U' || value.bits >> 63 != 0;
    } else {
      double number = 0;
      const bool is_float =
          text.find_first_of(".eE") != absl::string_view::npos && !absl::StartsWithIgnoreCase(text, "0x");
      if (!is_float || !absl::SimpleAtod(text, &number)) return cursor_.Error("no number of PTX");
      value = Float(number);
    }
    cursor_.Next();
    return value;
  }

  absl::StatusOr<Constant> Apply(const Token& op, const Constant& left, const Constant& right) const {
    const std::string_view text = op.text;
    if (text == "&&") return Integer(IsTrue(left) && IsTrue(right), false);
    if (text == "||") return Integer(IsTrue(left) || IsTrue(right), false);
    if (left.kind == Kind::kInteger && right.kind == Kind::kInteger) return Integers(op, left, right);
    const double a = AsDouble(left), b = AsDouble(right);
    if (text == "+") return Float(a + b);
    if (text == "-") return Float(a - b);
    if (text == "*") return Float(a * b);
    if (text == "/" && b != 0) return Float(a / b);
    if (text == "<") return Integer(a < b, false);
    if (text == "<=") return Integer(a <= b, false);
    if (text == ">") return Integer(a > b, false);
    if (text == ">=") return Integer(a >= b, false);
    if (text == "==") return Integer(a == b, false);
    if (text == "!=") return Integer(a != b, false);
    return SyntaxError(op.line, "an operator that these numbers do not have", text);
  }

  static absl::StatusOr<Constant> Integers(const Token& op, const Constant& left, const Constant& right) {
    const std::string_view text = op.text;
    const bool u = left.is_unsigned || right.is_unsigned;
    const uint64_t a = left.bits, b = right.bits;
    const int64_t sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
    if (text == "+") return Integer(a + b, u);
    if (text == "-") return Integer(a - b, u);
    if (text == "*") return Integer(a * b, u);
    if (text == "/" || text == "%") {
      if (b == 0) return SyntaxError(op.line, "a division by zero");
      const bool divides = text == "/";
      if (u) return Integer(divides ? a / b : a % b, true);
      // The only quotient that does not fit.
      if (sb == -1) return Integer(divides ? ~a + 1 : 0, false);
      return Integer(static_cast<uint64_t>(divides ? sa / sb : sa % sb), false);
    }
    if (text == "&") return Integer(a & b, u);
    if (text == "|") return Integer(a | b, u);
    if (text == "^") return Integer(a ^ b, u);
    if (text == "<<") return Integer(b > 63 ? 0 : a << b, left.is_unsigned);
    if (text == ">>") {
      if (left.is_unsigned) return Integer(b > 63 ? 0 : a >> b, true);
      return Integer(static_cast<uint64_t>(sa >> (b > 63 ? 63 : b)), false);
    }
    if (text == "==") return Integer(a == b, false);
    if (text == "!=") return Integer(a != b, false);
    if (text == "<") return Integer(u ? a < b : sa < sb, false);
    if (text == "<=") return Integer(u ? a <= b : sa <= sb, false);
    if (text == ">") return Integer(u ? a > b : sa > sb, false);
    return Integer(u ? a >= b : sa >= sb, false);
  }

  Cursor& cursor_;
  uint32_t depth_ = 0;
};

}  // namespace

bool ParseInteger(std::string_view whole, uint64_t* value) {
  absl::string_view text(whole.data(), whole.size());
  absl::ConsumeSuffix(&text, "U");
  if (text.empty()) return false;
  if (absl::ConsumePrefix(&text, "0x") || absl::ConsumePrefix(&text, "0X")) {
    return !text.empty() && text.size() <= 16 && absl::ascii_isxdigit(text[0]) && absl::SimpleHexAtoi(text, value);
  }
  uint64_t base = 10;
  if (absl::ConsumePrefix(&text, "0b") || absl::ConsumePrefix(&text, "0B")) {
    base = 2;
  } else if (text[0] == '0') {
    base = 8;
  }
  if (text.empty()) return false;
  *value = 0;
  for (const char c : text) {
    if (c < '0' || static_cast<uint64_t>(c - '0') >= base) return false;
    const uint64_t digit = static_cast<uint64_t>(c - '0');
    if (*value > (std::numeric_limits<uint64_t>::max() - digit) / base) return false;
    *value = *value * base + digit;
  }
  return true;
}

bool BeginsConstant(const Cursor& cursor) {
  const Token& token = cursor.Peek();
  if (token.kind == Token::Kind::kNumber || token.IsWord("WARP_SZ")) return true;
  if (token.Is("(") || token.Is("~") || token.Is("+")) return true;
  // -x and !x may be about a register.
  if (!token.Is("-") && !token.Is("!")) return false;
  const Token& next = cursor.Peek(1);
  return next.kind == Token::Kind::kNumber || next.kind == Token::Kind::kMark || next.IsWord("WARP_SZ");
}

absl::StatusOr<Constant> ParseConstant(Cursor& cursor) { return Expression(cursor).Conditional(); }

absl::StatusOr<Constant> ParseConstantTerm(Cursor& cursor) { return Expression(cursor).Binary(10); }

uint64_t ToFloat64(const Constant& constant) { return std::bit_cast<uint64_t>(AsDouble(constant)); }
uint64_t ToFloat32(const Constant& constant) {
  if (constant.kind == Kind::kFloat32) return constant.bits;
  return std::bit_cast<uint32_t>(static_cast<float>(AsDouble(constant)));
}

}  // namespace heddle::tracegen::ptx
