#include "replay/core/issue_table.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "traces/format/program/control_bits.h"

namespace heddle::replay {

using machine::v1::OperationTiming;
using machine::v1::TensorTiming;
using trace::v1::Matrix;
using trace::v1::OpClass;

OperationTiming::Operation OperationOf(const trace::v1::Instruction& instruction) {
  switch (instruction.op()) {
    case OpClass::OP_INT_MUL:
      return OperationTiming::INT_MUL;
    case OpClass::OP_INT_DIV:
      return OperationTiming::INT_DIV;
    case OpClass::OP_FP32:
      return OperationTiming::FP32;
    case OpClass::OP_FP64:
      return OperationTiming::FP64;
    case OpClass::OP_FP_DIV:
      return absl::StrContains(instruction.mnemonic(), ".f64") ? OperationTiming::FP64_DIV : OperationTiming::FP32_DIV;
    case OpClass::OP_SFU:
      return OperationTiming::SFU;
    case OpClass::OP_TENSOR:
      return OperationTiming::TENSOR;
    case OpClass::OP_CONVERT:
      return OperationTiming::CONVERT;
    case OpClass::OP_WARP:
      if (absl::StartsWithIgnoreCase(instruction.mnemonic(), "shfl")) return OperationTiming::SHUFFLE;
      return absl::StartsWithIgnoreCase(instruction.mnemonic(), "vote") ? OperationTiming::VOTE
                                                                        : OperationTiming::INT_ALU;
    case OpClass::OP_BRANCH:
    case OpClass::OP_CALL:
    case OpClass::OP_RETURN:
      return OperationTiming::BRANCH;
    default:
      return OperationTiming::INT_ALU;
  }
}

const OperationTiming& TimingOf(const machine::v1::ExecutionUnits& units, OperationTiming::Operation operation) {
  const OperationTiming* fallback = &OperationTiming::default_instance();
  for (const OperationTiming& timing : units.timing()) {
    if (timing.operation() == operation) return timing;
    if (timing.operation() == OperationTiming::INT_ALU) fallback = &timing;
  }
  return *fallback;
}

namespace {

// Of one product. PTX's m8n8k4 in half precision makes four of them, but counts as one without rates.
uint64_t MultiplyAdds(const Matrix& product) {
  return uint64_t{product.m()} * product.n() * product.k() / (product.sparse() ? 2 : 1);
}

uint64_t RoundedUp(uint64_t number, uint64_t divisor) { return (number + divisor - 1) / divisor; }

// By the machine's rate for the elements, or what it says of the shape. `groups`: of lanes, each of which takes the
// input for the initiation interval.
void TakeTensorTiming(const TensorTiming& rate, const Matrix& product, uint64_t groups, OperationTiming& timing) {
  const bool half = product.a() == Matrix::F16;
  const uint64_t products = half && product.m() == 8 && product.n() == 8 && product.k() == 4 ? 4 : 1;
  uint64_t input = std::max<uint64_t>(1, RoundedUp(products * MultiplyAdds(product), rate.multiply_adds()));
  uint64_t latency = 0;
  for (const machine::v1::ShapeTiming& shape : rate.shape()) {
    if (shape.m() != product.m() || shape.n() != product.n() || shape.k() != product.k()) continue;
    if (shape.initiation_interval() != 0) input = shape.initiation_interval();
    latency = shape.latency();
  }
  timing.set_initiation_interval(static_cast<uint32_t>(RoundedUp(input, groups)));
  timing.set_latency(static_cast<uint32_t>(latency != 0 ? latency : input + rate.pipeline_cycles()));
}

}  // namespace

TensorTiming::Elements ElementsOf(const Matrix& product) {
  const bool into_half = product.d() == Matrix::F16;
  switch (product.a()) {
    case Matrix::B1:
      return TensorTiming::B1;
    case Matrix::S4:
    case Matrix::U4:
      return TensorTiming::INT4;
    case Matrix::S8:
    case Matrix::U8:
      return TensorTiming::INT8;
    case Matrix::E4M3:
    case Matrix::E5M2:
      return into_half ? TensorTiming::FP8_INTO_F16 : TensorTiming::FP8_INTO_F32;
    case Matrix::F16:
      return into_half ? TensorTiming::F16_INTO_F16 : TensorTiming::F16_INTO_F32;
    case Matrix::BF16:
      return TensorTiming::BF16;
    case Matrix::TF32:
      return TensorTiming::TF32;
    case Matrix::F64:
      return TensorTiming::F64;
    default:
      return TensorTiming::ELEMENTS_UNSPECIFIED;
  }
}

const TensorTiming* FindTensorTiming(const machine::v1::ExecutionUnits& units, TensorTiming::Elements elements) {
  for (const TensorTiming& timing : units.tensor_timing()) {
    if (timing.elements() == elements) return &timing;
  }
  return nullptr;
}

OperationTiming TimingOf(const machine::v1::Core& core, const trace::v1::Instruction& instruction) {
  OperationTiming timing = TimingOf(core.units(), OperationOf(instruction));
  const Matrix& product = instruction.matrix();
  if (product.role() != Matrix::MULTIPLY) return timing;
  if (const TensorTiming* rate = FindTensorTiming(core.units(), ElementsOf(product)); rate != nullptr) {
    TakeTensorTiming(*rate, product, RoundedUp(core.warp_size(), core.simd_width()), timing);
    return timing;
  }
  constexpr uint64_t kWhole = 16 * 16 * 16;
  const auto share = [adds = MultiplyAdds(product)](uint32_t cycles) {
    return static_cast<uint32_t>(std::max<uint64_t>(1, RoundedUp(cycles * adds, kWhole)));
  };
  timing.set_latency(share(timing.latency()));
  timing.set_initiation_interval(share(timing.initiation_interval()));
  return timing;
}

namespace {

bool RecordsUniform(const trace::v1::Instruction& instruction) {
  return std::ranges::any_of(instruction.operand(), [](const trace::v1::Operand& operand) {
    return operand.kind() == trace::v1::Operand::UNIFORM && !operand.constant();
  });
}

// Threads may exit with the instruction that ends such a block.
bool MayEnd(trace::v1::Terminator terminator, OpClass op) {
  return terminator == trace::v1::EXIT || terminator == trace::v1::RETURN || op == OpClass::OP_EXIT ||
         op == OpClass::OP_RETURN;
}

UnitClass ClassOf(OperationTiming::Unit unit) {
  switch (unit) {
    case OperationTiming::SFU_UNIT:
      return UnitClass::kSfu;
    case OperationTiming::TENSOR_UNIT:
      return UnitClass::kTensor;
    case OperationTiming::INT_UNIT:
      return UnitClass::kInteger;
    case OperationTiming::DP_UNIT:
      return UnitClass::kDp;
    default:
      return UnitClass::kSp;
  }
}

}  // namespace

void IssueTable::NumberRegisters(const trace::Program& program) {
  for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    numbers_.insert(numbers_.end(), instruction.src().begin(), instruction.src().end());
    numbers_.insert(numbers_.end(), instruction.dst().begin(), instruction.dst().end());
  }
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  words_per_step_ = std::max<uint32_t>(1, static_cast<uint32_t>((numbers_.size() + 63) / 64));
}

uint32_t IssueTable::DenseNumber(uint32_t number) const {
  return static_cast<uint32_t>(std::lower_bound(numbers_.begin(), numbers_.end(), number) - numbers_.begin());
}

void IssueTable::TakeControlBits(const trace::ControlBits& bits, const machine::v1::Core& core, IssueStep& step) {
  // A warp that yields leaves the next cycle to others.
  step.stall_count = std::max<uint8_t>(bits.stall, bits.yield ? 2 : 1);
  step.wait_mask = bits.wait_mask;
  // Who waits for others until the instruction is done lets nobody wait for it.
  if (step.hold == Hold::kNone || step.hold == Hold::kControl || step.hold == Hold::kData) {
    step.write_barrier = bits.write_barrier;
    step.read_barrier = bits.read_barrier;
  }
  const machine::v1::ExecutionUnits& units = core.units();
  const uint32_t in_memory =
      units.memory_operand_read_cycles() != 0 ? units.memory_operand_read_cycles() : units.memory_issue_latency();
  step.operands_read = step.unit == UnitClass::kMemory ? in_memory : std::max(1u, units.operand_read_cycles());
}

namespace {

// Registers that some instruction reads.
absl::flat_hash_set<uint32_t> ReadRegisters(const trace::Program& program) {
  absl::flat_hash_set<uint32_t> read;
  for (const trace::v1::Instruction& instruction : program.proto().instruction()) {
    read.insert(instruction.src().begin(), instruction.src().end());
  }
  return read;
}

// Core.reductions: whether the instruction is an atomic whose result nobody reads.
bool IsReduction(const trace::v1::Instruction& instruction, const absl::flat_hash_set<uint32_t>& read) {
  return instruction.op() == OpClass::OP_ATOMIC &&
         std::ranges::none_of(instruction.dst(), [&](uint32_t number) { return read.contains(number); });
}

}  // namespace

IssueTable::IssueTable(const trace::Program& program, std::span<const Step> steps, const machine::v1::Core& core)
    : by_control_bits_(core.dependences() == machine::v1::Core::CONTROL_BITS) {
  const OperationTiming& usual = TimingOf(core.units(), OperationTiming::INT_ALU);
  inserted_.unit = ClassOf(usual.unit());
  inserted_.interval = usual.initiation_interval();
  inserted_.latency = usual.latency() + core.units().write_back_cycles();
  steps_.resize(steps.size());
  NumberRegisters(program);
  if (by_control_bits_) words_per_step_ = 1;  // and empty
  words_.resize(steps.size() * words_per_step_);
  const absl::flat_hash_set<uint32_t> read =
      core.reductions() ? ReadRegisters(program) : absl::flat_hash_set<uint32_t>();
  for (Pc pc = 0; pc < steps.size(); ++pc) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    const Step& step = steps[pc];
    IssueStep& out = steps_[pc];
    const trace::Block& block = program.block(step.block);
    const bool falls_through = block.terminator == trace::v1::FALL_THROUGH;
    if (block.terminator == trace::v1::CALL || block.terminator == trace::v1::CALL_INDIRECT) flat_ = false;
    out.next = step.ends_block && falls_through ? program.block(block.successor).first : pc + 1;

    const OpClass op = instruction.op();
    if (step.kind == Step::kBarrier && step.waits) {
      out.hold = Hold::kBarrier;
    } else if ((step.ends_block && !falls_through) || op == OpClass::OP_BRANCH || op == OpClass::OP_CALL ||
               op == OpClass::OP_RETURN || op == OpClass::OP_EXIT) {
      out.hold = Hold::kControl;
    } else if (op == OpClass::OP_FENCE) {
      out.hold = Hold::kFence;
      has_fence_ = true;
    } else if (op == OpClass::OP_ATOMIC && step.kind == Step::kMemory && core.atomics_hold()) {
      out.hold = Hold::kData;
    }
    const bool waits = step.kind == Step::kAsync && step.waits;
    if (out.hold == Hold::kControl && core.branches() == machine::v1::Core::AT_ISSUE && !waits &&
        !(op == OpClass::OP_ATOMIC && core.atomics_hold()) && !MayEnd(block.terminator, op)) {
      out.hold = Hold::kNone;
      out.decides = true;
    }

    const OperationTiming timing = TimingOf(core, instruction);
    out.gets_data = step.kind == Step::kMemory && op != OpClass::OP_STORE;
    out.unit = step.kind == Step::kMemory ? UnitClass::kMemory : ClassOf(timing.unit());
    out.awaits = waits;
    if (out.awaits && out.hold == Hold::kNone) out.hold = Hold::kAsync;
    out.goes_on_elsewhere = step.kind == Step::kAsync || (step.kind == Step::kBarrier && !step.waits);
    out.meets = step.meets();
    if (const auto control = trace::UnpackControl(instruction.control()); control.has_value()) {
      out.stall_count = control->stall;
      if (by_control_bits_) TakeControlBits(*control, core, out);
      has_stall_counts_ = has_stall_counts_ || out.stall_count > 1;
    }
    const bool raises =
        out.write_barrier != trace::ControlBits::kNoBarrier || out.read_barrier != trace::ControlBits::kNoBarrier;
    const bool has_result = instruction.dst_size() != 0 && !(core.reductions() && IsReduction(instruction, read));
    out.awaited = has_result || raises;
    out.uniform_values = (step.kind == Step::kPlain || step.kind == Step::kMemory) && RecordsUniform(instruction);
    out.simple = step.kind == Step::kPlain && !step.meets() && !step.guarded && out.unit != UnitClass::kTensor &&
                 out.hold == Hold::kNone && !out.decides && out.next == pc + 1 && !raises && !out.uniform_values &&
                 (core.register_file().banks() == 0 || instruction.control() == 0);
    const uint32_t micro_ops = op == OpClass::OP_SFU ? std::max(instruction.micro_ops(), 1u) : 1;
    out.interval = timing.initiation_interval() * micro_ops;
    out.before_last = timing.initiation_interval() * (micro_ops - 1);
    out.latency = timing.latency() + core.units().write_back_cycles();
    const uint32_t groups = (core.warp_size() + core.simd_width() - 1) / core.simd_width();
    longest_ = std::max(longest_, core.units().operand_read_cycles() + out.before_last * groups + out.latency);

    // Each register once: a repeated operand is read, and waited for, only once.
    out.first_register = static_cast<uint32_t>(registers_.size());
    const auto add = [&](const auto& numbers, uint16_t& count) {
      const size_t first = registers_.size();
      for (const uint32_t number : numbers) {
        const auto begin = registers_.begin() + static_cast<ptrdiff_t>(first);
        if (std::find(begin, registers_.end(), number) != registers_.end()) continue;
        registers_.push_back(number);
        out.registers.Add(RegisterFilter::Of(DenseNumber(number)));
      }
      count = static_cast<uint16_t>(registers_.size() - first);
    };
    add(instruction.src(), out.sources);
    if (has_result) add(instruction.dst(), out.destinations);
    if (by_control_bits_) {
      out.registers = RegisterFilter(out.wait_mask != 0 || raises ? ~uint64_t{0} : 0);
      continue;
    }
    const auto word_of = [&](uint32_t number) -> RegisterWord& {
      return words_[size_t{pc} * words_per_step_ + DenseNumber(number) / 64];
    };
    for (const uint32_t number : sources(out)) word_of(number).reads |= uint64_t{1} << (DenseNumber(number) & 63);
    for (const uint32_t number : destinations(out)) word_of(number).writes |= uint64_t{1} << (DenseNumber(number) & 63);
  }
}

}  // namespace heddle::replay
