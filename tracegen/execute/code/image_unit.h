// What a device's texture unit computes: addressing, filtering and conversion of texels.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_IMAGE_UNIT_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_IMAGE_UNIT_H_

#include <cstdint>

#include "tracegen/instrument/image_operation.h"
#include "tracegen/runtime/protocol/device_image.h"

namespace heddle::tracegen {

// Carries out one operation. values[0..] are the operands in the order of the PTX instruction (handles as numbers,
// coordinates as 32-bit integers or bits of floats) and then the results. `address` receives that of the texel: the one
// that is read or written; of a filtered fetch the one of the footprint with the lowest coordinates; of a border the
// nearest one inside. Null, or what is wrong: a handle that is none, coordinates outside a surface.
// Sources: CUDA C programming guide, appendix "Texture Fetching" (weights have 8 fractional bits); OpenCL 1.2
// specification, section 8.2 (addressing, conversion, border colours of sampler literals).
const char* AccessImage(const ImageOperation& operation, uint64_t* values, uint64_t* address);

// What txq and suq tell about an image; false if the handle is none.
bool QueryImage(uint64_t handle, ImageQuery query, uint32_t* result);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_IMAGE_UNIT_H_
