// Attention of one new token per sequence to all tokens before it, whose keys and values lie in pages anywhere in
// memory; a block per sequence and head.
//
// Stands for the decoding of language models: memory traffic through a table of pages, sequences and hence blocks of
// unequal length, and phases between barriers: products of the query with the keys by two lanes per token, the maximum
// and the sum by shuffles and through shared memory, weighted sums of the values by a lane per element
// (W. Kwon et al., Efficient memory management for large language model serving with PagedAttention, 2023).

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;
constexpr int kPage = 16;                       // tokens
constexpr int kWidth = 32;                      // elements of a key, of a value and of a query
constexpr int kWarps = 4;                       // of a block
constexpr float kScale = 0.17677669529663687f;  // 1 / sqrt(kWidth)

// Combines a number of every thread of the block, in all threads. `warps` is free to use before and after.
template <typename Combine>
__device__ inline float block_combine(float value, float* warps, Combine combine) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(kAllLanes, value, distance));
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = warps[0];
  for (int w = 1; w < kWarps; ++w) value = combine(value, warps[w]);
  __syncthreads();
  return value;
}

// The grid has heads in x and sequences in y; the dynamic shared memory holds a number per token of the longest
// sequence. keys, values: [page][head][token][element]; queries, output: [sequence][head][element]; table:
// [sequence][table_width].
__global__ void paged_attention(const float* queries, const float4* keys, const float* values, const int* table,
                                const int* lengths, float* output, int table_width) {
  extern __shared__ float scores[];
  __shared__ float4 query[kWidth / 4];
  __shared__ float partial[kWarps][kWidth];
  __shared__ float warps[kWarps];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  const int head = blockIdx.x;
  const int heads = gridDim.x;
  const int length = lengths[blockIdx.y];
  const int pages = (length + kPage - 1) / kPage;
  const int* own_table = table + blockIdx.y * table_width;
  const int row = (blockIdx.y * heads + head) * kWidth;
  if (threadIdx.x < kWidth) reinterpret_cast<float*>(query)[threadIdx.x] = queries[row + threadIdx.x] * kScale;
  __syncthreads();

  // A warp takes a page at a time: lanes 2 t and 2 t + 1 have the halves of token t's key.
  float greatest = -3.402823466e38f;
  for (int page = warp; page < pages; page += kWarps) {
    const float4* key = keys + ((own_table[page] * heads + head) * kPage * 2 + lane) * (kWidth / 8);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kWidth / 8; ++i) {
      const float4 q = query[lane % 2 * (kWidth / 8) + i];
      const float4 k = key[i];
      sum += q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w;
    }
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    const int token = page * kPage + lane / 2;
    if (token < length) {
      greatest = fmaxf(greatest, sum);
      if (lane % 2 == 0) scores[token] = sum;
    }
  }
  greatest = block_combine(greatest, warps, [](float a, float b) { return fmaxf(a, b); });

  float sum = 0.0f;
  for (int token = threadIdx.x; token < length; token += kWarps * kWarp) {
    const float weight = __expf(scores[token] - greatest);
    scores[token] = weight;
    sum += weight;
  }
  sum = block_combine(sum, warps, [](float a, float b) { return a + b; });

  float element = 0.0f;
  for (int page = warp; page < pages; page += kWarps) {
    const float* value = values + (own_table[page] * heads + head) * kPage * kWidth + lane;
    const int tokens = min(kPage, length - page * kPage);
    for (int t = 0; t < tokens; ++t) element += scores[page * kPage + t] * value[t * kWidth];
  }
  partial[warp][lane] = element;
  __syncthreads();
  if (warp == 0) {
    for (int w = 1; w < kWarps; ++w) element += partial[w][lane];
    output[row + lane] = element / sum;
  }
}
