// CUDA source that a program hands over when it runs (NVRTC), compiled by clang.
//
// What the program gets, and why:
// * PTX is text for people and for cuModuleLoadData. It is printed from the canonical code, as `heddle capture
//   --emit-ptx` does, so that a kernel that is loaded from it has the instructions, decisions and addresses that it has
//   when it is compiled beforehand. Code without a canonical form, as it is to be linked or holds something that
//   capture refuses, is printed as a part of a program: what is wrong is told where it is loaded.
// * The image (nvrtcGetCUBIN) is what heddle-nvcc -cubin makes: bitcode behind lines of text. It links with objects of
//   heddle-nvcc -rdc=true, and what a trace says of such a kernel does not depend on when it was compiled.
#ifndef HEDDLE_TRACEGEN_FRONTEND_RUNTIME_COMPILATION_H_
#define HEDDLE_TRACEGEN_FRONTEND_RUNTIME_COMPILATION_H_

#include "tracegen/frontend/run_clang.h"
#include "tracegen/runtime/protocol/device_types.h"
#include "tracegen/runtime/protocol/messages.h"

namespace heddle::tracegen {

// Sources come from strangers and may include endless files or templates.
inline constexpr ClangLimits kRuntimeCompilationLimits = {.seconds = 300, .megabytes = 4096};

// Compiles in a process of its own, without any header of the host but those in folders that -I names. Clang's messages
// are in `reply->log`, also on failure, with the program's name. Errors: kInvalidValue for an option (the log names
// it), kBuildFailure for a source that does not compile or takes more than `limits`, kNoDevice if there is no clang.
device::Result CompileCudaText(const device::CompileCudaRequest& request, const ClangLimits& limits,
                               device::CompiledCuda* reply);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_RUNTIME_COMPILATION_H_
