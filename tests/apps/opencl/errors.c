/* What the specification says about wrong uses, and reference counts. */
#include "app.h"

static const char *source =
    "__kernel void fill(__global int *x, __local int *scratch, int by) { scratch[0] = by; x[get_global_id(0)] = by; "
    "}\n";

int main(void) {
  cl_int error;
  cl_uint count = 0;
  size_t size = 0;
  char text[256];
  OpenDevice(0);

  EXPECT(clGetPlatformIDs(0, NULL, NULL) == CL_INVALID_VALUE);
  EXPECT(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, &count) == CL_DEVICE_NOT_FOUND);
  EXPECT(clGetDeviceIDs(platform, 1 << 20, 1, &device, NULL) == CL_INVALID_DEVICE_TYPE);
  CALL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count));
  EXPECT(count == 1);
  EXPECT(clGetDeviceInfo(device, CL_DEVICE_NAME, 2, text, NULL) == CL_INVALID_VALUE);
  EXPECT(clGetDeviceInfo(device, 0xffff, sizeof(text), text, NULL) == CL_INVALID_VALUE);
  CALL(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &size));
  EXPECT(size > 1);
  cl_ulong local = 0, global = 0, one = 0;
  size_t group = 0, items[3];
  CALL(clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(local), &local, NULL));
  CALL(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(global), &global, NULL));
  CALL(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(one), &one, NULL));
  CALL(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(group), &group, NULL));
  CALL(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(items), items, NULL));
  EXPECT(local == 48 << 10 && group == 1024 && items[2] == 64 && one >= global / 4 && one >= 128 << 20);

  cl_context_properties bad[] = {CL_CONTEXT_PLATFORM, 0x1234, 0}, unknown[] = {0x7777, 1, 0};
  EXPECT(clCreateContext(unknown, 1, &device, NULL, NULL, &error) == NULL && error != CL_SUCCESS);
  (void)bad;
  EXPECT(clCreateCommandQueue(context, device, 1 << 20, &error) == NULL && error == CL_INVALID_VALUE);
  EXPECT(clCreateBuffer(context, 0, 0, NULL, &error) == NULL && error == CL_INVALID_BUFFER_SIZE);
  EXPECT(clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, NULL, &error) == NULL && error == CL_INVALID_HOST_PTR);
  EXPECT(clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, NULL, &error) == NULL &&
         error == CL_INVALID_VALUE);
  const char *nothing = NULL;
  EXPECT(clCreateProgramWithSource(context, 1, &nothing, NULL, &error) == NULL && error == CL_INVALID_VALUE);

  cl_program program = BuildSource(source, "");
  EXPECT(clCreateKernel(program, "nothing", &error) == NULL && error == CL_INVALID_KERNEL_NAME);
  cl_kernel kernel = MakeKernel(program, "fill");
  cl_mem buffer = MakeBuffer(CL_MEM_READ_WRITE, 4096, NULL);
  int data[16] = {0};
  SetBuffer(kernel, 0, buffer);
  EXPECT(clSetKernelArg(kernel, 1, 0, NULL) == CL_INVALID_ARG_SIZE);
  EXPECT(clSetKernelArg(kernel, 1, 16, data) == CL_INVALID_ARG_VALUE);
  EXPECT(clSetKernelArg(kernel, 0, sizeof(cl_mem), &kernel) == CL_INVALID_MEM_OBJECT);
  SetInt(kernel, 2, 5);
  const size_t many = 1024, uneven = 1000, wide = 64, zero = 0, large = 2048;
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &many, &wide, 0, NULL, NULL) == CL_INVALID_KERNEL_ARGS);
  CALL(clSetKernelArg(kernel, 1, 64 << 10, NULL));
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &many, &wide, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
  CALL(clSetKernelArg(kernel, 1, 64, NULL));
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 0, NULL, &many, &wide, 0, NULL, NULL) == CL_INVALID_WORK_DIMENSION);
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &uneven, &wide, 0, NULL, NULL) == CL_INVALID_WORK_GROUP_SIZE);
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &large, &large, 0, NULL, NULL) == CL_INVALID_WORK_ITEM_SIZE);
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &zero, NULL, 0, NULL, NULL) == CL_INVALID_GLOBAL_WORK_SIZE);
  cl_event none = NULL;
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &many, &wide, 1, &none, NULL) == CL_INVALID_EVENT_WAIT_LIST);
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &many, &wide, 0, &none, NULL) == CL_INVALID_EVENT_WAIT_LIST);
  CALL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &many, &wide, 0, NULL, NULL));
  EXPECT(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 4090, 64, data, 0, NULL, NULL) == CL_INVALID_VALUE);
  EXPECT(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, NULL, 0, NULL, NULL) == CL_INVALID_VALUE);
  Read(buffer, data, sizeof(data));
  EXPECT(data[15] == 5);
  cl_mem guarded = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, 64, NULL);
  EXPECT(clEnqueueReadBuffer(queue, guarded, CL_TRUE, 0, 64, data, 0, NULL, NULL) == CL_INVALID_OPERATION);

  CALL(clRetainMemObject(buffer));
  CALL(clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof(count), &count, NULL));
  EXPECT(count == 2);
  CALL(clReleaseMemObject(buffer));
  CALL(clReleaseMemObject(buffer));
  EXPECT(clReleaseMemObject(buffer) == CL_INVALID_MEM_OBJECT); /* the kernel's argument alone keeps it */
  CALL(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, NULL));
  EXPECT(count == 1);
  CALL(clReleaseProgram(program));
  CALL(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(text), text, NULL));
  EXPECT(strcmp(text, "fill") == 0);
  CALL(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL));
  EXPECT(count == 3);
  CALL(clReleaseKernel(kernel));
  CloseDevice();
  printf("errors: passed\n");
  return 0;
}
