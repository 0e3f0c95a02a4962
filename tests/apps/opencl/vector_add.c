/* Buffers, scalar arguments, a grid with a ragged end, a work-group size left to the driver, an offset of the index. */
#include "app.h"

static const char *source =
    "__kernel void add(__global const float *a, __global const float *b, __global float *c, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) c[i] = a[i] + b[i];\n"
    "}\n"
    "__kernel void mark(__global int *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = (int)(get_global_offset(0) * 1000000 + get_local_size(0) * 1000 + get_group_id(0) * 10 + "
    "get_work_dim());\n"
    "}\n";

enum { kCount = 5000 };

int main(void) {
  static float a[kCount], b[kCount], c[kCount];
  static int marks[256];
  int i;
  for (i = 0; i < kCount; ++i) {
    a[i] = (float)(Random() % 1000) / 8;
    b[i] = (float)(Random() % 1000) / 16;
  }
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel add = MakeKernel(program, "add");
  cl_mem da = MakeBuffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(a), a);
  cl_mem db = MakeBuffer(CL_MEM_READ_ONLY, sizeof(b), NULL);
  cl_mem dc = MakeBuffer(CL_MEM_WRITE_ONLY, sizeof(c), NULL);
  CALL(clEnqueueWriteBuffer(queue, db, CL_FALSE, 0, sizeof(b), b, 0, NULL, NULL));
  SetBuffer(add, 0, da);
  SetBuffer(add, 1, db);
  SetBuffer(add, 2, dc);
  SetInt(add, 3, kCount);
  Run1(add, (kCount + 255) / 256 * 256, 256);
  Read(dc, c, sizeof(c));
  for (i = 0; i < kCount; ++i) EXPECT_ELEMENT(i, c[i], a[i] + b[i]);
  printf("add: %g %g\n", c[0], c[kCount - 1]);

  cl_kernel mark = MakeKernel(program, "mark");
  cl_mem dm = MakeBuffer(CL_MEM_READ_WRITE, sizeof(marks), NULL);
  const size_t offset = 64, global = 96, local = 32;
  const int zero = 0;
  CALL(clEnqueueFillBuffer(queue, dm, &zero, sizeof(zero), 0, sizeof(marks), 0, NULL, NULL));
  SetBuffer(mark, 0, dm);
  CALL(clEnqueueNDRangeKernel(queue, mark, 1, &offset, &global, &local, 0, NULL, NULL));
  Read(dm, marks, sizeof(marks));
  for (i = 0; i < 256; ++i) {
    const int inside = i >= 64 && i < 160;
    EXPECT_ELEMENT(i, marks[i], inside ? 64000000 + 32000 + (i - 64) / 32 * 10 + 1 : 0);
  }
  Run1(mark, 256, 0);
  Read(dm, marks, sizeof(marks));
  printf("the driver's work-group size: %d\n", marks[0] / 1000);
  EXPECT(marks[255] % 10 == 1);

  CALL(clReleaseMemObject(da));
  CALL(clReleaseMemObject(db));
  CALL(clReleaseMemObject(dc));
  CALL(clReleaseMemObject(dm));
  CALL(clReleaseKernel(add));
  CALL(clReleaseKernel(mark));
  CALL(clReleaseProgram(program));
  CloseDevice();
  printf("vector_add: passed\n");
  return 0;
}
