// Texels in memory: reading and writing every channel type and order of device_image.h.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_TEXEL_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_TEXEL_H_

#include <array>
#include <bit>
#include <cstdint>

#include "tracegen/runtime/protocol/device_image.h"

namespace heddle::tracegen {

// Red, green, blue, alpha: bits of floats where ReadsAsFloat, else integers (signed ones extended).
using Texel = std::array<uint32_t, 4>;

inline uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }
// Of the lower half: what is read as float may come in a wider word.
inline float Float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

// True for the channel types that are read as float.
bool ReadsAsFloat(const HeddleImage& image);

// The texel at an address, with its missing channels filled in.
Texel ReadTexel(const HeddleImage& image, uint64_t address);
// Writes one, converting and saturating; rounds to the nearest even.
void WriteTexel(const HeddleImage& image, uint64_t address, const Texel& texel);

// False if a field holds what no image can have.
bool IsValidImage(const HeddleImage& image);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_TEXEL_H_
