// Escape times of the Mandelbrot set, one work-item per pixel.
//
// Stands for kernels with one loop whose trip count depends on data: neighbouring pixels mostly agree, and differ by
// hundreds of iterations along the set's border. Nearly no memory accesses.
//
// Every product that feeds a sum is written as fma, so the result does not depend on what a compiler contracts.

// iterations[y * width + x] for the points left + x * step, top - y * step. The view is in memory: left, top, step,
// width, height, and the most iterations.
__kernel void mandelbrot(__global const float* view, __global int* iterations) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int width = (int)view[3];
  const int height = (int)view[4];
  const int most = (int)view[5];
  if (x >= width || y >= height) return;

  const float real = fma((float)x, view[2], view[0]);
  const float imaginary = fma((float)y, -view[2], view[1]);
  float a = 0.0f;
  float b = 0.0f;
  int count = 0;
  while (count < most) {
    const float b_squared = b * b;
    if (fma(a, a, b_squared) > 4.0f) break;
    const float next = fma(a, a, -b_squared) + real;
    b = fma(2.0f * a, b, imaginary);
    a = next;
    ++count;
  }
  iterations[y * width + x] = count;
}
