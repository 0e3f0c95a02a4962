// The registers that a machine instruction reads and writes.
#ifndef HEDDLE_TRACEGEN_MACHINE_FLOW_ACCESSES_H_
#define HEDDLE_TRACEGEN_MACHINE_FLOW_ACCESSES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/machine/text/instruction.h"

namespace heddle::tracegen::machine {

// Constant registers (RZ, PT, URZ, UPT) are left out. A wide operand counts with each of its registers.
struct Accesses {
  std::vector<Register> written;
  std::vector<Register> read;  // the guard is the first one, if there is one
};

// Errors: an instruction whose form is Meaning::kNamed.
absl::StatusOr<Accesses> AccessesOf(const Instruction& instruction);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_FLOW_ACCESSES_H_
