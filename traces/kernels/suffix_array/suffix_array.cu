// For every position of many queries the longest match in a text, by binary search in the text's sorted suffixes.
//
// Stands for searches in sorted strings: every step of a binary search compares letters until two strings differ, so a
// short loop of unknown length inside another one, with loads from anywhere. `suffix_match` finds the same in a tree. The
// order of the suffixes is made by `build`, which need not be recorded.

// Letters from which on two strings of a text differ, or the shorter one ends.
__device__ inline int same(const int* a, const int* b, int most) {
  int i = 0;
  while (i < most && a[i] == b[i]) ++i;
  return i;
}

// A suffix's place is the number of suffixes below it.
__global__ void build(const int* text, int* order, int length) {
  const int mine = blockIdx.x * blockDim.x + threadIdx.x;
  if (mine >= length) return;
  int below = 0;
  for (int other = 0; other < length; ++other) {
    if (other == mine) continue;
    const int most = length - max(mine, other);
    const int equal = same(text + mine, text + other, most);
    below += equal == most ? other > mine : text[other + equal] < text[mine + equal];
  }
  order[below] = mine;
}

// Queries have `length` letters one after the other; matched[q * length + i] = letters that match from letter i on.
__global__ void suffix_array(const int* queries, const int* text, const int* order, int* matched, int count, int length,
                             int letters) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= count) return;
  for (int start = 0; start < length; ++start) {
    const int* const query = queries + q * length + start;
    const int left = length - start;
    int low = 0;
    int high = letters;
    int best = 0;
    // Both neighbours of the place where the query would stand are looked at, and one of them is the longest match.
    while (low < high) {
      const int middle = (low + high) / 2;
      const int at = order[middle];
      const int most = min(left, letters - at);
      const int equal = same(query, text + at, most);
      best = max(best, equal);
      if (equal == left) break;
      const bool above = equal == most || query[equal] > text[at + equal];
      low = above ? middle + 1 : low;
      high = above ? high : middle;
    }
    matched[q * length + start] = best;
  }
}
