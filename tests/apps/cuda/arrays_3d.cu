// A three-dimensional array, filled by cudaMemcpy3D and read through a texture; a layered array.
#include <string.h>

#include "check.h"

__global__ void Read(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  out[(z * blockDim.y + y) * blockDim.x + x] = tex3D<float>(texture, x + 0.5f, y + 0.5f, z + 0.5f);
}
__global__ void ReadLayers(cudaTextureObject_t texture, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = tex2DLayered<float>(texture, threadIdx.x + 0.5f, 0.5f, blockIdx.x);
}

int main() {
  const int width = 6, height = 5, depth = 4, n = width * height * depth;
  float host[n], back[n], *out;
  for (int i = 0; i < n; ++i) host[i] = 1000.0f - i;
  CALL(cudaMalloc(&out, sizeof(host)));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaTextureDesc description;
  memset(&description, 0, sizeof(description));
  for (int i = 0; i < 3; ++i) description.addressMode[i] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  for (int layered = 0; layered < 2; ++layered) {
    const cudaExtent extent = make_cudaExtent(width, height, depth);
    cudaArray_t array;
    CALL(cudaMalloc3DArray(&array, &format, extent, layered ? cudaArrayLayered : cudaArrayDefault));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, width * sizeof(float), width, height);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CALL(cudaMemcpy3D(&copy));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof(resource));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CALL(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    if (layered) {
      ReadLayers<<<depth, width>>>(texture, out);
      CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
      for (int i = 0; i < depth * width; ++i) EXPECT(back[i] == host[i / width * width * height + i % width]);
    } else {
      Read<<<1, dim3(width, height, depth)>>>(texture, out);
      CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
      for (int i = 0; i < n; ++i) EXPECT(back[i] == host[i]);
    }
    cudaExtent got;
    unsigned int flags;
    CALL(cudaArrayGetInfo(NULL, &got, &flags, array));
    EXPECT(got.width == width && got.depth == depth && flags == (layered ? cudaArrayLayered : cudaArrayDefault));
    CALL(cudaDestroyTextureObject(texture));
    CALL(cudaFreeArray(array));
  }
  return Finish();
}
