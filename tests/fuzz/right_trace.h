// A right trace, and the ways to make hostile ones of it.
#ifndef HEDDLE_TESTS_FUZZ_RIGHT_TRACE_H_
#define HEDDLE_TESTS_FUZZ_RIGHT_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/trace.pb.h"

namespace heddle::trace::testing {

v1::Record Wrap(v1::KernelProgram program);
v1::Record Wrap(v1::Launch launch);

// Records of a right trace: header, program, launch, chunk, end. The program is a loop with two loads; there are two
// blocks of 32 threads, of which thread t takes the loop t times.
std::vector<v1::Record> Right();

// The file of `records` and of an index that fits them.
std::string Assemble(std::vector<v1::Record> records);

// As many instructions as a program may have, without a branch.
v1::KernelProgram LargestProgram();

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_FUZZ_RIGHT_TRACE_H_
