// Texture references, as programs before CUDA 5 have them, one of them static.
#include "check.h"

texture<float, 1, cudaReadModeElementType> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> picture;
static texture<int4, 1> quads;

__global__ void Read(float* out, int n) {
  const int i = threadIdx.x;
  out[i] = tex1Dfetch(line, (i * 7) % n) + tex1Dfetch(quads, i % 4).z;
}
__global__ void Look(float* out, int width) {
  out[blockIdx.x * width + threadIdx.x] = tex2D(picture, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}

int main() {
  const int n = 64;
  float host[n], *device, *out;
  int4 fours[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}}, *device_fours;
  for (int i = 0; i < n; ++i) host[i] = i * 0.25f;
  CALL(cudaMalloc(&device, sizeof(host)));
  CALL(cudaMalloc(&out, sizeof(host)));
  CALL(cudaMalloc(&device_fours, sizeof(fours)));
  CALL(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(device_fours, fours, sizeof(fours), cudaMemcpyHostToDevice));
  size_t offset = 99;
  CALL(cudaBindTexture(&offset, line, device, sizeof(host)));
  EXPECT(offset == 0);
  CALL(cudaBindTexture(NULL, quads, device_fours));
  Read<<<1, n>>>(out, n);
  float back[n];
  CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(back[i] == ((i * 7) % n) * 0.25f + 4 * (i % 4) + 3);
  CALL(cudaUnbindTexture(line));

  const int width = 16, height = 4;
  unsigned char bytes[height][width];
  for (int i = 0; i < width * height; ++i) bytes[0][i] = static_cast<unsigned char>(i * 3);
  cudaArray* array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
  CALL(cudaMallocArray(&array, &format, width, height));
  CALL(cudaMemcpyToArray(array, 0, 0, bytes, sizeof(bytes), cudaMemcpyHostToDevice));
  picture.addressMode[0] = picture.addressMode[1] = cudaAddressModeClamp;
  picture.filterMode = cudaFilterModePoint;
  picture.normalized = false;
  CALL(cudaBindTextureToArray(picture, array));
  Look<<<height, width>>>(out, width);
  CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; ++i) EXPECT_NEAR(back[i], bytes[0][i] / 255.0, 1e-6);
  // Set in the reference after binding: holds from the next launch.
  picture.filterMode = cudaFilterModeLinear;
  Look<<<height, width>>>(out, width);
  CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
  EXPECT_NEAR(back[17], bytes[1][1] / 255.0, 1e-2);
  CALL(cudaUnbindTexture(picture));
  CALL(cudaFreeArray(array));
  return Finish();
}
