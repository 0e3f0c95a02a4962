#include "replay/core/issue_table.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace heddle::replay {

using machine::v1::OperationTiming;
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

OperationTiming TimingOf(const machine::v1::ExecutionUnits& units, const trace::v1::Instruction& instruction) {
  OperationTiming timing = TimingOf(units, OperationOf(instruction));
  const trace::v1::Matrix& product = instruction.matrix();
  if (product.role() != trace::v1::Matrix::MULTIPLY) return timing;
  constexpr uint64_t kWhole = 16 * 16 * 16;
  const uint64_t adds = uint64_t{product.m()} * product.n() * product.k() / (product.sparse() ? 2 : 1);
  const auto share = [adds](uint32_t cycles) {
    return static_cast<uint32_t>(std::max<uint64_t>(1, (cycles * adds + kWhole - 1) / kWhole));
  };
  timing.set_latency(share(timing.latency()));
  timing.set_initiation_interval(share(timing.initiation_interval()));
  return timing;
}

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

IssueTable::IssueTable(const trace::Program& program, std::span<const Step> steps, const machine::v1::Core& core) {
  const OperationTiming& usual = TimingOf(core.units(), OperationTiming::INT_ALU);
  inserted_.interval = usual.initiation_interval();
  inserted_.latency = usual.latency() + core.units().write_back_cycles();
  steps_.resize(steps.size());
  NumberRegisters(program);
  words_.resize(steps.size() * words_per_step_);
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
    }

    const OperationTiming timing = TimingOf(core.units(), instruction);
    out.gets_data = step.kind == Step::kMemory && op != OpClass::OP_STORE;
    if (step.kind == Step::kMemory) {
      out.unit = UnitClass::kMemory;
    } else if (timing.unit() == OperationTiming::SFU_UNIT) {
      out.unit = UnitClass::kSfu;
    }
    out.awaits = step.kind == Step::kAsync && step.waits;
    if (out.awaits && out.hold == Hold::kNone) out.hold = Hold::kAsync;
    out.goes_on_elsewhere = step.kind == Step::kAsync || (step.kind == Step::kBarrier && !step.waits);
    out.meets = step.meets;
    out.simple = step.kind == Step::kPlain && !step.meets && out.unit != UnitClass::kMemory &&
                 out.hold == Hold::kNone && out.next == pc + 1;
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
    add(instruction.dst(), out.destinations);
    const auto word_of = [&](uint32_t number) -> RegisterWord& {
      return words_[size_t{pc} * words_per_step_ + DenseNumber(number) / 64];
    };
    for (const uint32_t number : sources(out)) word_of(number).reads |= uint64_t{1} << (DenseNumber(number) & 63);
    for (const uint32_t number : destinations(out)) word_of(number).writes |= uint64_t{1} << (DenseNumber(number) & 63);
  }
}

}  // namespace heddle::replay
