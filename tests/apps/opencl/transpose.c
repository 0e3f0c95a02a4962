/* Two- and three-dimensional index spaces, local tiles with padding, reqd_work_group_size, work-group information. */
#include "app.h"

static const char *source =
    "#define T 16\n"
    "__kernel __attribute__((reqd_work_group_size(T, T, 1)))\n"
    "void transpose(__global const float *in, __global float *out, int width, int height) {\n"
    "  __local float tile[T][T + 1];\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  if (x < width && y < height) tile[get_local_id(1)][get_local_id(0)] = in[y * width + x];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  x = get_group_id(1) * T + get_local_id(0); y = get_group_id(0) * T + get_local_id(1);\n"
    "  if (x < height && y < width) out[y * height + x] = tile[get_local_id(0)][get_local_id(1)];\n"
    "}\n"
    "__kernel void cube(__global int *out) {\n"
    "  size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "  out[(z * get_global_size(1) + y) * get_global_size(0) + x] =\n"
    "      (int)(x + 100 * y + 10000 * z + 1000000 * get_work_dim() + 10000000 * (get_num_groups(2) == "
    "get_global_size(2)));\n"
    "}\n";

enum { kWidth = 75, kHeight = 50 };

int main(void) {
  static float in[kHeight][kWidth], out[kWidth][kHeight];
  static int cubes[4][6][8];
  int x, y, z;
  for (y = 0; y < kHeight; ++y)
    for (x = 0; x < kWidth; ++x) in[y][x] = (float)(y * 1000 + x);
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel transpose = MakeKernel(program, "transpose");
  cl_mem a = MakeBuffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(in), in);
  cl_mem b = MakeBuffer(CL_MEM_WRITE_ONLY, sizeof(out), NULL);
  SetBuffer(transpose, 0, a);
  SetBuffer(transpose, 1, b);
  SetInt(transpose, 2, kWidth);
  SetInt(transpose, 3, kHeight);
  const size_t global[2] = {80, 64}, local[2] = {16, 16}, wrong[2] = {8, 16};
  EXPECT(clEnqueueNDRangeKernel(queue, transpose, 2, NULL, global, wrong, 0, NULL, NULL) == CL_INVALID_WORK_GROUP_SIZE);
  CALL(clEnqueueNDRangeKernel(queue, transpose, 2, NULL, global, local, 0, NULL, NULL));
  Read(b, out, sizeof(out));
  for (y = 0; y < kHeight; ++y)
    for (x = 0; x < kWidth; ++x) EXPECT_ELEMENT(y * kWidth + x, out[x][y], in[y][x]);
  size_t required[3], most, multiple;
  CALL(
      clGetKernelWorkGroupInfo(transpose, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(required), required, NULL));
  CALL(clGetKernelWorkGroupInfo(transpose, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, NULL));
  CALL(clGetKernelWorkGroupInfo(transpose, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof(multiple),
                                &multiple, NULL));
  EXPECT(required[0] == 16 && required[1] == 16 && required[2] == 1 && most == 256 && multiple == 32);

  cl_kernel cube = MakeKernel(program, "cube");
  cl_mem c = MakeBuffer(CL_MEM_WRITE_ONLY, sizeof(cubes), NULL);
  SetBuffer(cube, 0, c);
  const size_t size[3] = {8, 6, 4}, part[3] = {4, 3, 1};
  CALL(clEnqueueNDRangeKernel(queue, cube, 3, NULL, size, part, 0, NULL, NULL));
  Read(c, cubes, sizeof(cubes));
  for (z = 0; z < 4; ++z)
    for (y = 0; y < 6; ++y)
      for (x = 0; x < 8; ++x) EXPECT_ELEMENT(z, cubes[z][y][x], x + 100 * y + 10000 * z + 13000000);
  CloseDevice();
  printf("transpose: passed\n");
  return 0;
}
