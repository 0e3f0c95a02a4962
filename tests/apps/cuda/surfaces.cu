// Surfaces: arrays that kernels write; a reference and an object.
#include <string.h>

#include "check.h"

surface<void, 2> plane;

__global__ void Write(int width) {
  surf2Dwrite(static_cast<float>(blockIdx.x * width + threadIdx.x), plane, threadIdx.x * sizeof(float), blockIdx.x);
}
__global__ void Transform(cudaSurfaceObject_t surface) {
  float value;
  surf2Dread(&value, surface, threadIdx.x * sizeof(float), blockIdx.x);
  surf2Dwrite(value * value, surface, threadIdx.x * sizeof(float), blockIdx.x);
}

int main() {
  const int width = 20, height = 5;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CALL(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  CALL(cudaBindSurfaceToArray(plane, array));
  Write<<<height, width>>>(width);
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t object;
  CALL(cudaCreateSurfaceObject(&object, &resource));
  Transform<<<height, width>>>(object);
  float host[height][width];
  CALL(cudaMemcpy2DFromArray(host, sizeof(host[0]), array, 0, 0, sizeof(host[0]), height, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; ++i) EXPECT(host[0][i] == i * i);
  CALL(cudaDestroySurfaceObject(object));
  CALL(cudaFreeArray(array));
  return Finish();
}
