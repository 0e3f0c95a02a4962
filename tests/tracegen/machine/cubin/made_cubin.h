// Cubins of our own making, so that tests need no assembler.
#ifndef HEDDLE_TESTS_TRACEGEN_MACHINE_CUBIN_MADE_CUBIN_H_
#define HEDDLE_TESTS_TRACEGEN_MACHINE_CUBIN_MADE_CUBIN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tracegen::machine {

// A cubin for sm_80 with kernel "walk" and, behind it in the same section, its function "helper" (the last two
// instructions). It has attributes, shared memory, constants with a variable "table", a relocation, and the name of a
// tool.
struct MadeCubin {
  uint32_t instructions = 4;       // of the section
  std::vector<uint32_t> controls;  // control bits by instruction; 0x7f1 (stall 1, no barrier) where there are none
  std::string machine = "EM_CUDA";
  std::string abi = "0x41";
  uint32_t flags = 0x0A005004;
  std::string extra_info;  // hexadecimal, at the end of the kernel's attributes
  uint32_t helper_offset = 0x20;
  std::string extra_sections;  // YAML

  // The bytes of the file. Ends the test program if it cannot be made.
  std::string Bytes() const;
};

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TESTS_TRACEGEN_MACHINE_CUBIN_MADE_CUBIN_H_
