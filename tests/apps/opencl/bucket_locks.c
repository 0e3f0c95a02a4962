/* A lock per bucket, taken by work-items of one group and of one warp: the usual form, whose critical section lies within
 * the loop, so that a warp in lockstep gets through. */
#include "app.h"

static const char *source =
    "__kernel void insert(volatile __global int *locks, volatile __global int *sizes, volatile __global int *items) {\n"
    "  const int i = get_global_id(0), bucket = i * 7 % 5;\n"
    "  int done = 0;\n"
    "  while (!done) {\n"
    "    if (atomic_cmpxchg(&locks[bucket], 0, 1) == 0) {\n"
    "      const int at = sizes[bucket];\n"
    "      items[bucket * 64 + at] = i;\n"
    "      sizes[bucket] = at + 1;\n"
    "      mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "      atomic_xchg(&locks[bucket], 0);\n"
    "      done = 1;\n"
    "    }\n"
    "  }\n"
    "}\n";

enum { kItems = 160, kBuckets = 5 };

int main(void) {
  cl_int locks[kBuckets] = {0}, sizes[kBuckets] = {0}, items[kBuckets * 64] = {0}, seen[kItems] = {0};
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel insert = MakeKernel(program, "insert");
  cl_mem buffers[3];
  buffers[0] = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(locks), locks);
  buffers[1] = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(sizes), sizes);
  buffers[2] = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(items), items);
  for (cl_uint i = 0; i < 3; ++i) SetBuffer(insert, i, buffers[i]);
  Run1(insert, kItems, 40);
  Read(buffers[1], sizes, sizeof(sizes));
  Read(buffers[2], items, sizeof(items));
  for (int b = 0; b < kBuckets; ++b) {
    EXPECT_ELEMENT(b, sizes[b], kItems / kBuckets);
    for (int k = 0; k < sizes[b]; ++k) {
      EXPECT(items[b * 64 + k] * 7 % 5 == b);
      ++seen[items[b * 64 + k]];
    }
  }
  for (int i = 0; i < kItems; ++i) EXPECT_ELEMENT(i, seen[i], 1);
  for (int i = 0; i < 3; ++i) CALL(clReleaseMemObject(buffers[i]));
  CALL(clReleaseKernel(insert));
  CALL(clReleaseProgram(program));
  CloseDevice();
  printf("all right\n");
  return 0;
}
