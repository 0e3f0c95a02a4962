#include "traces/format/program/convergence.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::trace {
namespace {

using Barriers = uint16_t;  // bit by barrier
static_assert(sizeof(Barriers) * 8 == kConvergenceBarriers);

// Which barriers may have got a value in front of each basic block.
class BarrierFlow {
 public:
  explicit BarrierFlow(const v1::KernelProgram& program)
      : program_(program),
        blocks_(static_cast<size_t>(program.block_size())),
        function_of_(blocks_),
        given_(blocks_, 0),
        before_(blocks_, 0),
        at_end_(static_cast<size_t>(program.function_size()), 0),
        behind_calls_(at_end_.size()) {
    for (int f = 0; f < program.function_size(); ++f) {
      const v1::Function& function = program.function(f);
      for (uint32_t b = function.first_block(); b < function.first_block() + function.block_count(); ++b) {
        function_of_[b] = static_cast<uint32_t>(f);
        for (const v1::Instruction& instruction : InstructionsOf(b)) given_[b] |= GivenBy(function, instruction);
        for (const uint32_t callee : program.block(static_cast<int>(b)).callee()) {
          behind_calls_[callee].push_back(program.block(static_cast<int>(b)).successor(0));
        }
      }
    }
    for (uint32_t b = 0; b < blocks_; ++b) work_.push_back(b);
    while (!work_.empty()) {
      const uint32_t b = work_.back();
      work_.pop_back();
      Leave(b);
    }
  }

  std::optional<uint32_t> LoneSync() const {
    for (uint32_t b = 0; b < blocks_; ++b) {
      const v1::Function& function = program_.function(static_cast<int>(function_of_[b]));
      Barriers given = before_[b];
      uint32_t pc = program_.block(static_cast<int>(b)).first_instruction();
      for (const v1::Instruction& instruction : InstructionsOf(b)) {
        const v1::Convergence& what = instruction.convergence();
        if (what.role() == v1::Convergence::SYNC && (given >> what.barrier() & 1) == 0) return pc;
        given |= GivenBy(function, instruction);
        ++pc;
      }
    }
    return std::nullopt;
  }

 private:
  struct Instructions {
    const v1::KernelProgram& program;
    const v1::BasicBlock& block;
    using Iterator = google::protobuf::RepeatedPtrField<v1::Instruction>::const_iterator;
    Iterator begin() const { return program.instruction().begin() + static_cast<int>(block.first_instruction()); }
    Iterator end() const { return begin() + static_cast<int>(block.instruction_count()); }
  };
  Instructions InstructionsOf(uint32_t block) const { return {program_, program_.block(static_cast<int>(block))}; }

  static Barriers GivenBy(const v1::Function& function, const v1::Instruction& instruction) {
    const v1::Convergence& what = instruction.convergence();
    Barriers given = what.role() == v1::Convergence::SET ? static_cast<Barriers>(1u << what.barrier()) : Barriers{0};
    if (function.register_file().empty()) return given;
    for (const uint32_t number : instruction.dst()) {
      if (function.register_file()[number - 1] != v1::FILE_CONVERGENCE) continue;
      given |= static_cast<Barriers>(1u << function.register_number()[number - 1]);
    }
    return given;
  }

  void Enter(uint32_t block, Barriers given) {
    if ((given & ~before_[block]) == 0) return;
    before_[block] |= given;
    work_.push_back(block);
  }

  void Leave(uint32_t b) {
    const v1::BasicBlock& block = program_.block(static_cast<int>(b));
    const auto given = static_cast<Barriers>(before_[b] | given_[b]);
    if (given == 0) return;
    for (const uint32_t next : block.successor()) Enter(next, given);
    for (const uint32_t callee : block.callee()) {
      Enter(program_.function(static_cast<int>(callee)).first_block(), given);
    }
    if (block.terminator() != v1::RETURN) return;
    // All returns of a function are one place, so that callers count once.
    const uint32_t function = function_of_[b];
    if ((given & ~at_end_[function]) == 0) return;
    at_end_[function] |= given;
    for (const uint32_t next : behind_calls_[function]) Enter(next, at_end_[function]);
  }

  const v1::KernelProgram& program_;
  const size_t blocks_;
  std::vector<uint32_t> function_of_;
  std::vector<Barriers> given_;                      // by the block's own instructions
  std::vector<Barriers> before_;                     // in front of the block
  std::vector<Barriers> at_end_;                     // by function: at its returns
  std::vector<std::vector<uint32_t>> behind_calls_;  // by function: where its callers go on
  std::vector<uint32_t> work_;
};

}  // namespace

bool IsBarrier(const v1::Function& function, uint32_t number, uint32_t barrier) {
  const std::string& files = function.register_file();
  return number >= 1 && number <= files.size() && files[number - 1] == v1::FILE_CONVERGENCE &&
         function.register_number()[number - 1] == static_cast<char>(barrier);
}

std::optional<uint32_t> FindSyncWithoutSet(const v1::KernelProgram& program) { return BarrierFlow(program).LoneSync(); }

}  // namespace heddle::trace
