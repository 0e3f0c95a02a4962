// What the instruction-buffer front end knows of every instruction before anything runs.
#ifndef HEDDLE_REPLAY_CORE_ISSUE_TABLE_H_
#define HEDDLE_REPLAY_CORE_ISSUE_TABLE_H_

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/core/launch_context.h"
#include "replay/seams/types.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// Which unit an instruction issues to.
enum class UnitClass : uint8_t { kSp, kSfu, kTensor, kMemory, kInteger, kDp };
inline constexpr int kUnitClasses = 6;

// Whether a warp moves on when it issues the instruction, or is held.
enum class Hold : uint8_t {
  kNone,
  kBarrier,
  kFence,    // until the stores before it are acknowledged
  kAsync,    // until asynchronous copies, or a phase of a transaction barrier, are complete
  kControl,  // until the result says where its threads go
  kData,     // until its data are there
};

// Registers that an instruction reads or writes, as bits: a register is bit (number + 21 * call depth) mod 64, numbered
// densely over the program. Two instructions without a common bit have no common register.
class RegisterFilter {
 public:
  RegisterFilter() = default;
  // A register at call depth 0.
  static RegisterFilter Of(uint32_t number) { return RegisterFilter(uint64_t{1} << (number & 63)); }
  // These registers at a call depth.
  RegisterFilter AtDepth(uint32_t depth) const {
    return RegisterFilter(std::rotl(bits_, static_cast<int>(depth * 21 & 63)));
  }
  bool Intersects(RegisterFilter other) const { return (bits_ & other.bits_) != 0; }
  void Add(RegisterFilter other) { bits_ |= other.bits_; }
  // The registers of a word (RegisterWord) at call depth 0.
  explicit RegisterFilter(uint64_t bits) : bits_(bits) {}

 private:
  uint64_t bits_ = 0;
};

// Registers 64 i to 64 i + 63 of a program, numbered densely, that an instruction reads and writes.
struct RegisterWord {
  uint64_t reads = 0;
  uint64_t writes = 0;
};

struct IssueStep {
  RegisterFilter registers;         // read and written
  Pc next = 0;                      // where a warp that is not held goes on
  uint32_t first_register = 0;      // in IssueTable: sources, then destinations, each number once per list
  uint16_t sources = 0;             // numbers
  uint16_t destinations = 0;        //
  UnitClass unit = UnitClass::kSp;  //
  Hold hold = Hold::kNone;          //
  bool goes_on_elsewhere = false;   // asynchronous, or arrives at a barrier without waiting there
  bool meets = false;               // as Step::meets
  bool awaits = false;              // asynchronous copies, or a phase of a transaction barrier
  bool gets_data = false;           // load, texture or atomic: its results come from memory
  bool uniform_values = false;      // threads recorded what it reads of uniform registers
  bool simple = false;              // of an arithmetic unit, no product, and the warp goes on behind it
  bool decides = false;  // it does not hold, but ends its block: where the warp goes on is found at its issue
  // Cycles per lane group for which the unit's input is taken: initiation interval x micro-operations.
  uint32_t interval = 0;
  // The part of `interval` before the last micro-operation starts.
  uint32_t before_last = 0;
  // From the start of the last micro-operation to the release of the registers, in cycles.
  uint32_t latency = 0;
  // Machine code: cycles from this issue of a warp to its next one, at least. 0: not told.
  uint8_t stall_count = 0;
  // By control bits (IssueTable::by_control_bits): the barriers that have to be down, as bits, and those that the
  // instruction raises, or ControlBits::kNoBarrier. Its operands are read so many cycles after its issue.
  uint8_t wait_mask = 0;
  uint8_t write_barrier = trace::ControlBits::kNoBarrier;
  uint8_t read_barrier = trace::ControlBits::kNoBarrier;
  uint32_t operands_read = 0;
  // Somebody may wait for its result: it writes registers, or raises a barrier.
  bool awaited = false;
};

class IssueTable {
 public:
  // The machine's front end must be the buffer's.
  IssueTable(const trace::Program& program, std::span<const Step> steps, const machine::v1::Core& core);

  const IssueStep& operator[](Pc pc) const { return steps_[pc]; }
  uint32_t size() const { return static_cast<uint32_t>(steps_.size()); }
  std::span<const uint32_t> sources(const IssueStep& step) const {
    return std::span(registers_).subspan(step.first_register, step.sources);
  }
  std::span<const uint32_t> destinations(const IssueStep& step) const {
    return std::span(registers_).subspan(step.first_register + step.sources, step.destinations);
  }
  // What an instruction of a policy, which is in no program, takes.
  const IssueStep& inserted() const { return inserted_; }
  bool has_fence() const { return has_fence_; }
  // Whether some instruction is machine code that makes its warp pause.
  bool has_stall_counts() const { return has_stall_counts_; }
  // Whether warps issue by the control bits of machine code: pauses and barriers hold them, registers do not.
  bool by_control_bits() const { return by_control_bits_; }
  // Whether threads stay at call depth 0, so that a register is one bit of the words of its hardware warp.
  bool flat() const { return flat_; }
  // If there is one word per instruction.
  const RegisterWord& word(Pc pc) const { return words_[pc]; }
  // The filter of a register at call depth 0.
  RegisterFilter FilterOf(uint32_t number) const { return RegisterFilter::Of(DenseNumber(number)); }
  // The place of a register among those that the program uses, ascending.
  uint32_t DenseNumber(uint32_t number) const;
  // Words of the registers of a program; those of the instruction at `pc`.
  uint32_t words_per_step() const { return words_per_step_; }
  std::span<const RegisterWord> words(Pc pc) const {
    return std::span(words_.data() + size_t{pc} * words_per_step_, words_per_step_);
  }
  // From issue to result, operands in time, of the slowest instruction that does not use memory, in cycles.
  uint32_t longest() const { return longest_; }

 private:
  // What machine code says of when it may issue; registers do not count then.
  void TakeControlBits(const trace::ControlBits& bits, const machine::v1::Core& core, IssueStep& step);
  std::vector<IssueStep> steps_;
  // Finds the program's registers and numbers them densely, ascending.
  void NumberRegisters(const trace::Program& program);

  std::vector<uint32_t> registers_;
  std::vector<uint32_t> numbers_;  // that the program uses, ascending; the place is the dense number
  std::vector<RegisterWord> words_;
  uint32_t words_per_step_ = 1;
  bool flat_ = true;
  IssueStep inserted_;
  bool has_fence_ = false;
  bool has_stall_counts_ = false;
  bool by_control_bits_ = false;
  uint32_t longest_ = 0;
};

// The timing of an operation on a machine; operations that it has none for take that of INT_ALU.
const machine::v1::OperationTiming& TimingOf(const machine::v1::ExecutionUnits& units,
                                             machine::v1::OperationTiming::Operation operation);

// The kind of the elements of a product of matrices; ELEMENTS_UNSPECIFIED if no machine has a name for it.
machine::v1::TensorTiming::Elements ElementsOf(const trace::v1::Matrix& product);
// What the machine says of products of the kind; null if it says nothing.
const machine::v1::TensorTiming* FindTensorTiming(const machine::v1::ExecutionUnits& units,
                                                  machine::v1::TensorTiming::Elements elements);

// The timing of an instruction. A product of matrices takes what the machine says of its elements and shape. If the
// machine says nothing of elements, it takes its share of what TENSOR says of m16n16k16, by its multiply-adds.
machine::v1::OperationTiming TimingOf(const machine::v1::Core& core, const trace::v1::Instruction& instruction);

// What a PTX operation counts as. Division is single or double precision by its mnemonic.
machine::v1::OperationTiming::Operation OperationOf(const trace::v1::Instruction& instruction);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_ISSUE_TABLE_H_
