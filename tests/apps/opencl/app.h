/* What the test programs share: the usual opening lines of an OpenCL program, and checks that end it with a message. */
#ifndef HEDDLE_TESTS_APPS_OPENCL_APP_H_
#define HEDDLE_TESTS_APPS_OPENCL_APP_H_

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An OpenCL call that must succeed. */
#define CALL(expression)                                                                         \
  do {                                                                                           \
    const cl_int call_error = (expression);                                                      \
    if (call_error != CL_SUCCESS) {                                                              \
      fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #expression, (int)call_error); \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)
/* A condition that must hold. */
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)
/* Element i of a result, which is `got` and should be `wanted`. */
#define EXPECT_ELEMENT(i, got, wanted)                                                                      \
  do {                                                                                                      \
    if (!((got) == (wanted))) {                                                                             \
      fprintf(stderr, "%s:%d: element %d is %.9g, not %.9g\n", __FILE__, __LINE__, (int)(i), (double)(got), \
              (double)(wanted));                                                                            \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)
#define EXPECT_CLOSE(i, got, wanted, relative)                                                                         \
  do {                                                                                                                 \
    const double close_got = (got), close_wanted = (wanted);                                                           \
    if (!(fabs(close_got - close_wanted) <= (relative) * (fabs(close_wanted) + 1e-6))) {                               \
      fprintf(stderr, "%s:%d: element %d is %.9g, not %.9g\n", __FILE__, __LINE__, (int)(i), close_got, close_wanted); \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

/* The first GPU, as most programs look for it. */
static inline void OpenDevice(cl_command_queue_properties properties) {
  cl_int error;
  CALL(clGetPlatformIDs(1, &platform, NULL));
  CALL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  CALL(error);
  queue = clCreateCommandQueue(context, device, properties, &error);
  CALL(error);
}

static inline void CloseDevice(void) {
  CALL(clFinish(queue));
  CALL(clReleaseCommandQueue(queue));
  CALL(clReleaseContext(context));
}

static inline cl_program BuildSource(const char *source, const char *options) {
  cl_int error;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  CALL(error);
  error = clBuildProgram(program, 1, &device, options, NULL, NULL);
  if (error != CL_SUCCESS) {
    static char log[16384];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
    fprintf(stderr, "the program does not build (%d):\n%s\n", (int)error, log);
    exit(1);
  }
  return program;
}

static inline cl_kernel MakeKernel(cl_program program, const char *name) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CALL(error);
  return kernel;
}

static inline cl_mem MakeBuffer(cl_mem_flags flags, size_t bytes, void *host) {
  cl_int error;
  cl_mem buffer = clCreateBuffer(context, flags, bytes, host, &error);
  CALL(error);
  return buffer;
}

static inline void SetBuffer(cl_kernel kernel, cl_uint index, cl_mem buffer) {
  CALL(clSetKernelArg(kernel, index, sizeof(cl_mem), &buffer));
}

static inline void SetInt(cl_kernel kernel, cl_uint index, cl_int value) {
  CALL(clSetKernelArg(kernel, index, sizeof(value), &value));
}

static inline void Run1(cl_kernel kernel, size_t global, size_t local) {
  CALL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local != 0 ? &local : NULL, 0, NULL, NULL));
}

static inline void Read(cl_mem buffer, void *to, size_t bytes) {
  CALL(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

/* The same numbers in every run. */
static inline uint32_t Random(void) {
  static uint32_t state = 2463534242u;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

#endif /* HEDDLE_TESTS_APPS_OPENCL_APP_H_ */
