// Images: creation, information, and which bytes a region is.
#include "tracegen/runtime/opencl/driver/image.h"

#include <algorithm>
#include <cstring>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/info.h"
#include "tracegen/runtime/opencl/driver/scheduler.h"

namespace heddle::opencl {
namespace {

// Width, height, depth and layers of a new image; unused ones become 1.
cl_int ReadDimensions(const cl_image_desc& description, HeddleImage* layout) {
  const size_t width = description.image_width, height = description.image_height, depth = description.image_depth;
  const size_t layers = description.image_array_size;
  size_t use[4] = {width, 1, 1, 1};
  size_t most[4] = {kMaxImageWidth, kMaxImageWidth, kMaxImageDepth, kMaxImageLayers};
  switch (description.image_type) {
    case CL_MEM_OBJECT_IMAGE1D:
      break;
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      most[0] = kMaxImageBufferTexels;
      break;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      use[3] = layers;
      break;
    case CL_MEM_OBJECT_IMAGE2D:
      use[1] = height;
      break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      use[1] = height;
      use[3] = layers;
      break;
    case CL_MEM_OBJECT_IMAGE3D:
      use[1] = height;
      use[2] = depth;
      most[0] = most[1] = kMaxImageDepth;
      break;
    default:
      return CL_INVALID_IMAGE_DESCRIPTOR;
  }
  for (int i = 0; i < 4; ++i) {
    if (use[i] == 0) return CL_INVALID_IMAGE_DESCRIPTOR;
    if (use[i] > most[i]) return CL_INVALID_IMAGE_SIZE;
  }
  layout->width = static_cast<uint32_t>(use[0]);
  layout->height = static_cast<uint32_t>(use[1]);
  layout->depth = static_cast<uint32_t>(use[2]);
  layout->layers = static_cast<uint32_t>(use[3]);
  return CL_SUCCESS;
}

// Pitches of the host memory that the image starts with. CL_INVALID_IMAGE_DESCRIPTOR if they do not fit.
cl_int ReadHostPitches(cl_mem image, const cl_image_desc& description, const void* host_ptr) {
  const size_t row = image->layout.row_bytes;
  size_t row_pitch = description.image_row_pitch, slice_pitch = description.image_slice_pitch;
  if (host_ptr == nullptr && image->type != CL_MEM_OBJECT_IMAGE1D_BUFFER && (row_pitch != 0 || slice_pitch != 0)) {
    return CL_INVALID_IMAGE_DESCRIPTOR;
  }
  if (row_pitch == 0) row_pitch = row;
  if (row_pitch < row || row_pitch % image->layout.texel_bytes != 0) return CL_INVALID_IMAGE_DESCRIPTOR;
  const size_t rows = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : image->layout.height;
  if (slice_pitch == 0) slice_pitch = rows * row_pitch;
  if (slice_pitch < rows * row_pitch || slice_pitch % row_pitch != 0) return CL_INVALID_IMAGE_DESCRIPTOR;
  image->host_row_pitch = row_pitch;
  image->host_slice_pitch = slice_pitch;
  return CL_SUCCESS;
}

// Memory for texels and descriptor; first contents.
cl_int Place(cl_mem image, const void* host_ptr) {
  HeddleImage& layout = image->layout;
  if (image->parent) {
    image->address = image->parent->address;
  } else if (cl_int error = Allocate(image, image->size, "clCreateImage"); error != CL_SUCCESS) {
    return error;
  }
  layout.data = image->address;
  const device::Result made = Client().Allocate(sizeof(HeddleImage), "clCreateImage, descriptor", &image->descriptor);
  if (cl_int error = ErrorCode(made); error != CL_SUCCESS) return error;
  std::memcpy(reinterpret_cast<void*>(image->descriptor), &layout, sizeof(layout));
  if (host_ptr == nullptr) return CL_SUCCESS;
  char* host = const_cast<char*>(static_cast<const char*>(host_ptr));
  const size_t slices = std::max(layout.depth, layout.layers);
  CopyBox({image->data(), layout.row_bytes, layout.slice_bytes}, {host, image->host_row_pitch, image->host_slice_pitch},
          {layout.row_bytes, layout.height, slices});
  NoteTransfer(device::TransferDirection::kHostToDevice, image->data(), image->size, nullptr);
  if ((image->flags & CL_MEM_USE_HOST_PTR) != 0) image->host_pointer = host;
  return CL_SUCCESS;
}

cl_mem MakeImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                 const cl_image_desc* description, void* host_ptr, cl_int* errcode_ret) {
  if (!IsValid(context)) return Fail<_cl_mem>(CL_INVALID_CONTEXT, errcode_ret);
  if (format == nullptr) return Fail<_cl_mem>(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, errcode_ret);
  if (description == nullptr) return Fail<_cl_mem>(CL_INVALID_IMAGE_DESCRIPTOR, errcode_ret);
  cl_int error = CheckFlags(flags, host_ptr);
  if (error != CL_SUCCESS) return Fail<_cl_mem>(error, errcode_ret);
  cl_mem image = Make<_cl_mem>();
  image->context = Ref<_cl_context>(context);
  image->flags = flags;
  image->type = description->image_type;
  image->format = *format;
  image->description = *description;
  HeddleImage& layout = image->layout;
  error = DescribeFormat(*format, &layout);
  if (error == CL_SUCCESS) error = ReadDimensions(*description, &layout);
  if (error == CL_SUCCESS) {
    layout.row_bytes = uint64_t{layout.width} * layout.texel_bytes;
    layout.slice_bytes = layout.row_bytes * layout.height;
    image->size = layout.slice_bytes * layout.depth * layout.layers;
    error = ReadHostPitches(image, *description, host_ptr);
  }
  const bool over_buffer = description->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  if (error == CL_SUCCESS && (over_buffer != (description->buffer != nullptr) || description->num_mip_levels != 0 ||
                              description->num_samples != 0)) {
    error = CL_INVALID_IMAGE_DESCRIPTOR;
  }
  if (error == CL_SUCCESS && over_buffer) {
    const cl_mem buffer = description->buffer;
    if (!IsValid(buffer) || !buffer->is_buffer()) {
      error = CL_INVALID_IMAGE_DESCRIPTOR;
    } else if (image->size > buffer->size) {
      error = CL_INVALID_IMAGE_SIZE;
    } else {
      image->parent = Ref<_cl_mem>(buffer);
    }
  }
  if (error == CL_SUCCESS && image->size > MaxAllocationBytes()) error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  if (error == CL_SUCCESS) error = Place(image, host_ptr);
  if (error != CL_SUCCESS) {
    ReleaseObject(image, CL_INVALID_MEM_OBJECT);
    return Fail<_cl_mem>(error, errcode_ret);
  }
  return Succeed(image, errcode_ret);
}

}  // namespace

int ImageDimensions(cl_mem_object_type type) {
  switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return 1;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    case CL_MEM_OBJECT_IMAGE2D:
      return 2;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
    case CL_MEM_OBJECT_IMAGE3D:
      return 3;
    default:
      return 0;
  }
}

bool HasLayers(cl_mem_object_type type) {
  return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

cl_int ImageBox(cl_mem image, const size_t* origin, const size_t* region, Box* box, Extent* extent) {
  if (origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
  const HeddleImage& layout = image->layout;
  // In the order of origin and region: a layer of a 1D array is its second dimension.
  const bool rows_are_layers = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const size_t size[3] = {layout.width, rows_are_layers ? layout.layers : layout.height,
                          rows_are_layers ? 1 : std::max(layout.depth, layout.layers)};
  for (int i = 0; i < 3; ++i) {
    if (region[i] == 0 || origin[i] > size[i] || region[i] > size[i] - origin[i]) return CL_INVALID_VALUE;
  }
  const size_t row = rows_are_layers ? layout.slice_bytes : layout.row_bytes;
  *box = {image->data() + origin[0] * layout.texel_bytes + origin[1] * row + origin[2] * layout.slice_bytes, row,
          layout.slice_bytes};
  *extent = {region[0] * layout.texel_bytes, region[1], region[2]};
  return CL_SUCCESS;
}

cl_int HostPitches(cl_mem image, const Extent& extent, size_t* row_pitch, size_t* slice_pitch) {
  // The layers of a 1D array are a slice pitch apart in host memory too.
  if (image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && *slice_pitch != 0) *row_pitch = *slice_pitch;
  if (*row_pitch == 0) *row_pitch = extent.width;
  if (*row_pitch < extent.width) return CL_INVALID_VALUE;
  if (ImageDimensions(image->type) < 3 || *slice_pitch == 0) *slice_pitch = *row_pitch * extent.height;
  return *slice_pitch < *row_pitch * extent.height ? CL_INVALID_VALUE : CL_SUCCESS;
}

cl_mem CL_API_CALL CreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                               const cl_image_desc* description, void* host_ptr, cl_int* errcode_ret) {
  return MakeImage(context, flags, format, description, host_ptr, errcode_ret);
}

cl_mem CL_API_CALL CreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* format, size_t width,
                                 size_t height, size_t row_pitch, void* host_ptr, cl_int* errcode_ret) {
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = width;
  description.image_height = height;
  description.image_row_pitch = row_pitch;
  if (width == 0 || height == 0) return Fail<_cl_mem>(CL_INVALID_IMAGE_SIZE, errcode_ret);
  return MakeImage(context, flags, format, &description, host_ptr, errcode_ret);
}

cl_mem CL_API_CALL CreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* format, size_t width,
                                 size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void* host_ptr,
                                 cl_int* errcode_ret) {
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE3D;
  description.image_width = width;
  description.image_height = height;
  description.image_depth = depth;
  description.image_row_pitch = row_pitch;
  description.image_slice_pitch = slice_pitch;
  if (width == 0 || height == 0 || depth == 0) return Fail<_cl_mem>(CL_INVALID_IMAGE_SIZE, errcode_ret);
  return MakeImage(context, flags, format, &description, host_ptr, errcode_ret);
}

cl_int CL_API_CALL GetImageInfo(cl_mem image, cl_image_info what, size_t room, void* value, size_t* needed) {
  if (!IsValid(image) || image->is_buffer()) return CL_INVALID_MEM_OBJECT;
  const Answer answer(room, value, needed);
  const HeddleImage& layout = image->layout;
  const int dimensions = ImageDimensions(image->type) - (HasLayers(image->type) ? 1 : 0);
  switch (what) {
    case CL_IMAGE_FORMAT:
      return answer.Value<cl_image_format>(image->format);
    case CL_IMAGE_ELEMENT_SIZE:
      return answer.Value<size_t>(layout.texel_bytes);
    case CL_IMAGE_ROW_PITCH:
      return answer.Value<size_t>(image->host_pointer != nullptr ? image->host_row_pitch : layout.row_bytes);
    case CL_IMAGE_SLICE_PITCH:
      if (dimensions < 3 && !HasLayers(image->type)) return answer.Value<size_t>(0);
      return answer.Value<size_t>(image->host_pointer != nullptr ? image->host_slice_pitch : layout.slice_bytes);
    case CL_IMAGE_WIDTH:
      return answer.Value<size_t>(layout.width);
    case CL_IMAGE_HEIGHT:
      return answer.Value<size_t>(dimensions >= 2 ? layout.height : 0);
    case CL_IMAGE_DEPTH:
      return answer.Value<size_t>(dimensions >= 3 ? layout.depth : 0);
    case CL_IMAGE_ARRAY_SIZE:
      return answer.Value<size_t>(HasLayers(image->type) ? layout.layers : 0);
    case CL_IMAGE_BUFFER:
      return answer.Value<cl_mem>(image->parent.get());
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
      return answer.Value<cl_uint>(0);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace heddle::opencl
