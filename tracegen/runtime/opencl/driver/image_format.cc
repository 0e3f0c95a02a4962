// Formats of images: which there are, and how their texels lie in memory.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/image.h"

namespace heddle::opencl {
namespace {

struct Order {
  cl_channel_order name;
  uint32_t order;     // HeddleChannelOrder
  uint32_t channels;  // in memory
};
constexpr Order kOrders[] = {
    {CL_R, HEDDLE_ORDER_R, 1},       {CL_Rx, HEDDLE_ORDER_R, 1},
    {CL_A, HEDDLE_ORDER_A, 1},       {CL_INTENSITY, HEDDLE_ORDER_INTENSITY, 1},
    {CL_RG, HEDDLE_ORDER_RG, 2},     {CL_LUMINANCE, HEDDLE_ORDER_LUMINANCE, 1},
    {CL_RGx, HEDDLE_ORDER_RG, 2},    {CL_RA, HEDDLE_ORDER_RA, 2},
    {CL_RGB, HEDDLE_ORDER_RGB, 3},   {CL_RGBx, HEDDLE_ORDER_RGB, 3},
    {CL_RGBA, HEDDLE_ORDER_RGBA, 4}, {CL_BGRA, HEDDLE_ORDER_BGRA, 4},
    {CL_ARGB, HEDDLE_ORDER_ARGB, 4},
};

struct Type {
  cl_channel_type name;
  uint32_t type;   // HeddleChannelType
  uint32_t bytes;  // of a channel; of a whole texel for packed types
};
constexpr Type kTypes[] = {
    {CL_SNORM_INT8, HEDDLE_CHANNEL_SNORM_8, 1},
    {CL_SNORM_INT16, HEDDLE_CHANNEL_SNORM_16, 2},
    {CL_UNORM_INT8, HEDDLE_CHANNEL_UNORM_8, 1},
    {CL_UNORM_INT16, HEDDLE_CHANNEL_UNORM_16, 2},
    {CL_SIGNED_INT8, HEDDLE_CHANNEL_SIGNED_8, 1},
    {CL_SIGNED_INT16, HEDDLE_CHANNEL_SIGNED_16, 2},
    {CL_SIGNED_INT32, HEDDLE_CHANNEL_SIGNED_32, 4},
    {CL_UNSIGNED_INT8, HEDDLE_CHANNEL_UNSIGNED_8, 1},
    {CL_UNSIGNED_INT16, HEDDLE_CHANNEL_UNSIGNED_16, 2},
    {CL_UNSIGNED_INT32, HEDDLE_CHANNEL_UNSIGNED_32, 4},
    {CL_HALF_FLOAT, HEDDLE_CHANNEL_HALF, 2},
    {CL_FLOAT, HEDDLE_CHANNEL_FLOAT, 4},
    {CL_UNORM_SHORT_565, HEDDLE_CHANNEL_UNORM_565, 2},
    {CL_UNORM_SHORT_555, HEDDLE_CHANNEL_UNORM_555, 2},
    {CL_UNORM_INT_101010, HEDDLE_CHANNEL_UNORM_101010, 4},
};

bool IsPacked(cl_channel_type type) {
  return type == CL_UNORM_SHORT_565 || type == CL_UNORM_SHORT_555 || type == CL_UNORM_INT_101010;
}
bool IsNormalized(cl_channel_type type) {
  return type == CL_SNORM_INT8 || type == CL_SNORM_INT16 || type == CL_UNORM_INT8 || type == CL_UNORM_INT16;
}

// Table 5.7 and what goes with it in OpenCL 1.2, section 5.3.1.1.
bool GoTogether(cl_channel_order order, cl_channel_type type) {
  switch (order) {
    case CL_RGB:
    case CL_RGBx:
      return IsPacked(type);
    case CL_INTENSITY:
    case CL_LUMINANCE:
      return IsNormalized(type) || type == CL_HALF_FLOAT || type == CL_FLOAT;
    case CL_BGRA:
    case CL_ARGB:
      return type == CL_UNORM_INT8 || type == CL_SNORM_INT8 || type == CL_SIGNED_INT8 || type == CL_UNSIGNED_INT8;
    default:
      return !IsPacked(type);
  }
}

const Order* FindOrder(cl_channel_order name) {
  auto found = std::find_if(std::begin(kOrders), std::end(kOrders), [&](const Order& o) { return o.name == name; });
  return found == std::end(kOrders) ? nullptr : found;
}
const Type* FindType(cl_channel_type name) {
  auto found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const Type& t) { return t.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

// To nearest even, with infinity beyond the greatest half.
uint16_t HalfBits(float value) {
  if (std::isnan(value)) return 0x7e00;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  if (magnitude < 0x1p-14f) return sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f));
  int exponent = 0;
  const float fraction = std::frexp(magnitude, &exponent);
  const auto mantissa = static_cast<uint32_t>(std::nearbyint(fraction * 2048.0f));
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(exponent + 13) << 10) + mantissa));
}

// OpenCL 1.2, section 8.3.1: saturated, to nearest even.
int64_t Normalized(float value, float scale, int64_t low, int64_t high) {
  if (std::isnan(value)) return 0;
  const float scaled = std::nearbyint(value * scale);
  if (scaled <= static_cast<float>(low)) return low;
  return scaled >= static_cast<float>(high) ? high : static_cast<int64_t>(scaled);
}

template <typename T>
void Store(char* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

void PackChannel(cl_channel_type type, const char* value, char* to) {
  float real;
  int32_t number;
  uint32_t natural;
  std::memcpy(&real, value, sizeof(real));
  std::memcpy(&number, value, sizeof(number));
  std::memcpy(&natural, value, sizeof(natural));
  switch (type) {
    case CL_SNORM_INT8:
      return Store(to, static_cast<int8_t>(Normalized(real, 127, -128, 127)));
    case CL_SNORM_INT16:
      return Store(to, static_cast<int16_t>(Normalized(real, 32767, -32768, 32767)));
    case CL_UNORM_INT8:
      return Store(to, static_cast<uint8_t>(Normalized(real, 255, 0, 255)));
    case CL_UNORM_INT16:
      return Store(to, static_cast<uint16_t>(Normalized(real, 65535, 0, 65535)));
    case CL_SIGNED_INT8:
      return Store(to, static_cast<int8_t>(std::clamp(number, -128, 127)));
    case CL_SIGNED_INT16:
      return Store(to, static_cast<int16_t>(std::clamp(number, -32768, 32767)));
    case CL_UNSIGNED_INT8:
      return Store(to, static_cast<uint8_t>(std::min(natural, 255u)));
    case CL_UNSIGNED_INT16:
      return Store(to, static_cast<uint16_t>(std::min(natural, 65535u)));
    case CL_HALF_FLOAT:
      return Store(to, HalfBits(real));
    default:  // 32 bits as they are
      return Store(to, natural);
  }
}

// Red, green, blue as one number, red in the highest bits.
void PackTogether(cl_channel_type type, const char* color, char* texel) {
  float rgb[3];
  std::memcpy(rgb, color, sizeof(rgb));
  auto bits = [&](int channel, int count) {
    const int64_t most = (int64_t{1} << count) - 1;
    return static_cast<uint32_t>(Normalized(rgb[channel], static_cast<float>(most), 0, most));
  };
  if (type == CL_UNORM_INT_101010) return Store(texel, bits(0, 10) << 20 | bits(1, 10) << 10 | bits(2, 10));
  if (type == CL_UNORM_SHORT_555)
    return Store(texel, static_cast<uint16_t>(bits(0, 5) << 10 | bits(1, 5) << 5 | bits(2, 5)));
  Store(texel, static_cast<uint16_t>(bits(0, 5) << 11 | bits(1, 6) << 5 | bits(2, 5)));
}

}  // namespace

cl_int DescribeFormat(const cl_image_format& format, HeddleImage* layout) {
  const Order* order = FindOrder(format.image_channel_order);
  const Type* type = FindType(format.image_channel_data_type);
  if (order == nullptr || type == nullptr) return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
  if (!GoTogether(order->name, type->name)) return CL_IMAGE_FORMAT_NOT_SUPPORTED;
  layout->channel_order = order->order;
  layout->channel_type = type->type;
  layout->texel_bytes = IsPacked(type->name) ? type->bytes : type->bytes * order->channels;
  return CL_SUCCESS;
}

void PackTexel(const cl_image_format& format, const void* color, char* texel) {
  const char* values = static_cast<const char*>(color);
  const cl_channel_type type = format.image_channel_data_type;
  if (IsPacked(type)) return PackTogether(type, values, texel);
  // Which of red, green, blue, alpha lies first, second, ... in memory.
  static constexpr int kRgba[] = {0, 1, 2, 3}, kAlpha[] = {3}, kRedAlpha[] = {0, 3}, kBgra[] = {2, 1, 0, 3},
                       kArgb[] = {3, 0, 1, 2};
  const int* from = kRgba;
  switch (format.image_channel_order) {
    case CL_A:
      from = kAlpha;
      break;
    case CL_RA:
      from = kRedAlpha;
      break;
    case CL_BGRA:
      from = kBgra;
      break;
    case CL_ARGB:
      from = kArgb;
      break;
    default:
      break;
  }
  const uint32_t bytes = FindType(type)->bytes;
  for (uint32_t i = 0; i < FindOrder(format.image_channel_order)->channels; ++i) {
    PackChannel(type, values + 4 * from[i], texel + i * bytes);
  }
}

cl_int CL_API_CALL GetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                            cl_uint count, cl_image_format* formats, cl_uint* available) {
  if (!IsValid(context)) return CL_INVALID_CONTEXT;
  if (CheckFlags(flags, (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0 ? &flags : nullptr) != CL_SUCCESS ||
      (ImageDimensions(type) == 0) || (formats != nullptr && count == 0)) {
    return CL_INVALID_VALUE;
  }
  cl_uint found = 0;
  for (const Order& order : kOrders) {
    for (const Type& channel : kTypes) {
      if (!GoTogether(order.name, channel.name)) continue;
      if (formats != nullptr && found < count) formats[found] = {order.name, channel.name};
      ++found;
    }
  }
  if (available != nullptr) *available = found;
  return CL_SUCCESS;
}

}  // namespace heddle::opencl
