// Texture objects over linear memory, pitched memory and arrays: fetches, filtering, addressing.
#include <string.h>

#include "check.h"

__global__ void Fetch1D(cudaTextureObject_t texture, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(texture, n - 1 - i);
}
__global__ void Sample2D(cudaTextureObject_t texture, float* out, int width, int height, float scale, float shift) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x * scale + shift, y * scale + shift);
}
__global__ void Bytes(cudaTextureObject_t texture, float4* out) {
  out[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 0.5f);
}

int main() {
  const int width = 8, height = 4;
  float texels[height][width];
  for (int i = 0; i < width * height; ++i) texels[0][i] = static_cast<float>(i * i);
  float *linear, *out, host[32];
  CALL(cudaMalloc(&linear, sizeof(texels)));
  CALL(cudaMalloc(&out, sizeof(host)));
  CALL(cudaMemcpy(linear, texels, sizeof(texels), cudaMemcpyHostToDevice));

  cudaResourceDesc resource;
  memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = linear;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = sizeof(texels);
  cudaTextureDesc description;
  memset(&description, 0, sizeof(description));
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CALL(cudaCreateTextureObject(&texture, &resource, &description, NULL));
  Fetch1D<<<1, 32>>>(texture, out, 32);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) EXPECT(host[i] == (31 - i) * (31 - i));
  CALL(cudaDestroyTextureObject(texture));

  // An array: halfway between four texels, linear filtering gives their mean; clamped at the border.
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  CALL(cudaMallocArray(&array, &format, width, height));
  CALL(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof(texels[0]), sizeof(texels[0]), height, cudaMemcpyHostToDevice));
  memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  CALL(cudaCreateTextureObject(&texture, &resource, &description, NULL));
  Sample2D<<<height, width>>>(texture, out, width, height, 1.0f, 1.0f);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int x1 = x + 1 < width ? x + 1 : x, y1 = y + 1 < height ? y + 1 : y;
      const float mean = (texels[y][x] + texels[y][x1] + texels[y1][x] + texels[y1][x1]) / 4;
      EXPECT_NEAR(host[y * width + x], mean, 1e-3);
    }
  }
  CALL(cudaDestroyTextureObject(texture));
  // Normalised coordinates, wrapped around, nearest texel.
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeWrap;
  description.filterMode = cudaFilterModePoint;
  description.normalizedCoords = 1;
  CALL(cudaCreateTextureObject(&texture, &resource, &description, NULL));
  Sample2D<<<height, width>>>(texture, out, width, height, 0.25f, 1.01f);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) EXPECT(host[y * width + x] == texels[y % 4][(2 * x) % 8]);
  }
  CALL(cudaDestroyTextureObject(texture));
  CALL(cudaFreeArray(array));

  // Bytes read as numbers from 0 to 1, from pitched memory.
  uchar4 *bytes, colours[4] = {{0, 51, 102, 255}, {255, 0, 0, 0}, {1, 2, 3, 4}, {128, 64, 32, 16}};
  float4 *out4, host4[4];
  size_t pitch;
  CALL(cudaMallocPitch(&bytes, &pitch, sizeof(colours), 1));
  CALL(cudaMalloc(&out4, sizeof(host4)));
  CALL(cudaMemcpy(bytes, colours, sizeof(colours), cudaMemcpyHostToDevice));
  memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = bytes;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.pitch2D.width = 4;
  resource.res.pitch2D.height = 1;
  resource.res.pitch2D.pitchInBytes = pitch;
  memset(&description, 0, sizeof(description));
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.readMode = cudaReadModeNormalizedFloat;
  CALL(cudaCreateTextureObject(&texture, &resource, &description, NULL));
  Bytes<<<1, 4>>>(texture, out4);
  CALL(cudaMemcpy(host4, out4, sizeof(host4), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(host4[i].x, colours[i].x / 255.0, 1e-6);
    EXPECT_NEAR(host4[i].w, colours[i].w / 255.0, 1e-6);
  }
  CALL(cudaDestroyTextureObject(texture));
  // Filtering needs numbers.
  description.readMode = cudaReadModeElementType;
  description.filterMode = cudaFilterModeLinear;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &description, NULL) == cudaErrorInvalidFilterSetting);
  cudaGetLastError();
  return Finish();
}
