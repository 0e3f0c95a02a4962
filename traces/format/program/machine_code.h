// What programs of machine code (LEVEL_MACHINE) have beside those of PTX: registers of the architecture, control bits
// and convergence barriers. The rules that they keep, and their names.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_MACHINE_CODE_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_MACHINE_CODE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "proto/trace.pb.h"

namespace heddle::trace {

inline constexpr uint32_t kRegisterFiles = v1::RegisterFile_ARRAYSIZE;

// How many registers of a file hold something: their numbers are 0 to one less. What reads as zero or true, such as
// R255 or P7, is no register of a trace.
uint32_t RegistersOf(v1::RegisterFile file);

// The highest number of a register that an instruction of the function names; 0 if there is none.
uint32_t RegistersNamed(const v1::KernelProgram& program, const v1::Function& function);

// "R4", "P0", "UR6", "UP1" or "B1" of a function that tells which register of the architecture each one is; else "%5".
std::string RegisterName(const v1::Function& function, uint32_t number);

// How many different registers of each file all functions of a program have, by RegisterFile.
std::array<uint32_t, kRegisterFiles> RegistersByFile(const v1::KernelProgram& program);

// A place in a program, and the rule that it breaks.
struct BrokenRule {
  const char* kind = "";  // "function" or "instruction"
  uint64_t index = 0;
  std::string rule;
};

// The first rule about machine code that a program breaks. All else about the program must be right: blocks cover the
// instructions, and successors and callees are there.
std::optional<BrokenRule> FindBrokenMachineRule(const v1::KernelProgram& program);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_MACHINE_CODE_H_
