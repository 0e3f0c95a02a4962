// The patterns of the table of forms, taken apart once.
#ifndef HEDDLE_TRACEGEN_PTX_FORMS_PATTERN_H_
#define HEDDLE_TRACEGEN_PTX_FORMS_PATTERN_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tracegen/ptx/forms/form.h"

namespace heddle::tracegen::ptx {

// A pattern of modifiers is a list of places, such as "rnd? ftz? f32|f64". Each takes one modifier out of its choices.
// `?`: or none. `*`: or any number. `$name`: the choices that go by this name (kSets in pattern.cc).
//
// A pattern of operands is a list of places too, such as "d s s:32 q?":
//   d  a register that is written; a vector of as many as .v2, .v4 or .v8 says; or _
//   s  what is read: a register, a number, a special register, the address of a variable or function; a vector as for d
//   D, S  the same, or a vector in braces whose elements together have the width (mov)
//   p  a predicate that is written, or _        P  the same, or a pair p|q
//   q  a predicate that is read, also !p, or a number
//   r  a register that is written, or a pair of it with a predicate: d|p
//   m  an address in brackets
//   i  a number
//   V  registers that are written, in braces, or a single one     v  the same, read
//   w  anything that can be written     a  anything that can be read, addresses and predicates too
//   l  a label     t  a table of targets
// Behind the letter, for d, s, D, S, r, V and v: `:0`, `:1` as wide as the modifiers' first or second type (else the
// last), `:x2` twice the last one, `:32` 32 bits, `:-` of any width; and `>`: or wider.
struct OperandPlace {
  char kind = 0;
  bool optional = false;
  bool repeat = false;
  bool wider = false;
  enum class Width : uint8_t { kLast, kFirst, kSecond, kTwice, kBits, kAny };
  Width width = Width::kLast;
  uint16_t bits = 0;  // Width::kBits
};

// Places of operands of a row of AllForms().
std::span<const OperandPlace> OperandPlaces(const Form& form);

// The modifier as the table has it, which lives as long as the program; empty if no opcode has it.
std::string_view KnownModifier(std::string_view modifier);

// Whether the row has these modifiers, all of which come from KnownModifier. The manual gives an order, which producers
// do not always keep (vote.ballot.sync, atom.add.release.gpu): `any_order` holds types alone to it.
bool MatchesModifiers(const Form& form, std::span<const std::string_view> modifiers, bool any_order);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_FORMS_PATTERN_H_
