// Device part.
#include "program.h"

__global__ void Multiply(int *data, int n)
{
	int i = blockIdx.x*blockDim.x + threadIdx.x;
	if (i < n)
		data[i] *= FACTOR;
}

int RunOnDevice(int *data, int n)
{
	int *device;
	if (cudaMalloc((void**) &device, n*sizeof(int)) != cudaSuccess)
		return 1;
	cudaMemcpy(device, data, n*sizeof(int), cudaMemcpyHostToDevice);
	dim3 threads(128, 1, 1);
	dim3 grid((n + 127)/128, 1, 1);
	Multiply<<< grid, threads >>>(device, n);
	cudaThreadSynchronize();
	cudaMemcpy(data, device, n*sizeof(int), cudaMemcpyDeviceToHost);
	cudaFree(device);
	return cudaGetLastError() != cudaSuccess;
}
