// One canonical IR, two sides: the static program read from its PTX text, and the links from every IR construct that
// executes to the part of the static program that it stands for.
#ifndef HEDDLE_TRACEGEN_PROGRAM_STATIC_PROGRAM_H_
#define HEDDLE_TRACEGEN_PROGRAM_STATIC_PROGRAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "proto/trace.pb.h"
#include "tracegen/program/code_index.h"

namespace heddle::tracegen {

// One PTX access that an IR access performs: at the IR access's address + offset.
struct AccessLink {
  uint32_t instruction = 0;  // index in the program
  // Position among the address columns of its PTX block, in PTX order: where the recorder must store the address within
  // the block's record, whatever order the IR has.
  uint32_t position = 0;
  uint32_t offset = 0;  // bytes
};

// What entering an IR block means.
struct BlockLink {
  uint32_t instructions = 0;  // PTX instructions executed by entering it (edge blocks excluded)
  uint32_t accesses = 0;      // addresses that its record holds
};

// What taking a successor of an IR terminator means.
struct EdgeLink {
  uint8_t decision = 0;       // value to record
  bool decides = false;       // false: the PTX block has one successor, nothing is recorded
  uint32_t instructions = 0;  // PTX instructions of unnamed blocks on the edge
  uint32_t accesses = 0;      // always 0 in code that LLVM generates; refused otherwise
};

// Links from IR to the program of one kernel. Functions that several kernels share have links per kernel.
// `accesses` has no entry for an access that PTX does not have (the code generator found it dead or forwarded it from a
// register), for accesses of parameter space, and for the copies of by-value arguments that a call makes: nothing is
// recorded for them.
struct KernelLinks {
  llvm::DenseMap<const llvm::BasicBlock*, BlockLink> blocks;
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<EdgeLink, 2>> edges;       // terminator -> per successor
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<AccessLink, 2>> accesses;  // loads, stores, atomics, ...
};

// One kernel of a module: its static program and the links into the canonical IR. Calls split blocks: after every call
// of a device function that stays a call, the canonical IR starts a new block, as PTX does.
struct KernelUnit {
  llvm::Function* function = nullptr;  // in CanonicalModule::module
  trace::v1::KernelProgram program;    // id is left at 0
  KernelLinks links;
};

struct LinkedFlows;

// Of a kernel's parameter: any argument of its size is one, as its type tells nothing more.
inline constexpr char kAnyArgumentAttribute[] = "heddle-any-argument";

// Where an instruction comes from; 0 = unknown.
struct SourceLine {
  uint32_t file = 0;  // 1 + index in CanonicalModule::source_files
  uint32_t line = 0;
};

// Canonical device code for nvptx64: ready to be retargeted, instrumented and executed, unchanged since PTX was made of
// it. Every instruction has a debug location whose line is its number from 1 in the module, and whose meaning is in
// `lines`. What can be called: intrinsics, functions of the module, math functions (MathMicroOps knows them), and
// __assertfail. There are no aggregate loads and stores, no memory intrinsics, no switches, no indirect calls.
struct CanonicalModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string ptx;
  CodeIndex index;  // of `module` and `ptx`
  // Of a module that came as PTX (ptx_source/lower_module.h): its functions with their links. Null otherwise: then both
  // are found from `index`.
  std::shared_ptr<const LinkedFlows> flows;
  std::vector<std::string> source_files;  // base names; Instruction.source_file counts from 1
  std::string compiler;                   // such as "clang 19.1.7", or "PTX 8.0"
  std::string target;                     // such as "sm_70"
  std::string producer;                   // of text that came as PTX: who made it, if it says so, such as "NVVM 13.0"
  std::string isa_version;                // likewise: of the instruction set, such as "8.0"
  std::vector<SourceLine> lines;          // of instruction number i at i - 1
  // Accesses that were made volatile so that the code generator keeps them where they are; the program's own are not
  // here.
  llvm::DenseSet<uint32_t> made_volatile;
  // Blocks whose branch all threads of a block decide alike (LLVM's uniformity analysis).
  llvm::DenseSet<const llvm::BasicBlock*> uniform;

  // "file:line" of an instruction of the module, or "an unknown line".
  std::string Where(const llvm::Instruction& instruction) const;
  std::string Where(uint32_t number) const;
};

// The module's PTX as a source for others: with the lines of the program's source, and without marks of ours.
std::string SourcePtx(const CanonicalModule& module);

// Reads the static program of one kernel from the module's PTX and links it to the IR.
// Errors: no such kernel (the known ones are listed); an IR access without PTX access or the reverse, or any other
// place where the two sides cannot be linked one to one, with the source line.
absl::StatusOr<KernelUnit> ReadKernel(const CanonicalModule& module, const std::string& kernel);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_STATIC_PROGRAM_H_
