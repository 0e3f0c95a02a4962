// For every position of many queries the longest match in a text, by walking down the text's suffix trie.
//
// Stands for tree searches over strings: dependent loads from anywhere, and loops that end where the strings differ, at
// another place for every thread. The trie, cut at a depth, is made by `build`, which need not be recorded.

// children[4 * node + letter], 0 = none; node 0 is the root. One thread. size[0] = nodes.
__global__ void build(const int* text, int* children, int* size, int length, int depth) {
  int nodes = 1;
  for (int start = 0; start < length; ++start) {
    int node = 0;
    for (int i = start; i < length && i < start + depth; ++i) {
      const int place = 4 * node + text[i];
      if (children[place] == 0) children[place] = nodes++;
      node = children[place];
    }
  }
  size[0] = nodes;
}

// Queries have `length` letters one after the other; matched[q * length + i] = letters that match from letter i on.
__global__ void suffix_match(const int* queries, const int* children, int* matched, int count, int length) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= count) return;
  const int* const query = queries + q * length;
  for (int start = 0; start < length; ++start) {
    int node = 0;
    int i = start;
    while (i < length) {
      const int next = children[4 * node + query[i]];
      if (next == 0) break;
      node = next;
      ++i;
    }
    matched[q * length + start] = i - start;
  }
}
