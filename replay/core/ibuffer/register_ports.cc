#include "replay/core/ibuffer/register_ports.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "traces/format/program/control_bits.h"

namespace heddle::replay {
namespace {

using trace::ControlBits;

bool IsMemory(trace::v1::OpClass op) {
  return op == trace::v1::OP_LOAD || op == trace::v1::OP_STORE || op == trace::v1::OP_ATOMIC ||
         op == trace::v1::OP_TEXTURE || op == trace::v1::OP_ASYNC;
}

// The place of operand `index` of the `count` that are registers. A trace lists registers in the order of operands,
// without the constants between them. Marks for reuse tell some of their places.
uint8_t PlaceOf(size_t index, size_t count, uint32_t marks) {
  if (count == 1 && marks != 0) return static_cast<uint8_t>(std::countr_zero(marks));
  if (count == 2 && (marks & 4) != 0) return index == 1 ? 2 : static_cast<uint8_t>((marks & 3) == 2);
  return static_cast<uint8_t>(std::min<size_t>(index, 2));
}

}  // namespace

RegisterReads::RegisterReads(const trace::Program& program, const machine::v1::Core& core)
    : file_(core.register_file()), first_(program.instruction_count() + 1, 0) {
  for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
    if (file_.banks() != 0) {
      const auto function = static_cast<int>(program.block(program.block_of(pc)).function);
      Add(program.proto().function(function), program.instruction(pc));
    }
    first_[pc + 1] = static_cast<uint32_t>(operands_.size());
  }
}

void RegisterReads::Add(const trace::v1::Function& function, const trace::v1::Instruction& instruction) {
  const std::optional<ControlBits> bits = trace::UnpackControl(instruction.control());
  if (!bits.has_value() || bits->write_barrier != ControlBits::kNoBarrier || IsMemory(instruction.op())) return;
  // Where a guard is false the result's register keeps its value: a trace says that it is read, the machine does not.
  int listed = instruction.src_size();
  if ((instruction.flags() & trace::v1::FLAG_GUARDED) != 0) listed = std::max(0, listed - instruction.dst_size());
  const size_t begin = operands_.size();
  std::vector<uint8_t> index;  // of the operand, by register: the two of a pair are one
  for (int i = 0; i < listed; ++i) {
    const size_t place = instruction.src(i) - 1;
    if (place >= function.register_file().size()) return;  // virtual
    if (function.register_file()[place] != trace::v1::FILE_GENERAL) continue;
    const auto number = static_cast<uint8_t>(function.register_number()[place]);
    const auto known = std::find_if(operands_.begin() + static_cast<ptrdiff_t>(begin), operands_.end(),
                                    [=](const Operand& one) { return one.number == number; });
    if (known != operands_.end()) continue;
    const bool pair = !index.empty() && number % 2 == 1 && operands_.back().number + 1 == number;
    index.push_back(index.empty() ? 0 : static_cast<uint8_t>(index.back() + !pair));
    operands_.push_back({.number = number});
  }
  for (size_t i = 0; i < index.size(); ++i) {
    Operand& operand = operands_[begin + i];
    operand.place = PlaceOf(index[i], size_t{index.back()} + 1, bits->reuse & 7);
    operand.keep = file_.cache() && (bits->reuse >> operand.place & 1) != 0;
  }
}

RegisterPorts::RegisterPorts(const RegisterReads& reads, int ports)
    : reads_(reads),
      banks_of_port_(reads.file().banks()),
      usual_(reads.file().read_cycles()),
      cached_(reads.file().cache()),
      banks_(static_cast<size_t>(ports) * banks_of_port_) {}

Cycle RegisterPorts::Read(int port, uint32_t hw_warp, Pc pc, Cycle now) {
  Cycle last = now;
  const std::span<const RegisterReads::Operand> operands = reads_.of(pc);
  std::array<Kept*, 256> found;  // by operand: each register is there once
  for (size_t i = 0; i < operands.size(); ++i) {
    Bank& bank = BankOf(port, operands[i].number);
    found[i] = nullptr;
    for (Kept& kept : bank.kept) {
      if (kept.valid && kept.hw_warp == hw_warp && kept.number == operands[i].number) found[i] = &kept;
    }
    if (found[i] != nullptr) continue;
    const Cycle read = std::max(bank.free, now + 1);
    bank.free = read + 1;
    last = std::max(last, read);
  }
  if (cached_) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool by_mark = found[i] == nullptr || operands[i].keep;
      Kept& kept = by_mark ? BankOf(port, operands[i].number).kept[operands[i].place] : *found[i];
      kept = {hw_warp, operands[i].number, operands[i].keep};
    }
  }
  return last > now + usual_ ? last - now - usual_ : 0;
}

}  // namespace heddle::replay
