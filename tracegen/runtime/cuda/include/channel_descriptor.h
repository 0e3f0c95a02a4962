// Channel formats of textures, by element type.
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#include "driver_types.h"

#ifdef __cplusplus
template <class T>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaChannelFormatDesc{0, 0, 0, 0, cudaChannelFormatKindNone};
}
#define HEDDLE_FORMAT(type, bits, kind)                                 \
  template <>                                                           \
  inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<type>() { \
    return cudaChannelFormatDesc{bits, 0, 0, 0, kind};                  \
  }
#define HEDDLE_FORMATS(name, bits, kind)                                   \
  template <>                                                              \
  inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<name##1>() { \
    return cudaChannelFormatDesc{bits, 0, 0, 0, kind};                     \
  }                                                                        \
  template <>                                                              \
  inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<name##2>() { \
    return cudaChannelFormatDesc{bits, bits, 0, 0, kind};                  \
  }                                                                        \
  template <>                                                              \
  inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<name##4>() { \
    return cudaChannelFormatDesc{bits, bits, bits, bits, kind};            \
  }
HEDDLE_FORMAT(char, 8, cudaChannelFormatKindSigned)
HEDDLE_FORMAT(signed char, 8, cudaChannelFormatKindSigned)
HEDDLE_FORMAT(unsigned char, 8, cudaChannelFormatKindUnsigned)
HEDDLE_FORMAT(short, 16, cudaChannelFormatKindSigned)
HEDDLE_FORMAT(unsigned short, 16, cudaChannelFormatKindUnsigned)
HEDDLE_FORMAT(int, 32, cudaChannelFormatKindSigned)
HEDDLE_FORMAT(unsigned int, 32, cudaChannelFormatKindUnsigned)
HEDDLE_FORMAT(float, 32, cudaChannelFormatKindFloat)
HEDDLE_FORMATS(char, 8, cudaChannelFormatKindSigned)
HEDDLE_FORMATS(uchar, 8, cudaChannelFormatKindUnsigned)
HEDDLE_FORMATS(short, 16, cudaChannelFormatKindSigned)
HEDDLE_FORMATS(ushort, 16, cudaChannelFormatKindUnsigned)
HEDDLE_FORMATS(int, 32, cudaChannelFormatKindSigned)
HEDDLE_FORMATS(uint, 32, cudaChannelFormatKindUnsigned)
HEDDLE_FORMATS(float, 32, cudaChannelFormatKindFloat)
#undef HEDDLE_FORMAT
#undef HEDDLE_FORMATS
#endif  // __cplusplus

#endif  // __CHANNEL_DESCRIPTOR_H__
