// What a trace says of PTX instructions that make threads wait, or that go on while the thread does (PTX ISA 9.7.9.25,
// 9.7.13).
#ifndef HEDDLE_TRACEGEN_PTX_COLLECTIVE_WAITS_H_
#define HEDDLE_TRACEGEN_PTX_COLLECTIVE_WAITS_H_

#include <memory>
#include <span>
#include <string_view>

#include "proto/trace.pb.h"
#include "tracegen/ptx/collective.h"

namespace heddle::tracegen {

// DescribeCollective of barriers, asynchronous copies and transaction barriers. Null for other instructions, for
// barriers of the whole block or with constant numbers at which all wait, and for forms that a trace does not have:
// copies of other sizes, waits for all but more than 8 groups. Operands:
// * barriers of the block: BARRIER and COUNT, each only if it is in a register;
// * copies: ADDRESS of the source (0 where nothing is read), ADDRESS of the destination, and BYTES if fewer than the
//   whole may be read;
// * transaction barriers: ADDRESS of the barrier; then COUNT or BYTES where the instruction has them. What waits has a
//   COUNT: the phases of the barrier, since it was made, that must be over before the thread goes on; 0 of a test that
//   has failed.
std::shared_ptr<trace::v1::Instruction> DescribeWaiting(std::string_view mnemonic,
                                                        std::span<const WrittenOperand> operands);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_COLLECTIVE_WAITS_H_
