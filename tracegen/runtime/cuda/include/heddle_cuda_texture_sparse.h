// Fetches that also tell whether the texel is in memory (all of them are: there are no sparse arrays), and gradients of
// cubes, which read the one level that a texture has.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_TEXTURE_SPARSE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_TEXTURE_SPARSE_H_

// `name` with arguments that end in `bool* resident`.
#define HEDDLE_C ,
#define HEDDLE_SPARSE(name, parameters, arguments)                                             \
  template <class T>                                                                           \
  HEDDLE_DEVICE T name(cudaTextureObject_t object, parameters, bool* resident) {               \
    *resident = true;                                                                          \
    return name<T>(object, arguments);                                                         \
  }                                                                                            \
  template <class T>                                                                           \
  HEDDLE_DEVICE void name(T* result, cudaTextureObject_t object, parameters, bool* resident) { \
    *result = name<T>(object, arguments, resident);                                            \
  }
HEDDLE_SPARSE(tex2D, float x HEDDLE_C float y, x HEDDLE_C y)
HEDDLE_SPARSE(tex3D, float x HEDDLE_C float y HEDDLE_C float z, x HEDDLE_C y HEDDLE_C z)
HEDDLE_SPARSE(tex2DLayered, float x HEDDLE_C float y HEDDLE_C int layer, x HEDDLE_C y HEDDLE_C layer)
HEDDLE_SPARSE(tex2DLod, float x HEDDLE_C float y HEDDLE_C float level, x HEDDLE_C y HEDDLE_C level)
HEDDLE_SPARSE(tex3DLod, float x HEDDLE_C float y HEDDLE_C float z HEDDLE_C float level,
              x HEDDLE_C y HEDDLE_C z HEDDLE_C level)
HEDDLE_SPARSE(tex2DLayeredLod, float x HEDDLE_C float y HEDDLE_C int layer HEDDLE_C float level,
              x HEDDLE_C y HEDDLE_C layer HEDDLE_C level)
HEDDLE_SPARSE(tex2DGrad, float x HEDDLE_C float y HEDDLE_C float2 dx HEDDLE_C float2 dy,
              x HEDDLE_C y HEDDLE_C dx HEDDLE_C dy)
HEDDLE_SPARSE(tex3DGrad, float x HEDDLE_C float y HEDDLE_C float z HEDDLE_C float4 dx HEDDLE_C float4 dy,
              x HEDDLE_C y HEDDLE_C z HEDDLE_C dx HEDDLE_C dy)
HEDDLE_SPARSE(tex2DLayeredGrad, float x HEDDLE_C float y HEDDLE_C int layer HEDDLE_C float2 dx HEDDLE_C float2 dy,
              x HEDDLE_C y HEDDLE_C layer HEDDLE_C dx HEDDLE_C dy)
#undef HEDDLE_SPARSE
#undef HEDDLE_C
template <class T>
HEDDLE_DEVICE T tex2Dgather(cudaTextureObject_t object, float x, float y, bool* resident, int component = 0) {
  *resident = true;
  return tex2Dgather<T>(object, x, y, component);
}
template <class T>
HEDDLE_DEVICE void tex2Dgather(T* result, cudaTextureObject_t object, float x, float y, bool* resident,
                               int component = 0) {
  *result = tex2Dgather<T>(object, x, y, resident, component);
}

template <class T>
HEDDLE_DEVICE T texCubemapGrad(cudaTextureObject_t object, float x, float y, float z, float4, float4) {
  return texCubemap<T>(object, x, y, z);
}
template <class T>
HEDDLE_DEVICE void texCubemapGrad(T* result, cudaTextureObject_t object, float x, float y, float z, float4, float4) {
  *result = texCubemap<T>(object, x, y, z);
}
template <class T>
HEDDLE_DEVICE T texCubemapLayeredGrad(cudaTextureObject_t object, float x, float y, float z, int layer, float4,
                                      float4) {
  return texCubemapLayered<T>(object, x, y, z, layer);
}
template <class T>
HEDDLE_DEVICE void texCubemapLayeredGrad(T* result, cudaTextureObject_t object, float x, float y, float z, int layer,
                                         float4, float4) {
  *result = texCubemapLayered<T>(object, x, y, z, layer);
}

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_TEXTURE_SPARSE_H_
