extern __device__ int Twice(int value);
extern __device__ int shared_counter;

__global__ void Double(int* data) {
  data[threadIdx.x] = Twice(data[threadIdx.x]);
  if (threadIdx.x == 0) shared_counter += 1;
}
