// Programs with instructions that are collective or asynchronous, for tests of everything that reads traces.
#ifndef HEDDLE_TESTS_TRACES_COLLECTIVE_PROGRAMS_H_
#define HEDDLE_TESTS_TRACES_COLLECTIVE_PROGRAMS_H_

#include <cstdint>

#include "proto/trace.pb.h"

namespace heddle::trace::testing {

// Makes an instruction of a program another one; its registers stay.

// Copies so many bytes from global to shared memory, both addresses recorded.
void MakeCopy(v1::Instruction& instruction, uint32_t bytes = 16);
// COMMIT, WAIT_ALL, or WAIT_GROUP.
void MakeGroup(v1::Instruction& instruction, v1::Async::Role role, uint32_t most_pending = 0);
// A transaction barrier at a recorded address; with a count or a number of bytes in the text, where its role has one.
void MakeTransactionBarrier(v1::Instruction& instruction, v1::Async::Role role, uint64_t number = 1);
// A barrier whose number is recorded, and whose count is if it is 0.
void MakeNamedBarrier(v1::Instruction& instruction, v1::BarrierRole role, uint32_t threads);
// mma.sync.m16n8k16 of half precision.
void MakeProduct(v1::Instruction& instruction);
// ldmatrix or stmatrix of so many tiles of 8 by 8 elements of 16 bits: LOAD or STORE.
void MakeTiles(v1::Instruction& instruction, v1::Matrix::Role role, uint32_t tiles);
// wmma.load or wmma.store of 16 by 16 elements in global memory: of half precision, or the sums in single precision.
void MakeFragment(v1::Instruction& instruction, v1::Matrix::Role role);

// Copies, groups, barriers and products in the place of most loads, stores and other instructions of the program. The
// result is right, whatever its threads do; it says nothing about whether they would ever come to an end on a device.
v1::KernelProgram WithCollectives(v1::KernelProgram program);

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_TRACES_COLLECTIVE_PROGRAMS_H_
