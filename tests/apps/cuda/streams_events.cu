// Streams and events: order, waits between streams, times, callbacks.
#include "check.h"

__global__ void Step(int* data, int n, int factor) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = data[i] * factor + 1;
}

void CUDART_CB Count(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) ++*static_cast<int*>(data);
}
void CUDART_CB CountToo(void* data) { *static_cast<int*>(data) += 10; }

int main() {
  const int n = 256;
  int *host, *device;
  CALL(cudaMallocHost(&host, n * sizeof(int)));
  CALL(cudaMalloc(&device, n * sizeof(int)));
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaStream_t first, second;
  CALL(cudaStreamCreate(&first));
  int least, greatest;
  CALL(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CALL(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, greatest));
  cudaEvent_t start, middle, stop;
  CALL(cudaEventCreate(&start));
  CALL(cudaEventCreate(&middle, cudaEventDisableTiming));  // cudaEventCreateWithFlags
  CALL(cudaEventCreate(&stop));
  CALL(cudaEventRecord(start, first));
  CALL(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, first));
  Step<<<1, 64, 0, first>>>(device, n, 3);
  CALL(cudaEventRecord(middle, first));
  CALL(cudaStreamWaitEvent(second, middle, 0));
  Step<<<1, 64, 0, second>>>(device, n, 2);
  CALL(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, second));
  int calls = 0;
  CALL(cudaStreamAddCallback(second, Count, &calls, 0));
  CALL(cudaLaunchHostFunc(second, CountToo, &calls));
  CALL(cudaEventRecord(stop, second));
  CALL(cudaEventSynchronize(stop));
  CALL(cudaStreamSynchronize(second));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == (3 * i + 1) * 2 + 1);
  EXPECT(calls == 11);
  float milliseconds = -1;
  CALL(cudaEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds > 0.005f && milliseconds < 10);
  EXPECT(cudaEventQuery(stop) == cudaSuccess && cudaStreamQuery(first) == cudaSuccess);
  EXPECT(cudaEventElapsedTime(&milliseconds, middle, stop) == cudaErrorInvalidResourceHandle);
  // Hints about caches are kept.
  cudaStreamAttrValue hint = {}, found = {};
  hint.accessPolicyWindow.base_ptr = device;
  hint.accessPolicyWindow.num_bytes = n * sizeof(int);
  hint.accessPolicyWindow.hitRatio = 0.5f;
  hint.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  hint.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  CALL(cudaStreamSetAttribute(first, cudaStreamAttributeAccessPolicyWindow, &hint));
  CALL(cudaStreamCopyAttributes(second, first));
  CALL(cudaStreamGetAttribute(second, cudaStreamAttributeAccessPolicyWindow, &found));
  EXPECT(found.accessPolicyWindow.base_ptr == device && found.accessPolicyWindow.hitRatio == 0.5f &&
         found.accessPolicyWindow.missProp == cudaAccessPropertyStreaming);
  hint.accessPolicyWindow.hitRatio = 2;
  EXPECT(cudaStreamSetAttribute(first, cudaStreamAttributeAccessPolicyWindow, &hint) == cudaErrorInvalidValue);
  EXPECT(cudaStreamSetAttribute(first, static_cast<cudaStreamAttrID>(99), &hint) == cudaErrorInvalidValue);
  CALL(cudaCtxResetPersistingL2Cache());
  unsigned int flags;
  CALL(cudaStreamGetFlags(second, &flags));
  EXPECT(flags == cudaStreamNonBlocking);
  CALL(cudaStreamDestroy(first));
  CALL(cudaStreamDestroy(second));
  EXPECT(cudaStreamSynchronize(first) == cudaErrorInvalidResourceHandle);
  CALL(cudaEventDestroy(start));
  CALL(cudaEventDestroy(middle));
  CALL(cudaEventDestroy(stop));
  cudaGetLastError();
  CALL(cudaFreeHost(host));
  CALL(cudaFree(device));
  return Finish();
}
