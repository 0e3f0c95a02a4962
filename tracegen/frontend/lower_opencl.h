// What clang leaves of OpenCL C for a vendor's library, in the terms of PTX.
#ifndef HEDDLE_TRACEGEN_FRONTEND_LOWER_OPENCL_H_
#define HEDDLE_TRACEGEN_FRONTEND_LOWER_OPENCL_H_

#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Changes a module that clang has compiled from OpenCL C; one that has been changed before stays as it is.
//  * A kernel that another one calls is copied: PTX cannot call kernels.
//  * printf(format, ...) becomes vprintf(format, address of the arguments one after the other), the form that the PTX
//  of
//    CUDA programs has. Scalars are promoted as in C.
//  * An element of a vector whose number is computed is chosen among all elements. LLVM would do it through memory of
//  the
//    stack that no instruction of the module accesses, so a trace could not hold it.
//  * A sampler that is initialized in the program is its literal's bits.
void LowerOpenCl(llvm::Module& module);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_LOWER_OPENCL_H_
