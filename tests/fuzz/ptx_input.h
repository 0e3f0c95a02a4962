// Reads anything as PTX; must never crash, hang, take much memory, or say what acts on a terminal.
#ifndef HEDDLE_TESTS_FUZZ_PTX_INPUT_H_
#define HEDDLE_TESTS_FUZZ_PTX_INPUT_H_

#include <string>

namespace heddle::tracegen::ptx {

// The first byte 'I' means the text of an asm statement, everything else a module. What is read is printed and read
// again, and has to be the same. Ends the program if a rule is broken. Returns whether the text was right.
bool ReadHostilePtx(const std::string& input);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TESTS_FUZZ_PTX_INPUT_H_
