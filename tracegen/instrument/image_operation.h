// Operations on textures and surfaces, as generated code names them to the runtime.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_IMAGE_OPERATION_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_IMAGE_OPERATION_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::tracegen {

enum class ImageKind : uint8_t {
  kFetch,           // tex
  kGather,          // tld4: one component of the four texels of a bilinear footprint
  kLoad,            // suld.b: raw, first coordinate in bytes
  kStore,           // sust.b: raw, first coordinate in bytes
  kFormattedStore,  // sust.p: converted to the surface's format, first coordinate in texels
};

enum class ImageLevel : uint8_t { kBase, kExplicit, kGradient };

// What happens outside a surface (PTX ISA, suld and sust): an error, the nearest texel, or zero.
enum class ImageBounds : uint8_t { kTrap, kClamp, kZero };

// One instruction, with everything that its mnemonic says.
struct ImageOperation {
  ImageKind kind = ImageKind::kFetch;
  ImageLevel level = ImageLevel::kBase;
  ImageBounds bounds = ImageBounds::kTrap;
  uint8_t dimensions = 1;  // of a coordinate; 3 for cubes
  bool cube = false;
  bool array = false;
  bool separate_sampler = false;     // a second handle follows the first
  bool integer_coordinates = false;  // texels, not filtered
  bool integer_result = false;       // fetches: s32 or u32, else f32
  uint8_t component = 0;             // kGather
  uint8_t elements = 4;              // loads and stores
  uint8_t element_bytes = 4;

  // In 32 bits and back.
  uint32_t Encode() const;
  static ImageOperation Decode(uint32_t code);
};

// The operation of an LLVM intrinsic, named without "llvm.nvvm."; nothing if the name is none.
std::optional<ImageOperation> ParseImageOperation(std::string_view intrinsic);

// Fields of a descriptor that txq and suq ask for; numbers are those of kImageQueryFunction.
enum class ImageQuery : uint32_t {
  kWidth,
  kHeight,
  kDepth,
  kArraySize,
  kLevels,
  kSamples,
  kChannelType,
  kChannelOrder
};
std::optional<ImageQuery> ParseImageQuery(std::string_view intrinsic);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_IMAGE_OPERATION_H_
