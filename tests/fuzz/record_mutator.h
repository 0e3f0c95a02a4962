// Changes records of a trace in ways that reach the inner layers of whoever reads them.
#ifndef HEDDLE_TESTS_FUZZ_RECORD_MUTATOR_H_
#define HEDDLE_TESTS_FUZZ_RECORD_MUTATOR_H_

#include <cstdint>

#include "proto/trace.pb.h"

namespace heddle::trace::testing {

// Changes one to four places anywhere in the records: numbers to other numbers and to limits of their types; elements
// of lists removed, doubled, swapped, added; bytes flipped, inserted, cut off; messages cleared or replaced by others
// of their type. The same for the same seed.
void MutateRecords(v1::TraceFile& file, uint64_t seed);

// Replaces some records of `file` by records of the same kind of `other`.
void CrossRecords(v1::TraceFile& file, const v1::TraceFile& other, uint64_t seed);

// Makes every chunk declare the thread-instructions and accesses that its paths have, as far as they can be walked: a
// wrong sum would hide everything behind it from a test.
void FixTotals(v1::TraceFile& file);

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_FUZZ_RECORD_MUTATOR_H_
