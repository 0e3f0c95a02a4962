// What accesses to members and copies of structures promise about their addresses.
#ifndef HEDDLE_TRACEGEN_PROGRAM_ELEMENT_ALIGNMENT_H_
#define HEDDLE_TRACEGEN_PROGRAM_ELEMENT_ALIGNMENT_H_

#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// Takes back what clang concludes from the type alone: an access to `p->x`, x being the first int of an int2, counts as
// aligned to 8 bytes, and the load-store vectorizer makes one access of 8 bytes of it and of one to `p->y`. Programs
// place such structures at odd addresses and access members only, each of which is aligned. Afterwards an access to a
// member promises the alignment of its own size; copies of whole structures (`a = *p`) keep what their type promises,
// and so do accesses whose place is known, as in a variable. To be called before the code generator's passes.
void LowerMemberAlignment(llvm::Module& module);

// Gives copies and fills the alignment that is certain. For `*reinterpret_cast<int4*>(&tile[8 * i])` clang promises no
// more than an element of the declared array has, so that a copy of 16 bytes to an array of `half` would be eight
// accesses. The variable's own alignment and the index tell more: here 16, if the array is aligned to that. To be
// called before copies are taken apart.
void RaiseCopyAlignment(llvm::Module& module);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_ELEMENT_ALIGNMENT_H_
