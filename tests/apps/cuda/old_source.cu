// Source of earlier days, which nvcc takes with warnings at most: narrowing in braces, macros that touch strings, names
// that C++17 took away; and old functions whatever version of CUDA is asked for.
// nvcc: --cuda-version 12.9
#include "check.h"

#define fNID "d"

struct Color {
  unsigned char r, g, b, a;
};
void Throws(int) throw(int);
texture<float, 1> line;

__global__ void Narrow(unsigned short wide, int whole, double real, Color* out, float* sum) {
  register int kept = whole;
  Color color = {wide, wide, whole, 300};
  float both[2] = {real, whole};
  uchar4 vector = {wide, wide, wide, wide};
  out[0] = color;
  *sum = both[0] + both[1] + vector.x + kept + tex1Dfetch(line, 1);
}

int main() {
  const int many = 513;
  unsigned char bytes[2] = {many, 257};
  EXPECT(bytes[0] == 1 && bytes[1] == 1);
  Color* color;
  float *sum, *texels;
  CALL(cudaMallocManaged(&color, sizeof(*color)));
  CALL(cudaMallocManaged(&sum, sizeof(*sum)));
  CALL(cudaMallocManaged(&texels, 2 * sizeof(*texels)));
  texels[1] = 8;
  CALL(cudaBindTexture(NULL, line, texels, 2 * sizeof(*texels)));
  Narrow<<<1, 1>>>(258, 3, 0.5, color, sum);
  CALL(cudaThreadSynchronize());
  EXPECT(color->r == 2 && color->b == 3 && color->a == 44);
  EXPECT(*sum == 0.5f + 3 + 2 + 3 + 8);
  // clang-format off
  printf("%"fNID" %"fNID"\n", color->r, color->g);
  // clang-format on
  int version = 0;
  CALL(cudaRuntimeGetVersion(&version));
  EXPECT(version == 12090 && CUDART_VERSION == 12090 && __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ == 9);
  return Finish();
}
