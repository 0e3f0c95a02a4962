// A cubin: the ELF file that the assembler makes. What a loader and a simulator need of it.
#ifndef HEDDLE_TRACEGEN_MACHINE_CUBIN_CUBIN_H_
#define HEDDLE_TRACEGEN_MACHINE_CUBIN_CUBIN_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/machine/encoding/architecture.h"
#include "tracegen/machine/encoding/control.h"

namespace heddle::tracegen::machine {

// A place in a section that the loader fills with the address of a symbol.
struct Relocation {
  uint64_t offset = 0;
  uint32_t type = 0;  // the vendor's number
  std::string symbol;
  int64_t addend = 0;  // 0 where the section itself holds it

  bool operator==(const Relocation&) const = default;
};

struct FunctionSymbol {
  std::string name;
  uint64_t offset = 0;  // in its section
  uint64_t bytes = 0;
  bool is_kernel = false;

  bool operator==(const FunctionSymbol&) const = default;
};

// A variable of the program in a section of data.
struct VariableSymbol {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;

  bool operator==(const VariableSymbol&) const = default;
};

// A row of the line table: the instructions from this offset on come from there.
struct LineRow {
  uint64_t offset = 0;
  std::string file;
  uint32_t line = 0;

  bool operator==(const LineRow&) const = default;
};

// One section of code: a kernel, or a function of its own, with the functions that only it calls.
struct CodeSection {
  std::string function;  // of ".text.FUNCTION"
  std::vector<Encoding> code;
  std::vector<FunctionSymbol> functions;  // by offset; the first is at 0
  std::vector<Relocation> relocations;
  std::vector<LineRow> lines;  // by offset; empty without a line table
  uint32_t registers = 0;      // general registers per thread, as the assembler counted them
  uint32_t barriers = 0;       // of the block
  uint32_t static_shared_bytes = 0;
  uint32_t frame_bytes = 0;       // local memory per thread, of the function itself
  uint32_t stack_bytes = 0;       // local memory per thread, with all that it calls, where the assembler knows
  uint32_t parameter_offset = 0;  // in constant bank 0
  uint32_t parameter_bytes = 0;
  std::vector<uint8_t> constants0;  // the kernel's own part of bank 0, parameters included
  std::vector<uint8_t> constants2;  // literals of the assembler; empty if there are none
  // By offset of an indirect branch: the offsets it may lead to, in the assembler's order.
  std::map<uint64_t, std::vector<uint64_t>> indirect_targets;
};

struct Cubin {
  Architecture architecture = Architecture::kSm80;
  std::string assembler;  // name and version, as the file tells them; empty if it does not
  std::vector<CodeSection> sections;
  std::map<uint32_t, std::vector<uint8_t>> constants;                // banks that all functions share, by number
  std::map<uint32_t, std::vector<Relocation>> constant_relocations;  // by bank: addresses of variables and functions
  std::vector<VariableSymbol> constant_variables;                    // in bank 3, by offset
  std::vector<uint8_t> initialized_globals;
  uint64_t uninitialized_global_bytes = 0;

  const CodeSection* Find(std::string_view function) const;
};

// Reads a cubin. Errors: a file that is no cubin, or damaged; an architecture that we do not read; an attribute whose
// form we do not know; code that is no whole number of instructions. Every message names what and where.
absl::StatusOr<Cubin> ReadCubin(std::string_view bytes);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_CUBIN_CUBIN_H_
