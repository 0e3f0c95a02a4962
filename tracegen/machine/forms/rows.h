// The parts of the table of forms, by chapter of the instruction set reference.
#ifndef HEDDLE_TRACEGEN_MACHINE_FORMS_ROWS_H_
#define HEDDLE_TRACEGEN_MACHINE_FORMS_ROWS_H_

#include <span>

#include "tracegen/machine/forms/form.h"

namespace heddle::tracegen::machine {

std::span<const Form> IntegerRows();  // integers, moves, predicates
std::span<const Form> FloatRows();    // floating point of all widths, conversions
std::span<const Form> MemoryRows();   // loads, stores, atomics, caches, textures
std::span<const Form> ControlRows();  // branches, barriers, warp operations, miscellaneous
std::span<const Form> MatrixRows();   // matrix and asynchronous instructions
std::span<const Form> UniformRows();  // the uniform datapath

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_FORMS_ROWS_H_
