// CUDA's fetches from textures and accesses to surfaces, by object and by reference. Each is one instruction of PTX,
// which C++ can name only as a function: __heddle_tex_... stands for LLVM's intrinsic llvm.nvvm.tex....
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_TEXTURE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_TEXTURE_H_

#include "surface_types.h"
#include "texture_types.h"

typedef float heddle_f32x4 __attribute__((ext_vector_type(4)));
typedef int heddle_s32x4 __attribute__((ext_vector_type(4)));
typedef unsigned int heddle_u32x4 __attribute__((ext_vector_type(4)));
typedef unsigned long long heddle_handle;

// --- the instructions, by the type of their results

template <class V>
struct heddle_fetch;
#define HEDDLE_INTRINSIC extern "C" __device__ __attribute__((const, nothrow))
#define HEDDLE_METHOD static __forceinline__ __device__
#define HEDDLE_FETCHES(kind)                                                                                           \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_1d_v4##kind##_s32(heddle_handle, int);                       \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_1d_v4##kind##_f32(heddle_handle, float);                     \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_2d_v4##kind##_f32(heddle_handle, float, float);              \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_3d_v4##kind##_f32(heddle_handle, float, float, float);       \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_1d_array_v4##kind##_f32(heddle_handle, int, float);          \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_2d_array_v4##kind##_f32(heddle_handle, int, float, float);   \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_cube_v4##kind##_f32(heddle_handle, float, float, float);     \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_cube_array_v4##kind##_f32(heddle_handle, int, float, float,  \
                                                                                    float);                            \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_1d_level_v4##kind##_f32(heddle_handle, float, float);        \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_2d_level_v4##kind##_f32(heddle_handle, float, float, float); \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_3d_level_v4##kind##_f32(heddle_handle, float, float, float,  \
                                                                                  float);                              \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_1d_array_level_v4##kind##_f32(heddle_handle, int, float,     \
                                                                                        float);                        \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_2d_array_level_v4##kind##_f32(heddle_handle, int, float,     \
                                                                                        float, float);                 \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_cube_level_v4##kind##_f32(heddle_handle, float, float,       \
                                                                                    float, float);                     \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_cube_array_level_v4##kind##_f32(heddle_handle, int, float,   \
                                                                                          float, float, float);        \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_1d_grad_v4##kind##_f32(heddle_handle, float, float, float);  \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_2d_grad_v4##kind##_f32(heddle_handle, float, float, float,   \
                                                                                 float, float, float);                 \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_3d_grad_v4##kind##_f32(                                      \
      heddle_handle, float, float, float, float, float, float, float, float, float);                                   \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_1d_array_grad_v4##kind##_f32(heddle_handle, int, float,      \
                                                                                       float, float);                  \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tex_unified_2d_array_grad_v4##kind##_f32(                                \
      heddle_handle, int, float, float, float, float, float, float);                                                   \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tld4_unified_r_2d_v4##kind##_f32(heddle_handle, float, float);           \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tld4_unified_g_2d_v4##kind##_f32(heddle_handle, float, float);           \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tld4_unified_b_2d_v4##kind##_f32(heddle_handle, float, float);           \
  HEDDLE_INTRINSIC heddle_##kind##x4 __heddle_tld4_unified_a_2d_v4##kind##_f32(heddle_handle, float, float);           \
  template <>                                                                                                          \
  struct heddle_fetch<heddle_##kind##x4> {                                                                             \
    typedef heddle_##kind##x4 V;                                                                                       \
    HEDDLE_METHOD V integer(heddle_handle h, int x) { return __heddle_tex_unified_1d_v4##kind##_s32(h, x); }           \
    HEDDLE_METHOD V one(heddle_handle h, float x) { return __heddle_tex_unified_1d_v4##kind##_f32(h, x); }             \
    HEDDLE_METHOD V two(heddle_handle h, float x, float y) { return __heddle_tex_unified_2d_v4##kind##_f32(h, x, y); } \
    HEDDLE_METHOD V three(heddle_handle h, float x, float y, float z) {                                                \
      return __heddle_tex_unified_3d_v4##kind##_f32(h, x, y, z);                                                       \
    }                                                                                                                  \
    HEDDLE_METHOD V one_layered(heddle_handle h, float x, int layer) {                                                 \
      return __heddle_tex_unified_1d_array_v4##kind##_f32(h, layer, x);                                                \
    }                                                                                                                  \
    HEDDLE_METHOD V two_layered(heddle_handle h, float x, float y, int layer) {                                        \
      return __heddle_tex_unified_2d_array_v4##kind##_f32(h, layer, x, y);                                             \
    }                                                                                                                  \
    HEDDLE_METHOD V cube(heddle_handle h, float x, float y, float z) {                                                 \
      return __heddle_tex_unified_cube_v4##kind##_f32(h, x, y, z);                                                     \
    }                                                                                                                  \
    HEDDLE_METHOD V cube_layered(heddle_handle h, float x, float y, float z, int layer) {                              \
      return __heddle_tex_unified_cube_array_v4##kind##_f32(h, layer, x, y, z);                                        \
    }                                                                                                                  \
    HEDDLE_METHOD V one_level(heddle_handle h, float x, float level) {                                                 \
      return __heddle_tex_unified_1d_level_v4##kind##_f32(h, x, level);                                                \
    }                                                                                                                  \
    HEDDLE_METHOD V two_level(heddle_handle h, float x, float y, float level) {                                        \
      return __heddle_tex_unified_2d_level_v4##kind##_f32(h, x, y, level);                                             \
    }                                                                                                                  \
    HEDDLE_METHOD V three_level(heddle_handle h, float x, float y, float z, float level) {                             \
      return __heddle_tex_unified_3d_level_v4##kind##_f32(h, x, y, z, level);                                          \
    }                                                                                                                  \
    HEDDLE_METHOD V one_layered_level(heddle_handle h, float x, int layer, float level) {                              \
      return __heddle_tex_unified_1d_array_level_v4##kind##_f32(h, layer, x, level);                                   \
    }                                                                                                                  \
    HEDDLE_METHOD V two_layered_level(heddle_handle h, float x, float y, int layer, float level) {                     \
      return __heddle_tex_unified_2d_array_level_v4##kind##_f32(h, layer, x, y, level);                                \
    }                                                                                                                  \
    HEDDLE_METHOD V cube_level(heddle_handle h, float x, float y, float z, float level) {                              \
      return __heddle_tex_unified_cube_level_v4##kind##_f32(h, x, y, z, level);                                        \
    }                                                                                                                  \
    HEDDLE_METHOD V cube_layered_level(heddle_handle h, float x, float y, float z, int layer, float level) {           \
      return __heddle_tex_unified_cube_array_level_v4##kind##_f32(h, layer, x, y, z, level);                           \
    }                                                                                                                  \
    HEDDLE_METHOD V one_grad(heddle_handle h, float x, float dx, float dy) {                                           \
      return __heddle_tex_unified_1d_grad_v4##kind##_f32(h, x, dx, dy);                                                \
    }                                                                                                                  \
    HEDDLE_METHOD V two_grad(heddle_handle h, float x, float y, float2 dx, float2 dy) {                                \
      return __heddle_tex_unified_2d_grad_v4##kind##_f32(h, x, y, dx.x, dx.y, dy.x, dy.y);                             \
    }                                                                                                                  \
    HEDDLE_METHOD V three_grad(heddle_handle h, float x, float y, float z, float4 dx, float4 dy) {                     \
      return __heddle_tex_unified_3d_grad_v4##kind##_f32(h, x, y, z, dx.x, dx.y, dx.z, dy.x, dy.y, dy.z);              \
    }                                                                                                                  \
    HEDDLE_METHOD V one_layered_grad(heddle_handle h, float x, int layer, float dx, float dy) {                        \
      return __heddle_tex_unified_1d_array_grad_v4##kind##_f32(h, layer, x, dx, dy);                                   \
    }                                                                                                                  \
    HEDDLE_METHOD V two_layered_grad(heddle_handle h, float x, float y, int layer, float2 dx, float2 dy) {             \
      return __heddle_tex_unified_2d_array_grad_v4##kind##_f32(h, layer, x, y, dx.x, dx.y, dy.x, dy.y);                \
    }                                                                                                                  \
    HEDDLE_METHOD V gather(heddle_handle h, float x, float y, int component) {                                         \
      switch (component) {                                                                                             \
        case 1:                                                                                                        \
          return __heddle_tld4_unified_g_2d_v4##kind##_f32(h, x, y);                                                   \
        case 2:                                                                                                        \
          return __heddle_tld4_unified_b_2d_v4##kind##_f32(h, x, y);                                                   \
        case 3:                                                                                                        \
          return __heddle_tld4_unified_a_2d_v4##kind##_f32(h, x, y);                                                   \
        default:                                                                                                       \
          return __heddle_tld4_unified_r_2d_v4##kind##_f32(h, x, y);                                                   \
      }                                                                                                                \
    }                                                                                                                  \
  };
HEDDLE_FETCHES(f32)
HEDDLE_FETCHES(s32)
HEDDLE_FETCHES(u32)
#undef HEDDLE_FETCHES

// --- element types: what is fetched for them, and their type when they are read as normalised floats

template <class T>
struct heddle_texel;
#define HEDDLE_TEXEL(type, kind, as_float, made)        \
  template <>                                           \
  struct heddle_texel<type> {                           \
    typedef heddle_##kind##x4 fetched;                  \
    typedef as_float normalized;                        \
    HEDDLE_METHOD type make(fetched v) { return made; } \
  };
#define HEDDLE_TEXELS(name, scalar, kind)                                                                   \
  HEDDLE_TEXEL(name##1, kind, float1, make_##name##1(static_cast<scalar>(v.x)))                             \
  HEDDLE_TEXEL(name##2, kind, float2, make_##name##2(static_cast<scalar>(v.x), static_cast<scalar>(v.y)))   \
  HEDDLE_TEXEL(name##4, kind, float4,                                                                       \
               make_##name##4(static_cast<scalar>(v.x), static_cast<scalar>(v.y), static_cast<scalar>(v.z), \
                              static_cast<scalar>(v.w)))
HEDDLE_TEXEL(char, s32, float, static_cast<char>(v.x))
HEDDLE_TEXEL(signed char, s32, float, static_cast<signed char>(v.x))
HEDDLE_TEXEL(unsigned char, u32, float, static_cast<unsigned char>(v.x))
HEDDLE_TEXEL(short, s32, float, static_cast<short>(v.x))
HEDDLE_TEXEL(unsigned short, u32, float, static_cast<unsigned short>(v.x))
HEDDLE_TEXEL(int, s32, float, v.x)
HEDDLE_TEXEL(unsigned int, u32, float, v.x)
HEDDLE_TEXEL(long, s32, float, v.x)
HEDDLE_TEXEL(unsigned long, u32, float, v.x)
HEDDLE_TEXEL(float, f32, float, v.x)
HEDDLE_TEXELS(char, signed char, s32)
HEDDLE_TEXELS(uchar, unsigned char, u32)
HEDDLE_TEXELS(short, short, s32)
HEDDLE_TEXELS(ushort, unsigned short, u32)
HEDDLE_TEXELS(int, int, s32)
HEDDLE_TEXELS(uint, unsigned int, u32)
HEDDLE_TEXELS(float, float, f32)
#undef HEDDLE_TEXELS
#undef HEDDLE_TEXEL

template <class T, enum cudaTextureReadMode kMode>
struct heddle_read {
  typedef T type;
};
template <class T>
struct heddle_read<T, cudaReadModeNormalizedFloat> {
  typedef typename heddle_texel<T>::normalized type;
};

// The object that is bound to a reference. C++ sees a structure of the host, the code generator a handle.
template <class Reference>
HEDDLE_DEVICE heddle_handle heddle_bound(Reference reference) {
  heddle_handle handle;
  asm("mov.b64 %0, %1;" : "=l"(handle) : "l"(reference));
  return handle;
}

// --- the functions: by object, by object through a pointer, by reference

#define HEDDLE_TEX(name, method, parameters, arguments)                                                       \
  template <class T>                                                                                          \
  HEDDLE_DEVICE T name(cudaTextureObject_t object, parameters) {                                              \
    return heddle_texel<T>::make(heddle_fetch<typename heddle_texel<T>::fetched>::method(object, arguments)); \
  }                                                                                                           \
  template <class T>                                                                                          \
  HEDDLE_DEVICE void name(T* result, cudaTextureObject_t object, parameters) {                                \
    *result = name<T>(object, arguments);                                                                     \
  }                                                                                                           \
  template <class T, int kType, enum cudaTextureReadMode kMode>                                               \
  HEDDLE_DEVICE typename heddle_read<T, kMode>::type name(texture<T, kType, kMode> reference, parameters) {   \
    return name<typename heddle_read<T, kMode>::type>(heddle_bound(reference), arguments);                    \
  }
#define HEDDLE_C ,
HEDDLE_TEX(tex1Dfetch, integer, int x, x)
HEDDLE_TEX(tex1D, one, float x, x)
HEDDLE_TEX(tex2D, two, float x HEDDLE_C float y, x HEDDLE_C y)
HEDDLE_TEX(tex3D, three, float x HEDDLE_C float y HEDDLE_C float z, x HEDDLE_C y HEDDLE_C z)
HEDDLE_TEX(tex1DLayered, one_layered, float x HEDDLE_C int layer, x HEDDLE_C layer)
HEDDLE_TEX(tex2DLayered, two_layered, float x HEDDLE_C float y HEDDLE_C int layer, x HEDDLE_C y HEDDLE_C layer)
HEDDLE_TEX(texCubemap, cube, float x HEDDLE_C float y HEDDLE_C float z, x HEDDLE_C y HEDDLE_C z)
HEDDLE_TEX(texCubemapLayered, cube_layered, float x HEDDLE_C float y HEDDLE_C float z HEDDLE_C int layer,
           x HEDDLE_C y HEDDLE_C z HEDDLE_C layer)
HEDDLE_TEX(tex1DLod, one_level, float x HEDDLE_C float level, x HEDDLE_C level)
HEDDLE_TEX(tex2DLod, two_level, float x HEDDLE_C float y HEDDLE_C float level, x HEDDLE_C y HEDDLE_C level)
HEDDLE_TEX(tex3DLod, three_level, float x HEDDLE_C float y HEDDLE_C float z HEDDLE_C float level,
           x HEDDLE_C y HEDDLE_C z HEDDLE_C level)
HEDDLE_TEX(tex1DLayeredLod, one_layered_level, float x HEDDLE_C int layer HEDDLE_C float level,
           x HEDDLE_C layer HEDDLE_C level)
HEDDLE_TEX(tex2DLayeredLod, two_layered_level, float x HEDDLE_C float y HEDDLE_C int layer HEDDLE_C float level,
           x HEDDLE_C y HEDDLE_C layer HEDDLE_C level)
HEDDLE_TEX(texCubemapLod, cube_level, float x HEDDLE_C float y HEDDLE_C float z HEDDLE_C float level,
           x HEDDLE_C y HEDDLE_C z HEDDLE_C level)
HEDDLE_TEX(texCubemapLayeredLod, cube_layered_level,
           float x HEDDLE_C float y HEDDLE_C float z HEDDLE_C int layer HEDDLE_C float level,
           x HEDDLE_C y HEDDLE_C z HEDDLE_C layer HEDDLE_C level)
HEDDLE_TEX(tex1DGrad, one_grad, float x HEDDLE_C float dx HEDDLE_C float dy, x HEDDLE_C dx HEDDLE_C dy)
HEDDLE_TEX(tex2DGrad, two_grad, float x HEDDLE_C float y HEDDLE_C float2 dx HEDDLE_C float2 dy,
           x HEDDLE_C y HEDDLE_C dx HEDDLE_C dy)
HEDDLE_TEX(tex3DGrad, three_grad, float x HEDDLE_C float y HEDDLE_C float z HEDDLE_C float4 dx HEDDLE_C float4 dy,
           x HEDDLE_C y HEDDLE_C z HEDDLE_C dx HEDDLE_C dy)
HEDDLE_TEX(tex1DLayeredGrad, one_layered_grad, float x HEDDLE_C int layer HEDDLE_C float dx HEDDLE_C float dy,
           x HEDDLE_C layer HEDDLE_C dx HEDDLE_C dy)
HEDDLE_TEX(tex2DLayeredGrad, two_layered_grad,
           float x HEDDLE_C float y HEDDLE_C int layer HEDDLE_C float2 dx HEDDLE_C float2 dy,
           x HEDDLE_C y HEDDLE_C layer HEDDLE_C dx HEDDLE_C dy)
HEDDLE_TEX(tex2Dgather, gather, float x HEDDLE_C float y HEDDLE_C int component = 0, x HEDDLE_C y HEDDLE_C component)
#undef HEDDLE_TEX

// --- surfaces: raw bytes; the first coordinate counts bytes

// The integer, or vector of integers, that has the size of an element.
template <int kBytes>
struct heddle_surface;
#define HEDDLE_SURFACES(raw, code, mode)                                                     \
  extern "C" __device__ raw __heddle_suld_1d_##code##_##mode(heddle_handle, int);            \
  extern "C" __device__ raw __heddle_suld_2d_##code##_##mode(heddle_handle, int, int);       \
  extern "C" __device__ raw __heddle_suld_3d_##code##_##mode(heddle_handle, int, int, int);  \
  extern "C" __device__ raw __heddle_suld_1d_array_##code##_##mode(heddle_handle, int, int); \
  extern "C" __device__ raw __heddle_suld_2d_array_##code##_##mode(heddle_handle, int, int, int);
HEDDLE_SURFACES(unsigned short, i8, zero)
HEDDLE_SURFACES(unsigned short, i8, clamp)
HEDDLE_SURFACES(unsigned short, i8, trap)
HEDDLE_SURFACES(unsigned short, i16, zero)
HEDDLE_SURFACES(unsigned short, i16, clamp)
HEDDLE_SURFACES(unsigned short, i16, trap)
HEDDLE_SURFACES(unsigned int, i32, zero)
HEDDLE_SURFACES(unsigned int, i32, clamp)
HEDDLE_SURFACES(unsigned int, i32, trap)
HEDDLE_SURFACES(unsigned long long, i64, zero)
HEDDLE_SURFACES(unsigned long long, i64, clamp)
HEDDLE_SURFACES(unsigned long long, i64, trap)
HEDDLE_SURFACES(heddle_u32x4, v4i32, zero)
HEDDLE_SURFACES(heddle_u32x4, v4i32, clamp)
HEDDLE_SURFACES(heddle_u32x4, v4i32, trap)
#undef HEDDLE_SURFACES
#define HEDDLE_STORES(types, code, mode)                                                               \
  extern "C" __device__ void __heddle_sust_b_1d_##code##_##mode(heddle_handle, int, types);            \
  extern "C" __device__ void __heddle_sust_b_2d_##code##_##mode(heddle_handle, int, int, types);       \
  extern "C" __device__ void __heddle_sust_b_3d_##code##_##mode(heddle_handle, int, int, int, types);  \
  extern "C" __device__ void __heddle_sust_b_1d_array_##code##_##mode(heddle_handle, int, int, types); \
  extern "C" __device__ void __heddle_sust_b_2d_array_##code##_##mode(heddle_handle, int, int, int, types);
#define HEDDLE_FOUR_WORDS unsigned int HEDDLE_C unsigned int HEDDLE_C unsigned int HEDDLE_C unsigned int
#define HEDDLE_ALL_STORES(mode)                \
  HEDDLE_STORES(unsigned short, i8, mode)      \
  HEDDLE_STORES(unsigned short, i16, mode)     \
  HEDDLE_STORES(unsigned int, i32, mode)       \
  HEDDLE_STORES(unsigned long long, i64, mode) \
  HEDDLE_STORES(HEDDLE_FOUR_WORDS, v4i32, mode)
HEDDLE_ALL_STORES(zero)
HEDDLE_ALL_STORES(clamp)
HEDDLE_ALL_STORES(trap)
#undef HEDDLE_ALL_STORES
#undef HEDDLE_STORES
#undef HEDDLE_FOUR_WORDS

#define HEDDLE_BY_MODE(result, prefix, code, ...)     \
  switch (mode) {                                     \
    case cudaBoundaryModeZero:                        \
      result prefix##_##code##_zero(h, __VA_ARGS__);  \
      break;                                          \
    case cudaBoundaryModeClamp:                       \
      result prefix##_##code##_clamp(h, __VA_ARGS__); \
      break;                                          \
    default:                                          \
      result prefix##_##code##_trap(h, __VA_ARGS__);  \
      break;                                          \
  }
#define HEDDLE_SURFACE_METHODS(suffix, geometry, parameters, arguments, code, raw, ...)                      \
  HEDDLE_METHOD raw load_##suffix(heddle_handle h, parameters, enum cudaSurfaceBoundaryMode mode) {          \
    raw v;                                                                                                   \
    HEDDLE_BY_MODE(v =, __heddle_suld_##geometry, code, arguments)                                           \
    return v;                                                                                                \
  }                                                                                                          \
  HEDDLE_METHOD void store_##suffix(raw v, heddle_handle h, parameters, enum cudaSurfaceBoundaryMode mode) { \
    HEDDLE_BY_MODE(, __heddle_sust_b_##geometry, code, arguments HEDDLE_C __VA_ARGS__)                       \
  }
#define HEDDLE_SURFACE(bytes, code, raw_type, ...)                                                                   \
  template <>                                                                                                        \
  struct heddle_surface<bytes> {                                                                                     \
    typedef raw_type raw;                                                                                            \
    HEDDLE_SURFACE_METHODS(1d, 1d, int x, x, code, raw_type, __VA_ARGS__)                                            \
    HEDDLE_SURFACE_METHODS(2d, 2d, int x HEDDLE_C int y, x HEDDLE_C y, code, raw_type, __VA_ARGS__)                  \
    HEDDLE_SURFACE_METHODS(3d, 3d, int x HEDDLE_C int y HEDDLE_C int z, x HEDDLE_C y HEDDLE_C z, code, raw_type,     \
                           __VA_ARGS__)                                                                              \
    HEDDLE_SURFACE_METHODS(1d_array, 1d_array, int x HEDDLE_C int layer, layer HEDDLE_C x, code, raw_type,           \
                           __VA_ARGS__)                                                                              \
    HEDDLE_SURFACE_METHODS(2d_array, 2d_array, int x HEDDLE_C int y HEDDLE_C int layer, layer HEDDLE_C x HEDDLE_C y, \
                           code, raw_type, __VA_ARGS__)                                                              \
  };
HEDDLE_SURFACE(1, i8, unsigned short, v)
HEDDLE_SURFACE(2, i16, unsigned short, v)
HEDDLE_SURFACE(4, i32, unsigned int, v)
HEDDLE_SURFACE(8, i64, unsigned long long, v)
HEDDLE_SURFACE(16, v4i32, heddle_u32x4, v.x, v.y, v.z, v.w)
#undef HEDDLE_SURFACE
#undef HEDDLE_SURFACE_METHODS
#undef HEDDLE_BY_MODE

template <class T>
HEDDLE_DEVICE T heddle_from_raw(typename heddle_surface<sizeof(T)>::raw raw) {
  T value;
  __builtin_memcpy(&value, &raw, sizeof(T));
  return value;
}
template <class T>
HEDDLE_DEVICE typename heddle_surface<sizeof(T)>::raw heddle_to_raw(T value) {
  typename heddle_surface<sizeof(T)>::raw raw = 0;
  __builtin_memcpy(&raw, &value, sizeof(T));
  return raw;
}

#define HEDDLE_SURF(name, suffix, parameters, arguments)                                          \
  template <class T>                                                                              \
  HEDDLE_DEVICE T name##read(cudaSurfaceObject_t object, parameters,                              \
                             enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {          \
    return heddle_from_raw<T>(heddle_surface<sizeof(T)>::load_##suffix(object, arguments, mode)); \
  }                                                                                               \
  template <class T>                                                                              \
  HEDDLE_DEVICE void name##read(T* result, cudaSurfaceObject_t object, parameters,                \
                                enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {       \
    *result = name##read<T>(object, arguments, mode);                                             \
  }                                                                                               \
  template <class T, class S, int kType>                                                          \
  HEDDLE_DEVICE T name##read(surface<S, kType> reference, parameters,                             \
                             enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {          \
    return name##read<T>(heddle_bound(reference), arguments, mode);                               \
  }                                                                                               \
  template <class T, class S, int kType>                                                          \
  HEDDLE_DEVICE void name##read(T* result, surface<S, kType> reference, parameters,               \
                                enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {       \
    *result = name##read<T>(heddle_bound(reference), arguments, mode);                            \
  }                                                                                               \
  template <class T>                                                                              \
  HEDDLE_DEVICE void name##write(T value, cudaSurfaceObject_t object, parameters,                 \
                                 enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    heddle_surface<sizeof(T)>::store_##suffix(heddle_to_raw(value), object, arguments, mode);     \
  }                                                                                               \
  template <class T, class S, int kType>                                                          \
  HEDDLE_DEVICE void name##write(T value, surface<S, kType> reference, parameters,                \
                                 enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    name##write(value, heddle_bound(reference), arguments, mode);                                 \
  }
HEDDLE_SURF(surf1D, 1d, int x, x)
HEDDLE_SURF(surf2D, 2d, int x HEDDLE_C int y, x HEDDLE_C y)
HEDDLE_SURF(surf3D, 3d, int x HEDDLE_C int y HEDDLE_C int z, x HEDDLE_C y HEDDLE_C z)
HEDDLE_SURF(surf1DLayered, 1d_array, int x HEDDLE_C int layer, x HEDDLE_C layer)
HEDDLE_SURF(surf2DLayered, 2d_array, int x HEDDLE_C int y HEDDLE_C int layer, x HEDDLE_C y HEDDLE_C layer)
// The faces of a cube are layers; those of a layered one count on, 6 per cube.
HEDDLE_SURF(surfCubemap, 2d_array, int x HEDDLE_C int y HEDDLE_C int face, x HEDDLE_C y HEDDLE_C face)
HEDDLE_SURF(surfCubemapLayered, 2d_array, int x HEDDLE_C int y HEDDLE_C int face, x HEDDLE_C y HEDDLE_C face)
#undef HEDDLE_SURF
#undef HEDDLE_C
#undef HEDDLE_METHOD
#undef HEDDLE_INTRINSIC

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_TEXTURE_H_
