// Jacobi's iteration for Laplace's equation on a rectangle: eight steps and the largest change of the last one are
// captured into a graph, which is launched until the change is small.
//
// Stands for iterations that are launched as a graph: the same few kernels again and again with one call for all of
// them, two independent branches within the graph (a fill for the maximum beside the steps), a reduction with one
// atomic per warp, and a copy back by which the host decides whether to go on.
//
// replay: --divergence pdom,its,dwf
#include <cmath>
#include <vector>

#include "../support.h"

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kSteps = 8;           // of a graph
constexpr int kMostLaunches = 500;  // more than any size needs
constexpr double kRounding = 1.0 / (1 << 24);

// Inner points become the mean of their neighbours; those of the border stay.
__global__ void jacobi_step(const float* from, float* to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    to[i] = from[i];
  } else {
    to[i] = 0.25f * ((from[i - 1] + from[i + 1]) + (from[i - width] + from[i + width]));
  }
}

// The largest difference, as the bits of a float: those of numbers that are not negative have the numbers' order.
__global__ void largest_change(const float* before, const float* after, unsigned* change, int points) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float difference = i < points ? fabsf(after[i] - before[i]) : 0.0f;
  for (int distance = 16; distance > 0; distance /= 2)
    difference = fmaxf(difference, __shfl_xor_sync(kAllLanes, difference, distance));
  if (threadIdx.x % 32 == 0 && difference > 0.0f) atomicMax(change, __float_as_uint(difference));
}

struct Plate {
  int width;
  int height;
  float enough;  // the change of a step that ends the iteration
};

// The left and the upper border are warm.
std::vector<float> Border(const Plate& plate) {
  std::vector<float> points(static_cast<size_t>(plate.width) * plate.height, 0.0f);
  for (int y = 0; y < plate.height; ++y) points[static_cast<size_t>(y) * plate.width] = 1.0f;
  for (int x = 0; x < plate.width; ++x) points[x] = 1.0f - static_cast<float>(x) / static_cast<float>(plate.width);
  return points;
}

// Captures the steps, and the fill and the maximum beside them.
cudaGraphExec_t MakeGraph(const Plate& plate, float* points[2], unsigned* change, float* host_change) {
  cudaStream_t steps, side;
  cudaEvent_t fork, join;
  CALL(cudaStreamCreate(&steps));
  CALL(cudaStreamCreate(&side));
  CALL(cudaEventCreate(&fork));
  CALL(cudaEventCreate(&join));
  const dim3 block(32, 4);
  const dim3 grid((plate.width + block.x - 1) / block.x, (plate.height + block.y - 1) / block.y);
  const int count = plate.width * plate.height;
  CALL(cudaStreamBeginCapture(steps, cudaStreamCaptureModeGlobal));
  CALL(cudaEventRecord(fork, steps));
  CALL(cudaStreamWaitEvent(side, fork, 0));
  CALL(cudaMemsetAsync(change, 0, sizeof(*change), side));
  CALL(cudaEventRecord(join, side));
  for (int step = 0; step < kSteps; ++step)
    jacobi_step<<<grid, block, 0, steps>>>(points[step % 2], points[(step + 1) % 2], plate.width, plate.height);
  CALL(cudaStreamWaitEvent(steps, join, 0));
  largest_change<<<(count + 127) / 128, 128, 0, steps>>>(points[1], points[0], change, count);
  CALL(cudaMemcpyAsync(host_change, change, sizeof(*change), cudaMemcpyDeviceToHost, steps));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CALL(cudaStreamEndCapture(steps, &graph));
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphDestroy(graph));
  CALL(cudaEventDestroy(fork));
  CALL(cudaEventDestroy(join));
  CALL(cudaStreamDestroy(side));
  CALL(cudaStreamDestroy(steps));
  return executable;
}

// As many steps in double precision, and the largest change of the last one of each launch, by which the host has to
// have stopped at the first that is small enough. Two sums of a step are below 2 and rounded by 2^-24, their sum is
// below 4 and rounded by 2^-23, and a quarter of that is exact. Later steps do not make an error larger. So 2^-24 per
// step is enough for points, and twice that, with the rounding of the difference, for changes.
bool Right(const Plate& plate, const std::vector<float>& changes, const std::vector<float>& result) {
  const std::vector<float> border = Border(plate);
  std::vector<double> from(border.begin(), border.end());
  std::vector<double> to = from;
  const int steps = kSteps * static_cast<int>(changes.size());
  for (int step = 1; step <= steps; ++step) {
    double largest = 0;
    for (int y = 1; y + 1 < plate.height; ++y) {
      for (int x = 1; x + 1 < plate.width; ++x) {
        const int i = y * plate.width + x;
        to[i] = (from[i - 1] + from[i + 1] + from[i - plate.width] + from[i + plate.width]) / 4;
        largest = std::fmax(largest, std::fabs(to[i] - from[i]));
      }
    }
    from.swap(to);
    if (step % kSteps != 0) continue;
    const size_t launch = static_cast<size_t>(step) / kSteps - 1;
    const float change = changes[launch];
    const bool is_last = launch + 1 == changes.size();
    if (std::fabs(change - largest) <= (2 * step + 1) * kRounding && (change <= plate.enough) == is_last) continue;
    printf("the change of launch %zu of %zu is %.9g, expected %.9g\n", launch + 1, changes.size(), change, largest);
    return false;
  }
  const double tolerance = kRounding * steps;
  for (size_t i = 0; i < result.size(); ++i) {
    if (std::fabs(result[i] - from[i]) <= tolerance) continue;
    printf("point %zu is %.9g, expected %.9g\n", i, result[i], from[i]);
    return false;
  }
  return true;
}

int main(int argc, char** argv) {
  const Plate plates[] = {{31, 8, 0.02f}, {60, 40, 0.002f}, {120, 96, 0.001f}};
  const Plate plate = plates[ChosenSize(argc, argv)];
  const std::vector<float> border = Border(plate);
  const size_t bytes = border.size() * sizeof(float);
  float* points[2];
  unsigned* change;
  float* host_change;
  CALL(cudaMalloc(&points[0], bytes));
  CALL(cudaMalloc(&points[1], bytes));
  CALL(cudaMalloc(&change, sizeof(*change)));
  CALL(cudaMallocHost(&host_change, sizeof(*host_change)));
  CALL(cudaMemcpy(points[0], border.data(), bytes, cudaMemcpyHostToDevice));
  const cudaGraphExec_t graph = MakeGraph(plate, points, change, host_change);
  cudaStream_t stream;
  CALL(cudaStreamCreate(&stream));
  std::vector<float> changes;  // by launch
  do {
    CALL(cudaGraphLaunch(graph, stream));
    CALL(cudaStreamSynchronize(stream));
    changes.push_back(*host_change);
  } while (*host_change > plate.enough && changes.size() < kMostLaunches);
  std::vector<float> result(border.size());
  CALL(cudaMemcpy(result.data(), points[0], bytes, cudaMemcpyDeviceToHost));
  const bool right = Right(plate, changes, result);
  const int launches = static_cast<int>(changes.size());
  if (right) printf("%d launches of the graph, %d steps: the result is right\n", launches, launches * kSteps);
  CALL(cudaGraphExecDestroy(graph));
  CALL(cudaStreamDestroy(stream));
  CALL(cudaFree(points[0]));
  CALL(cudaFree(points[1]));
  CALL(cudaFree(change));
  CALL(cudaFreeHost(host_change));
  return right ? 0 : 1;
}
