// What two runs of the same threads did differently, instruction by instruction.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_PATH_DIFFERENCE_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_PATH_DIFFERENCE_H_

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "traces/format/program/program.h"

namespace heddle::tracegen {

// Executions of one instruction that changed (InstructionVariance in trace.proto).
struct ChangeCount {
  uint64_t decisions = 0;
  uint64_t addresses = 0;
  uint64_t threads = 0;
};

// Compares threads of a program.
class PathDifference {
 public:
  // The program must outlive the object.
  explicit PathDifference(const trace::Program& program) : program_(program) {}

  // Adds what a thread did differently in two runs that both reached its exit.
  void Compare(std::span<const uint8_t> decisions, std::span<const uint64_t> addresses,
               std::span<const uint8_t> other_decisions, std::span<const uint64_t> other_addresses);

  // By instruction; those without a change are not there.
  const std::map<trace::Pc, ChangeCount>& changes() const { return changes_; }

  // Adds a thread's executions of each instruction to counts[pc], which has an element per instruction.
  void CountExecutions(std::span<const uint8_t> decisions, std::vector<uint64_t>& counts) const;

 private:
  // An instruction and what it decided, or the address that it accessed; in program order per instruction.
  using Events = std::vector<std::pair<trace::Pc, uint64_t>>;
  void Follow(std::span<const uint8_t> decisions, std::span<const uint64_t> addresses, Events& decided,
              Events& accessed) const;
  void AddChanges(const Events& events, const Events& others, uint64_t ChangeCount::* count);

  const trace::Program& program_;
  std::map<trace::Pc, ChangeCount> changes_;
  std::vector<trace::Pc> changed_;  // by the thread that is compared
  Events decided_[2];
  Events accessed_[2];
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_PATH_DIFFERENCE_H_
