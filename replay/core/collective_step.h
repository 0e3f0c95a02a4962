// What the core knows of an instruction with operands that threads recorded, or of an asynchronous one.
#ifndef HEDDLE_REPLAY_CORE_COLLECTIVE_STEP_H_
#define HEDDLE_REPLAY_CORE_COLLECTIVE_STEP_H_

#include <array>
#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"
#include "replay/seams/types.h"
#include "traces/format/program/operands.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

class ThreadCursors;

struct CollectiveStep {
  struct Operand {
    trace::v1::Operand::Kind kind = trace::v1::Operand::KIND_UNSPECIFIED;
    bool constant = false;
    uint64_t value = 0;  // constant
    Pc slot = 0;         // else: where the base of its column is
  };

  CollectiveStep(const trace::Program& program, Pc pc);

  // Number of the first operand of this kind; -1 if there is none.
  int Find(trace::v1::Operand::Kind kind) const;
  // Whether a slot at the instruction may have to wait.
  bool waits() const {
    return role == trace::v1::Async::WAIT_GROUP || role == trace::v1::Async::WAIT_ALL ||
           role == trace::v1::Async::BARRIER_WAIT;
  }

  std::vector<Operand> operands;
  std::vector<Pc> uniform_slots;  // of what threads recorded of uniform registers, the last of the operands
  trace::v1::Async::Role role = trace::v1::Async::ROLE_UNSPECIFIED;
  uint32_t most_pending = 0;
  uint32_t bytes = 0;           // COPY: of the destination
  bool adds_arrival = false;    // BARRIER_COPIES: one arrival more is expected in this phase
  bool drops_arrivals = false;  // BARRIER_ARRIVE: in later phases fewer are expected
};

// Values of an instruction's operands by operand, then by lane.
using OperandValues = std::array<std::array<uint64_t, kMaxLanes>, trace::kMaxOperands>;

// Reads the operands of the lanes' threads, and moves the threads beyond what they recorded there.
void TakeOperands(const CollectiveStep& step, const Lanes& lanes, ThreadCursors& cursors, OperandValues& out);

// How many different values the uniform registers that the instruction reads have over the lanes' threads, where those
// of one thread count as one value; at least 1. Moves the threads, which are behind the operands in front, beyond them.
uint32_t TakeUniformValues(const CollectiveStep& step, const Lanes& lanes, ThreadCursors& cursors);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_COLLECTIVE_STEP_H_
