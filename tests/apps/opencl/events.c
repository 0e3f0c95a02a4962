/* Events: profiling, wait lists, user events, callbacks, an out-of-order queue with barriers and markers, two queues,
 * native kernels. */
#include <pthread.h>

#include "app.h"

static const char *source =
    "__kernel void add(__global int *x, int by) { x[get_global_id(0)] += by; }\n"
    "__kernel void twice(__global int *x) { x[get_global_id(0)] *= 2; }\n";

enum { kCount = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int called, failed;

static void CL_CALLBACK Count(cl_event event, cl_int status, void *data) {
  (void)event;
  pthread_mutex_lock(&mutex);
  if (status == CL_COMPLETE) called += *(int *)data;
  if (status < 0) ++failed;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void CL_CALLBACK OnHost(void *arguments) {
  struct {
    int *data;
    int by;
  } *a = arguments;
  int i;
  for (i = 0; i < kCount; ++i) a->data[i] += a->by;
}

static cl_ulong Time(cl_event event, cl_profiling_info what) {
  cl_ulong time = 0;
  CALL(clGetEventProfilingInfo(event, what, sizeof(time), &time, NULL));
  return time;
}

static cl_int Status(cl_event event) {
  cl_int status = 99;
  CALL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
  return status;
}

int main(void) {
  int data[kCount], zero = 0, i;
  cl_int error;
  cl_event first, second, third, user, events[2];
  const size_t global = kCount;
  OpenDevice(CL_QUEUE_PROFILING_ENABLE);
  cl_program program = BuildSource(source, "");
  cl_kernel add = MakeKernel(program, "add"), twice = MakeKernel(program, "twice");
  cl_mem buffer = MakeBuffer(CL_MEM_READ_WRITE, sizeof(data), NULL);
  CALL(clEnqueueFillBuffer(queue, buffer, &zero, sizeof(zero), 0, sizeof(data), 0, NULL, NULL));
  SetBuffer(add, 0, buffer);
  SetBuffer(twice, 0, buffer);
  SetInt(add, 1, 3);

  /* Times go up, within a command and from one to the next. */
  CALL(clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, NULL, 0, NULL, &first));
  CALL(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 1, &first, &second));
  CALL(clWaitForEvents(1, &second));
  EXPECT(Time(first, CL_PROFILING_COMMAND_QUEUED) <= Time(first, CL_PROFILING_COMMAND_SUBMIT));
  EXPECT(Time(first, CL_PROFILING_COMMAND_SUBMIT) <= Time(first, CL_PROFILING_COMMAND_START));
  EXPECT(Time(first, CL_PROFILING_COMMAND_START) < Time(first, CL_PROFILING_COMMAND_END));
  EXPECT(Time(first, CL_PROFILING_COMMAND_END) <= Time(second, CL_PROFILING_COMMAND_START));
  Read(buffer, data, sizeof(data));
  EXPECT(data[0] == 6 && data[kCount - 1] == 6);
  CALL(clReleaseEvent(first));
  CALL(clReleaseEvent(second));

  /* A command that waits for the host, and callbacks; the other queue goes on. */
  cl_command_queue other = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
  CALL(error);
  user = clCreateUserEvent(context, &error);
  CALL(error);
  CALL(clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, NULL, 1, &user, &first));
  int one = 1, ten = 10;
  CALL(clSetEventCallback(first, CL_COMPLETE, Count, &one));
  CALL(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 0, NULL, &second));
  CALL(clSetEventCallback(second, CL_COMPLETE, Count, &ten));
  EXPECT(Status(first) > CL_COMPLETE && Status(second) > CL_COMPLETE);
  CALL(clEnqueueReadBuffer(other, buffer, CL_TRUE, 0, sizeof(data), data, 0, NULL, NULL));
  EXPECT(data[5] == 6);
  /* The lock is held by whoever sets the event, and taken by the callback. */
  pthread_mutex_lock(&mutex);
  CALL(clSetUserEventStatus(user, CL_COMPLETE));
  EXPECT(clSetUserEventStatus(user, CL_COMPLETE) == CL_INVALID_OPERATION);
  while (called != 11) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  CALL(clFinish(queue));
  Read(buffer, data, sizeof(data));
  EXPECT(data[7] == 18);
  CALL(clReleaseEvent(first));
  CALL(clReleaseEvent(second));
  CALL(clReleaseEvent(user));

  /* Out of order: what is ready overtakes what waits, but nothing passes a barrier. */
  user = clCreateUserEvent(context, &error);
  CALL(error);
  CALL(clEnqueueNDRangeKernel(other, twice, 1, NULL, &global, NULL, 1, &user, &first));
  SetInt(add, 1, 2);
  CALL(clEnqueueNDRangeKernel(other, add, 1, NULL, &global, NULL, 0, NULL, &second));
  EXPECT(Status(second) == CL_COMPLETE && Status(first) > CL_COMPLETE);
  CALL(clEnqueueBarrierWithWaitList(other, 0, NULL, NULL));
  SetInt(add, 1, 1);
  CALL(clEnqueueNDRangeKernel(other, add, 1, NULL, &global, NULL, 0, NULL, &third));
  CALL(clEnqueueMarkerWithWaitList(other, 0, NULL, &events[0]));
  EXPECT(Status(third) > CL_COMPLETE && Status(events[0]) > CL_COMPLETE);
  CALL(clSetUserEventStatus(user, CL_COMPLETE));
  CALL(clWaitForEvents(1, &events[0]));
  CALL(clFinish(other));
  Read(buffer, data, sizeof(data));
  EXPECT(data[9] == (18 + 2) * 2 + 1);

  /* A failed event fails what waits for it. */
  user = clCreateUserEvent(context, &error);
  CALL(error);
  CALL(clEnqueueNDRangeKernel(other, add, 1, NULL, &global, NULL, 1, &user, &events[1]));
  CALL(clSetEventCallback(events[1], CL_COMPLETE, Count, &one));
  CALL(clSetUserEventStatus(user, -42));
  EXPECT(clWaitForEvents(1, &events[1]) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT(Status(events[1]) < 0);
  pthread_mutex_lock(&mutex);
  while (failed != 1) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  EXPECT(clFinish(other) != CL_SUCCESS && clFinish(other) == CL_SUCCESS);
  cl_ulong time;
  EXPECT(clGetEventProfilingInfo(third, CL_PROFILING_COMMAND_END, sizeof(time), &time, NULL) ==
         CL_PROFILING_INFO_NOT_AVAILABLE);

  /* A function of the host in the queue. */
  struct {
    cl_mem data;
    int by;
  } arguments = {buffer, 100};
  const void *where = &arguments.data;
  CALL(clEnqueueNativeKernel(queue, OnHost, &arguments, sizeof(arguments), 1, &buffer, &where, 0, NULL, NULL));
  Read(buffer, data, sizeof(data));
  for (i = 0; i < kCount; ++i) EXPECT_ELEMENT(i, data[i], 141);
  CALL(clReleaseCommandQueue(other));
  CloseDevice();
  printf("events: passed\n");
  return 0;
}
