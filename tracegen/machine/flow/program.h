// The static program at the machine level: what a trace of that level will carry beside its threads.
#ifndef HEDDLE_TRACEGEN_MACHINE_FLOW_PROGRAM_H_
#define HEDDLE_TRACEGEN_MACHINE_FLOW_PROGRAM_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "tracegen/machine/cubin/cubin.h"
#include "tracegen/machine/encoding/control.h"
#include "tracegen/machine/text/disassembly.h"

namespace heddle::tracegen::machine {

// What an instruction does to convergence barriers. They are registers of a warp (B0 to B15) that name the threads
// which wait for one another; they are no barriers of the block.
enum class Convergence : uint8_t {
  kNone,
  kSet,       // BSSY: the threads that run it will meet
  kSync,      // BSYNC: waits for them
  kBreak,     // BREAK: these threads will not come
  kWarpSync,  // WARPSYNC: waits for the threads of a mask. NOP: they are together, as the assembler knows
  kYield,     // YIELD: others of the warp may go first
};

// Numbers of blocks that are none: where a decision leads out of the function.
inline constexpr uint32_t kReturns = std::numeric_limits<uint32_t>::max() - 1;
inline constexpr uint32_t kExits = std::numeric_limits<uint32_t>::max();
inline constexpr uint32_t kNoBlock = std::numeric_limits<uint32_t>::max() - 2;

struct ProgramInstruction {
  Instruction text;
  Control control;
  uint64_t offset = 0;  // in the section of code
  // As in the table of forms, but for a DEPBAR that waits for asynchronous copies: that is OP_ASYNC as well.
  trace::v1::OpClass op = trace::v1::OP_UNKNOWN;
  trace::v1::MemorySpace space{};  // of accesses
  uint32_t access_bytes = 0;       // per thread
  // Numbers of registers, from 1: of ProgramFunction::registers[number - 1].
  std::vector<uint32_t> dst;
  std::vector<uint32_t> src;
  bool is_guarded = false;  // by a predicate that is not constant
  Convergence convergence = Convergence::kNone;
  uint32_t convergence_block = kNoBlock;  // kSet: where the threads meet, as the compiler says
  uint32_t source_file = 0;               // 0 = unknown, else 1 + index in MachineProgram::source_files
  uint32_t source_line = 0;               // 0 = unknown
};

struct ProgramBlock {
  uint32_t first_instruction = 0;
  uint32_t instruction_count = 0;  // at least 1
  trace::v1::Terminator terminator{};
  // Blocks, or kReturns or kExits. BRANCH_CONDITIONAL: 0 = the next block, 1 = taken.
  std::vector<uint32_t> successors;
  std::vector<uint32_t> callees;  // functions
};

struct ProgramFunction {
  std::string name;
  std::string section;  // the function whose section of code it stands in
  uint64_t offset = 0;
  bool is_kernel = false;
  uint32_t first_block = 0;  // also its entry
  uint32_t block_count = 0;
  std::vector<Register> registers;  // that it reads or writes, in the order of files and numbers
};

// All functions of a cubin.
struct MachineProgram {
  Architecture architecture = Architecture::kSm80;
  std::string assembler;
  std::string disassembler;
  std::vector<std::string> source_files;
  std::vector<ProgramFunction> functions;
  std::vector<ProgramBlock> blocks;
  std::vector<ProgramInstruction> instructions;

  const ProgramFunction* Find(std::string_view function) const;
};

// Errors, each with function and offset: a disassembly of another cubin; a branch to where there is no code; a call of
// a function that is not there; an indirect branch without a table; control bits that are not known; an instruction
// whose registers are not known (Meaning::kNamed); code that runs past its end.
absl::StatusOr<MachineProgram> BuildProgram(const Cubin& cubin, const Disassembly& disassembly);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_FLOW_PROGRAM_H_
