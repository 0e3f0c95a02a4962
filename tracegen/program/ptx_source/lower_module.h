// PTX as the source: a module's text becomes canonical device code, and is itself the static program.
//
// What holds between the three:
// * The static program is the text: its instructions with their opcodes and registers, block by block. Blocks stand in
//   the order that all static programs have (reverse post-order, loops together). As everywhere, a jump to the next
//   instruction is left out; so is what no thread can come to. Calls of functions that the text only declares are one
//   instruction with the moves of their parameters in it.
// * Every range of the text that control enters at its top and leaves at its bottom (a FlowNode) is one block of IR.
//   Registers become values (LLVM's mem2reg and SROA); no pass moves, merges or removes a block or an access to memory.
//   So links from IR to the text are made while lowering, not found afterwards.
// * An instruction's accesses are one instruction of IR, which the recording stands in front of. Its debug line is the
//   number of the PTX instruction; CanonicalModule::lines says which line of the source, or of the text, that is.
//
// Guards (@p) of what is no branch. A trace knows which way a thread goes, not which instructions it passes over:
// * An instruction that only computes is executed by every thread; under a false guard it leaves its register as it
// was.
//   It counts as run, and reads its result's register besides.
// * What accesses memory, waits for other threads, calls or ends the thread is a block of its own, entered by the
//   threads whose guard holds: the block before it ends with a decision, 0 = the instruction, 1 = past it. Neighbours
//   under the same guard share the block.
// * Where such a decision has no instruction to stand behind (at a label, behind another guard) there is one more
//   instruction, "nop.join": a static program has no empty blocks. The same is done with imported traces.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LOWER_MODULE_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LOWER_MODULE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/program/static_program.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// Which functions of a module are lowered, by Module::functions.
using WantedFunctions = std::vector<bool>;

// Lowers the wanted functions, which include all that they can call, and all variables; CanonicalModule::ptx stays
// empty. `name` stands for the module in messages, and for the source where the text has no .loc; where the module is
// linked from several texts, their names do. `ptx_sha256` is of the text. Errors: what is not known, or has no meaning
// yet, with its line and text; functions that are called and neither defined nor known.
absl::StatusOr<CanonicalModule> LowerPtx(const ptx::Module& module, const WantedFunctions& wanted,
                                         const std::string& name, const std::string& ptx_sha256);

// Variables, and functions that do nothing: what the host sees, at little cost.
absl::StatusOr<CanonicalModule> DeclarePtx(const ptx::Module& module, const std::string& name);

// Parses and lowers all of a text that is a program of its own. Errors: also a text without kernels.
absl::StatusOr<CanonicalModule> ReadPtx(std::string_view text, const std::string& name);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LOWER_MODULE_H_
