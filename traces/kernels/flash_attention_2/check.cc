// Outputs row by row, and the logarithms, of the launch without and of the one with the causal mask.
#include "../check_attention.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  heddle::kernels::AttentionCheck attention(check, 0x1p-11);
  const auto logs = check.Find<float>("logs");
  const auto causal_logs = check.Find<float>("causal_logs");
  if (attention.Right(/*causal=*/false, "outputs", "logs", [&](uint64_t row) { return double{logs.after[row]}; })) {
    attention.Right(/*causal=*/true, "causal_outputs", "causal_logs",
                    [&](uint64_t row) { return double{causal_logs.after[row]}; });
  }
  return check.result();
}
