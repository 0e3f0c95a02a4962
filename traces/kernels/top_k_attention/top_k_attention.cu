// Attention to the eight best of many keys: scores, a list of the best that is kept sorted, and their weighted mean.
//
// Stands for sparse attention: a regular loop with a rare branch that inserts into a sorted list in local memory, ever
// more rarely as the list gets better. Scores are integers, so that the choice is exact; of equals the first one stays.

constexpr int kBest = 8;
constexpr int kWidth = 16;

__global__ void top_k_attention(const int* queries, const int* keys, const float* values, int* chosen, float* output,
                                int query_count, int key_count) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= query_count) return;
  int query[kWidth];
#pragma unroll
  for (int d = 0; d < kWidth; ++d) query[d] = queries[d * query_count + q];
  int best[kBest];
  int which[kBest];
  for (int i = 0; i < kBest; ++i) {
    best[i] = -0x7fffffff;
    which[i] = -1;
  }
  for (int k = 0; k < key_count; ++k) {
    int score = 0;
#pragma unroll
    for (int d = 0; d < kWidth; ++d) score += query[d] * keys[k * kWidth + d];
    if (score <= best[kBest - 1]) continue;
    int place = kBest - 1;
    while (place > 0 && best[place - 1] < score) {
      best[place] = best[place - 1];
      which[place] = which[place - 1];
      --place;
    }
    best[place] = score;
    which[place] = k;
  }
  float total = 0.0f;
  float sum = 0.0f;
  for (int i = 0; i < kBest; ++i) {
    const float weight = expf(0.01f * static_cast<float>(best[i] - best[0]));
    total += weight;
    sum += weight * values[which[i]];
    chosen[i * query_count + q] = which[i];
  }
  output[q] = sum / total;
}
