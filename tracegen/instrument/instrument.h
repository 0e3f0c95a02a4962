// The pass: canonical device IR becomes host code that computes what the device computes and records what each thread does.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_INSTRUMENT_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_INSTRUMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

struct InstrumentedKernel {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;   // host triple; defines `void entry(ThreadContext*, const void* const* args)`
  std::string entry;
  bool meets_warp = false;                // uses shuffles, votes or other operations that meet the warp's threads
  bool has_barriers = false;
  uint32_t static_shared_bytes = 0;
  uint32_t local_bytes = 0;               // per thread, deepest known frame; recursion grows it
  std::vector<std::string> warnings;
};

// Makes the host side of one kernel. With `record` false the code only computes: the native run that invariants compare
// with. PTX semantics hold: shifts by the width or more, saturating conversions, no trap on division by zero.
// Errors name the construct that is not supported and its source line.
absl::StatusOr<InstrumentedKernel> Instrument(const CanonicalModule& module, const KernelUnit& unit, bool record);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_INSTRUMENT_H_
