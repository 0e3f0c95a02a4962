// A process that has used the device forks. The child has no device, every call says so, and nothing that it does
// reaches the parent's memory or trace; the parent goes on.
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__managed__ int managed = 5;
__device__ int variable = 6;
__constant__ float weight = 0.5f;
texture<int, 1> line;

__global__ void Add(int* data) { data[threadIdx.x] += managed + variable + static_cast<int>(2 * weight); }

static int Child(int* data, cudaStream_t stream, cudaEvent_t event) {
  const cudaError_t gone = cudaErrorInitializationError;
  int host[32] = {}, *more = NULL, count = 0;
  memset(host, 1, sizeof(host));
  managed = 1000;
  EXPECT(cudaDeviceSynchronize() == gone);
  EXPECT(cudaStreamSynchronize(stream) == gone);
  EXPECT(cudaStreamQuery(stream) == gone);
  EXPECT(cudaEventSynchronize(event) == gone);
  EXPECT(cudaEventRecord(event, stream) == gone);
  EXPECT(cudaGetDeviceCount(&count) == gone);
  EXPECT(cudaSetDevice(0) == gone);
  EXPECT(cudaMalloc(&more, 64) == gone);
  EXPECT(cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice) == gone);
  EXPECT(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost) == gone);
  EXPECT(cudaMemset(data, 0, sizeof(host)) == gone);
  EXPECT(cudaMemcpyToSymbol(variable, host, sizeof(int)) == gone);
  EXPECT(cudaBindTexture(NULL, line, data, 64) == gone);
  EXPECT(cudaStreamCreate(&stream) == gone);
  EXPECT(cudaEventCreate(&event) == gone);
  EXPECT(cudaGetLastError() == gone);
  Add<<<1, 32>>>(data);
  EXPECT(cudaGetLastError() == gone);
  EXPECT(cudaFree(data) == gone);
  EXPECT(cudaFree(0) == gone);
  EXPECT(host[5] == 0x01010101);
  return check_failures == 0 ? 0 : 1;
}

int main() {
  int host[32], *data;
  cudaStream_t stream;
  cudaEvent_t event;
  CALL(cudaMalloc(&data, sizeof(host)));
  CALL(cudaMemset(data, 0, sizeof(host)));
  CALL(cudaStreamCreate(&stream));
  CALL(cudaEventCreate(&event));
  Add<<<1, 32, 0, stream>>>(data);
  CALL(cudaEventRecord(event, stream));
  CALL(cudaDeviceSynchronize());
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int status = Child(data, stream, event);
    fflush(stdout);
    _exit(status);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  Add<<<1, 32, 0, stream>>>(data);
  CALL(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) EXPECT(host[i] == 2 * (5 + 6 + 1));
  CALL(cudaFree(data));
  return Finish();
}
