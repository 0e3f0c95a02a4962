// The patterns of the table of forms, taken apart once.
#ifndef HEDDLE_TRACEGEN_MACHINE_FORMS_PATTERN_H_
#define HEDDLE_TRACEGEN_MACHINE_FORMS_PATTERN_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/machine/forms/form.h"

namespace heddle::tracegen::machine {

// A pattern of modifiers is a list of places, such as "F32|F64? TRUNC?". Each takes one modifier out of its choices, in
// the order of the text. `?`: or none. `$name`: the choices that go by this name (kSets in pattern.cc).
//
// A pattern of operands is a list of places too, such as "d:2 p? s s s:2 q?":
//   d  a register that is written, general or uniform
//   s  what is read: a register, a place in a constant bank, a number, an address of code
//   p  a predicate that is written       q  a predicate that is read, or the sign of a register (R0.SIGN)
//   m  an address in brackets            c  a place in a constant bank
//   S  a special register
//   A  all predicates, of which a mask says which are written     a  of which it says which are read
//   B  a convergence barrier that is written, b  one that is read
//   l  a place in the code               i  a number
//   w  a word of the opcode              k  a scoreboard
//   x  any operands to the end: of forms that are Meaning::kNamed
// `?` behind it: may be left out. `:2`: as many registers as that, `:m`: as the modifiers say (64: 2, 128: 4, else 1).
struct OperandPlace {
  char kind = 0;
  bool optional = false;
  bool by_modifiers = false;
  uint8_t count = 1;
};

// Places of operands of a row of AllForms().
std::span<const OperandPlace> OperandPlaces(const Form& form);

// Whether the row has these modifiers.
bool MatchesModifiers(const Form& form, std::span<const std::string> modifiers);

// 32-bit registers of one element of an access with these modifiers: 4 with "128", 2 with "64", "U64", "S64" or "F64",
// else 1.
uint8_t RegistersOf(std::span<const std::string> modifiers);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_FORMS_PATTERN_H_
