// Reads anything as a trace and goes through all of it; must never crash, hang or take much memory.
#ifndef HEDDLE_TESTS_FUZZ_TRACE_INPUT_H_
#define HEDDLE_TESTS_FUZZ_TRACE_INPUT_H_

#include <string>

namespace heddle::trace::testing {

// How far an input got.
enum class Depth {
  kNothing,   // it is not even records
  kOpened,    // header, index, programs and launches are right
  kDecoded,   // and at least one chunk
  kVerified,  // and everything that is checked
};

// The first byte says how to take the rest:
//   'F'  the bytes of a file, which is also given to recovery
//   'R'  a serialized TraceFile, whose records are framed, indexed and given right digests and sums, so that checksums
//        do not keep inputs from the inner layers
//   'X'  a serialized TraceFile with its index: framed as it is, but for the digest, so that index, frames and seek
//        table may disagree
// Everything else is taken as 'R'. Of a trace of more than half a million thread-instructions and accesses, chunks are
// only decoded.
Depth ReadHostileInput(const std::string& input);

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_FUZZ_TRACE_INPUT_H_
