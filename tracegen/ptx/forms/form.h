// The forms of PTX instructions: which modifiers, types and operands an opcode can have, and what it is.
#ifndef HEDDLE_TRACEGEN_PTX_FORMS_FORM_H_
#define HEDDLE_TRACEGEN_PTX_FORMS_FORM_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "proto/trace.pb.h"

namespace heddle::tracegen::ptx {

enum class Meaning : uint8_t {
  kKnown,   // can be lowered and executed
  kParsed,  // can be read and printed, but has no meaning yet: a lowering refuses it with its line
};

// One row of the table. An opcode has as many rows as its manual page has forms; an instruction has the first row that
// matches it. All strings live as long as the program.
struct Form {
  std::string_view opcode;     // up to the first point: "add", "cp"
  std::string_view modifiers;  // pattern, see forms.cc: "rnd? ftz? sat? f32"
  std::string_view operands;   // pattern, see forms.cc: "d a b"
  trace::v1::OpClass op;
  Meaning meaning;
  std::string_view section;  // of the PTX ISA manual: "Integer Arithmetic Instructions"
};

// All rows; those of one opcode follow one another.
std::span<const Form> AllForms();
// The rows of one opcode; none if it is not known.
std::span<const Form> FormsOf(std::string_view opcode);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_FORMS_FORM_H_
