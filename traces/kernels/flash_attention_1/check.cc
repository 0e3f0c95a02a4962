// Outputs row by row, and from maximum and sum of a row the logarithm of its sum of exponentials.
#include "../check_attention.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  heddle::kernels::AttentionCheck attention(check, 0);
  const auto maxima = check.Find<float>("maxima");
  const auto sums = check.Find<float>("sums");
  attention.Right(/*causal=*/false, "outputs", "log of sums",
                  [&](uint64_t row) { return double{maxima.after[row]} + std::log(double{sums.after[row]}); });
  return check.result();
}
