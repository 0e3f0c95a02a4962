// Images of OpenCL C (1.2 specification, 6.12.14). A read is one PTX instruction tex with image and sampler apart, a
// write one sust.p, a query one txq. Declarations differ in their type only, so they share the instruction's name.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_IMAGE_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_IMAGE_H_

// Reads without a sampler: texels by number, nothing beyond the edge is defined.
#define HEDDLE_NO_SAMPLER (CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST)
#define HEDDLE_FETCH __attribute__((pure, nothrow))

// `tail` makes the arguments behind the sampler from the coordinate c; `parameters` are their types.
#define HEDDLE_READ(result, function, element, image, shape, coordinate, kind, parameters, ...)           \
  HEDDLE_FETCH result heddle_tex_##image##_##element##_##kind(                                            \
      read_only image##_t, sampler_t, parameters) __asm("__heddle_tex_" #shape "_v4" #element "_" #kind); \
  HEDDLE_CL result function(read_only image##_t i, sampler_t s, coordinate c) {                           \
    return heddle_tex_##image##_##element##_##kind(i, s, __VA_ARGS__);                                    \
  }
#define HEDDLE_LIST(...) __VA_ARGS__
#define HEDDLE_READ_ONE_RESULT(result, function, element)                                                           \
  HEDDLE_READ(result, function, element, image1d, 1d, int, s32, HEDDLE_LIST(int), c)                                \
  HEDDLE_READ(result, function, element, image1d, 1d, float, f32, HEDDLE_LIST(float), c)                            \
  HEDDLE_READ(result, function, element, image1d_array, 1d_array, int2, s32, HEDDLE_LIST(int, int), c.y, c.x)       \
  HEDDLE_READ(result, function, element, image1d_array, 1d_array, float2, f32, HEDDLE_LIST(int, float),             \
              (int)rint(c.y), c.x)                                                                                  \
  HEDDLE_READ(result, function, element, image2d, 2d, int2, s32, HEDDLE_LIST(int, int), c.x, c.y)                   \
  HEDDLE_READ(result, function, element, image2d, 2d, float2, f32, HEDDLE_LIST(float, float), c.x, c.y)             \
  HEDDLE_READ(result, function, element, image2d_array, 2d_array, int4, s32, HEDDLE_LIST(int, int, int), c.z, c.x,  \
              c.y)                                                                                                  \
  HEDDLE_READ(result, function, element, image2d_array, 2d_array, float4, f32, HEDDLE_LIST(int, float, float),      \
              (int)rint(c.z), c.x, c.y)                                                                             \
  HEDDLE_READ(result, function, element, image3d, 3d, int4, s32, HEDDLE_LIST(int, int, int), c.x, c.y, c.z)         \
  HEDDLE_READ(result, function, element, image3d, 3d, float4, f32, HEDDLE_LIST(float, float, float), c.x, c.y, c.z) \
  HEDDLE_FETCH result heddle_tex_image1d_buffer_##element(read_only image1d_buffer_t, sampler_t,                    \
                                                          int) __asm("__heddle_tex_1d_v4" #element "_s32");         \
  HEDDLE_CL result function(read_only image1d_buffer_t i, int c) {                                                  \
    const sampler_t none = HEDDLE_NO_SAMPLER;                                                                       \
    return heddle_tex_image1d_buffer_##element(i, none, c);                                                         \
  }                                                                                                                 \
  HEDDLE_READ_PLAIN(result, function, image1d, int)                                                                 \
  HEDDLE_READ_PLAIN(result, function, image1d_array, int2)                                                          \
  HEDDLE_READ_PLAIN(result, function, image2d, int2)                                                                \
  HEDDLE_READ_PLAIN(result, function, image2d_array, int4)                                                          \
  HEDDLE_READ_PLAIN(result, function, image3d, int4)
#define HEDDLE_READ_PLAIN(result, function, image, coordinate)     \
  HEDDLE_CL result function(read_only image##_t i, coordinate c) { \
    const sampler_t none = HEDDLE_NO_SAMPLER;                      \
    return function(i, none, c);                                   \
  }
HEDDLE_READ_ONE_RESULT(float4, read_imagef, f32)
HEDDLE_READ_ONE_RESULT(int4, read_imagei, s32)
HEDDLE_READ_ONE_RESULT(uint4, read_imageui, u32)
#undef HEDDLE_READ_ONE_RESULT
#undef HEDDLE_READ_PLAIN
#undef HEDDLE_READ

// Channels are 32 bits each on their way; the image's format says what they become.
#define HEDDLE_WRITE(image, shape, coordinate, parameters, ...)                                                   \
  __attribute__((nothrow)) void heddle_sust_##image(write_only image##_t, parameters, uint, uint, uint,           \
                                                    uint) __asm("__heddle_sust_p_" #shape "_v4i32_trap");         \
  HEDDLE_CL void write_imageui(write_only image##_t i, coordinate c, uint4 v) {                                   \
    heddle_sust_##image(i, __VA_ARGS__, v.x, v.y, v.z, v.w);                                                      \
  }                                                                                                               \
  HEDDLE_CL void write_imagei(write_only image##_t i, coordinate c, int4 v) { write_imageui(i, c, as_uint4(v)); } \
  HEDDLE_CL void write_imagef(write_only image##_t i, coordinate c, float4 v) { write_imageui(i, c, as_uint4(v)); }
HEDDLE_WRITE(image1d, 1d, int, HEDDLE_LIST(int), c)
HEDDLE_WRITE(image1d_buffer, 1d, int, HEDDLE_LIST(int), c)
HEDDLE_WRITE(image1d_array, 1d_array, int2, HEDDLE_LIST(int, int), c.y, c.x)
HEDDLE_WRITE(image2d, 2d, int2, HEDDLE_LIST(int, int), c.x, c.y)
HEDDLE_WRITE(image2d_array, 2d_array, int4, HEDDLE_LIST(int, int, int), c.z, c.x, c.y)
HEDDLE_WRITE(image3d, 3d, int4, HEDDLE_LIST(int, int, int), c.x, c.y, c.z)
#undef HEDDLE_WRITE
#undef HEDDLE_LIST

#define HEDDLE_QUERY(access, image, name, query)                                                   \
  __attribute__((const, nothrow)) int heddle_##query##_##access##_##image(access image##_t) __asm( \
      "__heddle_txq_" #query);                                                                     \
  HEDDLE_CL int name(access image##_t i) { return heddle_##query##_##access##_##image(i); }
// The descriptor counts types and orders in its own way (HeddleChannelType and HeddleChannelOrder of device_image.h).
HEDDLE_CL int heddle_channel_type(int type) {
  return type < 6    ? CLK_SIGNED_INT8 + type
         : type < 10 ? CLK_SNORM_INT8 + type - 6
         : type < 12 ? CLK_HALF_FLOAT + type - 10
                     : CLK_UNORM_SHORT_565 + type - 12;
}
HEDDLE_CL int heddle_channel_order(int order) {
  return CLK_R + (order < 6 ? 0x315420 >> (4 * order) & 15 : order);  // R, RG, RGB, RGBA, A, RA; the rest are the same
}
#define HEDDLE_QUERIES(access, image)                                                                              \
  HEDDLE_QUERY(access, image, get_image_width, width)                                                              \
  HEDDLE_QUERY(access, image, heddle_type_of, channel_data_type)                                                   \
  HEDDLE_QUERY(access, image, heddle_order_of, channel_order)                                                      \
  HEDDLE_CL int get_image_channel_data_type(access image##_t i) { return heddle_channel_type(heddle_type_of(i)); } \
  HEDDLE_CL int get_image_channel_order(access image##_t i) { return heddle_channel_order(heddle_order_of(i)); }
#define HEDDLE_QUERIES_OF(access)                                                                                    \
  HEDDLE_QUERIES(access, image1d)                                                                                    \
  HEDDLE_QUERIES(access, image1d_buffer)                                                                             \
  HEDDLE_QUERIES(access, image1d_array)                                                                              \
  HEDDLE_QUERIES(access, image2d)                                                                                    \
  HEDDLE_QUERIES(access, image2d_array)                                                                              \
  HEDDLE_QUERIES(access, image3d)                                                                                    \
  HEDDLE_QUERY(access, image2d, get_image_height, height)                                                            \
  HEDDLE_QUERY(access, image2d_array, get_image_height, height)                                                      \
  HEDDLE_QUERY(access, image3d, get_image_height, height)                                                            \
  HEDDLE_QUERY(access, image3d, get_image_depth, depth)                                                              \
  HEDDLE_QUERY(access, image1d_array, heddle_layers, array_size)                                                     \
  HEDDLE_QUERY(access, image2d_array, heddle_layers, array_size)                                                     \
  HEDDLE_CL size_t get_image_array_size(access image1d_array_t i) { return (size_t)heddle_layers(i); }               \
  HEDDLE_CL size_t get_image_array_size(access image2d_array_t i) { return (size_t)heddle_layers(i); }               \
  HEDDLE_CL int2 get_image_dim(access image2d_t i) { return (int2)(get_image_width(i), get_image_height(i)); }       \
  HEDDLE_CL int2 get_image_dim(access image2d_array_t i) { return (int2)(get_image_width(i), get_image_height(i)); } \
  HEDDLE_CL int4 get_image_dim(access image3d_t i) {                                                                 \
    return (int4)(get_image_width(i), get_image_height(i), get_image_depth(i), 0);                                   \
  }
HEDDLE_QUERIES_OF(read_only)
HEDDLE_QUERIES_OF(write_only)
#undef HEDDLE_QUERIES_OF
#undef HEDDLE_QUERIES
#undef HEDDLE_QUERY

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_IMAGE_H_
