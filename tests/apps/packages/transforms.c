/* VkFFT: Fourier transforms of sizes with small, large and prime factors, in one and two dimensions, against their
 * definition and back. */
#define CL_TARGET_OPENCL_VERSION 120
#define VKFFT_BACKEND 3
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vkFFT.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static int wrong;

/* Output (u, v) of the transform of `in`, nx * ny complex numbers, is at a distance of what from (re, im)? */
static double Distance(const double *in, int nx, int ny, int u, int v, double re, double im) {
  for (int y = 0; y < ny; ++y) {
    for (int x = 0; x < nx; ++x) {
      const double angle = -2 * M_PI * ((double)((long)u * x % nx) / nx + (double)((long)v * y % ny) / ny);
      const double *z = in + 2 * (y * nx + x);
      re -= z[0] * cos(angle) - z[1] * sin(angle);
      im -= z[0] * sin(angle) + z[1] * cos(angle);
    }
  }
  return hypot(re, im);
}

static void Copy(double *numbers, const float *singles, int count) {
  for (int i = 0; i < count; ++i) numbers[i] = singles[i];
}

static void Try(int nx, int ny, int is_double) {
  const int n = nx * ny;
  uint64_t bytes = (uint64_t)2 * n * (is_double ? sizeof(double) : sizeof(float));
  double *in = malloc(2 * n * sizeof(double)), *out = malloc(2 * n * sizeof(double));
  float *singles = malloc(2 * n * sizeof(float));
  for (int i = 0; i < 2 * n; ++i) singles[i] = (float)(in[i] = sin(0.37 * i) + (i % 7) * 0.1);
  void *data = is_double ? (void *)out : (void *)singles;
  memcpy(out, in, 2 * n * sizeof(double));
  cl_int error;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, data, &error);

  VkFFTConfiguration configuration;
  memset(&configuration, 0, sizeof(configuration));
  configuration.FFTdim = ny > 1 ? 2 : 1;
  configuration.size[0] = nx;
  configuration.size[1] = ny;
  configuration.platform = &platform;
  configuration.device = &device;
  configuration.context = &context;
  configuration.commandQueue = &queue;
  configuration.buffer = &buffer;
  configuration.bufferSize = &bytes;
  configuration.doublePrecision = is_double;
  configuration.normalize = 1;
  VkFFTApplication application;
  memset(&application, 0, sizeof(application));
  VkFFTLaunchParams launch;
  memset(&launch, 0, sizeof(launch));
  launch.commandQueue = &queue;
  launch.buffer = &buffer;

  VkFFTResult result = initializeVkFFT(&application, configuration);
  if (result == VKFFT_SUCCESS) result = VkFFTAppend(&application, -1, &launch);
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
  if (!is_double) Copy(out, singles, 2 * n);
  double forward = 0, back = 0;
  for (int i = 0; i < 5; ++i) {
    const int u = i * 37 % nx, v = i * 11 % ny;
    forward = fmax(forward, Distance(in, nx, ny, u, v, out[2 * (v * nx + u)], out[2 * (v * nx + u) + 1]));
  }
  if (result == VKFFT_SUCCESS) result = VkFFTAppend(&application, 1, &launch);
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
  if (!is_double) Copy(out, singles, 2 * n);
  for (int i = 0; i < 2 * n; ++i) back = fmax(back, fabs(out[i] - in[i]));
  if (result != VKFFT_SUCCESS || !(forward < (is_double ? 1e-10 : 2e-3) * sqrt(n)) ||
      !(back < (is_double ? 1e-11 : 1e-4))) {
    printf("%d x %d: error %d, forward off by %g, back off by %g\n", nx, ny, result, forward, back);
    ++wrong;
  }
  if (result == VKFFT_SUCCESS) deleteVkFFT(&application);
  clReleaseMemObject(buffer);
  free(in);
  free(out);
  free(singles);
}

int main(void) {
  cl_int error;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  queue = clCreateCommandQueue(context, device, 0, &error);
  Try(1024, 1, 0);
  Try(729, 1, 0);
  Try(1000, 1, 1);
  Try(97, 1, 0);
  Try(2310, 1, 1);
  Try(64, 48, 0);
  Try(8192, 1, 0);
  Try(16384, 1, 1);
  if (wrong == 0) puts("all right");
  return wrong != 0;
}
