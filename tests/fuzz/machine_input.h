// Reads anything as the output of a disassembler; must never crash, hang, take much memory, or say what acts on a
// terminal.
#ifndef HEDDLE_TESTS_FUZZ_MACHINE_INPUT_H_
#define HEDDLE_TESTS_FUZZ_MACHINE_INPUT_H_

#include <string>

namespace heddle::tracegen::machine {

// What begins with '[' is read as JSON, what has a line ".target" as a listing, and everything else as instructions,
// one a line. Each instruction that is read is printed and read again, and has to be the same. Ends the program if a
// rule is broken. Returns whether all of it was right.
bool ReadHostileMachineText(const std::string& input);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TESTS_FUZZ_MACHINE_INPUT_H_
