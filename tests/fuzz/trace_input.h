// Reads anything as a trace and goes through all of it; must never crash, hang or take much memory.
#ifndef HEDDLE_TESTS_FUZZ_TRACE_INPUT_H_
#define HEDDLE_TESTS_FUZZ_TRACE_INPUT_H_

#include <string>

namespace heddle::trace::testing {

// The first byte says how to take the rest: 'F' = the bytes of a file; 'R' = a serialized TraceFile, whose records are
// framed, indexed and given right digests and sums, so that checksums do not keep inputs from the inner layers.
// Everything else is taken as 'R'.
void ReadHostileInput(const std::string& input);

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_FUZZ_TRACE_INPUT_H_
