// The parts of the table of forms, by chapter of the PTX ISA manual.
#ifndef HEDDLE_TRACEGEN_PTX_FORMS_ROWS_H_
#define HEDDLE_TRACEGEN_PTX_FORMS_ROWS_H_

#include <span>

#include "tracegen/ptx/forms/form.h"

namespace heddle::tracegen::ptx {

std::span<const Form> IntegerRows();  // integer arithmetic, extended precision, logic and shift
std::span<const Form> FloatRows();    // floating point of all widths, comparison and selection, conversion
std::span<const Form> MemoryRows();   // moves, loads, stores, atomics, address conversion, caches
std::span<const Form> ControlRows();  // control flow, barriers, fences, warp operations, stack, miscellaneous
std::span<const Form> TextureRows();  // textures and surfaces
std::span<const Form> VideoRows();    // scalar and packed video
std::span<const Form> AsyncRows();    // asynchronous copies, mbarrier, clusters, multimem, tensor maps
std::span<const Form> MatrixRows();   // wmma, mma, wgmma, tcgen05, ldmatrix and relatives

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_FORMS_ROWS_H_
