/* How fast an OpenCL implementation runs kernels of four kinds: heddle-benchmark-opencl [SCALE [SHARE]]. One line per
 * kernel: its name, work-items, and seconds from enqueue to finish (the best of ten runs after a first one: no compiler
 * is in it, and a machine that others use leaves some of them alone), then a number made of the results, which must be
 * the same everywhere. With SHARE above 1 only one work-item of about so many runs, those in the middle, and once: for
 * implementations that are slow.
 * opencl-speed compares implementations. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *source =
    "__kernel void mandelbrot(__global uint *out, int n) { /* divergent loops */\n"
    "  const uint i = get_global_id(0);\n"
    "  /* Rows of the picture in such an order that any few of them cost what all do. */\n"
    "  const float cx = (float)(i & 511) / 170.0f - 2.2f, cy = (float)(((i >> 9) * 197) & 511) / 170.0f - 1.5f;\n"
    "  float x = 0, y = 0;\n"
    "  uint k = 0;\n"
    "  while (k < 200 && x * x + y * y < 4.0f) { const float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; ++k; "
    "}\n"
    "  out[i % n] = k;\n"
    "}\n"
    "__kernel void multiply(__global uint *out, int n) { /* barriers and local memory */\n"
    "  __local float a[16][16], b[16][16];\n"
    "  const int x = get_local_id(0), y = get_local_id(1);\n"
    "  float sum = 0;\n"
    "  for (int t = 0; t < 16; ++t) {\n"
    "    a[y][x] = (float)((get_global_id(1) * 7 + t * 16 + x) & 15); b[y][x] = (float)((t * 16 + y + "
    "get_global_id(0)) & 7);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int k = 0; k < 16; ++k) sum += a[y][k] * b[k][x];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  }\n"
    "  out[(get_global_id(1) * get_global_size(0) + get_global_id(0)) % n] = (uint)sum;\n"
    "}\n"
    "__kernel void gather(__global uint *out, int n) { /* scattered loads */\n"
    "  uint at = get_global_id(0), sum = 0;\n"
    "  for (int k = 0; k < 64; ++k) { at = at * 1664525u + 1013904223u; sum += out[(n >> 1) + at % (uint)(n >> 1)] & "
    "3; }\n"
    "  out[get_global_id(0) % (n >> 1)] = sum;\n"
    "}\n"
    "__kernel void stencil(__global uint *out, int n) { /* regular loads */\n"
    "  const int i = get_global_id(0);\n"
    "  uint sum = 0;\n"
    "  for (int k = -32; k < 32; ++k) sum += out[(n >> 1) + ((i + k) & ((n >> 1) - 1))] >> 1;\n"
    "  out[i & ((n >> 1) - 1)] = sum;\n"
    "}\n";

static void Check(cl_int error, const char *what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "opencl_speed: %s gives %d\n", what, (int)error);
  exit(1);
}

static double Seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    size_t global[2], local[2];
    cl_uint dimensions;
  } kernels[] = {{"mandelbrot", {1 << 15, 1}, {256, 1}, 1},
                 {"multiply", {128, 128}, {16, 16}, 2},
                 {"gather", {1 << 15, 1}, {128, 1}, 1},
                 {"stencil", {1 << 15, 1}, {128, 1}, 1}};
  const size_t scale = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  const size_t share = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  if (scale == 0 || share == 0) {
    fprintf(stderr, "usage: heddle-benchmark-opencl [SCALE [SHARE]], numbers from 1\n");
    return 2;
  }
  /* Every work-item has a word of its own to write. */
  const size_t n_words = scale << 16, bytes = n_words * sizeof(cl_uint);
  cl_uint *words = malloc(bytes);
  if (words == NULL) {
    fprintf(stderr, "opencl_speed: no memory for %lu bytes\n", (unsigned long)bytes);
    return 1;
  }
  Check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  Check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  Check(error, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  Check(error, "clCreateCommandQueue");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  Check(error, "clCreateProgramWithSource");
  Check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); ++k) {
    for (size_t i = 0; i < n_words; ++i) words[i] = (cl_uint)i * 2654435761u;
    cl_kernel kernel = clCreateKernel(program, kernels[k].name, &error);
    Check(error, "clCreateKernel");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    Check(error, "clCreateBuffer");
    const cl_int n = (cl_int)n_words;
    Check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), "clSetKernelArg");
    Check(clSetKernelArg(kernel, 1, sizeof(n), &n), "clSetKernelArg");
    const size_t local = kernels[k].local[0], groups = kernels[k].global[0] * scale / local;
    const size_t part = groups > share ? groups / share : 1; /* of the work-groups in a row */
    const size_t global[2] = {part * local, kernels[k].global[1]};
    const size_t offset[2] = {(groups - part) / 2 * local, 0};
    const int runs = share == 1 ? 11 : 1;
    double best = 1e30;
    for (int run = 0; run < runs; ++run) {
      Check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, words, 0, NULL, NULL), "writing");
      const double start = Seconds();
      Check(
          clEnqueueNDRangeKernel(queue, kernel, kernels[k].dimensions, offset, global, kernels[k].local, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
      Check(clFinish(queue), "clFinish");
      const double seconds = Seconds() - start;
      if ((run > 0 || runs == 1) && seconds < best) best = seconds;
    }
    Check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, words, 0, NULL, NULL), "reading");
    cl_uint sum = 0;
    for (size_t i = 0; i < n_words; ++i) sum = sum * 31 + words[i];
    printf("%s %lu %.6f %u\n", kernels[k].name, (unsigned long)(global[0] * global[1]), best, (unsigned)sum);
    Check(clReleaseMemObject(buffer), "clReleaseMemObject");
    Check(clReleaseKernel(kernel), "clReleaseKernel");
  }
  free(words);
  return 0;
}
