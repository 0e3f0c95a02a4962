// Shared by the files of this program.
#ifndef NUMBERS_H_
#define NUMBERS_H_

extern __device__ int shared_total;
extern __constant__ int shared_factor;
__device__ int Weigh(int value);
void RunShapes(int* out, int n);

#endif  // NUMBERS_H_
