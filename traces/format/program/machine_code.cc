#include "traces/format/program/machine_code.h"

#include <algorithm>
#include <bitset>

#include "absl/strings/str_cat.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/program/convergence.h"

namespace heddle::trace {
namespace {

struct FileFacts {
  const char* prefix;
  uint32_t registers;
};
// By RegisterFile. sm_75, sm_80, sm_86 and sm_90 have the same.
constexpr FileFacts kFiles[] = {{"R", 255}, {"P", 7}, {"UR", 63}, {"UP", 7}, {"B", kConvergenceBarriers}};
static_assert(std::size(kFiles) == kRegisterFiles);

constexpr uint32_t kMostRegisters = 256;  // of a file: numbers have a byte

uint32_t Byte(const std::string& list, uint32_t at) { return static_cast<unsigned char>(list[at]); }

bool HasMachineFields(const v1::Instruction& instruction) {
  return instruction.op() == v1::OP_CONVERGENCE || instruction.control() != 0 || instruction.has_convergence();
}

// Files and numbers of a function's registers: all of them or none, each one once.
std::string BrokenRegisters(const v1::KernelProgram& program, const v1::Function& function) {
  const std::string& files = function.register_file();
  const std::string& numbers = function.register_number();
  if (files.empty() && numbers.empty()) return "";
  const uint32_t named = RegistersNamed(program, function);
  for (const auto& [what, size] : {std::pair("register_file", files.size()), {"register_number", numbers.size()}}) {
    if (size != named) return absl::StrCat(what, " has ", size, " registers, the instructions have ", named);
  }
  std::bitset<kMostRegisters> seen[kRegisterFiles];
  for (uint32_t i = 0; i < named; ++i) {
    const uint32_t file = Byte(files, i);
    const uint32_t number = Byte(numbers, i);
    if (file >= kRegisterFiles) return absl::StrCat("register ", i + 1, " is of unknown file ", file);
    if (number >= kFiles[file].registers) {
      return absl::StrCat("register ", i + 1, " is ", kFiles[file].prefix, number, ", the last one is ",
                          kFiles[file].prefix, kFiles[file].registers - 1);
    }
    if (seen[file][number]) return absl::StrCat("register ", kFiles[file].prefix, number, " is listed twice");
    seen[file].set(number);
  }
  return "";
}

// Whether a list of registers has the barrier's, in a function that tells what its registers are.
template <typename Numbers>
bool Names(const v1::Function& function, const Numbers& numbers, uint32_t barrier) {
  return std::ranges::any_of(numbers, [&](uint32_t number) { return IsBarrier(function, number, barrier); });
}

std::string BrokenConvergence(const v1::Function& function, const v1::Instruction& instruction) {
  using v1::Convergence;
  if ((instruction.op() == v1::OP_CONVERGENCE) != instruction.has_convergence()) {
    return "class OP_CONVERGENCE and convergence go together";
  }
  if (!instruction.has_convergence()) return "";
  const Convergence& what = instruction.convergence();
  if (!Convergence::Role_IsValid(what.role()) || what.role() == Convergence::ROLE_UNSPECIFIED) {
    return absl::StrCat("convergence of unknown role ", static_cast<int>(what.role()));
  }
  const bool has_barrier =
      what.role() == Convergence::SET || what.role() == Convergence::SYNC || what.role() == Convergence::BREAK;
  if (!has_barrier && what.barrier() != 0) return "only SET, SYNC and BREAK have a convergence barrier";
  if (what.barrier() >= kConvergenceBarriers) {
    return absl::StrCat("its convergence barrier is not below ", kConvergenceBarriers);
  }
  if (what.role() != Convergence::SET && what.block() != 0) return "only SET has a block where threads meet";
  if (what.block() != 0) {
    const uint32_t block = what.block() - 1;
    if (block < function.first_block() || block - function.first_block() >= function.block_count()) {
      return absl::StrCat("threads meet at block ", block, ", which is not of the same function");
    }
  }
  if (!has_barrier || function.register_file().empty()) return "";
  const bool sets = what.role() == Convergence::SET;
  if (!Names(function, sets ? instruction.dst() : instruction.src(), what.barrier())) {
    return absl::StrCat(sets ? "dst" : "src", " does not have its convergence barrier B", what.barrier());
  }
  return "";
}

}  // namespace

uint32_t RegistersOf(v1::RegisterFile file) { return kFiles[file].registers; }

uint32_t RegistersNamed(const v1::KernelProgram& program, const v1::Function& function) {
  uint32_t most = 0;
  for (uint32_t b = function.first_block(); b < function.first_block() + function.block_count(); ++b) {
    const v1::BasicBlock& block = program.block(static_cast<int>(b));
    for (uint32_t i = 0; i < block.instruction_count(); ++i) {
      const v1::Instruction& instruction = program.instruction(static_cast<int>(block.first_instruction() + i));
      for (const uint32_t number : instruction.dst()) most = std::max(most, number);
      for (const uint32_t number : instruction.src()) most = std::max(most, number);
    }
  }
  return most;
}

std::string RegisterName(const v1::Function& function, uint32_t number) {
  if (number == 0 || number > function.register_file().size()) return absl::StrCat("%", number);
  const FileFacts& file = kFiles[Byte(function.register_file(), number - 1)];
  return absl::StrCat(file.prefix, Byte(function.register_number(), number - 1));
}

std::array<uint32_t, kRegisterFiles> RegistersByFile(const v1::KernelProgram& program) {
  std::bitset<kMostRegisters> seen[kRegisterFiles];
  for (const v1::Function& function : program.function()) {
    for (uint32_t i = 0; i < function.register_file().size(); ++i) {
      seen[Byte(function.register_file(), i)].set(Byte(function.register_number(), i));
    }
  }
  std::array<uint32_t, kRegisterFiles> counts{};
  for (uint32_t file = 0; file < kRegisterFiles; ++file) counts[file] = static_cast<uint32_t>(seen[file].count());
  return counts;
}

std::optional<BrokenRule> FindBrokenMachineRule(const v1::KernelProgram& program) {
  const bool is_machine = program.level() == v1::LEVEL_MACHINE;
  bool synchronizes = false;
  for (int f = 0; f < program.function_size(); ++f) {
    const v1::Function& function = program.function(f);
    const auto place = static_cast<uint64_t>(f);
    if (!is_machine && !(function.register_file().empty() && function.register_number().empty())) {
      return BrokenRule{"function", place, "only machine code has register_file and register_number"};
    }
    if (std::string rule = BrokenRegisters(program, function); !rule.empty())
      return BrokenRule{"function", place, rule};
    for (uint32_t b = function.first_block(); b < function.first_block() + function.block_count(); ++b) {
      const v1::BasicBlock& block = program.block(static_cast<int>(b));
      for (uint32_t i = 0; i < block.instruction_count(); ++i) {
        const uint32_t pc = block.first_instruction() + i;
        const v1::Instruction& instruction = program.instruction(static_cast<int>(pc));
        if (!HasMachineFields(instruction)) continue;
        if (!is_machine) {
          return BrokenRule{"instruction", pc, "only machine code has control bits and convergence barriers"};
        }
        std::string rule = BrokenControlRule(instruction.control());
        if (rule.empty()) rule = BrokenConvergence(function, instruction);
        if (!rule.empty()) return BrokenRule{"instruction", pc, rule};
        synchronizes |= instruction.convergence().role() == v1::Convergence::SYNC;
      }
    }
  }
  if (!synchronizes) return std::nullopt;
  const std::optional<uint32_t> lone = FindSyncWithoutSet(program);
  if (!lone.has_value()) return std::nullopt;
  return BrokenRule{"instruction", *lone,
                    absl::StrCat("waits at convergence barrier B",
                                 program.instruction(static_cast<int>(*lone)).convergence().barrier(),
                                 ", which no path to it sets or restores")};
}

}  // namespace heddle::trace
