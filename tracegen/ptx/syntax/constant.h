// Numbers of PTX and constant expressions of them (PTX ISA: Constants, Constant Expressions).
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_CONSTANT_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_CONSTANT_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace heddle::tracegen::ptx {

class Cursor;

struct Constant {
  enum class Kind : uint8_t { kInteger, kFloat32, kFloat64 };
  Kind kind = Kind::kInteger;
  bool is_unsigned = false;   // kInteger: .u64 instead of .s64
  bool is_warp_size = false;  // WARP_SZ alone
  uint64_t bits = 0;
};

// Decimal, 0x, 0b or octal, with or without U. False if it is none, or has more than 64 bits.
bool ParseInteger(std::string_view text, uint64_t* value);

// Whether an expression can begin with the next token.
bool BeginsConstant(const Cursor& cursor);

// A whole expression, and one up to the next + or -, which the caller takes.
absl::StatusOr<Constant> ParseConstant(Cursor& cursor);
absl::StatusOr<Constant> ParseConstantTerm(Cursor& cursor);

// The value as bits of double precision.
uint64_t ToFloat64(const Constant& constant);
uint64_t ToFloat32(const Constant& constant);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_CONSTANT_H_
