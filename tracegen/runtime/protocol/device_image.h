/* Images, textures, surfaces and samplers as they lie in device memory: plain structures that the host side of CUDA and
 * OpenCL fills in and that fetches of device code read. C and C++, without dependencies.
 *
 * A texture object, a surface object and an OpenCL image are each the address of a HeddleImage. A CUDA texture or
 * surface reference is a device variable of 8 bytes that holds such an address (0 = nothing is bound). An OpenCL
 * sampler is the address of a HeddleSampler, or (below 2^32) the bits of a sampler literal: CLK_NORMALIZED_COORDS_* |
 * CLK_ADDRESS_* | CLK_FILTER_* of the OpenCL 1.2 headers. */
#ifndef HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_DEVICE_IMAGE_H_
#define HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_DEVICE_IMAGE_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

/* What a coordinate outside the image means; numbers are those of cudaTextureAddressMode. WRAP and MIRROR need
 * normalised coordinates; without them they act as CLAMP (CUDA C programming guide, "Texture Memory"). */
enum HeddleAddressMode {
  HEDDLE_ADDRESS_WRAP = 0,
  HEDDLE_ADDRESS_CLAMP = 1, /* to the edge */
  HEDDLE_ADDRESS_MIRROR = 2,
  HEDDLE_ADDRESS_BORDER = 3 /* OpenCL: CLK_ADDRESS_CLAMP */
};

enum HeddleFilterMode {
  HEDDLE_FILTER_POINT = 0,
  HEDDLE_FILTER_LINEAR = 1 /* only for reads as float */
};

/* How a channel lies in memory and what reading it gives. CUDA's cudaReadModeNormalizedFloat is one of the NORM types,
 * cudaReadModeElementType one of the others. */
enum HeddleChannelType {
  HEDDLE_CHANNEL_SIGNED_8 = 0, /* integers are read as integers */
  HEDDLE_CHANNEL_SIGNED_16 = 1,
  HEDDLE_CHANNEL_SIGNED_32 = 2,
  HEDDLE_CHANNEL_UNSIGNED_8 = 3,
  HEDDLE_CHANNEL_UNSIGNED_16 = 4,
  HEDDLE_CHANNEL_UNSIGNED_32 = 5,
  HEDDLE_CHANNEL_SNORM_8 = 6, /* read as float in [-1, 1] */
  HEDDLE_CHANNEL_SNORM_16 = 7,
  HEDDLE_CHANNEL_UNORM_8 = 8, /* read as float in [0, 1] */
  HEDDLE_CHANNEL_UNORM_16 = 9,
  HEDDLE_CHANNEL_HALF = 10,
  HEDDLE_CHANNEL_FLOAT = 11,
  HEDDLE_CHANNEL_UNORM_565 = 12, /* three channels in 16 bits, red highest */
  HEDDLE_CHANNEL_UNORM_555 = 13,
  HEDDLE_CHANNEL_UNORM_101010 = 14, /* three channels in 32 bits, red highest */
  HEDDLE_CHANNEL_TYPES = 15
};

/* Which channels lie in memory, in order. A channel that is missing reads as 0, alpha as 1 (CUDA: alpha as 0, see
 * HeddleImage.missing_alpha_is_zero); LUMINANCE reads as (L, L, L, 1), INTENSITY as (I, I, I, I). */
enum HeddleChannelOrder {
  HEDDLE_ORDER_R = 0,
  HEDDLE_ORDER_RG = 1,
  HEDDLE_ORDER_RGB = 2,
  HEDDLE_ORDER_RGBA = 3,
  HEDDLE_ORDER_A = 4,
  HEDDLE_ORDER_RA = 5,
  HEDDLE_ORDER_BGRA = 6,
  HEDDLE_ORDER_ARGB = 7,
  HEDDLE_ORDER_INTENSITY = 8,
  HEDDLE_ORDER_LUMINANCE = 9,
  HEDDLE_ORDERS = 10
};

typedef struct HeddleSampler {
  uint32_t address_mode[3]; /* HeddleAddressMode of x, y, z */
  uint32_t filter_mode;     /* HeddleFilterMode within a level */
  uint32_t level_filter;    /* HeddleFilterMode between mipmap levels */
  uint32_t normalized;      /* 1: coordinates run from 0 to 1 over the image, 0: in texels */
  float border[4];          /* red, green, blue, alpha that BORDER reads */
  float level_bias;         /* added to the level of detail, which is then clamped to the two below */
  float min_level;
  float max_level;
  uint32_t reserved[3];
} HeddleSampler;

typedef struct HeddleImage {
  uint64_t data;        /* address of the first texel */
  uint64_t row_bytes;   /* from one row to the next */
  uint64_t slice_bytes; /* from one slice (3D) or layer (arrays, cube faces) to the next */
  uint64_t next_level;  /* address of the HeddleImage of the next smaller mipmap level, 0 = none */
  uint32_t width;       /* texels; unused dimensions are 1 */
  uint32_t height;
  uint32_t depth;
  uint32_t layers;        /* layers of an array, 6 per cube; 1 otherwise */
  uint32_t channel_type;  /* HeddleChannelType */
  uint32_t channel_order; /* HeddleChannelOrder */
  uint32_t texel_bytes;   /* 1, 2, 4, 8 or 16 */
  uint32_t missing_alpha_is_zero;
  HeddleSampler sampler; /* of a CUDA texture; OpenCL passes a sampler of its own */
} HeddleImage;

#ifdef __cplusplus
static_assert(sizeof(HeddleSampler) == 64 && sizeof(HeddleImage) == 128, "shared with device code");
#endif

#endif /* HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_DEVICE_IMAGE_H_ */
