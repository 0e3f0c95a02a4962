// Fetches with a level of detail and with gradients (there is one level, whatever they say), gathers, layers, and cubes
// through textures and surfaces.
#include <string.h>

#include "check.h"

const int kSize = 8, kLayers = 12;  // of which a cube takes six

__global__ void Levels(cudaTextureObject_t line, cudaTextureObject_t plane, cudaTextureObject_t volume,
                       cudaTextureObject_t layers, float* out) {
  const int i = threadIdx.x, row = blockIdx.x;
  const float x = (i + 0.5f) / kSize, y = (row + 0.5f) / kSize, far = 4.0f * i;
  float* at = out + 10 * (row * kSize + i);
  at[0] = tex1DLod<float>(line, x, far) - tex1D<float>(line, x);
  at[1] = tex1DGrad<float>(line, x, far, -far) - tex1D<float>(line, x);
  at[2] = tex2DLod<float>(plane, x, y, far);
  at[3] = tex2DGrad<float>(plane, x, y, make_float2(far, 0), make_float2(0, far));
  at[4] = tex3DLod<float>(volume, x, y, 0.5f, far);
  at[5] = tex3DGrad<float>(volume, x, y, 0.5f, make_float4(far, far, 0, 0), make_float4(0, 0, far, 0));
  at[6] = tex2DLayeredLod<float>(layers, x, y, 7, far);
  at[7] = tex2DLayeredGrad<float>(layers, x, y, 7, make_float2(far, 0), make_float2(0, far));
  float got;
  tex2DLayered(&got, layers, x, y, 7);
  at[8] = got;
  const float4 four = tex2Dgather<float4>(plane, x + 0.5f / kSize, y + 0.5f / kSize);
  at[9] = four.x + 8 * four.y + 64 * four.z + 512 * four.w;
}

// A direction through the texel (i, row) of every face, and a step of the cube's texels by surface.
__global__ void Cubes(cudaTextureObject_t cube, cudaTextureObject_t cubes, cudaSurfaceObject_t faces, float* out) {
  const int i = threadIdx.x, row = threadIdx.y, face = blockIdx.x;
  const float s = 2 * (i + 0.5f) / kSize - 1, t = 2 * (row + 0.5f) / kSize - 1;
  const float3 ways[6] = {make_float3(1, -t, -s), make_float3(-1, -t, s), make_float3(s, 1, t),
                          make_float3(s, -1, -t), make_float3(s, -t, 1),  make_float3(-s, -t, -1)};
  const float3 way = ways[face];
  float* at = out + 4 * ((face * kSize + row) * kSize + i);
  at[0] = texCubemap<float>(cube, way.x, way.y, way.z);
  at[1] = texCubemapLod<float>(cube, 3 * way.x, 3 * way.y, 3 * way.z, 2.0f);
  at[2] = texCubemapLayeredLod<float>(cubes, way.x, way.y, way.z, 1, 0.0f);
  at[3] = surfCubemapread<float>(faces, i * static_cast<int>(sizeof(float)), row, face);
  surfCubemapwrite(-at[3], faces, i * static_cast<int>(sizeof(float)), row, face);
}

static float host[kLayers * kSize * kSize];

static cudaArray_t MakeArray(size_t height, size_t depth, unsigned int flags) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CALL(cudaMalloc3DArray(&array, &format, make_cudaExtent(kSize, height, depth), flags));
  cudaMemcpy3DParms copy;
  memset(&copy, 0, sizeof(copy));
  copy.srcPtr = make_cudaPitchedPtr(host, kSize * sizeof(float), kSize, height == 0 ? 1 : height);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(kSize, height == 0 ? 1 : height, depth == 0 ? 1 : depth);
  copy.kind = cudaMemcpyHostToDevice;
  CALL(cudaMemcpy3D(&copy));
  return array;
}

static cudaTextureObject_t MakeTexture(cudaArray_t array) {
  cudaResourceDesc resource;
  cudaTextureDesc description;
  memset(&resource, 0, sizeof(resource));
  memset(&description, 0, sizeof(description));
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  for (int i = 0; i < 3; ++i) description.addressMode[i] = cudaAddressModeClamp;
  description.normalizedCoords = 1;
  description.maxMipmapLevelClamp = 99;
  cudaTextureObject_t texture;
  CALL(cudaCreateTextureObject(&texture, &resource, &description, NULL));
  return texture;
}

int main() {
  const int plane = kSize * kSize;
  for (int i = 0; i < kLayers * plane; ++i) host[i] = static_cast<float>(i + 1);
  const cudaTextureObject_t line = MakeTexture(MakeArray(0, 0, cudaArrayDefault));
  const cudaTextureObject_t flat = MakeTexture(MakeArray(kSize, 0, cudaArrayTextureGather));
  const cudaTextureObject_t volume = MakeTexture(MakeArray(kSize, 4, cudaArrayDefault));
  const cudaTextureObject_t layers = MakeTexture(MakeArray(kSize, kLayers, cudaArrayLayered));
  float *out, results[plane][10];
  CALL(cudaMalloc(&out, sizeof(results) * 4));
  Levels<<<kSize, kSize>>>(line, flat, volume, layers, out);
  CALL(cudaMemcpy(results, out, sizeof(results), cudaMemcpyDeviceToHost));
  for (int i = 0; i < plane; ++i) {
    EXPECT(results[i][0] == 0 && results[i][1] == 0);
    EXPECT(results[i][2] == host[i] && results[i][3] == host[i]);
    EXPECT(results[i][4] == host[2 * plane + i] && results[i][5] == host[2 * plane + i]);
    for (int k = 6; k < 9; ++k) EXPECT(results[i][k] == host[7 * plane + i]);
    const int x = i % kSize, y = i / kSize, right = x < kSize - 1 ? x + 1 : x, below = y < kSize - 1 ? y + 1 : y;
    EXPECT(results[i][9] == host[below * kSize + x] + 8 * host[below * kSize + right] + 64 * host[y * kSize + right] +
                                512 * host[y * kSize + x]);
  }

  const cudaArray_t one = MakeArray(kSize, 6, cudaArrayCubemap | cudaArraySurfaceLoadStore);
  const cudaTextureObject_t cubes = MakeTexture(MakeArray(kSize, 12, cudaArrayCubemap | cudaArrayLayered));
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = one;
  cudaSurfaceObject_t faces;
  CALL(cudaCreateSurfaceObject(&faces, &resource));
  static float seen[6 * kSize * kSize][4];
  CALL(cudaFree(out));
  CALL(cudaMalloc(&out, sizeof(seen)));
  for (int turn = 0; turn < 2; ++turn) {
    const float sign = turn == 0 ? 1.0f : -1.0f;
    Cubes<<<6, dim3(kSize, kSize)>>>(MakeTexture(one), cubes, faces, out);
    CALL(cudaMemcpy(seen, out, sizeof(seen), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6 * plane; ++i) {
      EXPECT(seen[i][0] == sign * host[i] && seen[i][1] == sign * host[i] && seen[i][3] == sign * host[i]);
      EXPECT(seen[i][2] == host[6 * plane + i]);
    }
  }
  return Finish();
}
