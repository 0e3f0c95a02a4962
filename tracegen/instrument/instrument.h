// The pass: canonical device IR becomes host code that computes what the device computes and records what each thread
// does.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_INSTRUMENT_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_INSTRUMENT_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "tracegen/instrument/global_layout.h"
#include "tracegen/instrument/kernel_interface.h"
#include "tracegen/instrument/thread_context.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

// A place in the source, for messages.
struct Site {
  std::string file;   // base name, empty = unknown
  uint32_t line = 0;  // 0 = unknown
  std::string ToString() const;
  bool operator==(const Site&) const = default;
};

// What an IR block records; ThreadOwn::location counts these from 1. Code that does not record has these for the
// places where it yields, without accesses.
struct RecordedBlock {
  Site site;
  std::vector<uint32_t> access_instructions;  // by position: the PTX instruction in the program
  std::vector<uint32_t> access_bytes;         // by position
  std::vector<Site> access_sites;             // by position
  // By position: a number that stands for the constant that is stored, the same for the same bytes of a kernel; 0 = it
  // is none, or no store.
  std::vector<uint32_t> access_constants;

  // Whether all accesses are at the same place in the source. If not, ThreadOwn::block_base tells which one failed.
  bool OneSite() const {
    return std::adjacent_find(access_sites.begin(), access_sites.end(), std::not_equal_to()) == access_sites.end();
  }
};

// A loop in which a thread may wait for a change of memory: it polls memory, and nothing that decides whether and where
// the loop goes on must change from one iteration to the next.
struct WaitSite {
  Site site;                 // of the access that polls
  uint32_t instruction = 0;  // that polls, in the program
  // Lowest and highest instruction of the loop that accesses memory.
  uint32_t first_access = 0;
  uint32_t last_access = 0;
  bool meets_block = false;  // every iteration passes a barrier of the whole block
};

// A barrier of which all numbers are known when the kernel is compiled.
struct FrameBarrier {
  uint32_t site = 0;
  uint32_t id = 0;
  uint32_t threads = 0;  // 0 = all of the block
  BarrierReduction reduction = BarrierReduction::kNone;
};

// In what form a kernel is made.
struct KernelForm {
  bool record = true;       // false: the code only computes, which is the native run that invariants compare with
  bool lockstep = false;    // threads stop in front of each access to memory that others may see (kLockstepFunction)
  bool own_stacks = false;  // threads wait at barriers on stacks of their own, as everywhere else
};

struct InstrumentedKernel {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // host triple; defines `void entry(ThreadContext*, const void* const* args)`
  std::string entry;
  std::string name;           // as shown in messages
  bool has_matrices = false;  // matrix instructions
  bool meets_warp = false;    // uses shuffles, votes or other operations that meet the warp's threads
  bool follows_code = false;  // its code has convergence barriers, which say what lanes of a warp are together
  bool has_barriers = false;
  uint32_t kernel_instructions = 0;  // PTX instructions of the kernel itself; those of its functions come behind them
  bool uses_local = false;
  bool uses_heap = false;            // malloc, free, new or delete in device code
  bool asks_grid_workspace = false;  // reads where the driver's memory for barriers of the whole grid lies
  uint32_t static_shared_bytes = 0;
  KernelBounds bounds;
  std::vector<KernelParameter> parameters;
  std::vector<Site> sites;            // what the site numbers passed to the runtime mean
  std::vector<RecordedBlock> blocks;  // location - 1
  std::vector<WaitSite> waits;        // what kSpinFunction's numbers mean; empty: no thread can wait in a loop
  // Accesses on whose outcome alone it depends whether their loop ends: atomic operations that try to take a lock, and
  // loads.
  std::vector<uint32_t> awaited;
  // Not 0: at the barriers below a thread leaves a frame of so many bytes in ThreadContext::frame (its first word is
  // the function that goes on with it, `void resume(void* frame)`) and returns, with ThreadContext::frame_barrier
  // saying why.
  uint64_t frame_bytes = 0;
  std::vector<FrameBarrier> barriers;  // frame_barrier - 1
  // Most that a thread adds to its record between two looks at its limits.
  uint64_t step_addresses = 0;
  uint64_t step_decisions = 0;
  std::vector<std::string> warnings;
};

// Makes the host side of one kernel. PTX semantics hold: shifts by the width or more, saturating conversions, no trap
// on division by zero. `globals` places the module's variables and must be the same for all kernels of a module. Errors
// name the construct that is not supported and its source line.
absl::StatusOr<InstrumentedKernel> Instrument(const CanonicalModule& module, const KernelUnit& unit,
                                              const GlobalLayout& globals, const KernelForm& form);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_INSTRUMENT_H_
