// The module that driver_textures.cu loads.
texture<float, 1> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> picture;
texture<int, 2> numbers;
surface<void, 2> board;

extern "C" __global__ void ReadReferences(float* out, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  float* at = out + 3 * (y * width + x);
  at[0] = tex1Dfetch(line, y * width + x);
  at[1] = tex2D(picture, x + 0.5f, y + 0.5f);
  at[2] = static_cast<float>(tex2D(numbers, x, y));
  surf2Dwrite(10 * x + y, board, x * static_cast<int>(sizeof(int)), y);
}

extern "C" __global__ void ReadObjects(cudaTextureObject_t volume, cudaTextureObject_t row, cudaSurfaceObject_t plane,
                                       float* out) {
  const int i = threadIdx.x;
  out[2 * i] = tex3D<float>(volume, i % 4 + 0.5f, i / 4 % 3 + 0.5f, i / 12 + 0.5f);
  out[2 * i + 1] = tex1Dfetch<float>(row, i);
  surf2Dwrite<unsigned char>(static_cast<unsigned char>(200 - i), plane, i % 8, i / 8);
}
