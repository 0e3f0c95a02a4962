/* After a kernel has failed every call that has to do with the device fails, blocking or not; what only asks or gives
 * back still works.
 * a kernel fails
 */
#include "app.h"

static const char *source =
    "__kernel void fill(__global int *x) { x[get_global_id(0)] = 7; }\n"
    "__kernel void wild(__global int *x) { x[get_global_id(0) + (1 << 24)] = 1; }\n";

int main(void) {
  cl_int error;
  int data[32];
  const size_t n = 32, origin[3] = {0, 0, 0}, region[3] = {4, 2, 1};
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel fill = MakeKernel(program, "fill"), wild = MakeKernel(program, "wild");
  cl_mem buffer = MakeBuffer(CL_MEM_READ_WRITE, sizeof(data), NULL), other = MakeBuffer(CL_MEM_READ_WRITE, 128, NULL);
  SetBuffer(fill, 0, buffer);
  SetBuffer(wild, 0, buffer);
  cl_event before, gate, waits;
  CALL(clEnqueueNDRangeKernel(queue, fill, 1, NULL, &n, &n, 0, NULL, &before));
  Read(buffer, data, sizeof(data));
  EXPECT(data[31] == 7);
  /* A command of another queue that is still waiting when the kernel fails. */
  cl_command_queue second = clCreateCommandQueue(context, device, 0, &error);
  CALL(error);
  gate = clCreateUserEvent(context, &error);
  CALL(error);
  CALL(clEnqueueFillBuffer(second, other, data, 4, 0, 128, 1, &gate, &waits));
  EXPECT(clEnqueueNDRangeKernel(queue, wild, 1, NULL, &n, &n, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
  for (int blocking = 0; blocking < 2; ++blocking) {
    EXPECT(clEnqueueReadBuffer(queue, buffer, blocking, 0, 128, data, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
    EXPECT(clEnqueueWriteBuffer(queue, buffer, blocking, 0, 128, data, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
    EXPECT(clEnqueueReadBufferRect(queue, buffer, blocking, origin, origin, region, 0, 0, 0, 0, data, 0, NULL, NULL) ==
           CL_OUT_OF_RESOURCES);
    EXPECT(clEnqueueMapBuffer(queue, buffer, blocking, CL_MAP_READ, 0, 128, 0, NULL, NULL, &error) == NULL);
    EXPECT(error == CL_OUT_OF_RESOURCES);
  }
  EXPECT(clEnqueueCopyBuffer(queue, buffer, other, 0, 0, 128, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
  EXPECT(clEnqueueFillBuffer(queue, buffer, data, 4, 0, 128, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
  EXPECT(clEnqueueNDRangeKernel(queue, fill, 1, NULL, &n, &n, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
  EXPECT(clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
  EXPECT(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL) == CL_OUT_OF_RESOURCES);
  EXPECT(clFlush(queue) == CL_OUT_OF_RESOURCES);
  for (int again = 0; again < 2; ++again) EXPECT(clFinish(queue) == CL_OUT_OF_RESOURCES);
  EXPECT(clWaitForEvents(1, &before) == CL_OUT_OF_RESOURCES);
  CALL(clSetUserEventStatus(gate, CL_COMPLETE));
  cl_int status = 1;
  CALL(clGetEventInfo(waits, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
  EXPECT(status == CL_OUT_OF_RESOURCES);
  EXPECT(clWaitForEvents(1, &waits) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT(clCreateBuffer(context, CL_MEM_READ_WRITE, 128, NULL, &error) == NULL && error == CL_OUT_OF_RESOURCES);
  EXPECT(clCreateCommandQueue(context, device, 0, &error) == NULL && error == CL_OUT_OF_RESOURCES);
  CALL(clGetEventInfo(before, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
  EXPECT(status == CL_COMPLETE);
  CALL(clReleaseEvent(before));
  CALL(clReleaseEvent(gate));
  CALL(clReleaseEvent(waits));
  CALL(clReleaseMemObject(buffer));
  CALL(clReleaseMemObject(other));
  CALL(clReleaseKernel(fill));
  CALL(clReleaseKernel(wild));
  CALL(clReleaseProgram(program));
  CALL(clReleaseCommandQueue(second));
  CALL(clReleaseCommandQueue(queue));
  CALL(clReleaseContext(context));
  printf("fault: passed\n");
  return 0;
}
