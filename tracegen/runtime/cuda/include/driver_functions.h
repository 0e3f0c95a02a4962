// Makers of the runtime's structures of sizes, places and pitched memory, for C and C++.
#ifndef __DRIVER_FUNCTIONS_H__
#define __DRIVER_FUNCTIONS_H__

#include "driver_types.h"
#include "host_defines.h"

static __inline__ __host__ struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  struct cudaExtent extent = {width, height, depth};
  return extent;
}
static __inline__ __host__ struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos position = {x, y, z};
  return position;
}
static __inline__ __host__ struct cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width,
                                                                     size_t height) {
  struct cudaPitchedPtr pitched = {pointer, pitch, width, height};
  return pitched;
}

#endif  // __DRIVER_FUNCTIONS_H__
