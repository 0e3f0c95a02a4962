// Cosine similarity of every pair of documents, which are sparse vectors of word counts with ascending word numbers.
//
// Stands for joins of sorted lists: two cursors per thread, and three ways to go on in every iteration.

__global__ void similarity_score(const int* starts, const int* words, const int* counts, float* scores, int documents) {
  const int a = blockIdx.x * blockDim.x + threadIdx.x;
  const int b = blockIdx.y;
  if (a >= documents) return;
  int i = starts[a];
  int j = starts[b];
  const int end_i = starts[a + 1];
  const int end_j = starts[b + 1];
  int product = 0;
  int square_a = 0;
  int square_b = 0;
  while (i < end_i || j < end_j) {
    const int word_a = i < end_i ? words[i] : 0x7fffffff;
    const int word_b = j < end_j ? words[j] : 0x7fffffff;
    if (word_a == word_b) {
      product += counts[i] * counts[j];
      square_a += counts[i] * counts[i];
      square_b += counts[j] * counts[j];
      ++i;
      ++j;
    } else if (word_a < word_b) {
      square_a += counts[i] * counts[i];
      ++i;
    } else {
      square_b += counts[j] * counts[j];
      ++j;
    }
  }
  const float norm = sqrtf(static_cast<float>(square_a)) * sqrtf(static_cast<float>(square_b));
  scores[b * documents + a] = norm > 0.0f ? static_cast<float>(product) / norm : 0.0f;
}
