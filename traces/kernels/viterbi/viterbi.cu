// Scores of sequences against a profile of match, insert and delete states: the best path by dynamic programming.
//
// Stands for profile searches: a thread scores one sequence, sequences differ in length, and every cell chooses among
// several candidates by comparisons that are branches. Rows of the table lie in global memory, threads side by side.

constexpr int kMinus = -1000000;

// letters[starts[i] ... starts[i + 1]) is sequence i; emission[state * 4 + letter]; rows: 3 * (states + 1) * sequences.
__global__ void viterbi(const int* starts, const int* letters, const int* emission, const int* transition, int* rows,
                        int* scores, int sequences, int states) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sequences) return;
  const int stride = sequences;
  int* const match = rows + i;
  int* const insert = match + (states + 1) * stride;
  int* const erase = insert + (states + 1) * stride;
  for (int k = 0; k <= states; ++k) {
    match[k * stride] = k == 0 ? 0 : kMinus;
    insert[k * stride] = kMinus;
    erase[k * stride] = kMinus;
  }
  int best = kMinus;
  const int end = starts[i + 1];
  for (int position = starts[i]; position < end; ++position) {
    const int letter = letters[position];
    int match_diagonal = match[0];
    int insert_diagonal = insert[0];
    int erase_diagonal = erase[0];
    match[0] = kMinus;  // a path begins with the first letter
    insert[0] = kMinus;
    for (int k = 1; k <= states; ++k) {
      int score = match_diagonal;
      if (insert_diagonal + transition[0] > score) score = insert_diagonal + transition[0];
      if (erase_diagonal + transition[1] > score) score = erase_diagonal + transition[1];
      score += emission[k * 4 + letter];
      int stay = match[k * stride] + transition[2];
      if (insert[k * stride] + transition[3] > stay) stay = insert[k * stride] + transition[3];
      int skip = match[(k - 1) * stride] + transition[4];
      if (erase[(k - 1) * stride] + transition[5] > skip) skip = erase[(k - 1) * stride] + transition[5];
      match_diagonal = match[k * stride];
      insert_diagonal = insert[k * stride];
      erase_diagonal = erase[k * stride];
      match[k * stride] = score;
      insert[k * stride] = stay;
      erase[k * stride] = skip;
      if (score > best) best = score;
    }
  }
  scores[i] = best;
}
