#include "tests/traces/machine_programs.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tests/traces/program_builder.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/program/machine_code.h"

namespace heddle::trace::testing {
namespace {

using v1::Convergence;

// A RegisterFile and a number in it.
using Register = std::pair<uint32_t, uint32_t>;

Register Barrier(uint32_t number) { return {v1::FILE_CONVERGENCE, number}; }

// Some register of the architecture for a virtual one.
Register RegisterFor(uint32_t number) {
  constexpr v1::RegisterFile kFiles[] = {v1::FILE_GENERAL,          v1::FILE_PREDICATE, v1::FILE_GENERAL,
                                         v1::FILE_UNIFORM,          v1::FILE_GENERAL,   v1::FILE_GENERAL,
                                         v1::FILE_UNIFORM_PREDICATE};
  const v1::RegisterFile file = kFiles[number % std::size(kFiles)];
  return {file, number % RegistersOf(file)};
}

const char* MnemonicFor(const v1::Instruction& instruction) {
  switch (instruction.op()) {
    case v1::OP_LOAD:
      return "LDG.E";
    case v1::OP_STORE:
      return "STG.E";
    case v1::OP_ATOMIC:
      return "ATOMG.E.ADD.STRONG.GPU";
    case v1::OP_BARRIER:
      return "BAR.SYNC.DEFER_BLOCKING";
    case v1::OP_BRANCH:
      return "BRA";
    case v1::OP_CALL:
      return "CALL.REL.NOINC";
    case v1::OP_RETURN:
      return "RET.REL.NODEC";
    case v1::OP_EXIT:
      return "EXIT";
    default:
      return "IADD3";
  }
}

// Bits that are right and differ from instruction to instruction; nothing is said of their sense.
ControlBits BitsFor(uint32_t pc) {
  ControlBits bits;
  bits.stall = static_cast<uint8_t>(pc * 5 % 16);
  bits.yield = pc % 3 == 0;
  if (pc % 4 == 1) bits.write_barrier = static_cast<uint8_t>(pc % ControlBits::kBarriers);
  if (pc % 5 == 2) bits.read_barrier = static_cast<uint8_t>(pc / 3 % ControlBits::kBarriers);
  bits.wait_mask = static_cast<uint8_t>(pc % 6 == 0 ? 1u << pc / 6 % ControlBits::kBarriers : 0);
  bits.reuse = static_cast<uint8_t>(pc % 7 == 3 ? 1 + pc % 15 : 0);
  return bits;
}

// The first instruction of a block that may become another one: kNoPc if there is none.
Pc Replaceable(const v1::KernelProgram& program, const v1::BasicBlock& block) {
  for (Pc pc = block.first_instruction(); pc < block.first_instruction() + block.instruction_count(); ++pc) {
    if (program.instruction(static_cast<int>(pc)).op() == v1::OP_INT_ALU) return pc;
  }
  return kNoPc;
}

// Barriers around branches whose ways meet again: SET in front of the branch, SYNC where they meet.
void AddBarriers(v1::KernelProgram& program) {
  uint32_t number = 0;
  for (int b = 0; b < program.block_size(); ++b) {
    const v1::BasicBlock& block = program.block(b);
    const bool decides = block.terminator() == v1::BRANCH_CONDITIONAL || block.terminator() == v1::BRANCH_WIDE;
    if (!decides || block.immediate_post_dominator() == 0) continue;
    const uint32_t meeting = block.immediate_post_dominator() - 1;
    const Pc set = Replaceable(program, block);
    if (set == kNoPc) continue;
    const uint32_t barrier = number++ % 16;
    MakeConvergence(*program.mutable_instruction(static_cast<int>(set)), Convergence::SET, barrier,
                    barrier % 3 == 2 ? kNoBlock : meeting);
    const Pc sync = Replaceable(program, program.block(static_cast<int>(meeting)));
    if (sync == kNoPc) continue;
    MakeConvergence(*program.mutable_instruction(static_cast<int>(sync)), Convergence::SYNC, barrier);
    const Pc more = Replaceable(program, program.block(static_cast<int>(meeting)));
    if (more == kNoPc) continue;
    constexpr Convergence::Role kOthers[] = {Convergence::BREAK, Convergence::WARP_SYNC, Convergence::YIELD};
    const Convergence::Role role = kOthers[number % std::size(kOthers)];
    MakeConvergence(*program.mutable_instruction(static_cast<int>(more)), role,
                    role == Convergence::BREAK ? barrier : 0);
  }
}

// The barrier that a block sets last; 0 if none.
uint32_t BarrierSetIn(const v1::KernelProgram& program, const v1::BasicBlock& block) {
  uint32_t barrier = 0;
  for (Pc pc = block.first_instruction(); pc < block.first_instruction() + block.instruction_count(); ++pc) {
    const Convergence& what = program.instruction(static_cast<int>(pc)).convergence();
    if (what.role() == Convergence::SET) barrier = what.barrier();
  }
  return barrier;
}

// Where some threads run a few plain instructions more than the others, and come from nowhere else, these stand under a
// guard in place of a branch, and the first that computes is a BREAK.
void GuardBreaks(v1::KernelProgram& program) {
  std::vector<int> entries(static_cast<size_t>(program.block_size()));
  for (const v1::BasicBlock& block : program.block()) {
    for (const uint32_t next : block.successor()) ++entries[next];
  }
  for (const v1::BasicBlock& block : program.block()) {
    if (block.terminator() != v1::BRANCH_CONDITIONAL) continue;
    const v1::BasicBlock& guarded = program.block(static_cast<int>(block.successor(0)));
    const Pc breaks = Replaceable(program, guarded);
    const bool goes_on = guarded.terminator() == v1::FALL_THROUGH && guarded.successor(0) == block.successor(1);
    if (breaks == kNoPc || !goes_on || entries[block.successor(0)] != 1) continue;
    const auto begin = program.mutable_instruction()->begin() + guarded.first_instruction();
    const auto end = begin + guarded.instruction_count();
    const bool is_plain = std::all_of(
        begin, end, [](const v1::Instruction& one) { return one.op() == v1::OP_INT_ALU || Program::HasAddress(one); });
    if (!is_plain) continue;
    std::for_each(begin, end, [](v1::Instruction& one) { one.set_flags(one.flags() | v1::FLAG_GUARDED); });
    MakeConvergence(*program.mutable_instruction(static_cast<int>(breaks)), Convergence::BREAK,
                    BarrierSetIn(program, block));
    program.mutable_instruction(static_cast<int>(block.first_instruction() + block.instruction_count() - 1))
        ->set_op(v1::OP_INT_ALU);
  }
}

// Numbers the registers of a function anew, in the order of files and numbers, and lists what they are.
class Registers {
 public:
  Registers(v1::KernelProgram& program, v1::Function& function) : program_(program), function_(function) {}

  // Of the architecture instead of virtual; instructions of convergence barriers name theirs.
  void Take() {
    ForEach([this](v1::Instruction& instruction) {
      std::vector<Register> written, read;
      for (const uint32_t number : instruction.dst()) written.push_back(RegisterFor(number));
      for (const uint32_t number : instruction.src()) read.push_back(RegisterFor(number));
      const Convergence& what = instruction.convergence();
      if (instruction.has_convergence()) written.clear();
      if (what.role() == Convergence::SET) written.push_back(Barrier(what.barrier()));
      if (what.role() == Convergence::SYNC || what.role() == Convergence::BREAK) {
        read.push_back(Barrier(what.barrier()));
      }
      written_.push_back(std::move(written));
      read_.push_back(std::move(read));
    });
  }
  // A move from a convergence barrier to a register, or back; `index` counts the function's instructions.
  void Keep(size_t index, Register to, Register from) {
    written_[index] = {to};
    read_[index] = {from};
  }
  void Number() {
    std::map<Register, uint32_t> numbers;
    for (const auto* lists : {&written_, &read_}) {
      for (const std::vector<Register>& list : *lists) {
        for (const Register& one : list) numbers[one] = 0;
      }
    }
    uint32_t next = 0;
    for (auto& [one, number] : numbers) {
      number = ++next;
      function_.mutable_register_file()->push_back(static_cast<char>(one.first));
      function_.mutable_register_number()->push_back(static_cast<char>(one.second));
    }
    size_t i = 0;
    ForEach([&](v1::Instruction& instruction) {
      instruction.clear_dst();
      instruction.clear_src();
      for (const Register& one : written_[i]) instruction.add_dst(numbers[one]);
      for (const Register& one : read_[i]) instruction.add_src(numbers[one]);
      ++i;
    });
  }

 private:
  template <typename Do>
  void ForEach(const Do& what) {
    for (uint32_t b = 0; b < function_.block_count(); ++b) {
      const v1::BasicBlock& block = program_.block(static_cast<int>(function_.first_block() + b));
      for (uint32_t i = 0; i < block.instruction_count(); ++i) {
        what(*program_.mutable_instruction(static_cast<int>(block.first_instruction() + i)));
      }
    }
  }

  v1::KernelProgram& program_;
  v1::Function& function_;
  std::vector<std::vector<Register>> written_;  // by instruction of the function
  std::vector<std::vector<Register>> read_;
};

void SayMachineCode(v1::KernelProgram& program) {
  program.set_level(v1::LEVEL_MACHINE);
  program.set_producer("ptxas 13.0");
  program.set_target("sm_80");
  for (int pc = 0; pc < program.instruction_size(); ++pc) {
    v1::Instruction& instruction = *program.mutable_instruction(pc);
    instruction.set_control(PackControl(BitsFor(static_cast<uint32_t>(pc))));
    if (!instruction.has_convergence()) instruction.set_mnemonic(MnemonicFor(instruction));
  }
}

}  // namespace

void MakeConvergence(v1::Instruction& instruction, Convergence::Role role, uint32_t barrier, uint32_t block) {
  const char* const mnemonic = role == Convergence::SET         ? "BSSY"
                               : role == Convergence::SYNC      ? "BSYNC"
                               : role == Convergence::BREAK     ? "BREAK"
                               : role == Convergence::WARP_SYNC ? "WARPSYNC"
                                                                : "YIELD";
  instruction.set_op(v1::OP_CONVERGENCE);
  instruction.set_mnemonic(mnemonic);
  instruction.clear_convergence();
  Convergence& what = *instruction.mutable_convergence();
  what.set_role(role);
  what.set_barrier(barrier);
  if (block != kNoBlock) what.set_block(block + 1);
}

v1::KernelProgram MachineSample() {
  v1::KernelProgram program = ProgramBuilder("walk")
                                  .Block("entry")
                                  .Alu(3)  // 0 to 2; 2: BSSY B0
                                  .Branch("head", "far")
                                  .Block("head")
                                  .Load()
                                  .Alu(2)  // 5, 6; 6: YIELD
                                  .Branch("tail", "leave")
                                  .Block("tail")
                                  .Alu()
                                  .Branch("meet", "head")
                                  .Block("leave")
                                  .Alu()  // 10: BREAK B0
                                  .Jump("rest")
                                  .Block("far")
                                  .Call("helper", "meet")  // 11
                                  .Block("meet")
                                  .Alu(2)  // 12: BSYNC B0, 13: WARPSYNC
                                  .Jump("rest")
                                  .Block("rest")
                                  .Store()
                                  .Exit()
                                  .Function("helper")
                                  .Block("keep")
                                  .Alu(2)  // 16: BMOV R20, B0; 17: BSSY B0
                                  .Branch("more", "join")
                                  .Block("more")
                                  .Alu()
                                  .Jump("join")
                                  .Block("join")
                                  .Alu(2)  // 20: BSYNC B0; 21: BMOV B0, R20
                                  .Return()
                                  .Build();
  const auto instruction = [&](int pc) -> v1::Instruction& { return *program.mutable_instruction(pc); };
  constexpr uint32_t kMeet = 5, kJoin = 9;
  MakeConvergence(instruction(2), Convergence::SET, 0, kMeet);
  MakeConvergence(instruction(6), Convergence::YIELD);
  MakeConvergence(instruction(10), Convergence::BREAK, 0);
  MakeConvergence(instruction(12), Convergence::SYNC, 0);
  MakeConvergence(instruction(13), Convergence::WARP_SYNC);
  instruction(13).set_members(0xffff);
  MakeConvergence(instruction(17), Convergence::SET, 0, kJoin);
  MakeConvergence(instruction(20), Convergence::SYNC, 0);
  SayMachineCode(program);
  for (int f = 0; f < program.function_size(); ++f) {
    Registers registers(program, *program.mutable_function(f));
    registers.Take();
    if (f == 1) {
      registers.Keep(0, {v1::FILE_GENERAL, 20}, Barrier(0));
      registers.Keep(5, Barrier(0), {v1::FILE_GENERAL, 20});
    }
    registers.Number();
  }
  for (const int pc : {16, 21}) {
    instruction(pc).set_op(v1::OP_MOVE);
    instruction(pc).set_mnemonic("BMOV.32");
  }
  return program;
}

v1::KernelProgram WithMachineCode(v1::KernelProgram program, bool guards) {
  AddBarriers(program);
  if (guards) GuardBreaks(program);
  SayMachineCode(program);
  for (v1::Function& function : *program.mutable_function()) {
    Registers registers(program, function);
    registers.Take();
    registers.Number();
  }
  return program;
}

}  // namespace heddle::trace::testing
