// Virtual thread blocks (VTW: Anantpur and Govindarajan, "Taming warp divergence", section 4.1): a kernel put into a
// loop over the blocks of its grid, and what that loop costs, counted in PTX.
#ifndef HEDDLE_TRACEGEN_PROGRAM_COMPILED_VIRTUAL_BLOCKS_H_
#define HEDDLE_TRACEGEN_PROGRAM_COMPILED_VIRTUAL_BLOCKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// How a warp learns which block of the grid comes next, and which thread of that block each of its threads is.
enum class NextIndices {
  // The paper's two instructions, each one instruction whose result nothing is known of. To be counted, not to be run.
  kHardware,
  // Half as many virtual blocks as the grid has (rounded up), each of which steps by their number; threads keep their
  // places, and a barrier of the block keeps the accesses of two iterations to shared memory apart. The other half of
  // the blocks that are launched ends at once. Computes what the kernel computes.
  kSoftware,
};

// Puts the kernel into the wrapper loop of the paper's figure 2: the indices of block and thread, in as many dimensions
// as the kernel reads, are computed from a number of the block and one of the thread; a return goes on with the next
// ones; what depends on neither moves out of the loop (section 4.3.1; LLVM's loop-invariant code motion). `kernel` is
// as Compile leaves it. Errors: a function that stays a call reads an index, or the kernel never returns.
absl::Status WrapInVirtualBlocks(llvm::Function& kernel, NextIndices next);

// What the wrapper costs a kernel. Instructions are those of the kernel's own PTX text.
struct VirtualBlockCost {
  std::string kernel;
  uint32_t instructions = 0;  // of the kernel as it is
  uint32_t registers = 0;     // per thread, of the kernel as it is
  int32_t extra_registers = 0;
  uint32_t once = 0;       // instructions of the wrapper in front of the loop
  uint32_t iteration = 0;  // of the wrapper in the loop: all that the loop has and the kernel has not
  uint32_t hoisted = 0;    // of the kernel, that have moved in front of the loop
  std::string failure;     // why there are no numbers; empty if there are
};

// Wraps every kernel of the module, generates PTX with and without the wrapper by the same passes, and counts. A kernel
// for which that fails (the errors of WrapInVirtualBlocks and Canonicalize) says so and does no harm to the others,
// which are measured one by one then. Errors: all kernels fail, the first one's; a module without kernels.
absl::StatusOr<std::vector<VirtualBlockCost>> MeasureVirtualBlocks(const llvm::Module& module,
                                                                   const std::string& target);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_COMPILED_VIRTUAL_BLOCKS_H_
