// Routing of tokens to experts: every token chooses two of 32 experts, choices are counted by expert, running sums of
// the counts give every choice its place, and the rows of tokens are copied there, so that an expert's tokens lie
// together.
//
// Stands for mixtures of experts without their products: a warp's search for its two best by shuffles, atomics on few
// counters of which some are popular, a scan by one block, ranks among lanes that chose alike, and copies to scattered
// rows. Scores are integers, so that the choice is exact; of equals the first expert counts. Places do not depend on
// the order of threads: in an expert's part come blocks in their order, in a block first choices before second ones.

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;
constexpr int kExperts = 32;  // one per lane
constexpr int kChoices = 2;
constexpr int kWidth = 16;
constexpr int kTokens = 64;  // of a block
constexpr int kLowest = -0x7fffffff;

// The lane with the greatest score; the first one of equals.
__device__ inline int best_lane(int score) {
  int lane = threadIdx.x % kWarp;
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const int other = __shfl_xor_sync(kAllLanes, score, distance);
    const int other_lane = __shfl_xor_sync(kAllLanes, lane, distance);
    if (other > score || (other == score && other_lane < lane)) {
      score = other;
      lane = other_lane;
    }
  }
  return lane;
}

// A warp per token, a lane per expert. counts[expert][block] = choices in this block; blockDim.x is a multiple of 32.
__global__ void choose_experts(const int* features, const int* gates, const int* bias, int* chosen, float* weights,
                               int* counts, int tokens) {
  __shared__ int block_counts[kExperts];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  if (threadIdx.x < kExperts) block_counts[threadIdx.x] = 0;
  __syncthreads();
  const int end = min(static_cast<int>(blockIdx.x + 1) * kTokens, tokens);
  for (int token = blockIdx.x * kTokens + warp; token < end; token += blockDim.x / kWarp) {
    int score = bias[lane];
    for (int d = 0; d < kWidth; ++d) score += features[token * kWidth + d] * gates[d * kExperts + lane];
    const int first = best_lane(score);
    const int second = best_lane(lane == first ? kLowest : score);
    const int first_score = __shfl_sync(kAllLanes, score, first);
    const int second_score = __shfl_sync(kAllLanes, score, second);
    if (lane < kChoices) {
      const int expert = lane == 0 ? first : second;
      const float ratio = expf(0.01f * static_cast<float>(second_score - first_score));
      chosen[lane * tokens + token] = expert;
      weights[lane * tokens + token] = (lane == 0 ? 1.0f : ratio) / (1.0f + ratio);
      atomicAdd(&block_counts[expert], 1);
    }
  }
  __syncthreads();
  if (threadIdx.x < kExperts) counts[threadIdx.x * gridDim.x + blockIdx.x] = block_counts[threadIdx.x];
}

// starts[i] = sum of the counts before i; one block, whose threads are a multiple of 32.
__global__ void scan_counts(const int* counts, int* starts, int count) {
  __shared__ int warp_sums[kWarp];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  int before = 0;
  for (int first = 0; first < count; first += blockDim.x) {
    const int i = first + threadIdx.x;
    const int own = i < count ? counts[i] : 0;
    int sum = own;
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const int other = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == kWarp - 1) warp_sums[warp] = sum;
    __syncthreads();
    int total = 0;
    for (int w = 0; w < blockDim.x / kWarp; ++w) {
      if (w == warp) sum += total;
      total += warp_sums[w];
    }
    if (i < count) starts[i] = before + sum - own;
    before += total;
    __syncthreads();
  }
}

// A thread per token of a block; blockDim.x is kTokens.
__global__ void place_tokens(const int* chosen, const int* starts, int* places, int* token_at, int tokens) {
  constexpr int kGroups = kTokens / kWarp;
  __shared__ int group_counts[kChoices * kGroups][kExperts];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  const int token = blockIdx.x * kTokens + threadIdx.x;
  for (int i = threadIdx.x; i < kChoices * kGroups * kExperts; i += kTokens)
    group_counts[i / kExperts][i % kExperts] = 0;
  __syncthreads();
  int expert[kChoices];
  int rank[kChoices];
#pragma unroll
  for (int c = 0; c < kChoices; ++c) {
    expert[c] = token < tokens ? chosen[c * tokens + token] : -1;
    const unsigned alike = __match_any_sync(kAllLanes, expert[c]);
    rank[c] = __popc(alike & ((1u << lane) - 1));
    if (rank[c] == 0 && token < tokens) group_counts[c * kGroups + warp][expert[c]] = __popc(alike);
  }
  __syncthreads();
  if (token >= tokens) return;
#pragma unroll
  for (int c = 0; c < kChoices; ++c) {
    int place = starts[expert[c] * gridDim.x + blockIdx.x] + rank[c];
    for (int group = 0; group < c * kGroups + warp; ++group) place += group_counts[group][expert[c]];
    places[c * tokens + token] = place;
    token_at[place] = token;
  }
}

// A thread per element of the rows in their new places.
__global__ void copy_rows(const int* features, const int* token_at, int* rows, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < elements) rows[i] = features[token_at[i / kWidth] * kWidth + i % kWidth];
}
