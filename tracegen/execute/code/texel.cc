#include "tracegen/execute/code/texel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tracegen/execute/code/half_precision.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kOne = std::bit_cast<uint32_t>(1.0f);

// Where the channels of each order go: positions 0 to 3 for red to alpha, in the order of memory.
struct Order {
  uint32_t channels;
  uint8_t position[4];
};
constexpr Order kOrders[HEDDLE_ORDERS] = {
    {1, {0}},    {2, {0, 1}},       {3, {0, 1, 2}},    {4, {0, 1, 2, 3}}, {1, {3}},
    {2, {0, 3}}, {4, {2, 1, 0, 3}}, {4, {3, 0, 1, 2}}, {1, {0}},          {1, {0}},
};

struct PackedType {
  uint32_t bits;   // of a channel; red lies highest of three
  uint32_t bytes;  // of the texel
  uint32_t green_bits;
};
constexpr PackedType PackedOf(uint32_t type) {
  if (type == HEDDLE_CHANNEL_UNORM_565) return {5, 2, 6};
  if (type == HEDDLE_CHANNEL_UNORM_555) return {5, 2, 5};
  if (type == HEDDLE_CHANNEL_UNORM_101010) return {10, 4, 10};
  return {0, 0, 0};
}

uint32_t ChannelBytes(uint32_t type) {
  switch (type) {
    case HEDDLE_CHANNEL_SIGNED_8:
    case HEDDLE_CHANNEL_UNSIGNED_8:
    case HEDDLE_CHANNEL_SNORM_8:
    case HEDDLE_CHANNEL_UNORM_8:
      return 1;
    case HEDDLE_CHANNEL_SIGNED_16:
    case HEDDLE_CHANNEL_UNSIGNED_16:
    case HEDDLE_CHANNEL_SNORM_16:
    case HEDDLE_CHANNEL_UNORM_16:
    case HEDDLE_CHANNEL_HALF:
      return 2;
    default:
      return 4;
  }
}

template <typename T>
T Load(uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(T));
  return value;
}
template <typename T>
void Store(uint64_t address, T value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof(T));
}

uint32_t ReadChannel(uint32_t type, uint64_t address) {
  switch (type) {
    case HEDDLE_CHANNEL_SIGNED_8:
      return static_cast<uint32_t>(static_cast<int32_t>(Load<int8_t>(address)));
    case HEDDLE_CHANNEL_SIGNED_16:
      return static_cast<uint32_t>(static_cast<int32_t>(Load<int16_t>(address)));
    case HEDDLE_CHANNEL_UNSIGNED_8:
      return Load<uint8_t>(address);
    case HEDDLE_CHANNEL_UNSIGNED_16:
      return Load<uint16_t>(address);
    case HEDDLE_CHANNEL_SNORM_8:
      return Bits(std::max(-1.0f, static_cast<float>(Load<int8_t>(address)) / 127.0f));
    case HEDDLE_CHANNEL_SNORM_16:
      return Bits(std::max(-1.0f, static_cast<float>(Load<int16_t>(address)) / 32767.0f));
    case HEDDLE_CHANNEL_UNORM_8:
      return Bits(static_cast<float>(Load<uint8_t>(address)) / 255.0f);
    case HEDDLE_CHANNEL_UNORM_16:
      return Bits(static_cast<float>(Load<uint16_t>(address)) / 65535.0f);
    case HEDDLE_CHANNEL_HALF:
      return Bits(HalfToFloat(Load<uint16_t>(address)));
    default:
      return Load<uint32_t>(address);  // 32-bit integers and floats
  }
}

int32_t Saturate(uint32_t value, int32_t low, int32_t high) {
  return std::clamp(static_cast<int32_t>(value), low, high);
}

// A float in [low, 1] as an integer of the given greatest value.
int32_t Normalize(uint32_t bits, float low, float greatest) {
  const float value = Float(bits);
  if (std::isnan(value)) return 0;
  return static_cast<int32_t>(std::nearbyint(std::clamp(value, low, 1.0f) * greatest));
}

void WriteChannel(uint32_t type, uint64_t address, uint32_t value) {
  switch (type) {
    case HEDDLE_CHANNEL_SIGNED_8:
      return Store(address, static_cast<int8_t>(Saturate(value, -128, 127)));
    case HEDDLE_CHANNEL_SIGNED_16:
      return Store(address, static_cast<int16_t>(Saturate(value, -32768, 32767)));
    case HEDDLE_CHANNEL_UNSIGNED_8:
      return Store(address, static_cast<uint8_t>(std::min(value, 255u)));
    case HEDDLE_CHANNEL_UNSIGNED_16:
      return Store(address, static_cast<uint16_t>(std::min(value, 65535u)));
    case HEDDLE_CHANNEL_SNORM_8:
      return Store(address, static_cast<int8_t>(Normalize(value, -1.0f, 127.0f)));
    case HEDDLE_CHANNEL_SNORM_16:
      return Store(address, static_cast<int16_t>(Normalize(value, -1.0f, 32767.0f)));
    case HEDDLE_CHANNEL_UNORM_8:
      return Store(address, static_cast<uint8_t>(Normalize(value, 0.0f, 255.0f)));
    case HEDDLE_CHANNEL_UNORM_16:
      return Store(address, static_cast<uint16_t>(Normalize(value, 0.0f, 65535.0f)));
    case HEDDLE_CHANNEL_HALF:
      return Store(address, FloatToHalf(Float(value)));
    default:
      return Store(address, value);
  }
}

}  // namespace

bool ReadsAsFloat(const HeddleImage& image) { return image.channel_type >= HEDDLE_CHANNEL_SNORM_8; }

bool IsValidImage(const HeddleImage& image) {
  if (image.data == 0 || image.channel_type >= HEDDLE_CHANNEL_TYPES || image.channel_order >= HEDDLE_ORDERS)
    return false;
  if (image.width == 0 || image.height == 0 || image.depth == 0 || image.layers == 0) return false;
  const PackedType packed = PackedOf(image.channel_type);
  const uint32_t bytes =
      packed.bytes != 0 ? packed.bytes : kOrders[image.channel_order].channels * ChannelBytes(image.channel_type);
  return image.texel_bytes >= bytes;
}

Texel ReadTexel(const HeddleImage& image, uint64_t address) {
  const uint32_t one = ReadsAsFloat(image) ? kOne : 1;
  Texel texel = {0, 0, 0, image.missing_alpha_is_zero ? 0 : one};
  if (const PackedType packed = PackedOf(image.channel_type); packed.bytes != 0) {
    const uint32_t all = packed.bytes == 2 ? Load<uint16_t>(address) : Load<uint32_t>(address);
    auto channel = [](uint32_t bits, uint32_t count) {
      const uint32_t most = (1u << count) - 1;
      return Bits(static_cast<float>(bits & most) / static_cast<float>(most));
    };
    texel[0] = channel(all >> (packed.bits + packed.green_bits), packed.bits);
    texel[1] = channel(all >> packed.bits, packed.green_bits);
    texel[2] = channel(all, packed.bits);
    return texel;
  }
  const Order& order = kOrders[image.channel_order];
  const uint32_t step = ChannelBytes(image.channel_type);
  for (uint32_t i = 0; i < order.channels; ++i) {
    texel[order.position[i]] = ReadChannel(image.channel_type, address + uint64_t{i} * step);
  }
  if (image.channel_order == HEDDLE_ORDER_LUMINANCE) texel = {texel[0], texel[0], texel[0], one};
  if (image.channel_order == HEDDLE_ORDER_INTENSITY) texel.fill(texel[0]);
  return texel;
}

void WriteTexel(const HeddleImage& image, uint64_t address, const Texel& texel) {
  if (const PackedType packed = PackedOf(image.channel_type); packed.bytes != 0) {
    auto channel = [](uint32_t bits, uint32_t count) {
      return static_cast<uint32_t>(Normalize(bits, 0.0f, static_cast<float>((1u << count) - 1)));
    };
    const uint32_t all = channel(texel[0], packed.bits) << (packed.bits + packed.green_bits) |
                         channel(texel[1], packed.green_bits) << packed.bits | channel(texel[2], packed.bits);
    if (packed.bytes == 2) {
      Store(address, static_cast<uint16_t>(all));
    } else {
      Store(address, all);
    }
    return;
  }
  const Order& order = kOrders[image.channel_order];
  const uint32_t step = ChannelBytes(image.channel_type);
  for (uint32_t i = 0; i < order.channels; ++i) {
    WriteChannel(image.channel_type, address + uint64_t{i} * step, texel[order.position[i]]);
  }
}

}  // namespace heddle::tracegen
