#include "tracegen/execute/code/image_unit.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tracegen/execute/code/texel.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kMostLevels = 32;

// Bits of OpenCL's sampler literals (opencl-c-base.h).
constexpr uint64_t kLiteralNormalized = 1;
constexpr uint64_t kLiteralLinear = 0x20;
constexpr uint64_t kLiteralAddressMask = 0xe;
constexpr uint64_t kLiteralAddressClamp = 4;
constexpr uint64_t kLiteralAddressRepeat = 6;
constexpr uint64_t kLiteralAddressMirror = 8;

bool InGlobalMemory(uint64_t address, uint64_t bytes) {
  return address >= kGlobalBase && address - kGlobalBase <= kGlobalBytes - bytes;
}

const HeddleImage* ImageAt(uint64_t handle) {
  if (handle % 8 != 0 || !InGlobalMemory(handle, sizeof(HeddleImage))) return nullptr;
  const auto* image = reinterpret_cast<const HeddleImage*>(handle);
  return IsValidImage(*image) ? image : nullptr;
}

HeddleSampler SamplerOfLiteral(uint64_t bits, const HeddleImage& image) {
  HeddleSampler sampler = {};
  const uint64_t mode = bits & kLiteralAddressMask;
  const uint32_t address_mode = mode == kLiteralAddressClamp    ? HEDDLE_ADDRESS_BORDER
                                : mode == kLiteralAddressRepeat ? HEDDLE_ADDRESS_WRAP
                                : mode == kLiteralAddressMirror ? HEDDLE_ADDRESS_MIRROR
                                                                : HEDDLE_ADDRESS_CLAMP;
  std::fill(std::begin(sampler.address_mode), std::end(sampler.address_mode), address_mode);
  sampler.filter_mode = (bits & kLiteralLinear) != 0 ? HEDDLE_FILTER_LINEAR : HEDDLE_FILTER_POINT;
  sampler.normalized = bits & kLiteralNormalized;
  const uint32_t order = image.channel_order;
  const bool opaque = order <= HEDDLE_ORDER_RGB || order == HEDDLE_ORDER_LUMINANCE;
  sampler.border[3] = opaque ? 1.0f : 0.0f;
  return sampler;
}

// The texel that an index means in one dimension; -1 = the border.
int64_t Resolve(int64_t index, int64_t size, uint32_t mode) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case HEDDLE_ADDRESS_WRAP:
      return ((index % size) + size) % size;
    case HEDDLE_ADDRESS_MIRROR: {
      const int64_t folded = ((index % (2 * size)) + 2 * size) % (2 * size);
      return folded < size ? folded : 2 * size - 1 - folded;
    }
    case HEDDLE_ADDRESS_BORDER:
      return -1;
    default:
      return std::clamp<int64_t>(index, 0, size - 1);
  }
}

// One fetch, filtered or not, of one level of an image.
class Fetch {
 public:
  Fetch(const HeddleImage& image, const HeddleSampler& sampler, uint32_t dimensions, uint32_t layer)
      : image_(image), sampler_(sampler), dimensions_(dimensions), layer_(std::min(layer, image.layers - 1)) {
    size_[0] = image.width;
    size_[1] = image.height;
    size_[2] = image.depth;
    for (uint32_t d = 0; d < 3; ++d) {
      mode_[d] = sampler.address_mode[d];
      const bool folds = mode_[d] == HEDDLE_ADDRESS_WRAP || mode_[d] == HEDDLE_ADDRESS_MIRROR;
      if (folds && !sampler.normalized) mode_[d] = HEDDLE_ADDRESS_CLAMP;
    }
  }

  void AllBorders() { std::fill(std::begin(mode_), std::end(mode_), static_cast<uint32_t>(HEDDLE_ADDRESS_BORDER)); }

  Texel AtIntegers(const int64_t* index) {
    address_ = AddressOf(index);
    return Read(index);
  }

  Texel AtPoint(const float* coordinates) {
    int64_t index[3] = {};
    for (uint32_t d = 0; d < dimensions_; ++d) index[d] = Floor(Scaled(coordinates[d], d));
    return AtIntegers(index);
  }

  // The footprint of a filtered fetch: lowest texel and weights of the upper ones.
  void Footprint(const float* coordinates, int64_t* low, float* weight) {
    for (uint32_t d = 0; d < dimensions_; ++d) {
      const float at = Scaled(coordinates[d], d) - 0.5f;
      low[d] = Floor(at);
      // Fixed point with 8 fractional bits.
      weight[d] = std::nearbyint((at - std::floor(at)) * 256.0f) / 256.0f;
    }
    address_ = AddressOf(low);
  }

  Texel AtLinear(const float* coordinates) {
    int64_t low[3] = {};
    float weight[3] = {};
    Footprint(coordinates, low, weight);
    float sum[4] = {};
    for (uint32_t corner = 0; corner < 1u << dimensions_; ++corner) {
      int64_t index[3] = {};
      float share = 1.0f;
      for (uint32_t d = 0; d < dimensions_; ++d) {
        const bool upper = corner >> d & 1;
        index[d] = low[d] + upper;
        share *= upper ? weight[d] : 1.0f - weight[d];
      }
      if (share == 0.0f) continue;
      const Texel texel = Read(index);
      for (uint32_t c = 0; c < 4; ++c) sum[c] += share * Float(texel[c]);
    }
    return {Bits(sum[0]), Bits(sum[1]), Bits(sum[2]), Bits(sum[3])};
  }

  Texel Read(const int64_t* index) const {
    int64_t at[3] = {};
    for (uint32_t d = 0; d < dimensions_; ++d) {
      at[d] = Resolve(index[d], size_[d], mode_[d]);
      if (at[d] < 0) return Border();
    }
    return ReadTexel(image_, Address(at));
  }

  uint64_t address() const { return address_; }

 private:
  Texel Border() const {
    Texel texel;
    for (uint32_t c = 0; c < 4; ++c) {
      const float value = sampler_.border[c];
      texel[c] = ReadsAsFloat(image_) ? Bits(value) : static_cast<uint32_t>(static_cast<int32_t>(value));
    }
    return texel;
  }

  // A coordinate in texels. Wrapping and mirroring happen before, so that large coordinates keep their precision.
  float Scaled(float coordinate, uint32_t d) const {
    if (!sampler_.normalized) return coordinate;
    if (mode_[d] == HEDDLE_ADDRESS_WRAP) coordinate -= std::floor(coordinate);
    if (mode_[d] == HEDDLE_ADDRESS_MIRROR) {
      const float whole = std::floor(coordinate);
      const float fraction = coordinate - whole;
      coordinate = std::fmod(whole, 2.0f) == 0.0f ? fraction : 1.0f - fraction;
    }
    return coordinate * static_cast<float>(size_[d]);
  }

  static int64_t Floor(float value) {
    if (std::isnan(value)) return 0;
    return static_cast<int64_t>(std::floor(std::clamp(value, -1e9f, 1e9f)));
  }

  uint64_t Address(const int64_t* at) const {
    return image_.data + static_cast<uint64_t>(at[0]) * image_.texel_bytes +
           static_cast<uint64_t>(at[1]) * image_.row_bytes +
           (static_cast<uint64_t>(at[2]) + layer_) * image_.slice_bytes;
  }

  uint64_t AddressOf(const int64_t* index) const {
    int64_t at[3] = {};
    for (uint32_t d = 0; d < dimensions_; ++d) {
      at[d] = Resolve(index[d], size_[d], mode_[d]);
      if (at[d] < 0) at[d] = std::clamp<int64_t>(index[d], 0, size_[d] - 1);
    }
    return Address(at);
  }

  const HeddleImage& image_;
  const HeddleSampler& sampler_;
  uint32_t dimensions_;
  uint32_t layer_;
  int64_t size_[3];
  uint32_t mode_[3];
  uint64_t address_ = 0;
};

// The face of a cube that a direction meets, and where (CUDA C programming guide, "Cubemap Textures").
uint32_t CubeFace(const float* direction, float* coordinates) {
  const float x = direction[0], y = direction[1], z = direction[2];
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  uint32_t face;
  float s, t, m;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
    m = ax;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
    m = ay;
  } else {
    face = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
    m = az;
  }
  coordinates[0] = (s / m + 1.0f) / 2.0f;
  coordinates[1] = (t / m + 1.0f) / 2.0f;
  return face;
}

// Mipmap level `level` of an image, or the last one.
const HeddleImage* Level(const HeddleImage* image, uint32_t level) {
  for (uint32_t i = 0; i < std::min(level, kMostLevels); ++i) {
    const HeddleImage* next = ImageAt(image->next_level);
    if (next == nullptr) break;
    image = next;
  }
  return image;
}

// Log2 of the longer of two gradients, in texels of the image.
float LevelOfGradients(const HeddleImage& image, uint32_t dimensions, const float* dx, const float* dy) {
  const float size[3] = {static_cast<float>(image.width), static_cast<float>(image.height),
                         static_cast<float>(image.depth)};
  float x = 0, y = 0;
  for (uint32_t d = 0; d < dimensions; ++d) {
    x += dx[d] * size[d] * dx[d] * size[d];
    y += dy[d] * size[d] * dy[d] * size[d];
  }
  const float longer = std::max(x, y);
  return longer > 0 ? 0.5f * std::log2(longer) : 0.0f;
}

Texel FetchLevel(const HeddleImage& image, const HeddleSampler& sampler, uint32_t dimensions, uint32_t layer,
                 const float* coordinates, uint64_t* address) {
  Fetch fetch(image, sampler, dimensions, layer);
  const bool linear = sampler.filter_mode == HEDDLE_FILTER_LINEAR && ReadsAsFloat(image);
  const Texel texel = linear ? fetch.AtLinear(coordinates) : fetch.AtPoint(coordinates);
  *address = fetch.address();
  return texel;
}

const char* FetchTexture(const ImageOperation& operation, uint64_t* values, uint64_t* address) {
  const HeddleImage* image = ImageAt(values[0]);
  if (image == nullptr) return "a fetch from a texture to which nothing is bound";
  const uint64_t* next = values + 1;
  HeddleSampler sampler = image->sampler;
  if (operation.separate_sampler) {
    const uint64_t handle = *next++;
    if (handle >> 32 == 0) {
      sampler = SamplerOfLiteral(handle, *image);
    } else if (InGlobalMemory(handle, sizeof(HeddleSampler)) || (handle >= kConstantBase && handle < kParamBase)) {
      std::memcpy(&sampler, reinterpret_cast<const void*>(handle), sizeof(sampler));
    } else {
      return "a fetch with a sampler that is none";
    }
  }
  uint32_t layer = operation.array ? static_cast<uint32_t>(std::max(0, static_cast<int32_t>(*next++))) : 0;
  uint32_t dimensions = operation.dimensions;
  Texel texel = {};
  if (operation.integer_coordinates) {
    int64_t index[3] = {};
    for (uint32_t d = 0; d < dimensions; ++d) index[d] = static_cast<int32_t>(next[d]);
    sampler.normalized = 0;
    Fetch fetch(*image, sampler, dimensions, layer);
    if (!operation.separate_sampler) {  // linear memory of CUDA reads zero outside
      std::fill(std::begin(sampler.border), std::end(sampler.border), 0.0f);
      fetch.AllBorders();
    }
    texel = fetch.AtIntegers(index);
    *address = fetch.address();
  } else {
    float coordinates[3] = {};
    for (uint32_t d = 0; d < dimensions; ++d) coordinates[d] = Float(next[d]);
    next += dimensions;
    float level = 0;
    if (operation.level == ImageLevel::kExplicit) level = Float(*next);
    if (operation.level == ImageLevel::kGradient) {
      float dx[3] = {}, dy[3] = {};
      for (uint32_t d = 0; d < dimensions; ++d) {
        dx[d] = Float(next[d]);
        dy[d] = Float(next[dimensions + d]);
      }
      level = LevelOfGradients(*image, dimensions, dx, dy);
    }
    if (operation.cube) {
      float on_face[3] = {};
      layer = 6 * layer + CubeFace(coordinates, on_face);
      std::copy(on_face, on_face + 3, coordinates);
      std::fill(std::begin(sampler.address_mode), std::end(sampler.address_mode),
                static_cast<uint32_t>(HEDDLE_ADDRESS_CLAMP));
      sampler.normalized = 1;
      dimensions = 2;
    }
    if (operation.kind == ImageKind::kGather) {
      Fetch fetch(*image, sampler, dimensions, layer);
      int64_t low[3] = {};
      float weight[3] = {};
      fetch.Footprint(coordinates, low, weight);
      // Counter-clockwise from the lower left, as tld4 orders them (PTX ISA).
      static constexpr int64_t kCorners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
      for (int i = 0; i < 4; ++i) {
        const int64_t index[3] = {low[0] + kCorners[i][0], low[1] + kCorners[i][1], 0};
        texel[static_cast<size_t>(i)] = fetch.Read(index)[operation.component];
      }
      *address = fetch.address();
    } else {
      if (operation.level != ImageLevel::kBase) {
        level =
            std::clamp(level + sampler.level_bias, sampler.min_level, std::max(sampler.min_level, sampler.max_level));
      }
      if (!(level > 0)) level = 0;
      const bool blend = sampler.level_filter == HEDDLE_FILTER_LINEAR && ReadsAsFloat(*image);
      const auto lower = static_cast<uint32_t>(blend ? std::floor(level) : std::nearbyint(level));
      const HeddleImage* first = Level(image, lower);
      texel = FetchLevel(*first, sampler, dimensions, layer, coordinates, address);
      const float share = std::nearbyint((level - static_cast<float>(lower)) * 256.0f) / 256.0f;
      if (blend && share > 0) {
        uint64_t other = 0;
        const Texel upper = FetchLevel(*Level(image, lower + 1), sampler, dimensions, layer, coordinates, &other);
        for (size_t c = 0; c < 4; ++c) {
          texel[c] = Bits((1.0f - share) * Float(texel[c]) + share * Float(upper[c]));
        }
      }
    }
  }
  for (size_t c = 0; c < 4; ++c) values[c] = texel[c];
  *address &= ~uint64_t{3};  // of the word that holds a smaller texel: a fetch counts as an access to 4 bytes
  return nullptr;
}

const char* AccessSurface(const ImageOperation& operation, uint64_t* values, uint64_t* address) {
  const HeddleImage* image = ImageAt(values[0]);
  if (image == nullptr) return "an access to a surface to which nothing is bound";
  const uint64_t* next = values + 1;
  int64_t at[3] = {};
  int64_t layer = operation.array ? static_cast<int32_t>(*next++) : 0;
  for (uint32_t d = 0; d < operation.dimensions; ++d) at[d] = static_cast<int32_t>(*next++);
  const bool raw = operation.kind != ImageKind::kFormattedStore;
  const int64_t bytes = raw ? int64_t{operation.elements} * operation.element_bytes : 1;
  // The first coordinate of a raw access counts bytes.
  const int64_t last[3] = {int64_t{image->width} * (raw ? image->texel_bytes : 1) - bytes, int64_t{image->height} - 1,
                           int64_t{image->depth} - 1};
  bool outside = layer < 0 || layer >= image->layers;
  layer = std::clamp<int64_t>(layer, 0, image->layers - 1);
  for (uint32_t d = 0; d < operation.dimensions; ++d) {
    outside = outside || at[d] < 0 || at[d] > last[d];
    at[d] = std::clamp<int64_t>(at[d], 0, std::max<int64_t>(last[d], 0));
  }
  if (outside && operation.bounds == ImageBounds::kTrap) return "an access outside a surface";
  *address = image->data + static_cast<uint64_t>(at[0]) * (raw ? 1 : image->texel_bytes) +
             static_cast<uint64_t>(at[1]) * image->row_bytes +
             static_cast<uint64_t>(at[2] + layer) * image->slice_bytes;
  const bool dropped = outside && operation.bounds == ImageBounds::kZero;
  if (operation.kind == ImageKind::kFormattedStore) {
    Texel texel = {};
    for (uint32_t c = 0; c < operation.elements; ++c) texel[c] = static_cast<uint32_t>(next[c]);
    if (!dropped) WriteTexel(*image, *address, texel);
    return nullptr;
  }
  for (uint32_t i = 0; i < operation.elements; ++i) {
    void* place = reinterpret_cast<void*>(*address + uint64_t{i} * operation.element_bytes);
    if (operation.kind == ImageKind::kStore) {
      if (!dropped) std::memcpy(place, &next[i], operation.element_bytes);
    } else {
      values[i] = 0;
      if (!dropped) std::memcpy(&values[i], place, operation.element_bytes);
    }
  }
  return nullptr;
}

}  // namespace

const char* AccessImage(const ImageOperation& operation, uint64_t* values, uint64_t* address) {
  const bool fetch = operation.kind == ImageKind::kFetch || operation.kind == ImageKind::kGather;
  return fetch ? FetchTexture(operation, values, address) : AccessSurface(operation, values, address);
}

bool QueryImage(uint64_t handle, ImageQuery query, uint32_t* result) {
  const HeddleImage* image = ImageAt(handle);
  if (image == nullptr) return false;
  switch (query) {
    case ImageQuery::kWidth:
      *result = image->width;
      break;
    case ImageQuery::kHeight:
      *result = image->height;
      break;
    case ImageQuery::kDepth:
      *result = image->depth;
      break;
    case ImageQuery::kArraySize:
      *result = image->layers;
      break;
    case ImageQuery::kLevels:
      *result = 1;
      for (; *result < kMostLevels && (image = ImageAt(image->next_level)) != nullptr;) ++*result;
      break;
    case ImageQuery::kSamples:
      *result = 1;
      break;
    case ImageQuery::kChannelType:
      *result = image->channel_type;
      break;
    case ImageQuery::kChannelOrder:
      *result = image->channel_order;
      break;
  }
  return true;
}

}  // namespace heddle::tracegen
