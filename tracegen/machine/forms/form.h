// The forms of machine instructions: which modifiers and operands an opcode can have, and what it is.
#ifndef HEDDLE_TRACEGEN_MACHINE_FORMS_FORM_H_
#define HEDDLE_TRACEGEN_MACHINE_FORMS_FORM_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "proto/trace.pb.h"

namespace heddle::tracegen::machine {

enum class Meaning : uint8_t {
  kRegisters,  // we know what it reads and writes
  kNamed,      // can be read and printed only: a static program refuses it with its place
};

enum class Latency : uint8_t {
  kFixed,     // later instructions stay behind by the stall counts
  kVariable,  // later instructions wait for a barrier of the control bits
  kEither,    // fixed on some architectures
};

// One row of the table. An opcode has as many rows as it has forms; an instruction has the first row that matches it.
// All strings live as long as the program.
struct Form {
  std::string_view opcode;     // up to the first point: "IADD3"
  std::string_view modifiers;  // pattern, see pattern.h: "WIDE U32? X?"
  std::string_view operands;   // pattern, see pattern.h: "d:2 p? s s s:2 q?"
  trace::v1::OpClass op;
  Latency latency;
  Meaning meaning;
  std::string_view section;  // of the instruction set reference in "CUDA Binary Utilities": "Integer Instructions"
};

// All rows; those of one opcode follow one another.
std::span<const Form> AllForms();
// The rows of one opcode; none if it is not known.
std::span<const Form> FormsOf(std::string_view opcode);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_FORMS_FORM_H_
