// Code for the device's mathematical functions, from the toolkit of the user. Only machine code needs it: everywhere
// else such a function is one instruction.
#ifndef HEDDLE_TRACEGEN_FRONTEND_LIBDEVICE_H_
#define HEDDLE_TRACEGEN_FRONTEND_LIBDEVICE_H_

#include <string>

#include "absl/status/status.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Whether the module calls a function of the library, whose names begin with __nv_.
bool CallsLibdevice(const llvm::Module& module);

// Puts into the module what it calls of the library at `path` (libdevice.10.bc), and optimises it with it, as clang
// does with a toolkit at hand. `unroll`: whether loops may be. Errors: a file that is no bitcode that LLVM 19 reads; a
// function that the library does not have, with its name.
absl::Status LinkLibdevice(llvm::Module& module, const std::string& path, const std::string& target, bool unroll);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_LIBDEVICE_H_
