// Image formats, regions of images, and samplers.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_IMAGE_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_IMAGE_H_

#include "tracegen/runtime/opencl/driver/device.h"
#include "tracegen/runtime/opencl/driver/memory.h"
#include "tracegen/runtime/opencl/driver/object.h"

struct _cl_sampler : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kSampler;
  _cl_sampler() : Object(kKind) {}

  heddle::opencl::Ref<_cl_context> context;
  bool normalized = false;
  cl_addressing_mode addressing = CL_ADDRESS_NONE;
  cl_filter_mode filter = CL_FILTER_NEAREST;
  uint64_t literal = 0;  // what kernels get: the bits of a sampler literal of OpenCL C
};

namespace heddle::opencl {

// How a format lies in memory: fills in channel type, channel order and bytes of a texel.
// CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if OpenCL has no such format, CL_IMAGE_FORMAT_NOT_SUPPORTED if the device does
// not.
cl_int DescribeFormat(const cl_image_format& format, HeddleImage* layout);

// A texel of `format` from the four values that clEnqueueFillImage gets: cl_float, cl_int or cl_uint each.
void PackTexel(const cl_image_format& format, const void* color, char* texel);

// Part of an image as bytes. `origin` and `region` are in texels as image functions have them (arrays: the layer is
// the last dimension in use). CL_INVALID_VALUE if the region does not lie in the image.
cl_int ImageBox(cl_mem image, const size_t* origin, const size_t* region, Box* box, Extent* extent);

// Pitches of host memory for a region: those given, or the smallest. CL_INVALID_VALUE if they are too small.
cl_int HostPitches(cl_mem image, const Extent& extent, size_t* row_pitch, size_t* slice_pitch);

// Dimensions of an image: how many entries of origin and region it uses.
int ImageDimensions(cl_mem_object_type type);
bool HasLayers(cl_mem_object_type type);

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_IMAGE_H_
