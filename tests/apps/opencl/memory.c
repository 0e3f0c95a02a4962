/* Memory objects: sub-buffers, maps, memory of the host, rectangles, fills, copies within a buffer, destructors. */
#include "app.h"

static const char *source = "__kernel void add(__global int *x, int by) { x[get_global_id(0)] += by; }\n";

enum { kCount = 1024, kRow = 32 };

static int destroyed;
static void CL_CALLBACK Destroyed(cl_mem memory, void *data) {
  (void)memory;
  destroyed = destroyed * 10 + *(int *)data;
}

int main(void) {
  static int data[kCount], copy[kCount], host[kCount];
  int i, x, y, one = 1, two = 2;
  cl_int error;
  for (i = 0; i < kCount; ++i) host[i] = data[i] = i;
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel add = MakeKernel(program, "add");
  cl_mem whole = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(data), data);

  /* The second quarter. */
  const cl_buffer_region region = {sizeof(data) / 4, sizeof(data) / 4}, crooked = {4, 64};
  cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  CALL(error);
  EXPECT(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &crooked, &error) == NULL);
  EXPECT(error == CL_MISALIGNED_SUB_BUFFER_OFFSET);
  size_t offset = 0;
  cl_mem parent = NULL;
  CALL(clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof(offset), &offset, NULL));
  CALL(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL));
  EXPECT(offset == sizeof(data) / 4 && parent == whole);
  SetBuffer(add, 0, part);
  SetInt(add, 1, 5000);
  Run1(add, kCount / 4, 0);
  Read(whole, copy, sizeof(copy));
  for (i = 0; i < kCount; ++i) EXPECT_ELEMENT(i, copy[i], i / (kCount / 4) == 1 ? i + 5000 : i);

  /* Written through a mapping, read through another. */
  int *mapped = (int *)clEnqueueMapBuffer(queue, whole, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, &error);
  CALL(error);
  for (i = 0; i < 16; ++i) mapped[i] = -i;
  cl_uint maps = 0;
  CALL(clGetMemObjectInfo(whole, CL_MEM_MAP_COUNT, sizeof(maps), &maps, NULL));
  EXPECT(maps == 1);
  CALL(clEnqueueUnmapMemObject(queue, whole, mapped, 0, NULL, NULL));
  EXPECT(clEnqueueUnmapMemObject(queue, whole, mapped, 0, NULL, NULL) == CL_INVALID_VALUE);
  SetBuffer(add, 0, whole);
  SetInt(add, 1, 7);
  Run1(add, kCount, 128);
  mapped = (int *)clEnqueueMapBuffer(queue, whole, CL_TRUE, CL_MAP_READ, 32, 64, 0, NULL, NULL, &error);
  CALL(error);
  for (i = 0; i < 8; ++i) EXPECT_ELEMENT(i, mapped[i], 7 - (8 + i));
  EXPECT(mapped[8] == 16 + 7);
  CALL(clEnqueueUnmapMemObject(queue, whole, mapped, 0, NULL, NULL));

  /* Memory of the host: what is mapped lies there. */
  cl_mem over = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof(host), host);
  SetBuffer(add, 0, over);
  Run1(add, kCount, 128);
  mapped = (int *)clEnqueueMapBuffer(queue, over, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, sizeof(host), 0, NULL, NULL,
                                     &error);
  CALL(error);
  EXPECT(mapped == host);
  for (i = 0; i < kCount; ++i) EXPECT_ELEMENT(i, host[i], i + 7);
  host[3] = 1000;
  CALL(clEnqueueUnmapMemObject(queue, over, mapped, 0, NULL, NULL));
  Run1(add, kCount, 128);
  Read(over, copy, sizeof(copy));
  EXPECT(copy[3] == 1007 && copy[4] == 18);

  /* A rectangle out of a buffer of 32 x 32 numbers, and into the middle of another. */
  static int patch[6][5];
  const size_t from[3] = {4 * sizeof(int), 2, 0}, to[3] = {0, 0, 0}, middle[3] = {10 * sizeof(int), 20, 0};
  const size_t size[3] = {5 * sizeof(int), 6, 1};
  CALL(clEnqueueReadBufferRect(queue, over, CL_TRUE, from, to, size, kRow * sizeof(int), 0, sizeof(patch[0]), 0, patch,
                               0, NULL, NULL));
  for (y = 0; y < 6; ++y)
    for (x = 0; x < 5; ++x) EXPECT_ELEMENT(y * 5 + x, patch[y][x], (y + 2) * kRow + x + 4 + 14);
  const cl_short pattern[2] = {-2, 3};
  CALL(clEnqueueFillBuffer(queue, whole, pattern, sizeof(pattern), 0, sizeof(data), 0, NULL, NULL));
  CALL(clEnqueueWriteBufferRect(queue, whole, CL_TRUE, middle, to, size, kRow * sizeof(int), 0, 0, 0, patch, 0, NULL,
                                NULL));
  CALL(clEnqueueCopyBufferRect(queue, whole, whole, middle, to, size, kRow * sizeof(int), 0, kRow * sizeof(int), 0, 0,
                               NULL, NULL));
  EXPECT(clEnqueueCopyBuffer(queue, whole, whole, 0, 8, 16, 0, NULL, NULL) == CL_MEM_COPY_OVERLAP);
  CALL(clEnqueueCopyBuffer(queue, whole, whole, 0, sizeof(data) / 2, 20, 0, NULL, NULL));
  CALL(clEnqueueMigrateMemObjects(queue, 1, &whole, 0, 0, NULL, NULL));
  Read(whole, copy, sizeof(copy));
  for (y = 0; y < kRow; ++y)
    for (x = 0; x < kRow; ++x) {
      const int in_middle = x >= 10 && x < 15 && y >= 20 && y < 26, in_corner = x < 5 && y < 6,
                in_half = y == 16 && x < 5;
      const int wanted = in_middle   ? patch[y - 20][x - 10]
                         : in_corner ? patch[y][x]
                         : in_half   ? patch[0][x]
                                     : 3 * 65536 + 65534;
      EXPECT_ELEMENT(y * kRow + x, copy[y * kRow + x], wanted);
    }

  /* The buffer lives as long as its part. */
  CALL(clSetMemObjectDestructorCallback(whole, Destroyed, &one));
  CALL(clSetMemObjectDestructorCallback(whole, Destroyed, &two));
  CALL(clReleaseMemObject(whole));
  EXPECT(destroyed == 0);
  CALL(clReleaseMemObject(part));
  EXPECT(destroyed == 21);
  CloseDevice();
  printf("memory: passed\n");
  return 0;
}
