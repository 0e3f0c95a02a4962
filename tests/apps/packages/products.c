/* CLBlast: a product of matrices, and a sum of vectors. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clblast_c.h>
#include <stdio.h>

enum { kRows = 128, kColumns = 96, kDepth = 64 };

int main(void) {
  static float a[kRows * kDepth], b[kDepth * kColumns], c[kRows * kColumns];
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  int right = 1, i, j, k;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 1;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  for (i = 0; i < kRows * kDepth; ++i) a[i] = (float)(i % 7);
  for (i = 0; i < kDepth * kColumns; ++i) b[i] = (float)(i % 5);
  const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem on_device[3] = {clCreateBuffer(context, flags, sizeof(a), a, &error),
                         clCreateBuffer(context, flags, sizeof(b), b, &error),
                         clCreateBuffer(context, flags, sizeof(c), c, &error)};
  right &= CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, kRows, kColumns, kDepth, 1.0f,
                        on_device[0], 0, kDepth, on_device[1], 0, kColumns, 0.0f, on_device[2], 0, kColumns, &queue,
                        NULL) == CLBlastSuccess;
  right &= clEnqueueReadBuffer(queue, on_device[2], CL_TRUE, 0, sizeof(c), c, 0, NULL, NULL) == CL_SUCCESS;
  for (i = 0; i < kRows; ++i) {
    for (j = 0; j < kColumns; ++j) {
      float sum = 0;
      for (k = 0; k < kDepth; ++k) sum += a[i * kDepth + k] * b[k * kColumns + j];
      right &= c[i * kColumns + j] == sum;
    }
  }
  right &=
      CLBlastSaxpy(kDepth * kColumns, 2.0f, on_device[1], 0, 1, on_device[0], 0, 1, &queue, NULL) == CLBlastSuccess;
  right &= clEnqueueReadBuffer(queue, on_device[0], CL_TRUE, 0, sizeof(b), c, 0, NULL, NULL) == CL_SUCCESS;
  for (i = 0; i < kDepth * kColumns; ++i) right &= c[i] == 2 * b[i] + a[i];
  puts(right ? "all right" : "wrong");
  return 0;
}
