// The kernels of driver_ptx_textures.cu in CUDA, to compare with.
texture<float, 1> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> picture;
texture<float, 3> cube;
surface<void, 2> board;

extern "C" __global__ void Objects(cudaTextureObject_t row, cudaTextureObject_t plane, cudaTextureObject_t volume,
                                   cudaTextureObject_t layers, cudaSurfaceObject_t numbers, cudaSurfaceObject_t bytes,
                                   float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  const float u = x + 0.3f, v = y + 0.6f;
  float* at = out + 12 * (y * 8 + x);
  at[0] = tex1Dfetch<float>(row, y * 8 + x);
  at[1] = tex2D<float>(plane, u, v);
  at[2] = tex3D<float>(volume, u, v, 0.75f);
  at[3] = tex2DLod<float>(plane, u, v, 0.0f);
  at[4] = tex2DGrad<float>(plane, u, v, make_float2(0.1f, 0.0f), make_float2(0.0f, 0.1f));
  at[5] = static_cast<float>(tex2DLayered<int>(layers, u, v, 1));
  const float4 four = tex2Dgather<float4>(plane, u, v, 0);
  at[6] = four.x;
  at[7] = four.y;
  at[8] = four.z;
  at[9] = four.w;
  at[10] = static_cast<float>(surf2Dread<int>(numbers, x * 4, y));
  at[11] = static_cast<float>(surf2Dread<int>(numbers, x * 4 + 8, y, cudaBoundaryModeZero));
  surf3Dwrite<unsigned char>(static_cast<unsigned char>(8 * y + x), bytes, x, y, 1);
}

extern "C" __global__ void References(float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  const float u = x + 0.3f, v = y + 0.6f;
  float* at = out + 3 * (y * 8 + x);
  at[0] = tex1Dfetch(line, y * 8 + x);
  at[1] = tex2D(picture, u, v);
  at[2] = tex3D(cube, u, v, 0.25f);
  surf2Dwrite(10 * x + y, board, x * 4, y);
}
