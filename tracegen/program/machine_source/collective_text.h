// Matrix instructions and asynchronous copies of machine code, as the PTX instructions that they carry out. Which one
// each is comes from what the assembler makes of every form of PTX.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_COLLECTIVE_TEXT_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_COLLECTIVE_TEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/trace.pb.h"
#include "tracegen/machine/flow/program.h"
#include "tracegen/machine/text/instruction.h"
#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {

// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" of HMMA.16816.F32; "ldmatrix..." of LDSM. Empty for instructions
// that are none of matrices.
std::string PtxOfMatrix(const machine::Instruction& instruction);
// What it does; nothing for instructions that are none of matrices.
std::optional<MatrixOperation> MatrixOperationOf(const machine::Instruction& instruction);

// Registers of 32 bits that a product takes of each thread, by operand.
struct MatrixWords {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
};
MatrixWords WordsOf(const MatrixOperation& operation);

// LDGSTS, LDGDEPBAR and DEPBAR.
bool IsMachineCopy(const machine::Instruction& instruction);
// The two addresses of LDGSTS.
struct CopyAddresses {
  const machine::Address* to = nullptr;
  const machine::Address* from = nullptr;
};
CopyAddresses AddressesOf(const machine::Instruction& copy);
// Bytes that LDGSTS writes.
uint32_t CopyBytes(const machine::Instruction& copy);
// Whether how many bytes LDGSTS reads depends on a register: by a predicate, or by the lowest bits of the address.
bool ReadsSomeBytes(const machine::Instruction& copy);
// LDGSTS with a predicate that never holds: zeros are written.
bool ReadsNothing(const machine::Instruction& copy);
// Groups that may be pending behind a DEPBAR of class OP_ASYNC.
uint32_t PendingGroups(const machine::Instruction& wait);

// SYNCS and ARRIVES.
bool IsMachineTransaction(const machine::Instruction& instruction);
// What it does to a transaction barrier, as PTX: "mbarrier.arrive.shared.b64". Empty for other
// instructions, and for what has no meaning.
std::string PtxOfTransaction(const machine::Instruction& instruction);

// What a trace has of the instruction beside its registers; null if that is nothing. Of products, the counts of
// registers are those of ProductSources.
std::shared_ptr<const trace::v1::Instruction> DescribeMachineCollective(const machine::ProgramInstruction& instruction);
// Of a product: general registers that it reads, of A, B and C one after the other. RZ is left out.
std::vector<machine::Register> ProductSources(const machine::Instruction& product);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_COLLECTIVE_TEXT_H_
